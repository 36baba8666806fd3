package grad_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/tensor"
)

// twoDevices are different ones, until the test ends.
func twoDevices(t *testing.T) (one, two *tensor.Device) {
	t.Helper()
	one, two = tensor.NewDevice(cpu.New(cpu.Options{})), tensor.NewDevice(cpu.New(cpu.Options{Threads: 1}))
	t.Cleanup(func() {
		one.Close()
		two.Close()
	})
	return one, two
}

// checkOn fails unless got is on a device.
func checkOn(t *testing.T, call string, got tensor.Tensor, want *tensor.Device, names map[*tensor.Device]string) {
	t.Helper()
	if d := got.Device(); d != want {
		t.Errorf("%s is on %s, want on %s", call, names[d], names[want])
	}
}

// TestTo differentiates functions of a tensor on one device that compute with it on
// another, by every transformation and every two. A cotangent of an argument is on the
// argument's device, and the tangent of a result is on the result's.
func TestTo(t *testing.T) {
	one, two := twoDevices(t)
	names := map[*tensor.Device]string{one: "one", two: "two", nil: "none"}
	at := []float64{0.5, -1, 2}
	x, here, there := f64(at...).To(one), f64(1).To(one), f64(1).To(two)
	for _, f := range []struct {
		name   string
		f      function
		result *tensor.Device
	}{
		{"sin x, computed there", func(x tensor.Tensor) tensor.Tensor {
			return x.Mul(here).To(two).Sin().Mul(there)
		}, two},
		{"sin x, computed there and taken back", func(x tensor.Tensor) tensor.Tensor {
			return x.To(two).Mul(there).Sin().To(one).Mul(here)
		}, one},
	} {
		for _, a := range steps {
			for _, b := range steps {
				p := pipeline{a, b}
				call := fmt.Sprint(p, " of ", f.name)
				got, ok := p.run(t, call, func() tensor.Tensor { return p.of(f.f)(x) })
				if !ok {
					continue
				}
				n := float64(p.order())
				want := mapped(at, func(x float64) float64 { return math.Sin(x + n*math.Pi/2) })
				checkClose(t, call, got, want)
				on := f.result
				for _, s := range p {
					if s.order > 0 && !s.forward {
						on = one
					}
				}
				checkOn(t, call, got, on, names)
			}
		}
	}
}

// TestToOfUncommitted does the same with a tensor that is on no device: nothing
// of it has to come back.
func TestToOfUncommitted(t *testing.T) {
	_, two := twoDevices(t)
	there := f64(3).To(two)
	f := func(x tensor.Tensor) tensor.Tensor { return x.To(two).Mul(there).Sin() }
	for _, s := range steps {
		if s.order == 0 {
			continue
		}
		call := s.name + " of sin 3x on a device"
		got, ok := pipeline{s}.run(t, call, func() tensor.Tensor { return s.function(f)(f64(1, 2)) })
		if ok {
			checkClose(t, call, got, []float64{3 * math.Cos(3), 3 * math.Cos(6)})
			checkOn(t, call, got, two, map[*tensor.Device]string{two: "the device"})
		}
	}
	// The parts of a tree are on devices of their own.
	one, two := twoDevices(t)
	names := map[*tensor.Device]string{one: "one", two: "two"}
	type parts struct{ A, B tensor.Tensor }
	p := parts{f64(1, 2).To(one), f64(5, 7).To(two)}
	g := grad.Of(func(p parts) tensor.Tensor { return p.A.To(two).Mul(p.B).Sum() })(p)
	check(t, "gradient of a·b by a", g.A, 5, 7)
	check(t, "gradient of a·b by b", g.B, 1, 2)
	checkOn(t, "gradient of a·b by a", g.A, one, names)
	checkOn(t, "gradient of a·b by b", g.B, two, names)
}
