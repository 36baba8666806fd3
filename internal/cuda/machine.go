//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"cmp"

	"github.com/tensorken/tensorken/ir"
)

// perClock is a multiprocessor's work in each cycle, by the least compute capability: additions of
// float32, and products of halves that matrix instructions add up. Source: NVIDIA, CUDA C++ Programming
// Guide, "Arithmetic Instructions", and the white papers of the architectures.
var perClock = []struct{ capability, adds, halves int }{
	{120, 128, 512}, {100, 128, 4096}, {90, 128, 2048}, {86, 128, 512}, {80, 64, 1024}, {0, 64, 0},
}

// A rates has the driver's figures of a GPU's speed; 0 is unknown.
type rates struct{ clock, memoryClock, busBits int32 } // kHz, kHz, bits

// machine returns the GPU's figures.
func (g GPU) machine() ir.Machine {
	for _, p := range perClock {
		if g.Capability < p.capability {
			continue
		}
		cycles := float64(g.units) * 1e3 * float64(cmp.Or(g.rates.clock, 1.5e6))
		m := ir.Machine{Adds: cycles * float64(p.adds), Halves: cycles * float64(p.halves), Launch: 3.5e-6}
		if m.Bandwidth = 2 * 1e3 * float64(g.rates.memoryClock) * float64(g.rates.busBits) / 8; m.Bandwidth == 0 { // two transfers in a cycle
			m.Bandwidth = m.Adds / 10 // as most GPUs have
		}
		return m
	}
	return ir.Machine{}
}
