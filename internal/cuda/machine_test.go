//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// The figures of cards, by their makers' data sheets: terabytes and tera-operations per second.
func TestMachine(t *testing.T) {
	for _, c := range []struct {
		name string
		gpu  GPU
		want ir.Machine
	}{
		{"H200", GPU{Capability: 90, units: 132, rates: rates{1.98e6, 3.201e6, 6144}}, ir.Machine{Bandwidth: 4.9e12, Adds: 33.5e12, Halves: 535e12}},
		{"A100", GPU{Capability: 80, units: 108, rates: rates{1.41e6, 1.215e6, 5120}}, ir.Machine{Bandwidth: 1.555e12, Adds: 9.7e12, Halves: 156e12}},
		{"RTX 4090", GPU{Capability: 89, units: 128, rates: rates{2.52e6, 10.501e6, 384}}, ir.Machine{Bandwidth: 1.008e12, Adds: 41.3e12, Halves: 165e12}},
		{"RTX 2080", GPU{Capability: 75, units: 46, rates: rates{1.71e6, 7e6, 256}}, ir.Machine{Bandwidth: 0.448e12, Adds: 5.03e12}},
		{"one whose driver tells no clocks", GPU{Capability: 90, units: 132}, ir.Machine{Bandwidth: 2.5e12, Adds: 25.3e12, Halves: 405e12}},
	} {
		got := c.gpu.machine()
		for _, x := range []struct{ got, want float64 }{{got.Bandwidth, c.want.Bandwidth}, {got.Adds, c.want.Adds}, {got.Halves, c.want.Halves}} {
			if x.got < 0.98*x.want || x.got > 1.02*x.want {
				t.Errorf("%s: %.3g, want %.3g", c.name, x.got, x.want)
			}
		}
	}
}
