package gputest

import (
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/ir"
)

// A hardware device is one whose adapter, software or not, says that it is a GPU.
type hardware struct {
	wgpu.Device
	adapter wgpu.Adapter
}

func (h *hardware) Adapter() *wgpu.Adapter { return &h.adapter }

// A plain device has few types.
type plain struct{ drivertest.GPU }

func (p plain) Limits() driver.Limits {
	l := p.GPU.Limits()
	l.Types = []ir.DType{ir.Bool, ir.Int32, ir.Int64, ir.Float32}
	return l
}

// adapters are kinds of GPU to take an adapter for, and the parts of the suite for devices that tell them apart.
var adapters = []struct {
	name   string
	change func(a *wgpu.Adapter)
	parts  []string
}{
	{"one subgroup size", func(a *wgpu.Adapter) {}, []string{"Chains", "LongReductions", "Unreal"}},
	{"any subgroup size", func(a *wgpu.Adapter) { a.SubgroupMin, a.SubgroupMax = 4, 64 },
		[]string{"Chains", "LongReductions", "LargeProducts", "Windows", "ScatterAdd", "Layouts", "Outputs", "SameBits", "Status"}},
}

// Software adapters are not given the shaders that GPUs are: here they are.
func TestPlain(t *testing.T) {
	wgputest.NeedForMinutes(t)
	for _, c := range adapters {
		t.Run(c.name, func(t *testing.T) {
			drivertest.Test(t, func() (driver.Device, error) {
				d, err := wgputest.Open()
				if err != nil {
					return nil, err
				}
				h := &hardware{d, *d.Adapter()}
				h.adapter.Kind = wgpu.Integrated
				c.change(&h.adapter)
				return proving(plain{on(h)}, h.Adapter()), nil
			}, c.parts...)
		})
	}
}
