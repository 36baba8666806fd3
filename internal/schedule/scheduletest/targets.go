package scheduletest

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/ir"
)

// Targets that stand for kinds of GPU.
var (
	Wide     = build.Target{Family: build.Discrete, MaxThreads: 1024, SharedBytes: 48 << 10, SubgroupMin: 32, SubgroupMax: 32, Units: 132, Wide: true}
	Big      = build.Target{MaxThreads: 1024, SharedBytes: 49152, SubgroupMin: 32, SubgroupMax: 32, Units: 132, Family: build.Discrete}
	NVIDIA   = build.Target{MaxThreads: 1024, SharedBytes: 49152, TileBytes: 227 << 10, SubgroupMin: 32, SubgroupMax: 32, Units: 132, Family: build.Discrete, Matrices: true}
	Hopper   = withSharedMatrices(NVIDIA)
	Software = build.Target{MaxThreads: 1024, SharedBytes: 32768, SubgroupMin: 8, SubgroupMax: 8, Family: build.Software}
)

// Matrices are the figures of a GPU with instructions for matrices.
var Matrices = ir.Machine{Bandwidth: 4.9e12, Adds: 33e12, Halves: 500e12}

// Positions64 is a target on which even small tensors need positions of 64 bits.
func Positions64(t build.Target) build.Target {
	t.Wide, t.Positions = true, 20
	return t
}

func withSharedMatrices(t build.Target) build.Target {
	t.SharedMatrices = true
	return t
}
