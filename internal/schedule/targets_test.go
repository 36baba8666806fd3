package schedule

import (
	"crypto/sha256"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	_ "github.com/tensorken/tensorken/internal/blocks" // for drivertest
	"github.com/tensorken/tensorken/internal/ptx"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/internal/wgsl"
	"github.com/tensorken/tensorken/ir"
)

// full reports whether TENSORKEN_FULL asks for all of drivertest, and for more random graphs, for each target. Unlike a
// flag, go test keeps the result for the variable, if it is read in a test.
func full() bool { return os.Getenv("TENSORKEN_FULL") == "1" }

// notShort skips a test with -short.
func notShort(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
}

// proofs are kept in the file that TENSORKEN_PROOFS names.
var proofs *drivertest.Proofs

func TestMain(m *testing.M) {
	path := os.Getenv("TENSORKEN_PROOFS")
	if path != "" {
		salt, err := sources("../../driver/drivertest", "../shader/simt", "../interp", "../cases", "../../ir")
		if err == nil {
			proofs, err = drivertest.LoadProofs(path, salt)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	status := m.Run()
	if path != "" && status == 0 {
		if err := proofs.Save(path); err != nil {
			log.Fatal(err)
		}
	}
	os.Exit(status)
}

// sources returns a hash of Go files in some folders, without their tests and comments: the kernels of tests,
// their schedules, and their expected results.
func sources(folders ...string) (string, error) {
	h := sha256.New()
	for _, f := range folders {
		names, err := filepath.Glob(filepath.Join(f, "*.go"))
		if err != nil {
			return "", err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%q\n", name)
			if err := format.Node(h, set, file); err != nil {
				return "", err
			}
		}
	}
	return string(h.Sum(nil)), nil
}

// targets are kinds of GPU that kernels are scheduled for, and the parts of
// drivertest that tell them apart. With TENSORKEN_FULL all parts are computed for each.
var targets = []struct {
	name string
	Target
	parts []string
	all   []string // with TENSORKEN_FULL, nil for all parts
}{
	{"NVIDIA", wide, []string{"BadIndices", "Casts", "Chains", "Elementwise", "Epilogues", "Formats", "Gathers", "InPlace", "Outputs", "Products", "Reductions", "ScatterAdd", "ScatterMax", "ScatterSet",
		"Scan", "Sort", "Special", "Status", "Windows"}, nil},
	{"matrices", nvidia, []string{"InPlace", "LargeProducts", "Products"}, nil},
	{"shared matrices", hopper, []string{"Formats", "LargeProducts", "Products"}, bySharedMatrices},
	{"positions of 64 bits", positions64(wide),
		[]string{"BadIndices", "Chains", "Gathers", "InPlace", "Parts", "Products", "Reductions", "ScatterMax", "Scan", "Status", "Windows"}, byPositions},
	{"positions of 64 bits, matrices", positions64(nvidia), []string{"Products"}, byMatrices},
	{"positions of 64 bits, shared matrices", positions64(hopper), []string{"Products"}, bySharedMatrices},
	{"Apple M1", named("Apple M1", 32),
		[]string{"Chains", "Factors", "Loops", "LongReductions", "Reductions", "ScatterAdd", "ScatterSet", "Scan"}, byLimits},
	{"Intel Arc", named("Intel(R) Arc(TM) A770 Graphics", 16), []string{"Products"}, []string{"LargeProducts", "Products"}},
	{"tiny", Target{MaxThreads: 64, SharedBytes: 4 << 10, MaxGroups: 200, Units: 1},
		[]string{"Chains", "InPlace", "Products", "Reductions", "Scan", "Sort", "Status", "Windows"}, byLimits},
	{"WebGPU", Target{},
		[]string{"Chains", "Epilogues", "InPlace", "LargeProducts"}, byLimits},
	{"software", Target{Family: Software},
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

// open returns a device that schedules kernels for a target, and runs them on
// the host.
func open(t Target) func() (driver.Device, error) {
	return func() (driver.Device, error) {
		d := drivertest.Oracle()
		d.Types = t.Types()
		d.Blocks = driver.GroupedBlocks
		d.Bindings = 8
		d.Async = true
		d.Loops = t.LoopLimits()
		d.Machine = machineOf(t)
		d.Proofs = proofs
		d.Prepare = func(k *ir.Kernel) (made drivertest.Program, err error) {
			for _, a := range k.Args {
				if a.Kind == ir.Out && a.Len > math.MaxInt32 {
					return made, driver.ErrMemory
				}
			}
			p, err := Compile(k, t)
			if err == nil {
				err = simt.Verify(p)
			}
			if err == nil {
				err = fits(p, t)
			}
			if err != nil {
				return made, fmt.Errorf("%w in\n%v", err, k)
			}
			if proofs != nil {
				made.Text = printed(p, t)
			}
			program, signature := sync.OnceValue(func() *simt.Program { return simt.Compile(p) }), SignatureOf(k, t)
			made.Run = func(args []drivertest.HostArg) error {
				list, offsets := make([]simt.Arg, len(args)), make([]driver.Arg, len(args))
				for i, a := range args {
					offsets[i].Offset = a.Offset
					base := signature.Base(i, offsets)
					if d := k.Args[i].DType; d.Format() != nil {
						list[i] = simt.Arg{Data: a.Bytes, Base: d.Bytes(base) / 4, Offset: a.Offset - base}
						continue
					}
					list[i] = simt.Arg{Data: a.Bytes, Base: base, Offset: a.Offset - base, Word: build.Constant(k.Args[i].DType, a.Num).Bits}
				}
				return program().Run(list)
			}
			return made, nil
		}
		return d, nil
	}
}

// printed is the text of a program in the language of its target, with all that a call of it needs.
func printed(p *shader.Program, t Target) string {
	var b strings.Builder
	fmt.Fprintln(&b, p.Scratch)
	for _, q := range p.Passes {
		buffers, params := q.Arguments()
		fmt.Fprintf(&b, "%d %v %d %d %+v %+v\n", q.Threads, q.Grid, q.Subgroup, q.Resident, buffers, params)
		if t.Wide {
			b.WriteString(ptx.Print(q, 90))
		} else {
			b.WriteString(wgsl.Print(q))
		}
	}
	return b.String()
}

// fits returns an error for resources that exceed a target's.
func fits(p *shader.Program, t Target) error {
	limit := func(n, or int) int {
		if n == 0 {
			return or
		}
		return n
	}
	for i, q := range p.Passes {
		bytes := 0
		for _, s := range q.Shared {
			bytes += s.Len * s.Type.Bytes()
		}
		groups := limit(t.MaxGroups, 65535)
		if q.Threads > limit(t.MaxThreads, 256) || bytes > max(limit(t.SharedBytes, 16<<10), t.TileBytes) || q.Grid[0] > groups || q.Grid[1] > groups {
			return fmt.Errorf("pass %d has %d threads in a grid of %v, with %d bytes", i, q.Threads, q.Grid, bytes)
		}
	}
	return nil
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

// matrices are the figures of a GPU with instructions for matrices.
var matrices = ir.Machine{Bandwidth: 4.9e12, Adds: 33e12, Halves: 500e12}

// machineOf returns the figures of a GPU with a target.
func machineOf(t Target) ir.Machine {
	if t.Matrices {
		return matrices
	}
	return ir.Machine{}
}

// named is the target of a GPU by its name alone, as WebGPU has it, with subgroups of some threads.
func named(name string, subgroup int) Target {
	t := Target{Family: Discrete, MaxThreads: 1024, SharedBytes: 32 << 10, SubgroupMin: subgroup, SubgroupMax: subgroup}
	t.Units, t.Machine = MachineOf(name)
	return t
}
