package optim_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// declaredRules returns the names of the exported types of package optim that have an Update.
func declaredRules(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && m.Name.Name == "Update" {
				if r, ok := m.Recv.List[0].Type.(*ast.Ident); ok && r.IsExported() {
					names = append(names, r.Name)
				}
			}
		}
	}
	return names
}

// A lengthDecay embeds a rule of package optim. From step 4 on its numbers depend on the shape.
type lengthDecay struct{ optim.SGD }

func (r lengthDecay) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	if step >= 4 {
		lr /= float64(p.Len())
	}
	return r.SGD.Update(p, g, slots, lr, step)
}

// TestJitShapes compares replayed steps with Step, bit by bit, of a model with parameters of
// several shapes: of some rules they share the numbers that a replay computes.
func TestJitShapes(t *testing.T) {
	tested := map[string]optim.Rule{"a rule that embeds one": lengthDecay{optim.SGD{Momentum: 0.9}}}
	have := map[string]bool{}
	for name, r := range rules {
		tested[name] = r
		have[reflect.TypeOf(r).Name()] = true
	}
	for _, name := range declaredRules(t) {
		if !have[name] {
			t.Errorf("rule %s is not tested: add it to the table rules", name)
		}
	}
	type model struct{ A, B, C tensor.Tensor }
	rng := tensor.NewRNG(5)
	start := model{rng.Normal(3, 4).Keep(), rng.Normal(4, 9).Keep(), rng.Normal(9).Keep()}
	const steps = 9
	var batches []tensor.Tensor
	for range steps {
		batches = append(batches, rng.Normal(5, 3).Keep())
	}
	if err := tensor.Eval(start, batches); err != nil {
		t.Fatal(err)
	}
	for name, r := range tested {
		t.Run(name, func(t *testing.T) {
			runs := 0
			loss := func(m model, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, model) {
				runs++
				return x.MatMul(m.A).Tanh().MatMul(m.B).Add(m.C).Square().Mean(), m
			}
			m, n := start, start
			o, p := optim.New(r, 0.05), optim.New(r, 0.05)
			o.Schedule = optim.Warmup(3, optim.Cosine(20, 0.1))
			p.Schedule = o.Schedule
			step := optim.Jit(o, loss)
			for i, x := range batches {
				got, err := step(&m, x, nil)
				if err != nil {
					t.Fatal(err)
				}
				replayed := runs
				want, next, g := optim.ValueAndGradAux(p, func(m model) (tensor.Tensor, model) { return loss(m, x, nil) })(n)
				if err := p.Step(&next, g); err != nil {
					t.Fatal(err)
				}
				n, runs = next, replayed
				if a, b := all(t, got, m, o.State), all(t, want, n, p.State); !reflect.DeepEqual(a, b) {
					t.Fatalf("step %d: Jit\n%v\nStep\n%v", i, a, b)
				}
			}
			// The loss runs in the first step, twice in the second, which is recorded, and once before the first replay.
			if want := 1 + 2 + 1; runs != want {
				t.Errorf("the loss ran %d times, want %d: the other steps are replayed", runs, want)
			}
		})
	}
}
