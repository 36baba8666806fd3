package schedule

import (
	le "encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/grad"
	plans "github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Loops that skip scores which a mask hides equal attention without loops. Memory is NaN at first, so that
// a score which is read without being stored shows. Rows and columns are more than tiles have.
func TestHiddenScores(t *testing.T) {
	if testing.Short() {
		t.Skip("computes long attention")
	}
	plans.Verify()
	plain := tensor.NewDevice(cpu.New(cpu.Options{}))
	for _, c := range []struct {
		name                       string
		heads, queries, keys, deep int
		bytes                      int // of temporaries
		options                    tensor.AttentionOptions
		skips                      bool
		threads                    int // most of a workgroup; 0: 256
	}{
		{"causal, several matrices", 4, 200, 200, 8, 1 << 20, tensor.AttentionOptions{Causal: true}, true, 0},
		{"causal, parts of a matrix", 2, 300, 300, 24, 1 << 18, tensor.AttentionOptions{Causal: true}, true, 0},
		{"causal, more keys than queries", 2, 130, 300, 16, 1 << 20, tensor.AttentionOptions{Causal: true}, true, 0},
		{"causal, more queries than keys", 2, 300, 130, 16, 1 << 20, tensor.AttentionOptions{Causal: true}, true, 0},
		{"a window", 2, 300, 300, 16, 1 << 20, tensor.AttentionOptions{Causal: true, Window: 70}, true, 0},
		{"a window of both sides", 2, 200, 200, 16, 1 << 20, tensor.AttentionOptions{Window: 20}, true, 0},
		{"causal with a soft cap", 2, 200, 200, 16, 1 << 20, tensor.AttentionOptions{Causal: true, SoftCap: 3}, true, 0},
		{"causal, several vectors of a row for each thread", 1, 600, 600, 8, 1 << 23, tensor.AttentionOptions{Causal: true}, true, 64},
		{"a window that leaves rows without columns", 1, 300, 130, 16, 1 << 20, tensor.AttentionOptions{Causal: true, Window: 20}, false, 0},
		{"no mask", 2, 200, 200, 16, 1 << 20, tensor.AttentionOptions{}, false, 0},
		{"an offset that is a number of the plan", 2, 200, 200, 16, 1 << 20, tensor.AttentionOptions{Causal: true, Offset: 3}, false, 0},
	} {
		for _, dtype := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
			if dtype == tensor.BFloat16 && c.bytes != 1<<18 {
				continue // as in float32
			}
			t.Run(fmt.Sprint(c.name, " ", dtype), func(t *testing.T) {
				target := Target{Family: Discrete, MaxThreads: c.threads, SharedBytes: 48 << 10, SubgroupMin: 32, SubgroupMax: 32, Units: 2}
				ref := open(target)
				ref.Bindings = 14
				ref.Loops = ir.LoopLimits{Bytes: c.bytes, Rows: 32, Columns: 2, Serial: true, Skips: true}
				skipping := 0
				prepare := ref.Prepare
				ref.Prepare = func(k *ir.Kernel) (drivertest.Program, error) {
					if slices.ContainsFunc(k.Args, func(a ir.Arg) bool { return a.Undefined }) {
						skipping++
					}
					return prepare(k)
				}
				results := func(d *tensor.Device) []float32 {
					rng := rand.New(rand.NewPCG(1, 2))
					q, k, v := normal(rng, c.heads, c.queries, c.deep).To(d), normal(rng, c.heads, c.keys, c.deep).To(d), normal(rng, c.heads, c.keys, c.deep).To(d)
					_, g := grad.ValueAndGrad(func(x [3]tensor.Tensor) tensor.Tensor {
						return tensor.Attention(x[0].Cast(dtype), x[1].Cast(dtype), x[2].Cast(dtype), &c.options).Cast(tensor.Float32).Tanh().Sum()
					})([3]tensor.Tensor{q, k, v})
					return floatsOf(t, g[0], g[1], g[2])
				}
				want, got := results(plain), results(tensor.NewDevice(ref))
				if (skipping > 0) != c.skips {
					t.Errorf("%d kernels read scores that are not all stored, want some: %v", skipping, c.skips)
				}
				tolerance := 1e-4
				if dtype != tensor.Float32 {
					tolerance = 0.05
				}
				for i := range want {
					if d := float64(want[i] - got[i]); !(d*d <= tolerance*tolerance) {
						t.Fatalf("element %d: %v, want %v", i, got[i], want[i])
					}
				}
			})
		}
	}
}

// Loops of scores that are masked in several ways, or are factors and divisors of others, equal the kernels
// without loops. The oracle stores NaN where nothing needs a score.
func TestHiddenForms(t *testing.T) {
	const length, width = 64, 8
	plain := tensor.NewDevice(cpu.New(cpu.Options{}))
	columns := func(x tensor.Tensor) tensor.Tensor { return tensor.Arange(length).Reshape(1, length).To(x.Device()) }
	rows := func(x tensor.Tensor) tensor.Tensor { return tensor.Arange(length).Reshape(length, 1).To(x.Device()) }
	where := func(visible, x tensor.Tensor) tensor.Tensor { return tensor.Where(visible, x, tensor.ZerosLike(x)) }
	lower := func(x tensor.Tensor) tensor.Tensor { return where(rows(x).Lt(columns(x)).Not(), x) }
	weights := func(x []tensor.Tensor) tensor.Tensor { return x[0].MatMul(x[1].T()).Softmax(2) }
	for _, c := range []struct {
		name  string
		apply func(x []tensor.Tensor) []tensor.Tensor
	}{
		{"weights that are masked", func(x []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{lower(weights(x)).MatMul(x[2])}
		}},
		{"sums of both triangles", func(x []tensor.Tensor) []tensor.Tensor {
			s := x[3].MatMul(x[1].T()).Abs().Add(1)
			above := where(rows(s).Lt(columns(s)), s).Sum(2).Reshape(2, length, 1)
			p := x[0].MatMul(x[1].T()).Mul(above.Add(1).Div(lower(s).Sum(2).Reshape(2, length, 1))).Softmax(2)
			return []tensor.Tensor{p.MatMul(x[2])}
		}},
		{"a mask of a part of the columns", func(x []tensor.Tensor) []tensor.Tensor {
			p := weights(x).Reshape(2, length, 4, length/4)
			inner := tensor.Arange(length/4).Reshape(1, 1, length/4).To(p.Device())
			p = where(rows(p).Reshape(length, 1, 1).Lt(inner).Not(), p)
			return []tensor.Tensor{p.Reshape(2, length, length).MatMul(x[2])}
		}},
		{"rows with all rows", func(x []tensor.Tensor) []tensor.Tensor {
			p := lower(weights(x))
			return []tensor.Tensor{p.MatMul(x[2]), p.T().MatMul(p)}
		}},
		{"a divisor that does not count", func(x []tensor.Tensor) []tensor.Tensor {
			s := x[3].MatMul(x[1].T()).Abs().Add(1)
			p := lower(x[0].MatMul(x[1].T()).Mul(lower(s).Sum(2).Reshape(2, length, 1)).Softmax(2))
			return []tensor.Tensor{p.MatMul(x[2]), p.Div(s).Sum(2)}
		}},
	} {
		results := func(d *tensor.Device) []float32 {
			rng := rand.New(rand.NewPCG(1, 2))
			var x []tensor.Tensor
			for range 4 {
				x = append(x, normal(rng, 2, length, width).To(d))
			}
			y := c.apply(x)
			if err := tensor.Eval(y); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			return floatsOf(t, y...)
		}
		ref := drivertest.Oracle()
		ref.Loops = ir.LoopLimits{Bytes: 1 << 20, Rows: 32, Columns: 2, Serial: true, Skips: true}
		want, got := results(plain), results(tensor.NewDevice(ref))
		for i := range want {
			if d := float64(want[i] - got[i]); !(d*d <= 1e-8) {
				t.Errorf("%s: element %d is %v, want %v", c.name, i, got[i], want[i])
				break
			}
		}
	}
}

// A product of which both a part of the depth and a part of the results are hidden.
func TestHiddenProduct(t *testing.T) {
	notShort(t)
	const n = 200
	condition := func(row, column, at int) []ir.Instr { // row is not before column
		return []ir.Instr{
			{Op: ir.Index, Type: ir.Int32, Axis: row, Domain: ir.Axes(row)},
			{Op: ir.Index, Type: ir.Int32, Axis: column, Domain: ir.Axes(column)},
			{Op: ir.Lt, Type: ir.Bool, Src: []int{at, at + 1}, Domain: ir.Axes(row, column)},
			{Op: ir.Not, Type: ir.Bool, Src: []int{at + 2}, Domain: ir.Axes(row, column)},
		}
	}
	k := &ir.Kernel{
		Template: ir.Contraction,
		Args:     []ir.Arg{{Kind: ir.In, DType: ir.Float32, Undefined: true, Align: true}, {Kind: ir.In, DType: ir.Float32, Align: true}, {Kind: ir.Out, DType: ir.Float32, Len: n * n, Align: true}},
		Axes:     []ir.Axis{{Len: n, Role: ir.M}, {Len: n, Role: ir.N}, {Len: n, Role: ir.K}},
	}
	k.Body = append(condition(0, 2, 0),
		ir.Instr{Op: ir.Load, Type: ir.Float32, Arg: 0, View: &ir.View{Coef: []int{n, 0, 1}}},
		ir.Instr{Op: ir.Const, Type: ir.Float32},
		ir.Instr{Op: ir.Where, Type: ir.Float32, Src: []int{3, 4, 5}},
		ir.Instr{Op: ir.Load, Type: ir.Float32, Arg: 1, View: &ir.View{Coef: []int{0, 1, n}}},
		ir.Instr{Op: ir.Mul, Type: ir.Float32, Src: []int{6, 7}},
		ir.Instr{Op: ir.Sum, Type: ir.Float32, Src: []int{8}, Axes: ir.Axes(2)})
	k.Body = append(append(k.Body, condition(0, 1, 10)...), ir.Instr{Op: ir.Store, Type: ir.Float32, Src: []int{9, 13}, Arg: 2, View: &ir.View{Coef: []int{n, 1, 0}}})
	for i := range k.Body {
		k.Body[i].Domain = k.Varies(i)
	}
	if err := ir.Verify(k); err != nil {
		t.Fatal(err)
	}
	target := Target{Family: Discrete, MaxThreads: 256, SharedBytes: 48 << 10, Units: 2}
	rng := rand.New(rand.NewPCG(1, 2))
	x, y, got := make([]byte, 4*n*n), make([]byte, 4*n*n), make([]byte, 4*n*n)
	want := make([]float64, n*n)
	put := func(b []byte, i int, v float32) { le.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v)) }
	get := func(b []byte, i int) float64 {
		return float64(math.Float32frombits(le.LittleEndian.Uint32(b[4*i:])))
	}
	for i := range n * n {
		put(x, i, float32(math.NaN()))
		if i%n <= i/n {
			put(x, i, rng.Float32())
		}
		put(y, i, rng.Float32())
	}
	for i := range n * n {
		for j := range i/n + 1 {
			want[i] += get(x, i/n*n+j) * get(y, j*n+i%n)
		}
	}
	for _, list := range Choices(k, target) {
		for _, c := range list {
			p, err := CompileChoice(k, target, c)
			if err == nil {
				err = simt.Verify(p)
			}
			if err == nil {
				err = simt.Compile(p).Run([]simt.Arg{{Data: x}, {Data: y}, {Data: got}})
			}
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			for i := range want {
				if i%n <= i/n && !(math.Abs(get(got, i)-want[i]) <= 1e-3) {
					t.Errorf("%v: element %d is %v, want %v", c, i, get(got, i), want[i])
					break
				}
			}
		}
	}
}

// Gradients of large scores are loops only if there are enough rows, and masks do not hide most of the scores.
func TestLoopOrKernels(t *testing.T) {
	for _, c := range []struct {
		name          string
		queries, keys int
		options       tensor.AttentionOptions
		kernels       bool
	}{
		{"few rows", 8, 64, tensor.AttentionOptions{}, true},
		{"few rows, causal", 8, 64, tensor.AttentionOptions{Causal: true}, true},
		{"no mask", 64, 64, tensor.AttentionOptions{}, false},
		{"causal", 64, 64, tensor.AttentionOptions{Causal: true}, false},
		{"causal, many columns", 32, 128, tensor.AttentionOptions{Causal: true}, true},
		{"a window", 64, 64, tensor.AttentionOptions{Causal: true, Window: 8}, true},
	} {
		ref, n := counter(t, big)
		ref.Bindings, ref.Loops.Scores, ref.Loops.Columns = 14, 0, 2
		rng, d := rand.New(rand.NewPCG(1, 2)), tensor.NewDevice(ref)
		x := [3]tensor.Tensor{normal(rng, 8, c.queries, 16).To(d), normal(rng, 8, c.keys, 16).To(d), normal(rng, 8, c.keys, 16).To(d)}
		if err := tensor.Eval(grad.ValueAndGrad(func(x [3]tensor.Tensor) tensor.Tensor {
			return tensor.Attention(x[0], x[1], x[2], &c.options).Square().Sum()
		})(x)); err != nil {
			t.Fatal(err)
		}
		if (*n > 1) != c.kernels { // one computes the forward pass
			t.Errorf("%s: %d kernels of attention, want several: %v", c.name, *n, c.kernels)
		}
	}
}
