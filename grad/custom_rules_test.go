package grad_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// A taken is positions and the numbers that they are of. The one without
// derivative comes first.
type taken struct{ Index, X tensor.Tensor }

// squares is the squares of the numbers at the positions, and the positions.
func squares(p taken) taken { return taken{p.Index.Add(1), p.X.Take(0, p.Index).Square()} }

// TestRulesOfIntegers has rules of functions of integers and to integers. The rules'
// results for them have no effect.
func TestRulesOfIntegers(t *testing.T) {
	at, nonsense := taken{i32(2, 0), f64(3, 4, 5)}, f64(9, 9, 9, 9)
	pull := func(ofIndex tensor.Tensor) func(at, out, ct taken) taken {
		return func(at, _, ct taken) taken {
			if ct.Index.IsValid() {
				t.Errorf("Custom's vjp got the cotangent %v of integers", ct.Index)
			}
			return taken{ofIndex, tensor.Zeros(3).Cast(tensor.Float64).ScatterAdd(0, at.Index, at.X.Take(0, at.Index).Mul(2).Mul(ct.X))}
		}
	}
	push := func(ofIndex tensor.Tensor) func(at, v taken) (taken, taken) {
		return func(at, v taken) (taken, taken) {
			if v.Index.IsValid() {
				t.Errorf("CustomJVP's jvp got the tangent %v of integers", v.Index)
			}
			return squares(at), taken{ofIndex, at.X.Mul(2).Mul(v.X).Take(0, at.Index)}
		}
	}
	for name, f := range map[string]func(taken) taken{
		"Custom":                      grad.Custom(squares, pull(tensor.Tensor{})),
		"Custom, with something":      grad.Custom(squares, pull(i32(1, 1))),
		"Custom, with nonsense":       grad.Custom(squares, pull(nonsense)),
		"CustomJVP":                   grad.CustomJVP(squares, push(tensor.Tensor{})),
		"CustomJVP, with something":   grad.CustomJVP(squares, push(i32(1, 1))),
		"CustomJVP, with nonsense":    grad.CustomJVP(squares, push(nonsense)),
		"Checkpoint":                  grad.Checkpoint(squares),
		"a function without its rule": squares,
	} {
		y, back := grad.VJP(f, at)
		check(t, name+": positions", y.Index.Cast(tensor.Float64), 3, 1)
		for _, ofIndex := range []tensor.Tensor{{}, i32(1, 1), nonsense} {
			g := back(taken{ofIndex, f64(1, 10)})
			check(t, name+": gradient", g.X, 60, 0, 10)
			checkAbsent(t, name+": gradient by integers", g.Index)
		}
		if name == "Custom" || strings.HasPrefix(name, "Custom,") { // no forward mode
			continue
		}
		_, d := grad.JVP(f, at, taken{i32(7, 7), f64(1, 10, 100)})
		check(t, name+": change", d.X, 1000, 6)
		checkAbsent(t, name+": change of integers", d.Index)
	}
}

// TestRulesOfPairs has rules of a function of two tensors, of which one is not
// differentiated, is the same for all examples, or gets a derivative that is.
func TestRulesOfPairs(t *testing.T) {
	type pair struct{ A, B tensor.Tensor }
	product := grad.CustomJVP(
		func(p pair) tensor.Tensor { return p.A.Mul(p.B) },
		func(p, v pair) (tensor.Tensor, tensor.Tensor) {
			return p.A.Mul(p.B), v.A.Mul(p.B).Add(p.A.Mul(v.B))
		})
	at := pair{f64(2, 3), f64(5, 7)}
	for name, want := range map[string][]float64{"A": {5, 70}, "B": {2, 30}, "neither": {0, 0}} {
		var v pair
		switch name {
		case "A":
			v.A = f64(1, 10)
		case "B":
			v.B = f64(1, 10)
		}
		_, d := grad.JVP(product, at, v)
		check(t, "the change of a·b along "+name, d, want...)
	}
	alone := func(x tensor.Tensor) tensor.Tensor { return product(pair{x, f64(5, 7)}) }
	check(t, "the change of a·b, b a constant", pushOnes(alone)(f64(2, 3)), 5, 7)
	check(t, "the gradient of a·b, b a constant", pullOnes(alone)(f64(2, 3)), 5, 7)

	// Rules whose results do not depend on the example, of arguments that do and do not.
	a, b := matrix(3, 2, 1, 2, 3, 4, 5, 6), f64(7, 8)
	sevens := grad.Custom(
		func(p pair) tensor.Tensor { return p.A.Add(p.B) },
		func(_ pair, _, _ tensor.Tensor) pair { return pair{f64(7, 7), f64(7, 70)} })
	sum := func(p pair) tensor.Tensor { return sevens(p).Sum() }
	g := grad.Vmap(func(a tensor.Tensor) tensor.Tensor { return grad.Of(sum)(pair{a, b}).A })(a)
	checkShaped(t, "gradients of each example, all sevens", g, []int{3, 2}, repeated(7, 6)...)
	shared := grad.Of(func(p pair) tensor.Tensor {
		return grad.Vmap(func(a tensor.Tensor) tensor.Tensor { return sum(pair{a, p.B}) })(p.A).Sum()
	})(pair{a, b})
	checkShaped(t, "the gradient by all examples, all sevens", shared.A, []int{3, 2}, repeated(7, 6)...)
	checkShaped(t, "the gradient by what is shared, a sum of sevens", shared.B, []int{2}, 21, 210)

	second := grad.CustomJVP(
		func(p pair) tensor.Tensor { return p.A.Mul(0).Add(p.B) },
		func(p, v pair) (tensor.Tensor, tensor.Tensor) { return p.B, v.B })
	of := func(b tensor.Tensor) tensor.Tensor {
		return grad.Vmap(func(a tensor.Tensor) tensor.Tensor { return second(pair{a, b}) })(a)
	}
	checkShaped(t, "the change of what is shared, of each example", pushOnes(of)(b), []int{3, 2}, repeated(1, 6)...)
	checkShaped(t, "the gradient by what is shared", pullOnes(of)(b), []int{2}, 3, 3)
}

// TestHessianModes has a second derivative of a function without forward mode.
// The Hessian is forward mode over reverse, so it has none.
func TestHessianModes(t *testing.T) {
	exp := grad.Custom(tensor.Tensor.Exp, func(_, y, ct tensor.Tensor) tensor.Tensor { return y.Mul(ct) })
	f := func(x tensor.Tensor) tensor.Tensor { return exp(x).Sum() }
	x := f64(0, 1)
	check(t, "JacRev of Of", grad.JacRev(grad.Of(f))(x), 1, 0, 0, math.E)
	for name, call := range map[string]func(){
		"Hessian":       func() { grad.Hessian(f)(x) },
		"JacFwd of Of":  func() { grad.JacFwd(grad.Of(f))(x) },
		"HVP":           func() { grad.HVP(f, x, x) },
		"Of of a JVP":   func() { grad.Of(func(x tensor.Tensor) tensor.Tensor { _, d := grad.JVP(f, x, x); return d })(x) },
		"JacFwd of exp": func() { grad.JacFwd(exp)(x) },
	} {
		if err := tensor.Try(call); err == nil || !strings.Contains(err.Error(), "use grad.CustomJVP") {
			t.Errorf("%s of Custom: got error %v, want one that names grad.CustomJVP", name, err)
		}
	}
}

// TestCheckpointOfParts has pieces that stop derivatives, or return something
// that they do not compute.
func TestCheckpointOfParts(t *testing.T) {
	batch := matrix(3, 1, 3, 4, 5)
	type two struct{ Captured, Given tensor.Tensor }
	for _, tt := range []struct {
		name string
		f    function
		want []float64 // the derivative at 3, 4 and 5
	}{
		{"x·stop(x)", grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor {
			return x.Mul(grad.StopGradient(x))
		}), []float64{3, 4, 5}},
		{"x·stop(x²), x captured", func(x tensor.Tensor) tensor.Tensor {
			return grad.Checkpoint(func(c tensor.Tensor) tensor.Tensor {
				return x.Mul(grad.StopGradient(x.Mul(x))).Mul(c)
			})(f64(2))
		}, []float64{18, 32, 50}},
		{"x, captured and returned", func(x tensor.Tensor) tensor.Tensor {
			return grad.Checkpoint(func(tensor.Tensor) tensor.Tensor { return x })(f64(2))
		}, []float64{1, 1, 1}},
		{"x², captured and returned", func(x tensor.Tensor) tensor.Tensor {
			square := x.Mul(x)
			r := grad.Checkpoint(func(c tensor.Tensor) two { return two{square, c} })(x)
			return r.Captured.Add(r.Given)
		}, []float64{7, 9, 11}},
		{"what is given and returned", grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor { return x }), []float64{1, 1, 1}},
		{"a constant", grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor { return f64(1) }), []float64{0, 0, 0}},
	} {
		for _, s := range steps {
			if s.order != 1 || s.name == "Vmap of Diff" {
				continue
			}
			call := s.name + " of Checkpoint, " + tt.name
			got := grad.Vmap(s.function(tt.f))(batch)
			checkShaped(t, "Vmap of "+call, got, []int{3, 1}, tt.want...)
			check(t, call, s.function(tt.f)(f64(3)), tt.want[0])
		}
	}
}
