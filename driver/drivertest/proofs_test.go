package drivertest

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// A kernel is computed again only if it, its program or the salt is new, or if it was wrong. Its program is made again
// only if it is computed or the sources are new.
func TestProofs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "proofs")
	wrong := errors.New("wrong")
	for i, c := range []struct {
		what, salt, sources, target, text string
		op                                ir.Op
		fails                             bool
		makes, runs                       int
	}{
		{"a kernel that fails", "a", "1", "x", "first", ir.Neg, true, 1, 1},
		{"the kernel, right now", "a", "1", "x", "first", ir.Neg, false, 1, 1},
		{"the kernel again", "a", "1", "x", "first", ir.Neg, false, 0, 0},
		{"other sources, the same program", "a", "2", "x", "first", ir.Neg, false, 1, 0},
		{"the sources again", "a", "2", "x", "first", ir.Neg, false, 0, 0},
		{"other sources, another program", "a", "3", "x", "second", ir.Neg, false, 1, 1},
		{"another target, the same program", "a", "3", "y", "second", ir.Neg, false, 1, 0},
		{"another target, another program", "a", "3", "z", "first", ir.Neg, false, 1, 1},
		{"a target that was not used last time", "a", "3", "y", "second", ir.Neg, false, 1, 1},
		{"another kernel", "a", "3", "y", "second", ir.Exp, false, 1, 1},
		{"other tests", "b", "3", "y", "second", ir.Exp, false, 1, 1},
		{"a proved kernel that would fail", "b", "3", "y", "second", ir.Exp, true, 0, 0},
	} {
		proofs, err := LoadProofs(path, c.salt, c.sources)
		if err != nil {
			t.Fatal(err)
		}
		makes, runs := 0, 0
		r := Oracle()
		r.Proofs, r.Target = proofs, c.target
		r.Prepare = func(k *ir.Kernel) (Program, error) {
			makes++
			p, err := interpret(k)
			run := p.Run
			p.Text = c.text
			p.Run = func(args []HostArg) error {
				if runs++; c.fails {
					return wrong
				}
				return run(args)
			}
			return p, err
		}
		d := exec.New(r)
		known := results{}
		x := known.stored(ir.Float32, []int{2}, []ir.Number{ir.Float(ir.Float32, 1), ir.Float(ir.Float32, -2)})
		p := &program{known: known, turns: [][]*graph.Node{{graph.Unary(c.op, x)}}}
		if err := p.check(r, d); (err != nil) != (c.fails && c.runs > 0) || err != nil && !errors.Is(err, wrong) || makes != c.makes || runs != c.runs {
			t.Errorf("%d, %s: made %d times, run %d, error %v, want %d and %d", i, c.what, makes, runs, err, c.makes, c.runs)
		}
		d.Close()
		if err := proofs.Save(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Kernels that are called without a graph are proved in the same way.
func TestProofsOfCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "proofs")
	for i, want := range []int{1, 0} {
		proofs, err := LoadProofs(path, "salt", "")
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		r := Oracle()
		r.Proofs = proofs
		r.Prepare = func(k *ir.Kernel) (Program, error) {
			p, err := interpret(k)
			run := p.Run
			p.Run = func(args []HostArg) error {
				runs++
				return run(args)
			}
			return p, err
		}
		one := ir.Float(ir.Float32, 1)
		s := newSuite(t, r, nil)
		s.run("a copy", call{copyKernel(ir.Float32, 2), []interp.Arg{{Data: make([]ir.Number, 2)}, {Data: []ir.Number{one, one}}}})
		if runs != want {
			t.Errorf("run %d: the kernel ran %d times, want %d", i, runs, want)
		}
		if err := proofs.Save(path); err != nil {
			t.Fatal(err)
		}
	}
}

// anyGPU is a Reference that counts.
type anyGPU struct {
	*Reference
	compiled, ran *int
}

func (anyGPU) Holds() bool      { return false }
func (anyGPU) Flush()           {}
func (anyGPU) Language() string { return "none" }

func (anyGPU) CompileRaw(*ir.RawKernel) (driver.Program, error) { return nil, driver.ErrSource }

func (g anyGPU) Compile(k *ir.Kernel) (driver.Program, error) {
	*g.compiled++
	return g.Reference.Compile(k)
}

func (g anyGPU) Run(calls []driver.Call) error {
	*g.ran += len(calls)
	return g.Reference.Run(calls)
}

// A GPU compiles and runs a kernel once for all runs of the tests on it. One without a proof makes others run too.
func TestProving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "proofs")
	for i, c := range []struct {
		name          string
		second        ir.Op
		compiled, ran int
	}{
		{"x", ir.Exp, 2, 2},
		{"x", ir.Exp, 0, 0},
		{"y", ir.Exp, 2, 2},
		{"y", ir.Exp, 0, 0},
		{"y", ir.Neg, 2, 2},
	} {
		proofs, err := LoadProofs(path, "salt", "sources")
		if err != nil {
			t.Fatal(err)
		}
		compiled, ran := 0, 0
		drv := Proving(anyGPU{Oracle(), &compiled, &ran}, proofs, c.name)
		d := exec.New(drv)
		known := results{}
		x := known.stored(ir.Float32, []int{2}, []ir.Number{ir.Float(ir.Float32, 1), ir.Float(ir.Float32, -2)})
		table := known.stored(ir.Float32, []int{1}, []ir.Number{ir.Float(ir.Float32, 1)})
		index := known.stored(ir.Int32, []int{2}, []ir.Number{0, 0})
		first := graph.Unary(ir.Sin, graph.Gather(table, index, 0)) // reports no bad index
		second := graph.Unary(c.second, x)
		p := &program{known: known, turns: [][]*graph.Node{{first}, {second}}}
		if err := p.check(drv, d); err != nil || compiled != c.compiled || ran != c.ran {
			t.Errorf("%d: %d kernels compiled, %d run, error %v, want %d and %d", i, compiled, ran, err, c.compiled, c.ran)
		}
		d.Close()
		if err := proofs.Save(path); err != nil {
			t.Fatal(err)
		}
	}
}
