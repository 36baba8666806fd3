package drivertest

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// A kernel is computed again only if it, its program or the salt is new, or if it was wrong.
func TestProofs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "proofs")
	wrong := errors.New("wrong")
	for i, c := range []struct {
		what, salt, text string
		op               ir.Op
		fails            bool
		runs             int
	}{
		{"a kernel that fails", "a", "first", ir.Neg, true, 1},
		{"the kernel, right now", "a", "first", ir.Neg, false, 1},
		{"the kernel again", "a", "first", ir.Neg, false, 0},
		{"another program", "a", "second", ir.Neg, false, 1},
		{"a program that was not used last time", "a", "first", ir.Neg, false, 1},
		{"another kernel", "a", "first", ir.Exp, false, 1},
		{"other tests", "b", "first", ir.Exp, false, 1},
		{"a proved kernel that would fail", "b", "first", ir.Exp, true, 0},
	} {
		proofs, err := LoadProofs(path, c.salt)
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		r := Oracle()
		r.Proofs = proofs
		r.Prepare = func(k *ir.Kernel) (Program, error) {
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
		if err := p.check(r, d); (err != nil) != (c.fails && c.runs > 0) || err != nil && !errors.Is(err, wrong) || runs != c.runs {
			t.Errorf("%d, %s: %d runs, error %v, want %d runs", i, c.what, runs, err, c.runs)
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
		proofs, err := LoadProofs(path, "salt")
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
