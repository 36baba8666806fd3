package grad_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A composition is an operation made of several ops, on operands of one
// example.
type composition struct {
	call     string
	operands []operand
	f        func(x []tensor.Tensor) tensor.Tensor
}

func compositions() []composition {
	type fn = func(x []tensor.Tensor) tensor.Tensor
	var rows []composition
	add := func(call string, f fn, operands ...operand) { rows = append(rows, composition{call, operands, f}) }
	unary := func(call string, f func(tensor.Tensor) tensor.Tensor, shape ...int) {
		add(fmt.Sprint(call, " of ", shape), func(x []tensor.Tensor) tensor.Tensor { return f(x[0]) }, floats(shape...))
	}

	matmul := func(x []tensor.Tensor) tensor.Tensor { return x[0].MatMul(x[1]) }
	for _, left := range [][]int{{4}, {3, 4}, {2, 3, 4}, {2, 1, 3, 4}} {
		for _, right := range [][]int{{4}, {4, 2}, {2, 4, 2}, {1, 2, 4, 3}} {
			add(fmt.Sprint("MatMul of ", left, " and ", right), matmul, floats(left...), floats(right...))
		}
	}
	add("Dot", func(x []tensor.Tensor) tensor.Tensor { return x[0].Dot(x[1]) }, floats(2, 4), floats(3, 4, 2))
	add("Dot with a scalar", func(x []tensor.Tensor) tensor.Tensor { return x[0].Dot(x[1]) }, floats(), floats(3))
	add("Einsum", func(x []tensor.Tensor) tensor.Tensor { return tensor.Einsum("ij,kjl->lik", x[0], x[1]) }, floats(2, 4), floats(3, 4, 2))

	for _, c := range []struct {
		name          string
		input, kernel []int
		o             *tensor.ConvOptions
	}{
		{"1 axis", []int{2, 3, 7}, []int{4, 3, 3}, nil},
		{"1 axis, with everything", []int{2, 4, 9}, []int{6, 2, 3}, &tensor.ConvOptions{Stride: []int{2}, Padding: []int{1}, Dilation: []int{2}, Groups: 2}},
		{"2 axes", []int{2, 3, 5, 6}, []int{2, 3, 3, 2}, &tensor.ConvOptions{Stride: []int{1, 2}, Padding: []int{1, 0}}},
		{"depthwise", []int{1, 3, 5, 5}, []int{3, 1, 3, 3}, &tensor.ConvOptions{Groups: 3}},
		{"3 axes", []int{1, 2, 3, 3, 3}, []int{2, 2, 2, 2, 2}, nil},
	} {
		add("Conv, "+c.name, func(x []tensor.Tensor) tensor.Tensor { return x[0].Conv(x[1], c.o) }, floats(c.input...), floats(c.kernel...))
	}
	unary("MaxPool", func(x tensor.Tensor) tensor.Tensor {
		return x.MaxPool(3, &tensor.ConvOptions{Stride: []int{2}, Padding: []int{1}})
	}, 2, 2, 5, 5)
	unary("AvgPool", func(x tensor.Tensor) tensor.Tensor { return x.AvgPool(2, nil) }, 2, 2, 4, 4)
	unary("Unfold", func(x tensor.Tensor) tensor.Tensor { return x.Unfold(0, 3, 2) }, 7, 2)

	for axis := range 3 {
		at := func(call string) string { return fmt.Sprint(call, " along axis ", axis) }
		unary(at("Softmax"), func(x tensor.Tensor) tensor.Tensor { return x.Softmax(axis) }, 2, 3, 4)
		unary(at("LogSoftmax"), func(x tensor.Tensor) tensor.Tensor { return x.LogSoftmax(axis) }, 2, 3, 4)
		unary(at("LogSumExp"), func(x tensor.Tensor) tensor.Tensor { return x.LogSumExp(axis) }, 2, 3, 4)
		unary(at("Var"), func(x tensor.Tensor) tensor.Tensor { return x.Var(axis) }, 2, 3, 4)
		unary(at("Min"), func(x tensor.Tensor) tensor.Tensor { return x.Min(axis) }, 2, 3, 4)
		unary(at("ArgMax"), func(x tensor.Tensor) tensor.Tensor { return x.ArgMax(axis) }, 2, 3, 4)
		unary(at("ArgMin"), func(x tensor.Tensor) tensor.Tensor { return x.ArgMin(axis) }, 2, 3, 4)
		unary(at("Roll"), func(x tensor.Tensor) tensor.Tensor { return x.Roll(axis, 2) }, 2, 3, 4)
		unary(at("Slice"), func(x tensor.Tensor) tensor.Tensor { return x.Slice(axis, -1, tensor.End, -1) }, 2, 3, 4)
		unary(at("Split"), func(x tensor.Tensor) tensor.Tensor { return x.Split(axis, 1, x.Dim(axis)-1)[1] }, 2, 3, 4)

		length := []int{2, 3, 4}[axis]
		for _, index := range [][]int{{}, {5}, {2, 2}, {1}} {
			add(at(fmt.Sprint("Take of index ", index)), func(x []tensor.Tensor) tensor.Tensor {
				return x[0].Take(axis, x[1])
			}, floats(2, 3, 4), signed(length, index...))
		}
		for _, index := range [][]int{{2, 3, 4}, {1, 1, 1}, {5, 5, 5}} {
			for other, n := range []int{2, 3, 4} {
				if other != axis && index[other] > 1 {
					index[other] = n
				}
			}
			add(at(fmt.Sprint("TakeAlong of index ", index)), func(x []tensor.Tensor) tensor.Tensor {
				return x[0].TakeAlong(axis, x[1])
			}, floats(2, 3, 4), signed(length, index...))
		}
		upd := []int{2, 3, 4}
		upd[axis] = 5
		row := []int{1, 1, 1}
		row[axis] = 5
		for _, scatter := range []struct {
			name string
			of   func(tensor.Tensor, int, tensor.Tensor, tensor.Tensor) tensor.Tensor
		}{
			{"ScatterAdd", tensor.Tensor.ScatterAdd}, {"ScatterMax", tensor.Tensor.ScatterMax},
			{"ScatterMin", tensor.Tensor.ScatterMin}, {"ScatterMul", tensor.Tensor.ScatterMul},
		} {
			name := scatter.name
			f := func(x []tensor.Tensor) tensor.Tensor { return scatter.of(x[0], axis, x[1], x[2]) }
			add(at(name), f, floats(2, 3, 4), signed(length, upd...), floats(upd...))
			add(at(name+" at a row of index"), f, floats(2, 3, 4), below(length, row...), floats(upd...))
			add(at(name+" of a row of updates"), f, floats(2, 3, 4), below(length, upd...), floats(row...))
		}
		add(at("Cat"), func(x []tensor.Tensor) tensor.Tensor { return tensor.Cat(axis, x...) }, floats(2, 3, 4), floats(2, 3, 4))
		add(at("Stack"), func(x []tensor.Tensor) tensor.Tensor { return tensor.Stack(axis, x...) }, floats(2, 3), floats(2, 3))
	}

	unary("Sum", func(x tensor.Tensor) tensor.Tensor { return x.Sum() }, 2, 3)
	unary("Mean", func(x tensor.Tensor) tensor.Tensor { return x.Mean(0, 2) }, 2, 3, 4)
	unary("Norm", func(x tensor.Tensor) tensor.Tensor { return x.Norm(1) }, 2, 3)
	unary("Prod", func(x tensor.Tensor) tensor.Tensor { return x.Prod(0, 1) }, 2, 3)
	unary("GELU", tensor.Tensor.GELU, 2, 3)
	unary("Softplus of a scalar", tensor.Tensor.Softplus)
	unary("Tril", func(x tensor.Tensor) tensor.Tensor { return x.Tril(-1) }, 3, 4)
	unary("Diag", func(x tensor.Tensor) tensor.Tensor { return x.Diag(1) }, 3)
	unary("Diag", func(x tensor.Tensor) tensor.Tensor { return x.Diag(0) }, 3, 4)
	unary("T", tensor.Tensor.T, 2, 3, 4)
	unary("Flatten", func(x tensor.Tensor) tensor.Tensor { return x.Flatten(1) }, 2, 3, 4)
	unary("Tile", func(x tensor.Tensor) tensor.Tensor { return x.Tile(2, 3) }, 2, 3)
	unary("Repeat", func(x tensor.Tensor) tensor.Tensor { return x.Repeat(1, 2) }, 2, 3)
	unary("Unsqueeze and Squeeze", func(x tensor.Tensor) tensor.Tensor { return x.Unsqueeze(0, -1).Squeeze(0) }, 2, 3)
	unary("Index", func(x tensor.Tensor) tensor.Tensor {
		return x.Index(1, tensor.NewAxis, tensor.Ellipsis, tensor.Span(-1, tensor.End, -2))
	}, 2, 3, 4)
	unary("Pad", func(x tensor.Tensor) tensor.Tensor { return x.Pad(1, 2, 1) }, 2, 3)
	unary("Round", tensor.Tensor.Round, 2, 3)
	unary("IsNaN", func(x tensor.Tensor) tensor.Tensor { return x.Log().IsNaN() }, 2, 3)
	unary("Any", func(x tensor.Tensor) tensor.Tensor { return x.Gt(1).Any(0) }, 2, 3)
	unary("All", func(x tensor.Tensor) tensor.Tensor { return x.Gt(-1).All() }, 2, 3)
	unary("what does not depend on it", func(tensor.Tensor) tensor.Tensor { return f64(1, 2) }, 2)
	add("OneHot", func(x []tensor.Tensor) tensor.Tensor { return x[0].OneHot(4) }, below(4, 2, 3))
	add("Where", func(x []tensor.Tensor) tensor.Tensor { return tensor.Where(x[0], x[1], x[2]) }, bools(3), floats(2, 3), floats())
	add("Clamp", func(x []tensor.Tensor) tensor.Tensor { return x[0].Clamp(x[1], 1) }, floats(2, 3), floats(3))
	add("broadcasting", func(x []tensor.Tensor) tensor.Tensor { return x[0].Add(x[1]).Mul(x[2]) }, floats(2, 1), floats(3), floats(2, 1, 1))
	add("attention", func(x []tensor.Tensor) tensor.Tensor {
		scores := x[0].MatMul(x[1].T())
		past := tensor.Ones(3, 3).Tril(0).Eq(1)
		return tensor.Where(past, scores, math.Inf(-1)).Softmax(-1).MatMul(x[2])
	}, floats(3, 2), floats(3, 2), floats(3, 4))

	return rows
}

// TestVmapCompositions compares compositions, and their derivatives by the
// first operand, on all examples of a batch with a loop.
func TestVmapCompositions(t *testing.T) {
	for i, c := range compositions() {
		if testing.Short() && i%4 != 0 {
			continue
		}
		checkVmap(t, c.call, c.operands, c.f)
		if !c.differentiable() {
			continue
		}
		of := func(x []tensor.Tensor) function {
			return func(first tensor.Tensor) tensor.Tensor {
				return c.f(append([]tensor.Tensor{first}, x[1:]...))
			}
		}
		checkVmap(t, "the gradient of "+c.call, c.operands, func(x []tensor.Tensor) tensor.Tensor {
			y, pull := grad.VJP(of(x), x[0])
			return pull(y) // y·y/2 has this gradient
		})
		checkVmap(t, "the change of "+c.call, c.operands, func(x []tensor.Tensor) tensor.Tensor {
			_, d := grad.JVP(of(x), x[0], x[0])
			return d
		})
	}
}

// differentiable reports whether the first operand and the result are
// floating-point.
func (c composition) differentiable() bool {
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]tensor.Tensor, len(c.operands))
	for i, o := range c.operands {
		x[i] = o.draw(rng, 1).At(0)
	}
	return c.operands[0].dtype.IsFloat() && c.f(x).DType().IsFloat()
}

// TestCompositionDerivatives checks the derivatives of compositions by all
// their operands.
func TestCompositionDerivatives(t *testing.T) {
	for i, c := range compositions() {
		if !c.differentiable() {
			continue
		}
		t.Run(c.call, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(9, uint64(i)))
			x := make([]tensor.Tensor, len(c.operands))
			for i, o := range c.operands {
				x[i] = o.draw(rng, 1).At(0)
			}
			gradtest.Check(t, c.f, x, 2)
		})
	}
}

// matrix is numbers in rows and columns.
func matrix(rows, columns int, x ...float64) tensor.Tensor { return tensor.New(x, rows, columns) }

func TestVmapNested(t *testing.T) {
	xs, ys := matrix(2, 3, 1, 2, 3, 4, 5, 6), matrix(2, 3, 7, 8, 9, 10, 11, 12)
	dot := func(x, y tensor.Tensor) tensor.Tensor { return x.Mul(y).Sum() }
	outer := grad.Vmap(func(x tensor.Tensor) tensor.Tensor {
		return grad.Vmap(func(y tensor.Tensor) tensor.Tensor { return dot(x, y) })(ys)
	})
	check(t, "x·y for all pairs", outer(xs), 50, 68, 122, 167)

	columns := grad.VmapAxes(func(x tensor.Tensor) tensor.Tensor {
		return grad.VmapAxes(func(y tensor.Tensor) tensor.Tensor { return dot(x, y) }, 1, 0)(ys)
	}, 1, -1)
	got := columns(xs) // of x's columns with y's, x's along the last axis
	if diff, ok := near(t, got, ys.T().MatMul(xs)); !ok {
		t.Errorf("x·y for all pairs of columns: got %s", diff)
	}

	// The inner argument depends on the outer one, and the outer one on a captured tensor.
	powers := grad.Vmap(func(x tensor.Tensor) tensor.Tensor {
		return grad.Vmap(func(e tensor.Tensor) tensor.Tensor { return x.Pow(e).Add(xs.At(0)) })(f64(1, 2))
	})
	check(t, "powers", powers(f64(2, 3)), 3, 4, 5, 5, 6, 7, 4, 5, 6, 10, 11, 12)

	three := grad.Vmap(grad.Vmap(grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Mul(x) })))
	check(t, "three levels", three(xs.Reshape(1, 2, 3)), 1, 4, 9, 16, 25, 36)

	none := grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Sum().Add(1) })(tensor.Zeros(0, 3))
	if s := none.Shape(); len(s) != 1 || s[0] != 0 {
		t.Errorf("Vmap of no examples has shape %v, want [0]", s)
	}
}

func TestVmapDerivatives(t *testing.T) {
	w, x, y := matrix(2, 3, 0.5, -1, 2, 1, 0.25, -0.5), matrix(4, 3, 1, 2, -1, 0, 1, 3, -2, 0.5, 1, 0.25, -1, 1), matrix(4, 2, 1, 0, 0, 1, 1, 1, 0, 0)
	type example struct{ X, Y tensor.Tensor }
	loss := func(w tensor.Tensor, e example) tensor.Tensor {
		return w.MatMul(e.X).Tanh().Sub(e.Y).Square().Sum()
	}
	batch := example{x, y}
	at := func(i int) example { return example{x.At(i), y.At(i)} }
	each := func(f func(e example) tensor.Tensor) tensor.Tensor {
		rows := make([]tensor.Tensor, x.Dim(0))
		for i := range rows {
			rows[i] = f(at(i))
		}
		return tensor.Stack(0, rows...)
	}
	gradient := func(e example) tensor.Tensor {
		return grad.Of(func(w tensor.Tensor) tensor.Tensor { return loss(w, e) })(w)
	}
	v := matrix(2, 3, 1, -1, 0.5, 2, 0, 1)
	along := func(e example) tensor.Tensor {
		_, d := grad.JVP(func(w tensor.Tensor) tensor.Tensor { return loss(w, e) }, w, v)
		return d
	}
	hessian := func(e example) tensor.Tensor {
		return grad.Hessian(func(w tensor.Tensor) tensor.Tensor { return loss(w, e) })(w)
	}
	pulled := func(e example) tensor.Tensor {
		_, pull := grad.VJP(func(w tensor.Tensor) tensor.Tensor { return w.MatMul(e.X) }, w)
		return pull(e.Y)
	}
	jacobian := func(e example) tensor.Tensor {
		return grad.JacRev(func(x tensor.Tensor) tensor.Tensor { return w.MatMul(x).Tanh() })(e.X)
	}
	for name, f := range map[string]func(example) tensor.Tensor{
		"Of": gradient, "JVP": along, "Hessian": hessian, "VJP": pulled, "JacRev": jacobian,
	} {
		if diff, ok := near(t, grad.Vmap(f)(batch), each(f)); !ok {
			t.Errorf("Vmap of %s: got %s", name, diff)
		}
	}

	// The other way round: the differentiated function has a batch in it.
	batched := func(w tensor.Tensor) tensor.Tensor {
		return grad.Vmap(func(e example) tensor.Tensor { return loss(w, e) })(batch).Sum()
	}
	looped := func(w tensor.Tensor) tensor.Tensor {
		return each(func(e example) tensor.Tensor { return loss(w, e) }).Sum()
	}
	tangent := func(f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
		_, d := grad.JVP(f, w, v)
		return d
	}
	for name, transform := range map[string]func(func(tensor.Tensor) tensor.Tensor) tensor.Tensor{
		"Of":      func(f func(tensor.Tensor) tensor.Tensor) tensor.Tensor { return grad.Of(f)(w) },
		"JVP":     tangent,
		"HVP":     func(f func(tensor.Tensor) tensor.Tensor) tensor.Tensor { return grad.HVP(f, w, v) },
		"Hessian": func(f func(tensor.Tensor) tensor.Tensor) tensor.Tensor { return grad.Hessian(f)(w) },
		"Of JVP": func(f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
			return grad.Of(func(w tensor.Tensor) tensor.Tensor {
				_, d := grad.JVP(f, w, v)
				return d
			})(w)
		},
	} {
		if diff, ok := near(t, transform(batched), transform(looped)); !ok {
			t.Errorf("%s of Vmap: got %s", name, diff)
		}
	}

	// A Hessian is the batch of its products with unit vectors.
	f := func(x tensor.Tensor) tensor.Tensor { return x.Pow(3).Sum().Add(x.Prod()) }
	p := f64(1, 2, 3)
	rows := grad.Vmap(func(v tensor.Tensor) tensor.Tensor { return grad.HVP(f, p, v) })(tensor.Eye(3).Cast(tensor.Float64))
	check(t, "Vmap of HVP", rows, 6, 3, 2, 3, 12, 1, 2, 1, 18)
	if diff, ok := near(t, grad.Hessian(f)(p), rows); !ok {
		t.Errorf("Hessian: got %s", diff)
	}

	// Both ways at once: the gradients of each example, by a second batch of
	// parameters, of a function that has a batch in it.
	ws := tensor.Stack(0, w, v)
	got := grad.Vmap(grad.Of(batched))(ws)
	if diff, ok := near(t, got, tensor.Stack(0, grad.Of(looped)(w), grad.Of(looped)(v))); !ok {
		t.Errorf("Vmap of Of of Vmap: got %s", diff)
	}
	// Two gradients of a value that is used by both.
	mixed := grad.Vmap(func(a tensor.Tensor) tensor.Tensor {
		return grad.Of(func(b tensor.Tensor) tensor.Tensor {
			return a.Mul(grad.Of(func(c tensor.Tensor) tensor.Tensor { return a.Mul(b).Mul(c).Mul(c) })(b))
		})(a)
	})
	check(t, "a·d/dc(a·b·c²) at c=b, by b at b=a", mixed(f64(1, 2)), 4, 32) // 2a²b² has 4a²b
}

// TestVmapRandom checks that examples draw the same from one RNG, and
// different numbers from keys of their own.
func TestVmapRandom(t *testing.T) {
	x := tensor.Ones(3, 2)
	rng := tensor.NewRNG(7)
	noisy := func(x tensor.Tensor) tensor.Tensor { return x.Mul(rng.Normal(2)) }
	want := tensor.NewRNG(7).Normal(2)
	if diff, ok := near(t, grad.Vmap(noisy)(x), tensor.Stack(0, want, want, want)); !ok {
		t.Errorf("an RNG that is captured: got %s", diff)
	}

	keys := tensor.NewRNG(8).Keys(3)
	for name, draw := range map[string]func(*tensor.RNG) tensor.Tensor{
		"Uniform":     func(r *tensor.RNG) tensor.Tensor { return r.Uniform(2, 2) },
		"Normal":      func(r *tensor.RNG) tensor.Tensor { return r.Normal(4) },
		"TruncNormal": func(r *tensor.RNG) tensor.Tensor { return r.TruncNormal(4) },
		"Ints":        func(r *tensor.RNG) tensor.Tensor { return r.Ints(1000, 4) },
		"Bernoulli":   func(r *tensor.RNG) tensor.Tensor { return r.Bernoulli(tensor.Full(0.5, 64)) },
		"Categorical": func(r *tensor.RNG) tensor.Tensor { return r.Categorical(tensor.Ones(16, 16)) },
		"Keys":        func(r *tensor.RNG) tensor.Tensor { return r.Keys(2) },
		"two draws":   func(r *tensor.RNG) tensor.Tensor { return r.Normal(2).Add(r.Normal(2)) },
	} {
		f := func(key tensor.Tensor) tensor.Tensor { return draw(tensor.KeyRNG(key)) }
		got := grad.Vmap(f)(keys)
		if diff, ok := near(t, got, tensor.Stack(0, f(keys.At(0)), f(keys.At(1)), f(keys.At(2)))); !ok {
			t.Errorf("%s from keys of each: got %s", name, diff)
		}
		if _, equal := near(t, got.At(0), got.At(1)); equal {
			t.Errorf("%s from keys of each: two examples draw the same, %v", name, got.At(0))
		}
	}
}

// TestVmapMarks checks that marks of a function hold for all examples: StopGradient and
// Keep.
func TestVmapMarks(t *testing.T) {
	x := matrix(3, 1, 3, 4, 5)
	stopped := func(x tensor.Tensor) tensor.Tensor {
		return grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Mul(grad.StopGradient(x)) })(x)
	}
	check(t, "gradient of Vmap of x·stop(x)", pullOnes(stopped)(x), 3, 4, 5)
	check(t, "change of Vmap of x·stop(x)", pushOnes(stopped)(x), 3, 4, 5)

	type parts struct{ Value, Aux, Grad tensor.Tensor }
	// of is the parts of x·exp y by y, with sin x along.
	of := func(x, y tensor.Tensor) parts {
		value, aux, g := grad.ValueAndGradAux(func(y tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
			return x.Mul(y.Exp()).Sum(), x.Sin()
		})(y)
		return parts{value, aux, g}
	}
	for name, p := range map[string]parts{
		"Vmap": grad.Vmap(func(x tensor.Tensor) parts { return of(x, x) })(x),
		"Vmap of Vmap": grad.Vmap(func(x tensor.Tensor) parts {
			return grad.Vmap(func(y tensor.Tensor) parts { return of(x, y) })(f64(1, 2).Reshape(2, 1))
		})(x),
	} {
		if err := tensor.Eval(p.Grad); err != nil {
			t.Fatal(err)
		}
		for part, y := range map[string]tensor.Tensor{"value": p.Value, "auxiliary output": p.Aux} {
			stored := false
			for _, n := range graph.Sorted([]*graph.Node{node(y)}) {
				stored = stored || n.Value() != nil && n.Op == ir.CoOutput
			}
			if !stored {
				t.Errorf("%s: the gradients of each example are computed, and the %s is not stored", name, part)
			}
		}
	}
}

// TestVmapIndices takes elements of which one example has none.
func TestVmapIndices(t *testing.T) {
	type example struct{ X, Index tensor.Tensor }
	batch := example{matrix(2, 3, 1, 2, 3, 4, 5, 6), tensor.New([]int32{1, 3}, 2, 1)}
	take := func(e example) tensor.Tensor { return e.X.Take(0, e.Index).Sum() }
	for call, f := range map[string]func(example) tensor.Tensor{
		"Take":             take,
		"gradient of Take": func(e example) tensor.Tensor { return grad.Of(take)(e).X },
		"change of Take": func(e example) tensor.Tensor {
			_, d := grad.JVP(take, e, example{X: tensor.OnesLike(e.X)})
			return d
		},
		"ScatterAdd": func(e example) tensor.Tensor { return e.X.ScatterAdd(0, e.Index, f64(1)) },
	} {
		err := tensor.Eval(grad.Vmap(f)(batch))
		if want := "index 3 is out of range for an axis of length 3"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Vmap of %s: got error %v, want %s", call, err, want)
		}
		if y := grad.Vmap(f)(example{batch.X, tensor.New([]int32{1, -1}, 2, 1)}); tensor.Eval(y) != nil {
			t.Errorf("Vmap of %s: got %v, want a value", call, y)
		}
	}
}
