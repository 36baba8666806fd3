package grad_test

import (
	"math"
	"regexp"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

func check(t *testing.T, call string, got tensor.Tensor, want ...float64) {
	t.Helper()
	if g := data(t, got); !same(g, want) {
		t.Errorf("%s = %v, want %v", call, g, want)
	}
}

func TestNested(t *testing.T) {
	product := func(x tensor.Tensor) tensor.Tensor {
		sum := func(y tensor.Tensor) tensor.Tensor { return x.Add(y).Sum() }
		return x.Mul(grad.Of(sum)(f64(1))).Sum()
	}
	check(t, "d/dx x·d/dy(x+y)", grad.Of(product)(f64(3)), 1)

	atItself := func(x tensor.Tensor) tensor.Tensor {
		return grad.Of(func(y tensor.Tensor) tensor.Tensor { return x.Mul(y).Mul(y).Sum() })(x).Sum()
	}
	check(t, "d/dx (y ↦ x·y²)' at y=x", grad.Of(atItself)(f64(1, 2)), 4, 8)

	tanh := math.Tanh(2)
	check(t, "tanh'' at 2", grad.Of(grad.Of(tensor.Tensor.Tanh))(f64(2)), -2*tanh*(1-tanh*tanh))
	check(t, "(x⁴)''' at 2", derivative(func(x tensor.Tensor) tensor.Tensor { return x.Pow(4) }, 3)(f64(2)), 48)

	// The inner function does not use its argument, only the outer one.
	unused := func(x tensor.Tensor) tensor.Tensor {
		return x.Mul(grad.Of(func(y tensor.Tensor) tensor.Tensor { return x.Sum() })(x).Add(1)).Sum()
	}
	check(t, "d/dx x·(1 + d/dy x)", grad.Of(unused)(f64(5)), 1)

	// A pullback made by the outer function, called within the inner one.
	pulled := func(x tensor.Tensor) tensor.Tensor {
		_, pull := grad.VJP(func(z tensor.Tensor) tensor.Tensor { return z.Mul(z).Mul(x) }, x) // 2x·x·ct
		return grad.Of(func(y tensor.Tensor) tensor.Tensor { return pull(y.Mul(y)).Sum() })(x).Sum()
	}
	check(t, "d/dx 2x²·2x", grad.Of(pulled)(f64(3)), 12*9)
}

func TestVJP(t *testing.T) {
	type in struct{ A, B tensor.Tensor }
	type out struct {
		Product, Unused tensor.Tensor
		Position        tensor.Tensor
		Itself          tensor.Tensor
	}
	f := func(p in) out {
		ab := p.A.Mul(p.B)
		return out{Product: ab, Unused: f64(1), Position: ab.ArgMax(0), Itself: p.A}
	}
	at := in{f64(2, 3), f64(5, 7)}
	y, pull := grad.VJP(f, at)
	check(t, "value", y.Product, 10, 21)
	check(t, "value handed through", y.Itself, 2, 3)
	if node(y.Itself) != node(at.A) {
		t.Error("a value that was handed through is another node")
	}
	g := pull(out{Product: f64(1, 10), Position: i32(1)})
	check(t, "pull(product).A", g.A, 5, 70)
	check(t, "pull(product).B", g.B, 2, 30)
	g = pull(out{Product: f64(1, 1), Itself: f64(100, 200)}) // once more
	check(t, "pull(product, itself).A", g.A, 105, 207)
	g = pull(out{})
	check(t, "pull(nothing).A", g.A, 0, 0)

	// The residuals of a pullback are stored once it has been called.
	var exp tensor.Tensor
	_, pull1 := grad.VJP(func(x tensor.Tensor) tensor.Tensor {
		exp = x.Exp()
		return exp.Reshape(1, 2).Mul(2)
	}, f64(0, 1))
	if node(exp).IsKept() {
		t.Error("an intermediate result is to be stored before the pullback is called")
	}
	check(t, "pull", pull1(tensor.New([]float64{1, 1}, 1, 2)), 2, 2*math.E)
	if !node(exp).IsKept() {
		t.Error("the pullback was called, and what it needs is not to be stored")
	}
}

func TestLookInside(t *testing.T) {
	f := func(x tensor.Tensor) tensor.Tensor {
		y := x.Mul(x)
		if y.Sum().Item() > 5 { // evaluates y
			return y.Mul(x).Sum()
		}
		if err := tensor.Eval(y); err != nil {
			t.Fatal(err)
		}
		return y.Sum()
	}
	check(t, "gradient of x³", grad.Of(f)(f64(1, 3)), 3, 27)
	check(t, "gradient of x²", grad.Of(f)(f64(1, 2)), 2, 4)
	check(t, "second derivative of x³", derivative(f, 2)(f64(1, 3)), 6, 18)
}

// TestSources checks that a call leaves nothing behind: results computed during it forget
// their operands after it, even if its function panics.
func TestSources(t *testing.T) {
	var y tensor.Tensor
	f := func(x tensor.Tensor) tensor.Tensor {
		y = x.Exp()
		y.Sum().Item()
		if err := tensor.Eval(y); err != nil {
			t.Fatal(err)
		}
		if node(y).Src().Len() == 0 {
			t.Error("a node under differentiation has lost its operands")
		}
		return y.Sum()
	}
	g := grad.Of(f)(f64(1))
	if node(y).Src().Len() != 0 || node(y).Traced() {
		t.Error("a computed node still has its operands after the call")
	}
	check(t, "gradient", g, math.E)

	func() {
		defer func() { recover() }()
		grad.Of(func(x tensor.Tensor) tensor.Tensor {
			y = x.Exp()
			panic("stop")
		})(f64(1))
	}()
	if node(y).Traced() {
		t.Error("the function panicked and its scope is still open")
	}
}

type norm struct {
	Scale tensor.Tensor
	Mean  tensor.Tensor `tensor:",state"`
}

type model struct {
	Norm   *norm
	Tied   *norm // the same
	Layers []tensor.Tensor
	ByName map[string]tensor.Tensor
	Bias   tensor.Tensor // absent
	Count  tensor.Tensor // int32
	Width  int
}

func newModel() model {
	n := &norm{Scale: f64(2), Mean: f64(10)}
	return model{
		Norm: n, Tied: n, Layers: []tensor.Tensor{f64(3), f64(4)},
		ByName: map[string]tensor.Tensor{"a": f64(5), "unused": f64(6, 7)}, Count: i32(1), Width: 8,
	}
}

func (m model) loss() tensor.Tensor {
	x := m.Norm.Scale.Mul(m.Tied.Scale).Mul(m.Layers[0]).Mul(m.Layers[1]).Mul(m.ByName["a"])
	return x.Mul(m.Norm.Mean).Mul(m.Count.Cast(tensor.Float64)).Sum()
}

func TestTrees(t *testing.T) {
	m := newModel()
	value, g := grad.ValueAndGrad(model.loss)(m)
	check(t, "value", value, 2*2*3*4*5*10)
	check(t, "a tied parameter's total", g.Norm.Scale, 2*2*3*4*5*10)
	check(t, "layers.0", g.Layers[0], 2*2*4*5*10)
	check(t, "layers.1", g.Layers[1], 2*2*3*5*10)
	check(t, "by_name.a", g.ByName["a"], 2*2*3*4*10)
	check(t, "by_name.unused", g.ByName["unused"], 0, 0)
	for name, x := range map[string]tensor.Tensor{"state": g.Norm.Mean, "absent": g.Bias, "int32": g.Count} {
		if x.IsValid() {
			t.Errorf("the gradient of a leaf that is %s = %v, want absent", name, x)
		}
	}
	if g.Tied != g.Norm || g.Norm == m.Norm {
		t.Error("the gradient's pointers are not as the model's: shared with each other, not with it")
	}
	if g.Layers[0] = f64(0); m.Layers[0].Item() != 3 {
		t.Error("the gradient shares a slice with the model")
	}
	if g.Width != 8 {
		t.Errorf("a number in the gradient = %d, want the model's 8", g.Width)
	}

	// The function gets a copy of its own.
	grad.Of(func(m model) tensor.Tensor {
		loss := m.loss()
		m.Layers[0], m.Norm.Scale = f64(0), f64(0)
		return loss
	})(m)
	check(t, "layers.0 of the model", m.Layers[0], 3)
	check(t, "norm.scale of the model", m.Norm.Scale, 2)
}

func TestAux(t *testing.T) {
	type aux struct {
		Model    model
		Logits   tensor.Tensor
		Computed tensor.Tensor
		Absent   tensor.Tensor
	}
	m := newModel()
	value, a, g := grad.ValueAndGradAux(func(m model) (tensor.Tensor, aux) {
		next := m
		next.Norm = &norm{Scale: m.Norm.Scale, Mean: m.Norm.Mean.Add(1)}
		logits := m.Layers[0].Mul(m.Layers[1])
		return m.loss(), aux{Model: next, Logits: logits, Computed: f64(1)}
	})(m)
	co := node(value).CoOutputs()
	if co == nil || node(g.Layers[0]).CoOutputs() != co || node(a.Logits).CoOutputs() != co {
		t.Fatal("the results of one call do not share CoOutputs")
	}
	has := map[*graph.Node]bool{}
	for _, n := range co.Nodes {
		has[n] = true
	}
	if want := []*graph.Node{node(value), node(a.Model.Norm.Mean), node(a.Logits)}; len(has) != len(want) || !has[want[0]] || !has[want[1]] || !has[want[2]] {
		t.Errorf("the CoOutputs have %d nodes, want the %d that are to be computed: value, mean, logits", len(has), len(want))
	}
	if node(a.Model.Layers[0]) != node(m.Layers[0]) {
		t.Error("a leaf handed through as auxiliary output is another node")
	}
	check(t, "mean", a.Model.Norm.Mean, 11)
	check(t, "logits", a.Logits, 12)
	check(t, "gradient", g.Layers[1], 2*2*3*5*10)
}

func TestErrors(t *testing.T) {
	x := f64(1, 2)
	//lint:ignore U1000 its presence matters
	type unwalkable struct{ hidden tensor.Tensor }
	_, pull := grad.VJP(func(x tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{x, {}} }, x)
	for _, tt := range []struct {
		f    func()
		want string
	}{
		{func() { grad.Of(func(x tensor.Tensor) tensor.Tensor { return tensor.Tensor{} })(x) },
			`grad.Of: the function's result is the absent tensor \(the zero Tensor\)`},
		{func() { grad.Of(tensor.Tensor.Exp)(x) },
			`grad.Of of float64 \[2\]: the function's result must have one element: take its Sum or Mean, or use VJP`},
		{func() { grad.ValueAndGrad(func(x tensor.Tensor) tensor.Tensor { return x.ArgMax(0) })(x) },
			`grad.ValueAndGrad of int32 \[\]: the function's result is not floating-point: Cast it`},
		{func() { pull([]tensor.Tensor{f64(1)}) },
			`grad.VJP's pullback: the cotangent is float64 \[1\] where float64 \[2\] is wanted`},
		{func() { pull([]tensor.Tensor{tensor.New([]float32{1, 2})}) },
			`grad.VJP's pullback: the cotangent is float32 \[2\] where float64 \[2\] is wanted`},
		{func() { pull([]tensor.Tensor{x, x}) },
			`grad.VJP's pullback of float64 \[2\]: the cotangent has a tensor where there is none to go with it`},
		{func() { pull([]tensor.Tensor{x, x, x}) },
			`grad.VJP's pullback of a \[\]tensor.Tensor: .*"2".*`},
		{func() { grad.Of(func(unwalkable) tensor.Tensor { return x })(unwalkable{}) },
			`grad.Of of a grad_test.unwalkable: .*unexported field hidden.*`},
	} {
		err := tensor.Try(tt.f)
		if want := regexp.MustCompile(`^grad_test\.go:\d+: ` + tt.want + `$`); err == nil || !want.MatchString(err.Error()) {
			t.Errorf("got error %v\nwant %v", err, want)
		}
	}
}

// deepGraph is a number of operations, one after the other.
func deepGraph() int {
	if testing.Short() {
		return 20_000
	}
	return 100_000
}

// TestDeep differentiates a deep graph of operations, each of which uses
// the one before twice: neither the stack nor the number of paths may matter.
func TestDeep(t *testing.T) {
	n := deepGraph()
	f := func(x tensor.Tensor) tensor.Tensor {
		y := node(x)
		for range n {
			y = graph.Binary(ir.Mul, y, y)
		}
		return tensorOf(y)
	}
	g := grad.Of(f)(f64(1))
	if got, most := len(graph.Sorted([]*graph.Node{node(g)})), 5*n; got > most {
		t.Errorf("the gradient has %d nodes, want at most %d", got, most)
	}
}
