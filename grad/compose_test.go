package grad_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A step makes a function of each element of a vector another one: its
// derivative, or the same in another way.
type step struct {
	name     string
	order    int  // how often it differentiates
	forward  bool // by forward mode
	closed   bool // the function must capture nothing that is differentiated
	function func(function) function
}

// each applies f to each element of a vector, as a vector of one.
func each(f function) function {
	return func(x tensor.Tensor) tensor.Tensor { return grad.Vmap(f)(x.Unsqueeze(1)).Reshape(-1) }
}

// flat is the sums of the rows of f's result, as a vector.
func flat(f function) function {
	return func(x tensor.Tensor) tensor.Tensor { return f(x).Sum(1).Reshape(-1) }
}

var steps = []step{
	{"VJP", 1, false, false, pullOnes},
	{"JVP", 1, true, false, pushOnes},
	{"Linearize", 1, true, false, func(f function) function {
		return func(x tensor.Tensor) tensor.Tensor {
			_, push := grad.Linearize(f, x)
			return push(tensor.OnesLike(x))
		}
	}},
	{"Of", 1, false, false, func(f function) function {
		return grad.Of(func(x tensor.Tensor) tensor.Tensor { return f(x).Sum() })
	}},
	{"ValueAndGradAux", 1, false, false, func(f function) function {
		return func(x tensor.Tensor) tensor.Tensor {
			_, _, g := grad.ValueAndGradAux(func(x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return f(x).Sum(), x.Exp() })(x)
			return g
		}
	}},
	{"HVP", 1, true, false, func(f function) function {
		// The gradient of y·f(x) by y is f(x), and that changes along x by f'(x).
		return func(x tensor.Tensor) tensor.Tensor {
			type pair struct{ X, Y tensor.Tensor }
			g := func(p pair) tensor.Tensor { return f(p.X).Mul(p.Y).Sum() }
			return grad.HVP(g, pair{x, tensor.ZerosLike(x)}, pair{tensor.OnesLike(x), tensor.Tensor{}}).Y
		}
	}},
	{"JacRev", 1, false, false, func(f function) function { return flat(grad.JacRev(f)) }},
	{"JacFwd", 1, true, false, func(f function) function { return flat(grad.JacFwd(f)) }},
	{"Vmap of Diff", 1, true, false, func(f function) function { return each(grad.Diff(f)) }},

	{"Vmap of each", 0, false, false, each},
	{"Vmap", 0, false, false, func(f function) function {
		return func(x tensor.Tensor) tensor.Tensor { return grad.Vmap(f)(tensor.Stack(0, x.Mul(2), x)).At(1) }
	}},
	{"VmapAxes", 0, false, false, func(f function) function {
		return func(x tensor.Tensor) tensor.Tensor {
			return grad.VmapAxes(f, -1, 0)(tensor.Stack(-1, x.Mul(2), x)).At(1)
		}
	}},
	{"Checkpoint", 0, false, false, grad.Checkpoint[tensor.Tensor, tensor.Tensor]},
	{"CustomJVP", 0, false, true, func(f function) function {
		return grad.CustomJVP(f, func(x, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return grad.JVP(f, x, v) })
	}},
	{"Custom", 0, false, true, func(f function) function {
		return grad.Custom(f, func(x, _, ct tensor.Tensor) tensor.Tensor {
			_, pull := grad.VJP(f, x)
			return pull(ct)
		})
	}},
}

// A pipeline is steps, the first of which is done first.
type pipeline []step

func (p pipeline) of(f function) function {
	for _, s := range p {
		f = s.function(f)
	}
	return f
}

func (p pipeline) order() int {
	n := 0
	for _, s := range p {
		n += s.order
	}
	return n
}

func (p pipeline) String() string {
	names := make([]string, len(p))
	for i, s := range p {
		names[len(p)-1-i] = s.name
	}
	return strings.Join(names, " of ")
}

// reverseOnly reports whether the pipeline has a Custom in it and forward mode
// over that, which is refused.
func (p pipeline) reverseOnly() bool {
	custom := slices.IndexFunc(p, func(s step) bool { return s.name == "Custom" })
	return custom >= 0 && slices.ContainsFunc(p[custom:], func(s step) bool { return s.forward || s.name == "CustomJVP" })
}

// run computes y, and reports whether that is refused as it may be.
func (p pipeline) run(t *testing.T, call string, y func() tensor.Tensor) (tensor.Tensor, bool) {
	t.Helper()
	var result tensor.Tensor
	err := tensor.Try(func() { result = y() })
	if err == nil {
		err = tensor.Eval(result)
	}
	var e *tensor.Error
	if errors.As(err, &e) && e.Op == "grad.Custom" && p.reverseOnly() {
		return result, false
	}
	if err != nil {
		t.Errorf("%s: %v", call, err)
	}
	return result, err == nil
}

// random is a pipeline of n of some steps.
func random(rng *rand.Rand, of []step, n int) pipeline {
	p := make(pipeline, n)
	for i := range p {
		p[i] = of[rng.IntN(len(of))]
	}
	return p
}

// pipelines are all of one and two steps and some of more.
func pipelines(rng *rand.Rand) []pipeline {
	var list []pipeline
	for _, a := range steps {
		list = append(list, pipeline{a})
		for _, b := range steps {
			list = append(list, pipeline{a, b})
		}
	}
	for n := 3; n <= 5; n++ {
		for range 150 {
			list = append(list, random(rng, steps, n))
		}
	}
	return list
}

// TestCompositions differentiates x·sin x by many compositions of
// transformations: its derivative of order n is x·sin(x+nπ/2) +
// n·sin(x+(n-1)π/2).
func TestCompositions(t *testing.T) {
	x := f64(0.5, -1, 2)
	f := func(x tensor.Tensor) tensor.Tensor { return x.Mul(x.Sin()) }
	for _, p := range pipelines(rand.New(rand.NewPCG(1, 2))) {
		call := fmt.Sprint(p, " of x·sin x")
		got, ok := p.run(t, call, func() tensor.Tensor { return p.of(f)(x) })
		if !ok {
			continue
		}
		n := float64(p.order())
		want := mapped(data(t, x), func(x float64) float64 {
			return x*math.Sin(x+n*math.Pi/2) + n*math.Sin(x+(n-1)*math.Pi/2)
		})
		if diff, ok := near(t, got, f64(want...)); !ok {
			t.Errorf("%s: got %s", call, diff)
		}
	}
}

// TestCaptures does the same with sin(x·y), by x and around that by y, which the inner
// function captures. The expected values come from reverse mode alone.
func TestCaptures(t *testing.T) {
	at, y := f64(0.5, -1, 2), f64(1.5, 0.25, -0.5)
	around := func(inner, outer pipeline) tensor.Tensor {
		return outer.of(func(y tensor.Tensor) tensor.Tensor {
			return inner.of(func(x tensor.Tensor) tensor.Tensor {
				return x.Mul(y).Sin()
			})(at)
		})(y)
	}
	// Of one element at a time it would be another function.
	whole := slices.DeleteFunc(slices.Clone(steps), func(s step) bool { return strings.HasPrefix(s.name, "Vmap of") })
	open := slices.DeleteFunc(slices.Clone(whole), func(s step) bool { return s.closed })
	rng := rand.New(rand.NewPCG(3, 4))
	for range 600 {
		inner, outer := random(rng, open, 1+rng.IntN(3)), random(rng, whole, 1+rng.IntN(3))
		call := fmt.Sprint(outer, " by y around ", inner, " by x of sin x·y")
		got, ok := outer.run(t, call, func() tensor.Tensor { return around(inner, outer) })
		if !ok {
			continue
		}
		want := around(slices.Repeat(pipeline{steps[0]}, inner.order()), slices.Repeat(pipeline{steps[0]}, outer.order()))
		if diff, ok := near(t, got, want); !ok {
			t.Errorf("%s: got %s", call, diff)
		}
	}
}

// TestDeepForward pushes along a graph of 100,000 operations, and applies one
// to a batch: neither the stack nor the number of paths may matter.
func TestDeepForward(t *testing.T) {
	n := deepGraph()
	f := func(x tensor.Tensor) tensor.Tensor {
		y := node(x)
		for range n {
			y = graph.Binary(ir.Mul, y, y)
		}
		return tensorOf(y)
	}
	_, d := grad.JVP(f, f64(1), f64(1))
	batch := grad.Vmap(f)(f64(1, 1))
	for call, y := range map[string]tensor.Tensor{"JVP": d, "Vmap": batch} {
		if got, most := len(graph.Sorted([]*graph.Node{node(y)})), 5*n; got > most {
			t.Errorf("%s has %d nodes, want at most %d", call, got, most)
		}
	}
}
