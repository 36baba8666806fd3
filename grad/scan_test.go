package grad_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/hosttest"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

type scanState struct {
	A, B  tensor.Tensor
	Count tensor.Tensor
	None  tensor.Tensor
}

type scanInput struct{ X, I tensor.Tensor }

type scanOutput struct {
	Y, Same, Constant, None tensor.Tensor
	Twice                   []tensor.Tensor
}

type scanBody = func(w tensor.Tensor) func(c scanState, x scanInput) (scanState, scanOutput)

// unrolled is grad.Scan as a Go loop.
func unrolled(f func(c scanState, x scanInput) (scanState, scanOutput), c scanState, xs scanInput, o *grad.ScanOptions) (scanState, scanOutput) {
	n := xs.X.Dim(0)
	ys := make([]scanOutput, max(n, 1))
	if n == 0 { // an output for its shape, which the stacks leave out
		_, ys[0] = f(c, scanInput{tensor.ZerosOf(xs.X.DType(), xs.X.Shape()[1:]...), tensor.ZerosOf(xs.I.DType())})
	}
	for step := range n {
		i := step
		if o != nil && o.Reverse {
			i = n - 1 - step
		}
		c, ys[i] = f(c, scanInput{xs.X.At(i), xs.I.At(i)})
	}
	stack := func(of func(y scanOutput) tensor.Tensor) tensor.Tensor {
		var list []tensor.Tensor
		for _, y := range ys {
			list = append(list, of(y))
		}
		return tensor.Stack(0, list...).Slice(0, 0, n)
	}
	out := scanOutput{
		Y: stack(func(y scanOutput) tensor.Tensor { return y.Y }), Same: stack(func(y scanOutput) tensor.Tensor { return y.Same }),
		Constant: stack(func(y scanOutput) tensor.Tensor { return y.Constant }),
	}
	for k := range ys[0].Twice {
		out.Twice = append(out.Twice, stack(func(y scanOutput) tensor.Tensor { return y.Twice[k] }))
	}
	return c, out
}

var scanBodies = []struct {
	name string
	f    scanBody
}{
	{"elementwise", func(w tensor.Tensor) func(scanState, scanInput) (scanState, scanOutput) {
		return func(c scanState, x scanInput) (scanState, scanOutput) {
			c.A = c.A.Mul(0.5).Add(x.X.Mul(w.At(0))).Tanh()
			c.Count = c.Count.Add(1)
			return c, scanOutput{Y: c.A.Mul(2), Same: c.A, Constant: tensor.ZerosOf(tensor.Float64, 2), Twice: []tensor.Tensor{c.A}}
		}
	}},
	{"carries in turn", func(w tensor.Tensor) func(scanState, scanInput) (scanState, scanOutput) {
		return func(c scanState, x scanInput) (scanState, scanOutput) {
			return scanState{A: c.B, B: c.A.Add(w.At(1)).Sin(), Count: c.Count.Mul(3).Add(x.I)}, scanOutput{Y: x.X, Same: c.A, Constant: w, Twice: []tensor.Tensor{c.B, c.B}}
		}
	}},
	{"products", func(w tensor.Tensor) func(scanState, scanInput) (scanState, scanOutput) {
		return func(c scanState, x scanInput) (scanState, scanOutput) {
			in := x.X.Unsqueeze(0).MatMul(w).Squeeze(0).Add(0.1)
			c.A = in.Add(c.A.Unsqueeze(0).MatMul(w.T()).Squeeze(0)).Sigmoid()
			c.B = c.B.Mul(c.A).Add(in.Tanh().Mul(c.A.Sub(1)))
			return c, scanOutput{Y: c.B.Unsqueeze(0).MatMul(w.Mul(w)).Squeeze(0), Same: c.B.Outer(c.B).Sum(), Constant: x.X.Sum()}
		}
	}},
	{"indices", func(w tensor.Tensor) func(scanState, scanInput) (scanState, scanOutput) {
		return func(c scanState, x scanInput) (scanState, scanOutput) {
			row := w.Take(0, x.I)
			c.A = c.A.AddAt(row.Sum(), x.I).Mul(0.9)
			c.B = c.B.Sort(0).Add(c.A.CumSum(0)).Tanh()
			return c, scanOutput{Y: c.A.Flip(0), Same: row, Constant: c.Count}
		}
	}},
	{"a recurrence", func(w tensor.Tensor) func(scanState, scanInput) (scanState, scanOutput) {
		return func(c scanState, x scanInput) (scanState, scanOutput) {
			c.A, c.B = grad.Scan(func(a, w tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
				a = a.Mul(w).Add(x.X).Tanh()
				return a, a.Sum()
			}, c.A, w, nil)
			c.B = c.B.Slice(0, 0, 3)
			return c, scanOutput{Y: c.A, Same: c.A, Constant: c.B}
		}
	}},
	{"the host", func(w tensor.Tensor) func(scanState, scanInput) (scanState, scanOutput) {
		return func(c scanState, x scanInput) (scanState, scanOutput) {
			c.A = hosttest.Inv(w.Add(c.A).Add(tensor.Eye(3).Mul(4))).MatMul(c.A.Add(x.X).Unsqueeze(1)).Squeeze(1)
			return c, scanOutput{Y: c.A, Same: c.B, Constant: c.B}
		}
	}},
	{"a value in several shapes", func(w tensor.Tensor) func(scanState, scanInput) (scanState, scanOutput) {
		return func(c scanState, x scanInput) (scanState, scanOutput) {
			c.A = tensor.Cat(0, c.B.Slice(0, 0, 1).Mul(w.At(0, 0)), x.X.Slice(0, 1, 3).Sin())
			c.B = c.A.Mul(c.B).Unsqueeze(0).MatMul(w).Tanh().Squeeze(0)
			return c, scanOutput{Y: c.A.Unsqueeze(0), Same: c.B.Unsqueeze(1), Constant: tensor.Cat(0, c.B, c.A.Cos()), Twice: []tensor.Tensor{c.A.Unsqueeze(1), c.B, c.A}}
		}
	}},
	{"a rule of its own", func(w tensor.Tensor) func(scanState, scanInput) (scanState, scanOutput) {
		square := grad.CustomJVP(func(x tensor.Tensor) tensor.Tensor { return x.Mul(x) },
			func(x, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return x.Mul(x), x.Mul(v).Mul(2) })
		return func(c scanState, x scanInput) (scanState, scanOutput) {
			c.A = square(c.A.Mul(w.At(2)).Add(x.X)).Sin()
			c.B = grad.Checkpoint(func(b tensor.Tensor) tensor.Tensor { return b.Mul(c.A).Cos() })(c.B)
			return c, scanOutput{Y: c.A, Same: c.B, Constant: c.B}
		}
	}},
}

// scanSum is a number that depends on all that a scan returns.
func scanSum(c scanState, y scanOutput) tensor.Tensor {
	sum := c.A.Mul(1.5).Sum().Add(c.B.Sin().Sum()).Add(y.Y.Square().Sum()).Add(y.Same.Cos().Sum()).Add(y.Constant.Cast(tensor.Float64).Sum())
	for _, t := range y.Twice {
		sum = sum.Add(t.Sin().Sum())
	}
	return sum
}

type scanArg struct{ W, A, B, X tensor.Tensor }

// TestScan compares scans with Go loops: values and derivatives, in one piece and in
// several, both ways.
func TestScan(t *testing.T) {
	rng := tensor.NewRNG(3)
	draw := func(s ...int) tensor.Tensor { return rng.Normal(s...).Cast(tensor.Float64).Mul(0.5).Keep() }
	w, a0, b0, x := draw(3, 3), draw(3), draw(3), draw(5, 3)
	indices := tensor.New([]int32{2, 0, 1, 1, 2})
	for j, b := range scanBodies {
		for k, r := range []struct {
			n int
			o *grad.ScanOptions
		}{
			{5, nil}, {5, &grad.ScanOptions{Reverse: true}}, {5, &grad.ScanOptions{Checkpoint: 2}},
			{5, &grad.ScanOptions{Checkpoint: 2, Reverse: true}}, {5, &grad.ScanOptions{Checkpoint: 5}},
			{0, nil}, {0, &grad.ScanOptions{Checkpoint: 2}},
		} {
			if testing.Short() && (j+k)%6 != 0 {
				continue
			}
			n, o := r.n, r.o
			at, i := scanArg{w, a0, b0, x.Slice(0, 0, n)}, indices.Slice(0, 0, n)
			t.Run(fmt.Sprintf("%s/%d steps/%+v", b.name, n, o), func(t *testing.T) {
				begin := func(a scanArg) (scanState, scanInput) {
					return scanState{A: a.A, B: a.B, Count: tensor.New([]int32{0}, 1).Squeeze(0)}, scanInput{a.X, i}
				}
				scanned := func(a scanArg) (scanState, scanOutput) {
					c, x := begin(a)
					return grad.Scan(b.f(a.W), c, x, o)
				}
				looped := func(a scanArg) (scanState, scanOutput) {
					c, x := begin(a)
					return unrolled(b.f(a.W), c, x, o)
				}
				c, y := scanned(at)
				d, z := looped(at)
				checkSame(t, "carries", c, d)
				checkSame(t, "outputs", y, z)
				loss := func(f func(scanArg) (scanState, scanOutput)) func(scanArg) tensor.Tensor {
					return func(a scanArg) tensor.Tensor { return scanSum(f(a)) }
				}
				checkSame(t, "gradient", grad.Of(loss(scanned))(at), grad.Of(loss(looped))(at))
				v := scanArg{draw(3, 3), draw(3), draw(3), draw(n, 3)}
				_, dot := grad.JVP(loss(scanned), at, v)
				_, want := grad.JVP(loss(looped), at, v)
				checkSame(t, "JVP", dot, want)
				if o != nil && o.Reverse {
					return
				}
				checkSame(t, "HVP", grad.HVP(loss(scanned), at, v), grad.HVP(loss(looped), at, v))
				twice := func(f func(scanArg) tensor.Tensor) scanArg {
					return grad.Of(func(a scanArg) tensor.Tensor {
						g := grad.Of(f)(a)
						return g.W.Square().Sum().Add(g.X.Mul(a.X).Sum())
					})(at)
				}
				checkSame(t, "gradient of a gradient", twice(loss(scanned)), twice(loss(looped)))
				batch := scanArg{draw(2, 3, 3), draw(2, 3), draw(2, 3), draw(2, n, 3)}
				checkSame(t, "batch", grad.Vmap(grad.Of(loss(scanned)))(batch), grad.Vmap(grad.Of(loss(looped)))(batch))
				shared := func(f func(scanArg) tensor.Tensor) tensor.Tensor {
					return grad.Vmap(func(a tensor.Tensor) tensor.Tensor { return grad.Of(f)(scanArg{at.W, a, at.B, at.X}).W })(batch.A)
				}
				checkSame(t, "batch of carries alone", shared(loss(scanned)), shared(loss(looped)))
			})
		}
	}
}

// checkSame compares trees, of which absent tensors are absent in both.
func checkSame(t *testing.T, what string, got, want any) {
	t.Helper()
	of := map[string]tensor.Tensor{}
	for name, x := range tree.All(want) {
		of[name] = x
	}
	for name, x := range tree.All(got) {
		y := of[name]
		delete(of, name)
		if !y.IsValid() {
			t.Errorf("%s: %s is %v, want none", what, name, x)
			continue
		}
		if ok, err := tensor.AllClose(x, y, 1e-9, 1e-9); !ok || err != nil {
			t.Errorf("%s: %s is %v, want %v (%v)", what, name, x, y, err)
		}
	}
	for name := range of {
		t.Errorf("%s: %s is absent", what, name)
	}
}

func TestScanEdges(t *testing.T) {
	x := tensor.New([]float32{1, 2, 3})
	add := func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { c = c.Add(x); return c, c }
	zero := tensor.ZerosOf(tensor.Float32)
	last, ys := grad.Scan(add, zero, x.Slice(0, 0, 0), nil)
	if got := fmt.Sprint(last, ys.Shape()); got != "0 [0]" {
		t.Errorf("no steps: %s", got)
	}
	last, ys = grad.Scan(func(c tensor.Tensor, _ struct{}) (tensor.Tensor, tensor.Tensor) { return c.Mul(2), c }, zero.Add(1), struct{}{}, &grad.ScanOptions{Length: 4})
	if got := fmt.Sprint(last, ys); got != "16 [1 2 4 8]" {
		t.Errorf("without inputs: %s", got)
	}
	_, sums := grad.Scan(func(c struct{}, x tensor.Tensor) (struct{}, tensor.Tensor) { return c, x.Square() }, struct{}{}, x, nil)
	if got := fmt.Sprint(sums); got != "[1 4 9]" {
		t.Errorf("without a carry: %s", got)
	}
	last, _ = grad.Scan(add, tensor.Zeros(), x.Cast(tensor.BFloat16), nil)
	if got := fmt.Sprintf("%+v", last); !strings.HasPrefix(got, "6 (bfloat16") {
		t.Errorf("an untyped carry: %s", got)
	}
	jitted := grad.Jit(func(x tensor.Tensor) tensor.Tensor { _, y := grad.Scan(add, zero, x, nil); return y })
	if got := fmt.Sprint(jitted(x), jitted(x.Add(1))); got != "[1 3 6] [2 5 9]" {
		t.Errorf("Jit: %s", got)
	}
	total := zero
	for range 3 { // computed in parts
		_, ys := grad.Scan(add, total, x, nil)
		total = ys.At(-1)
		if err := tensor.Eval(total); err != nil {
			t.Fatal(err)
		}
	}
	if total.Item() != 18 {
		t.Errorf("a chain of scans: %v", total)
	}
}

func TestScanMisuse(t *testing.T) {
	x, zero := tensor.New([]float32{1, 2, 3}), tensor.ZerosOf(tensor.Float32)
	add := func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c.Add(x), c }
	for _, c := range []struct {
		name, want string
		f          func()
	}{
		{"another shape", "of the carry begins as float32 [] and goes on as float32 [1]", func() {
			grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c.Add(x).Reshape(1), c }, zero, x, nil)
		}},
		{"another type", "begins as float32 [] and goes on as float64 []", func() {
			grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c.Cast(tensor.Float64), c }, zero, x, nil)
		}},
		{"an absent carry", "of init and the next carry only one has the tensor", func() {
			grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return tensor.Tensor{}, c }, zero, x, nil)
		}},
		{"a scalar", "it has no first axis along which the steps lie", func() { grad.Scan(add, zero, zero, nil) }},
		{"lengths", "it has 2 elements along its first axis, where there are 3 steps", func() {
			grad.Scan(func(c tensor.Tensor, x []tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c, c }, zero, []tensor.Tensor{x, x.Slice(0, 1, 3)}, nil)
		}},
		{"no length", "set ScanOptions.Length", func() {
			grad.Scan(func(c tensor.Tensor, x struct{}) (tensor.Tensor, tensor.Tensor) { return c, c }, zero, struct{}{}, nil)
		}},
		{"pieces", "Checkpoint is -1", func() { grad.Scan(add, zero, x, &grad.ScanOptions{Checkpoint: -1}) }},
		{"a value", "inside of grad.Scan a tensor stands for those of all steps and has no value", func() {
			grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c.Add(x.Item()), c }, zero, x, nil)
		}},
		{"an index", "index 7 is out of range for an axis of length 3", func() {
			_, y := grad.Scan(func(c, i tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return c, x.Take(0, i) }, zero, tensor.New([]int32{0, 7, 1}), nil)
			if err := tensor.Eval(y); err != nil {
				panic(err)
			}
		}},
	} {
		if err := tensor.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
