//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/tensor"
)

// Products of halves are exact on Hopper and on earlier GPUs. Some factors are copied to shared memory,
// others go through registers.
func TestProductsOfHalves(t *testing.T) {
	for _, hopper := range []bool{true, false} {
		t.Run(fmt.Sprintf("hopper=%v", hopper), func(t *testing.T) {
			eachDriver(t, func(t *testing.T, drv driver.Device) { testProductsOfHalves(t, drv, hopper) })
		})
	}
}

func testProductsOfHalves(t *testing.T, drv driver.Device, hopper bool) {
	sizes := [][3]int{{72, 136, 200}, {33, 66, 70}}
	var d *device
	switch drv := drv.(type) {
	case *simulated:
		d = drv.device
	case *device:
		d = drv
		sizes = append(sizes, [3]int{1024, 1024, 1024}, [3]int{2048, 2048, 4096}, [3]int{520, 2304, 768}, [3]int{4095, 1000, 513})
	}
	if hopper && !d.Target.SharedMatrices {
		t.Skip("the GPU lacks the instructions")
	}
	d.Target.SharedMatrices = hopper
	dev := tensor.NewDevice(drv)
	defer dev.Close()
	for i, size := range sizes {
		for flips := range 4 {
			if testing.Short() && i%2 == (flips+1)/2%2 {
				continue
			}
			dtype := []tensor.DType{tensor.Float16, tensor.BFloat16}[(i+flips)%2]
			t.Run(fmt.Sprintf("%v/%v/%d", dtype, size, flips), func(t *testing.T) {
				x := digits{size[0], size[2], flips&1 > 0, dtype}
				y := digits{size[2], size[1], flips&2 > 0, dtype}
				multiply := func(d *tensor.Device) []float32 {
					z, err := tensor.Data[float32](x.on(d).MatMul(y.on(d)).Cast(tensor.Float32))
					if err != nil {
						t.Fatal(err)
					}
					return z
				}
				if want, got := multiply(tensor.CPU()), multiply(dev); !slices.Equal(got, want) {
					t.Error("the product is wrong")
				}
			})
		}
	}
}

// Digits are a matrix of small integers, whose products add up exactly in float32. Flipped ones lie
// column by column.
type digits struct {
	rows, cols int
	flipped    bool
	dtype      tensor.DType
}

func (d digits) on(dev *tensor.Device) tensor.Tensor {
	if d.flipped {
		return digits{d.cols, d.rows, false, d.dtype}.on(dev).T()
	}
	return tensor.Arange(d.rows*d.cols).Mul(5).Rem(7).Sub(3).Reshape(d.rows, d.cols).Cast(d.dtype).To(dev)
}
