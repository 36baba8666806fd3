package gpu

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A plain device is an adapter, software or not, that is treated as a GPU, and
// has few types.
type plain struct {
	*device
	types []ir.DType
}

func (p plain) Limits() driver.Limits {
	l := p.device.Limits()
	l.Types = p.types
	return l
}

// openPlain opens an adapter as a GPU of a target, with all checks on.
func openPlain(target func(t *schedule.Target)) (driver.Device, error) {
	w, err := wgputest.Open()
	if err != nil {
		return nil, err
	}
	d := newDevice(w, Options{Name: "webgpu"})
	d.Target.Family = schedule.Integrated
	target(&d.Target)
	return plain{d, []ir.DType{ir.Bool, ir.Int32, ir.Int64, ir.Float32}}, nil
}

// Reductions that do not fit side by side in the memory that a workgroup
// shares come one after the other.
func TestManyReductions(t *testing.T) {
	wgputest.Need(t)
	const rows, cols, powers = 3, 5000, 6
	x := make([]float32, rows*cols)
	want := make([]float32, rows)
	for r := range rows {
		total, greatest := 0.0, 0.0
		for c := range cols {
			v := float32((r*7+c*13)%101) / 101
			x[r*cols+c] = v
			greatest = max(greatest, float64(v))
			for p := 1; p <= powers; p++ {
				total += math.Pow(float64(v), float64(p))
			}
		}
		want[r] = float32(greatest - total)
	}
	d, err := openPlain(func(t *schedule.Target) { t.SharedBytes, t.SubgroupMin, t.SubgroupMax = 4096, 0, 0 })
	if err != nil {
		t.Fatal(err)
	}
	dev := deviceOf(t, d)
	defer dev.Close()
	a := tensor.New(x, rows, cols).To(dev)
	power, total := a, a.Sum(1)
	for range powers - 1 {
		power = power.Mul(a)
		total = total.Add(power.Sum(1))
	}
	got, err := tensor.Data[float32](a.Sub(total).Max(1))
	if err != nil {
		t.Fatal(err)
	}
	for r := range rows {
		if math.Abs(float64(got[r])/float64(want[r])-1) > 1e-5 {
			t.Errorf("the greatest of row %d less sums of powers: got %v, want %v", r, got[r], want[r])
		}
	}
}
