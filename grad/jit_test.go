package grad_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/hosttest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

type jitArg struct {
	W     tensor.Tensor
	Bias  tensor.Tensor
	X     []tensor.Tensor
	Scale float64
	RNG   *tensor.RNG
	F     func(tensor.Tensor) tensor.Tensor
}

type jitResult struct {
	Y, Same, None, Constant tensor.Tensor
	Grad                    tensor.Tensor
	Drawn                   tensor.Tensor
	RNG                     *tensor.RNG
	Name                    string
}

// TestJit compares a recorded function with the function, over arguments of several forms.
func TestJit(t *testing.T) {
	calls := 0
	f := func(a jitArg) jitResult {
		calls++
		y := a.W.MatMul(a.X[0]).Mul(a.Scale)
		if a.Bias.IsValid() {
			y = y.Add(a.Bias)
		}
		r := jitResult{Y: a.F(y), Same: a.X[0], Constant: tensor.Arange(3).Add(1), Name: "r", RNG: a.RNG}
		r.Grad = grad.Of(func(w tensor.Tensor) tensor.Tensor { return w.MatMul(a.X[0]).Square().Sum() })(a.W)
		if a.RNG != nil {
			r.Drawn = nn.Dropout{P: 0.5}.Drop(a.RNG.Normal(2, 3), a.RNG)
		}
		return r
	}
	jitted := grad.Jit(f)
	rng := tensor.NewRNG(1)
	relu, tanh := tensor.Tensor.ReLU, tensor.Tensor.Tanh
	a := rng.Normal(4, 3).Keep()
	stored := rng.Normal(3, 5).Keep()
	if err := tensor.Eval(stored); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		a    jitArg
		runs bool // f
	}{
		{"first", jitArg{W: a, X: []tensor.Tensor{stored}, Scale: 2, F: relu}, true},
		{"others", jitArg{W: a.Neg(), X: []tensor.Tensor{stored.Add(1)}, Scale: 2, F: relu}, false},
		{"one tensor twice", jitArg{W: stored.Slice(0, 0, 3).Slice(1, 0, 3), X: []tensor.Tensor{stored}, Scale: 2, F: relu}, true},
		{"another number", jitArg{W: a, X: []tensor.Tensor{stored}, Scale: 3, F: relu}, true},
		{"another function", jitArg{W: a, X: []tensor.Tensor{stored}, Scale: 2, F: tanh}, true},
		{"a bias", jitArg{W: a, X: []tensor.Tensor{stored}, Bias: rng.Normal(5), Scale: 2, F: relu}, true},
		{"another layout", jitArg{W: a, X: []tensor.Tensor{rng.Normal(5, 3).Keep().T()}, Scale: 2, F: relu}, true},
		{"another offset", jitArg{W: a, X: []tensor.Tensor{rng.Normal(2, 3, 5).Keep().At(1)}, Scale: 2, F: relu}, true},
		{"another shape", jitArg{W: a, X: []tensor.Tensor{rng.Normal(3, 6)}, Scale: 2, F: relu}, true},
		{"another length", jitArg{W: a, X: []tensor.Tensor{stored, stored}, Scale: 2, F: relu}, true},
		{"the first again", jitArg{W: a, X: []tensor.Tensor{stored}, Scale: 2, F: relu}, false},
		{"an RNG", jitArg{W: a, X: []tensor.Tensor{stored}, Scale: 2, F: relu, RNG: tensor.NewRNG(7)}, true},
		{"the RNG goes on", jitArg{W: a, X: []tensor.Tensor{stored}, Scale: 2, F: relu, RNG: &tensor.RNG{Seed: 7, Count: 12}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			own := c.a
			if c.a.RNG != nil {
				r := *c.a.RNG
				own.RNG = &r
			}
			before := calls
			got := jitted(c.a)
			if ran := calls > before; ran != c.runs {
				t.Errorf("f ran: %v, want %v", ran, c.runs)
			}
			want := f(own)
			for name, pair := range map[string][2]tensor.Tensor{"Y": {got.Y, want.Y}, "Same": {got.Same, want.Same},
				"Constant": {got.Constant, want.Constant}, "Grad": {got.Grad, want.Grad}, "Drawn": {got.Drawn, want.Drawn}} {
				if g, w := fmt.Sprintf("%+v", pair[0]), fmt.Sprintf("%+v", pair[1]); g != w {
					t.Errorf("%s = %s, want %s", name, g, w)
				}
			}
			if got.None.IsValid() || got.Name != "r" {
				t.Errorf("None, Name = %v, %q", got.None, got.Name)
			}
			if r := own.RNG; r != nil && (got.RNG.Count != r.Count || c.a.RNG.Count != r.Count || got.RNG.Seed != r.Seed) {
				t.Errorf("the RNG is %+v, that of the result %+v, want %+v", c.a.RNG, got.RNG, r)
			}
		})
	}
}

// TestJitInside differentiates and batches a recorded function.
func TestJitInside(t *testing.T) {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Square().Sum() }
	g := grad.Jit(f)
	x := tensor.New([]float32{1, 2, 3})
	if got := grad.Of(g)(x).String(); got != grad.Of(f)(x).String() {
		t.Errorf("gradient %s", got)
	}
	w := x.Add(1)
	captured := grad.Of(func(w tensor.Tensor) tensor.Tensor {
		return grad.Jit(func(x tensor.Tensor) tensor.Tensor { return x.Mul(w).Sum() })(x)
	})(w)
	if captured.String() != x.String() {
		t.Errorf("gradient by a captured tensor %v, want %v", captured, x)
	}
	if got := grad.Vmap(g)(tensor.Stack(0, x, x)).String(); got != "[14 14]" {
		t.Errorf("batch %s", got)
	}
	twice := grad.Jit(func(x tensor.Tensor) tensor.Tensor { return grad.Jit(f)(x).Mul(2) })
	if got := twice(x).String(); got != "28" {
		t.Errorf("Jit in Jit = %s", got)
	}
}

// TestJitShared calls recorded functions with arguments that differ only in which pointers
// are equal.
func TestJitShared(t *testing.T) {
	type weights struct{ A, B, C *tensor.Tensor }
	sum := func(w weights) tensor.Tensor { return w.A.Add(w.B.Mul(10)).Add(w.C.Mul(100)) }
	x, y, z := tensor.Full(1, 2).Keep(), tensor.Full(2, 2).Keep(), tensor.Full(3, 2).Keep()
	type rngs struct{ A, B *tensor.RNG }
	draw := func(r rngs) tensor.Tensor { return tensor.Stack(0, r.A.Normal(2), r.B.Normal(2)) }
	tied := func() rngs { r := tensor.NewRNG(1); return rngs{r, r} }
	untied := func() rngs { return rngs{tensor.NewRNG(1), tensor.NewRNG(1)} }
	for _, reverse := range []bool{false, true} {
		args := []weights{{&x, &x, &y}, {&x, &y, &y}, {&x, &y, &x}, {&x, &y, &z}, {&y, &y, &x}, {&z, &z, &z}}
		orders := []func() rngs{tied, untied, tied}
		if reverse {
			slices.Reverse(args)
			orders = []func() rngs{untied, tied, untied}
		}
		jitted := grad.Jit(sum)
		for _, a := range args {
			if got, want := fmt.Sprint(jitted(a)), fmt.Sprint(sum(a)); got != want {
				t.Errorf("of %v, %v, %v: %s, want %s", *a.A, *a.B, *a.C, got, want)
			}
		}
		drawing := grad.Jit(draw)
		for i, r := range orders {
			if got, want := fmt.Sprint(drawing(r())), fmt.Sprint(draw(r())); got != want {
				t.Errorf("draws of call %d: %s, want %s", i, got, want)
			}
		}
	}
}

func TestJitMisuse(t *testing.T) {
	x := tensor.New([]float32{1, 2, 3})
	type key struct{ RNG *tensor.RNG }
	var leaked tensor.Tensor
	for _, c := range []struct {
		name, want string
		f          func()
	}{
		{"a value", "inside of grad.Jit a tensor stands for those of all calls and has no value", func() {
			grad.Jit(func(x tensor.Tensor) tensor.Tensor { return x.Add(x.Sum().Item()) })(x)
		}},
		{"a leak", "made inside of a grad.Jit that has ended", func() {
			grad.Jit(func(x tensor.Tensor) tensor.Tensor { leaked = x.Neg(); return x })(x)
			leaked.Add(1).Sum().Item()
		}},
		{"a key", "made by KeyRNG: pass the key", func() {
			grad.Jit(func(k key) tensor.Tensor { return k.RNG.Normal(2) })(key{tensor.KeyRNG(tensor.NewRNG(1).Keys(1).At(0))})
		}},
		{"a permutation", "inside of grad.Jit an RNG has no value, which Perm needs", func() {
			grad.Jit(func(k key) tensor.Tensor { return k.RNG.Perm(3) })(key{tensor.NewRNG(1)})
		}},
		{"an index", "index 5 at [1] is out of range", func() {
			g := grad.Jit(func(i tensor.Tensor) tensor.Tensor { return x.Take(0, i) })
			g(tensor.New([]int32{0, 1}))
			g(tensor.New([]int32{0, 5}))
		}},
		{"an index, later", "index 7 at [0] is out of range", func() {
			g := grad.Jit(func(i tensor.Tensor) tensor.Tensor { return x.Take(0, i) })
			_ = tensor.Try(func() { g(tensor.New([]int32{0, 5})) })
			g(tensor.New([]int32{7, 5}))
		}},
	} {
		err := tensor.Try(c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestJitOfSteps has functions that more than one plan computes. They are recorded, and so are
// their gradients.
func TestJitOfSteps(t *testing.T) {
	d := tensor.NewDevice(cpu.New(cpu.Options{}))
	defer d.Close()
	regular := func(x tensor.Tensor) tensor.Tensor { return x.MatMul(x.T()).Add(tensor.Eye(3)) }
	captured := hosttest.Inv(regular(tensor.NewRNG(3).Normal(3, 3)))
	for name, f := range map[string]func(x tensor.Tensor) tensor.Tensor{
		"the host": func(x tensor.Tensor) tensor.Tensor { return hosttest.Inv(regular(x)).Square().Sum() },
		"the host in turn": func(x tensor.Tensor) tensor.Tensor {
			return hosttest.Inv(hosttest.Inv(regular(x)).Add(tensor.Eye(3))).Sum()
		},
		"a constant": func(x tensor.Tensor) tensor.Tensor {
			return captured.MatMul(x).Add(hosttest.Inv(tensor.Eye(3).Mul(3))).Sum()
		},
		"two devices": func(x tensor.Tensor) tensor.Tensor {
			h := x.To(d).MatMul(x.To(d).Sin()).Tanh()
			return h.To(tensor.Default()).Mul(x).Sum()
		},
		"the host between devices": func(x tensor.Tensor) tensor.Tensor {
			h := hosttest.Inv(regular(x)).To(d).Tanh()
			return hosttest.Inv(h.To(tensor.Default()).Add(regular(x))).Sum()
		},
	} {
		for _, of := range []string{"value", "gradient"} {
			t.Run(name+"/"+of, func(t *testing.T) {
				g := f
				if of == "gradient" {
					g = func(x tensor.Tensor) tensor.Tensor { return grad.Of(f)(x) }
				}
				runs := 0
				jitted := grad.Jit(func(x tensor.Tensor) tensor.Tensor { runs++; return g(x) })
				rng := tensor.NewRNG(5)
				for range 4 {
					x := rng.Normal(3, 3).Keep()
					checkSame(t, "result", jitted(x), g(x))
				}
				if runs != 2 {
					t.Errorf("f ran %d times, want 2", runs)
				}
			})
		}
	}
}

// A recorded function on the host fails for the elements of a call, on the line of f.
func TestJitOfHostFails(t *testing.T) {
	f := grad.Jit(func(x tensor.Tensor) tensor.Tensor { return hosttest.Inv(x).Sum() })
	for range 2 {
		if got := f(tensor.Eye(2)).Item(); got != 2 {
			t.Errorf("of a regular matrix: %v, want 2", got)
		}
		err := tensor.Try(func() { f(tensor.Zeros(2, 2)) })
		if err == nil || !strings.Contains(err.Error(), "jit_test.go") || !strings.Contains(err.Error(), "hosttest.Inv: the matrix is singular") {
			t.Errorf("of a singular matrix: %v", err)
		}
	}
}

// A function with results of two devices.
func TestJitOfDevices(t *testing.T) {
	d := tensor.NewDevice(cpu.New(cpu.Options{}))
	defer d.Close()
	runs := 0
	f := grad.Jit(func(x tensor.Tensor) [2]tensor.Tensor { runs++; return [2]tensor.Tensor{x.Mul(2), x.To(d).Mul(3)} })
	for i := range 3 {
		y := f(tensor.Scalar(float64(i + 1)))
		if y[0].Item() != float64(2*i+2) || y[1].Item() != float64(3*i+3) || y[1].Device() != d {
			t.Errorf("call %d: %v", i, y)
		}
	}
	if runs != 2 {
		t.Errorf("f ran %d times, want 2", runs)
	}
}
