package build

import (
	"math"
	"runtime"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A Target is the GPU that a kernel is scheduled for. Zero fields mean WebGPU's defaults.
type Target struct {
	Family      Family
	MaxThreads  int  // of a workgroup (256)
	SharedBytes int  // memory that a workgroup shares (16384)
	MaxGroups   int  // workgroups in one dimension of a grid (65535)
	SubgroupMin int  // least size of a subgroup; 0: the device has none
	SubgroupMax int  // greatest size of a subgroup
	Units       int  // compute units; 0: as usual for the family
	TileBytes   int  // shared memory for tiles of products, if that may be more (SharedBytes)
	Matrices    bool // subgroups of 32 threads multiply matrices by shader.Multiply
	TF32        bool // products of float32 are computed in TF32, if there are Matrices
	// SharedMatrices says that 128 threads multiply matrices by shader.MultiplyGroup.
	SharedMatrices bool
	Wide           bool       // registers may have 64 bits, and elements any type
	Memory         int        // bytes; 0: unknown
	BufferBytes    int        // most bytes of a buffer; 0: any number
	Machine        ir.Machine // its figures; zero: as usual for the family
	Positions      int        // the greatest position that is computed in 32 bits; on Wide targets others take 64 (2^31-1)
	ManyPoints     int        // points from which on a thread has several vectors of them: fewer are shared by more threads (2^22)
}

// Types lists the element types that kernels may have.
func (t Target) Types() []ir.DType {
	if t.Wide {
		return ir.DTypes
	}
	return shader.DTypes
}

// A Family is a kind of adapter, with a row in families.
type Family uint8

// The families. Integrated also stands for adapters of no known kind.
const (
	Integrated Family = iota
	Discrete
	Software // shaders run on a CPU
)

// Traits are the properties of a family of adapters that decide its schedules.
type Traits struct {
	units        int     // compute units, where the adapter does not tell
	unitAdds     float64 // additions of float32 of a unit in a second, likewise
	bandwidth    float64 // bytes of memory per second, likewise
	launch       float64 // seconds of one more pass, likewise
	threads      int     // most threads of a usual workgroup
	busy         int     // threads that occupy the device
	busyUnit     int     // more of them for each unit
	Concurrent   bool    // threads of a workgroup run at once: barriers and shuffles are cheap, and workgroups compute products by tiles
	RowThreads   int     // most threads for a row that would otherwise be read again
	HeldLanes    int     // most points of a row that a thread holds in registers
	Transpose    int     // side of the tiles in which pointwise kernels transpose; 0: none
	ScatterAhead int     // indices that a thread of a scatter reads at once
	PointsAhead  int     // vectors that a thread of a pointwise kernel computes at once, if it stores halves or bytes
	RateThreads  int     // threads of a compute unit that reach its rate of products
	PassSteps    int     // steps of a thread, each with loads of its own, that take as long as one more pass
	VoteTests    int     // most tests of an update, for each compute unit, with which subgroups find the updates of their rows
	loopBytes    int     // of temporaries of a loop: enough that each kernel occupies the device
}

// families has the traits of each family.
var families = [...]Traits{
	Integrated: {
		units: 16, unitAdds: 166e9, bandwidth: 100e9, launch: 3.5e-6, threads: 256, busyUnit: 1024, Concurrent: true, RowThreads: 1024, HeldLanes: 16,
		Transpose: 32, ScatterAhead: 8, PointsAhead: 2, RateThreads: 512, PassSteps: 8, VoteTests: 8 << 20, loopBytes: 64 << 20,
	},
	Discrete: {
		units: 128, unitAdds: 250e9, bandwidth: 4.8e12, launch: 3.5e-6, threads: 256, busyUnit: 1024, Concurrent: true, RowThreads: 1024, HeldLanes: 16,
		Transpose: 32, ScatterAhead: 8, PointsAhead: 2, RateThreads: 512, PassSteps: 8, VoteTests: 8 << 20, loopBytes: 256 << 20,
	},
	Software: {units: 1, unitAdds: 50e9, bandwidth: 17.5e9, launch: 7e-6, threads: 64, busy: 128, RowThreads: 1024, HeldLanes: 16, ScatterAhead: 1, PointsAhead: 1, RateThreads: 512, PassSteps: 64, loopBytes: 64 << 20},
}

// WithDefaults returns the target with no field zero that has a default.
func (t Target) WithDefaults() Target {
	for _, f := range []struct {
		field *int
		value int
	}{{&t.MaxThreads, 256}, {&t.SharedBytes, 16384}, {&t.MaxGroups, 65535}, {&t.Units, families[t.Family].units}, {&t.Positions, math.MaxInt32}, {&t.ManyPoints, 4 << 20}} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	if t.Machine == (ir.Machine{}) {
		t.Machine = ir.Machine{Bandwidth: t.Traits().bandwidth, Launch: t.Traits().launch, Adds: float64(t.Units) * t.Traits().unitAdds}
	}
	return t
}

// HasMatrices is false in browsers, where no target has matrix instructions: code for them is not linked.
const HasMatrices = runtime.GOOS != "js"

// UnitAdds is the number of additions of float32 of a compute unit in a second.
func (t Target) UnitAdds() float64 { return t.Machine.Adds / float64(t.Units) }

// UnitBandwidth is a compute unit's part of the bytes of memory per second.
func (t Target) UnitBandwidth() float64 { return t.Machine.Bandwidth / float64(t.Units) }

// LoopLimits says which loops are worth it. Scores that take no more memory than a block are
// stored: that takes less time than to compute them again for the backward pass.
func (t Target) LoopLimits() ir.LoopLimits {
	bytes := t.Traits().loopBytes
	limits := ir.LoopLimits{Bytes: max(bytes, min(t.Memory/24, 6*bytes)), Rows: 32, Columns: 128, Scores: bytes, Serial: true}
	if t.Traits().Concurrent {
		limits.Enough = t.Traits().RateThreads * t.WithDefaults().Units
	}
	switch {
	case t.Matrices:
		limits.Attention, limits.AttentionBytes = 128, t.Bytes()
	case t.Traits().Concurrent:
		limits.Attention, limits.AttentionBytes, limits.Skips = 64, t.Bytes(), true
	}
	if n := t.Subgroup(); n <= t.WithDefaults().MaxThreads {
		limits.AttentionFew = 2 * 4 * n // a thread has two vectors of a row
	}
	return limits
}

// Traits are the traits of the family.
func (t Target) Traits() *Traits { return &families[t.Family] }

// Subgroup is the size of subgroups. It is math.MaxInt32, more than any workgroup has, if
// subgroups are not used: because they vary in size, or shuffles are slow.
func (t Target) Subgroup() int {
	if t.SubgroupMin != t.SubgroupMax || t.SubgroupMin < 4 || !t.Traits().Concurrent {
		return math.MaxInt32
	}
	return t.SubgroupMin
}

// Threads is the usual size of a workgroup, a power of two.
func (t Target) Threads() int { return FloorPow2(min(t.Traits().threads, t.MaxThreads)) }

// Busy is a number of threads that occupies the device.
func (t Target) Busy() int { return t.Traits().busy + t.Units*t.Traits().busyUnit }

// Fits reports whether a workgroup may have so many threads and bytes.
func (t Target) Fits(threads, bytes int) bool {
	return threads <= t.MaxThreads && bytes <= t.Bytes()
}

// Bytes is the most memory that a workgroup may share.
func (t Target) Bytes() int { return max(t.SharedBytes, t.TileBytes) }
