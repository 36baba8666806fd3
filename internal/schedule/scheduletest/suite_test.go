package scheduletest_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	_ "github.com/tensorken/tensorken/internal/blocks" // formats
	"github.com/tensorken/tensorken/internal/schedule"
	_ "github.com/tensorken/tensorken/internal/schedule/packed"
	"github.com/tensorken/tensorken/internal/schedule/scheduletest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// full reports whether TENSORKEN_FULL asks for all of drivertest, and for more random graphs, for each target. Unlike a
// flag, go test keeps the result for the variable, if it is read in a test.
func full() bool { return os.Getenv("TENSORKEN_FULL") == "1" }

// skipShort skips a test with -short.
func skipShort(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
}

// proofs are kept in the file that TENSORKEN_PROOFS names.
var proofs *drivertest.Proofs

func TestMain(m *testing.M) {
	os.Exit(scheduletest.WithProofs(m, &proofs, "internal/schedule", "internal/schedule/scheduletest"))
}

// targets are kinds of GPU that kernels are scheduled for, and the parts of
// drivertest that tell them apart. With TENSORKEN_FULL all parts are computed for each.
var targets = []struct {
	name string
	schedule.Target
	parts []string
	all   []string // with TENSORKEN_FULL, nil for all parts
}{
	{"NVIDIA", scheduletest.Wide, []string{"BadIndices", "Casts", "Chains", "Elementwise", "Epilogues", "Formats", "Gathers", "InPlace", "Outputs", "Products", "Reductions", "ScatterAdd", "ScatterMax", "ScatterSet",
		"Scan", "Sort", "Special", "Status", "Windows"}, nil},
	{"matrices", scheduletest.NVIDIA, []string{"InPlace", "LargeProducts", "Products"}, nil},
	{"shared matrices", scheduletest.Hopper, []string{"Formats", "LargeProducts", "Products"}, bySharedMatrices},
	{"positions of 64 bits", scheduletest.Positions64(scheduletest.Wide),
		[]string{"BadIndices", "Chains", "Gathers", "InPlace", "Parts", "Products", "Reductions", "ScatterMax", "Scan", "Status", "Windows"}, byPositions},
	{"positions of 64 bits, matrices", scheduletest.Positions64(scheduletest.NVIDIA), []string{"Products"}, byMatrices},
	{"positions of 64 bits, shared matrices", scheduletest.Positions64(scheduletest.Hopper), []string{"Products"}, bySharedMatrices},
	{"Apple M1", named("Apple M1", 32),
		[]string{"Chains", "Factors", "Loops", "LongReductions", "Reductions", "ScatterAdd", "ScatterSet", "Scan"}, byLimits},
	{"Intel Arc", named("Intel(R) Arc(TM) A770 Graphics", 16), []string{"Products"}, []string{"LargeProducts", "Products"}},
	{"tiny", schedule.Target{MaxThreads: 64, SharedBytes: 4 << 10, MaxGroups: 200, Units: 1},
		[]string{"Chains", "InPlace", "Products", "Reductions", "Scan", "Sort", "Status", "Windows"}, byLimits},
	{"WebGPU", schedule.Target{},
		[]string{"Chains", "Epilogues", "InPlace", "LargeProducts"}, byLimits},
	{"software", schedule.Target{Family: schedule.Software},
		[]string{"Chains", "Factors", "InPlace", "Loops", "LongReductions", "Products", "ScatterAdd", "Scan", "Sort", "Windows"}, nil},
}

// byMatrices are the parts of drivertest whose kernels multiply: a target with other matrix instructions than
// the one before it computes the rest in the same way.
var byMatrices = []string{"Epilogues", "Factors", "LargeProducts", "Products", "Windows"}

// bySharedMatrices are the kernels that differ on a target with matrices in shared memory, whose
// instructions multiply in attention of halves. Attention of float32 has the same kernels as without them.
var bySharedMatrices = append([]string{"Attention"}, byMatrices...)

// byPositions are the parts whose kernels have positions of their own kinds. All elementwise operations have the same.
var byPositions = append([]string{"BadIndices", "Fixed", "Formats", "Gathers", "Layouts", "Parts"}, byLimits...)

// byLimits are the parts whose kernels depend on subgroups or on the memory that a workgroup shares.
var byLimits = append([]string{"Attention", "Chains", "InPlace", "LongReductions", "Loops", "Outputs", "Reductions", "ScatterAdd", "ScatterMax", "ScatterSet", "Scan", "Sort",
	"Status"}, byMatrices...)

// open returns a device for a target.
func open(t schedule.Target) func() (driver.Device, error) {
	return func() (driver.Device, error) {
		d := scheduletest.Open(t, func(k *ir.Kernel, t schedule.Target) (*shader.Program, func(int, []driver.Arg) int, error) {
			p, err := schedule.Compile(k, t)
			s := schedule.SignatureOf(k, t)
			return p, s.Base, err
		})
		d.Proofs = proofs
		return d, nil
	}
}

// Schedules are right for each target. With -short, three are tested.
func TestTargets(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	for i, target := range targets {
		t.Run(target.name, func(t *testing.T) {
			parts := target.parts
			switch {
			case full():
				parts = target.all
			case testing.Short() && i%5 != 0:
				t.Skip("as other targets, but for details")
			case testing.Short():
				parts = []string{"Chains", "Status"}
			}
			drivertest.Test(t, open(target.Target), parts...)
		})
	}
}

// Random graphs are computed for each target.
func TestRandom(t *testing.T) {
	n := 50
	switch {
	case full():
		n = 1000
	case testing.Short():
		n = 10
	}
	for i, target := range targets {
		t.Run(target.name, func(t *testing.T) { drivertest.Random(t, open(target.Target), n, uint64(i)) })
	}
}

// Threads with several vectors read the elements that they replace.
func TestInPlaceAhead(t *testing.T) {
	skipShort(t)
	target := scheduletest.Big
	target.ManyPoints = 1
	drivertest.Test(t, open(target), "InPlace")
}

// Workgroups that only fill up a grid replace nothing again.
func TestInPlaceOnce(t *testing.T) {
	skipShort(t)
	target := scheduletest.Big
	target.MaxGroups = 50
	drivertest.Test(t, open(target), "InPlace")
}

// named is the target of a GPU by its name alone, as WebGPU has it, with subgroups of some threads.
func named(name string, subgroup int) schedule.Target {
	t := schedule.Target{Family: schedule.Discrete, MaxThreads: 1024, SharedBytes: 32 << 10, SubgroupMin: subgroup, SubgroupMax: subgroup}
	t.Units, t.Machine = schedule.MachineOf(name)
	return t
}
