package gpu

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/tensor"
)

// Integers of 64 bits, which WGSL lacks, equal the CPU's: all pairs of numbers near the
// powers of two.
func TestPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("opens devices")
	}
	for name, open := range map[string]func() (driver.Device, error){
		"as it is": open,
		"as a GPU": func() (driver.Device, error) {
			d, err := openPlain(func(t *schedule.Target) {})
			if err != nil {
				return nil, err
			}
			return d.(plain).device, nil // with all types
		},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "as it is" {
				t.Skip("with the schedules of a CPU")
			}
			wgputest.Need(t)
			d, err := open()
			if err != nil {
				t.Fatal(err)
			}
			dev := deviceOf(t, d)
			defer dev.Close()
			testPairs(t, dev)
		})
	}
}

func testPairs(t *testing.T, dev *tensor.Device) {
	var list []int64
	for _, bit := range []int{0, 1, 2, 15, 16, 23, 24, 25, 31, 32, 33, 47, 53, 62, 63} {
		for _, off := range []int64{-1, 0, 1, 0x1234567} {
			list = append(list, 1<<bit+off, -(1<<bit + off))
		}
	}
	slices.Sort(list)
	x := tensor.New(slices.Compact(list))
	type T = tensor.Tensor
	for _, d := range []tensor.DType{tensor.Int64, tensor.Uint64} {
		a := x.Cast(d)
		b := a.Unsqueeze(1)
		f := a.Cast(tensor.Float32)
		for name, of := range map[string]func(a, b, f T) T{
			"Add":        func(a, b, f T) T { return a.Add(b) },
			"Sub":        func(a, b, f T) T { return a.Sub(b) },
			"Mul":        func(a, b, f T) T { return a.Mul(b) },
			"Div":        func(a, b, f T) T { return a.Div(b) },
			"Rem":        func(a, b, f T) T { return a.Rem(b) },
			"Pow":        func(a, b, f T) T { return a.Pow(b) },
			"Neg":        func(a, b, f T) T { return a.Neg() },
			"Not":        func(a, b, f T) T { return a.Not() },
			"And":        func(a, b, f T) T { return a.And(b).Xor(a.Or(b)) },
			"Shl":        func(a, b, f T) T { return a.Shl(b.And(127)) },
			"Shr":        func(a, b, f T) T { return a.Shr(b.And(127)) },
			"Max":        func(a, b, f T) T { return a.Maximum(b).Xor(a.Minimum(b).Mul(3)) },
			"Eq":         func(a, b, f T) T { return a.Eq(b) },
			"Lt":         func(a, b, f T) T { return a.Lt(b) },
			"Le":         func(a, b, f T) T { return a.Le(b) },
			"to float32": func(a, b, f T) T { return a.Cast(tensor.Float32) },
			"of float32": func(a, b, f T) T {
				return f.Mul(tensor.New([]float32{1, 1.5, -3e-9, 0.3}).Unsqueeze(1)).Cast(a.DType())
			},
			"to int8":   func(a, b, f T) T { return a.Cast(tensor.Int8) },
			"to uint32": func(a, b, f T) T { return a.Cast(tensor.Uint32) },
			"to bool":   func(a, b, f T) T { return a.Cast(tensor.Bool) },
			"of int32":  func(a, b, f T) T { return a.Cast(tensor.Int32).Cast(a.DType()) },
			"of uint32": func(a, b, f T) T { return a.Cast(tensor.Uint32).Cast(a.DType()) },
			"of bool":   func(a, b, f T) T { return a.Gt(b).Cast(a.DType()) },
			"Sum":       func(a, b, f T) T { return a.Mul(b).Sum(1) },
			"Prod":      func(a, b, f T) T { return a.Add(b).Prod(0) },
			"ReduceMax": func(a, b, f T) T { return a.Mul(b).Max(1) },
			"ArgMax":    func(a, b, f T) T { return a.Mul(b).ArgMax(1) },
			"ArgMin":    func(a, b, f T) T { return a.Mul(b).ArgMin(0) },
			"CumSum":    func(a, b, f T) T { return a.Mul(b).CumSum(1) },
			"ArgSort":   func(a, b, f T) T { return a.Mul(b).ArgSort(1) },
			"MatMul":    func(a, b, f T) T { m := a.Mul(b); return m.MatMul(m) },
			"Scatter": func(a, b, f T) T {
				return tensor.ZerosOf(a.DType(), 7).ScatterAdd(0, a.And(3).Cast(tensor.Int32), a)
			},
			"Take": func(a, b, f T) T { return a.Take(0, a.And(63).Cast(tensor.Int64)) },
		} {
			want, err := of(a, b, f).Bytes()
			if err != nil {
				t.Fatal(name, err)
			}
			got, err := of(a.To(dev), b.To(dev), f.To(dev)).Bytes()
			if err != nil {
				t.Errorf("%s of %v: %v", name, d, err)
				continue
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s of %v has the bytes %x, want %x", name, d, got, want)
			}
		}
	}
}

// Positions that need 64 bits, and indices of them, equal the CPU's.
func TestLongPositions(t *testing.T) {
	dev := deviceOf(t, real(t, wgpu.Options{Validate: true}))
	x := tensor.Arange(441001).Cast(tensor.Float32).Reshape(1, 1, -1)
	for name, of := range map[string]func(x tensor.Tensor) tensor.Tensor{
		"ResizeBilinear": func(x tensor.Tensor) tensor.Tensor { return x.ResizeBilinear(16000).Round() },
		"ResizeNearest":  func(x tensor.Tensor) tensor.Tensor { return x.ResizeNearest(60001) },
	} {
		want, err := tensor.Data[float32](of(x))
		if err != nil {
			t.Fatal(err)
		}
		got, err := tensor.Data[float32](of(x.To(dev)))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s of %d elements differs: %v", name, x.Len(), err)
		}
	}
	for _, i := range []int64{441001, 1 << 32, -1 << 32} {
		_, err := tensor.Data[float32](x.To(dev).Take(2, tensor.New([]int64{0, i})))
		if want := fmt.Sprintf("index %d at [1] is out of range", i); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Take: %v, want %s", err, want)
		}
	}
}
