package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/grad"
	plans "github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/ptx"
	"github.com/tensorken/tensorken/internal/schedule/scheduletest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// attender returns a device for kernels of a target, and calls seen with each kernel.
func attender(t *testing.T, target Target, seen func(k *ir.Kernel)) *drivertest.Reference {
	ref := open(target)
	ref.Bindings = 64
	prepare := ref.Prepare
	ref.Prepare = func(k *ir.Kernel) (drivertest.Program, error) {
		seen(k)
		return prepare(k)
	}
	return ref
}

// counter returns a device for kernels of a target, and the number of kernels of attention that it
// gets.
func counter(t *testing.T, target Target) (d *drivertest.Reference, kernels *int) {
	kernels = new(int)
	return attender(t, target, func(k *ir.Kernel) {
		if k.Template == ir.Attention {
			*kernels++
		}
	}), kernels
}

// normal returns random numbers of a normal distribution.
func normal(rng *rand.Rand, shape ...int) tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return tensor.New(x, shape...)
}

// floatsOf returns the elements of some tensors, one after the other.
func floatsOf(t *testing.T, tensors ...tensor.Tensor) (list []float32) {
	for _, x := range tensors {
		data, err := tensor.Data[float32](x.Cast(tensor.Float32))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, data...)
	}
	return list
}

var (
	noSubgroups    = Target{SharedBytes: 32 << 10}
	smallSubgroups = Target{SharedBytes: 48 << 10, SubgroupMin: 4, SubgroupMax: 4}
	oneUnit        = Target{SharedBytes: 48 << 10, SubgroupMin: 32, SubgroupMax: 32, Units: 1}
)

// Attention and its gradient, in kernels of the template, are as without.
func TestAttention(t *testing.T) {
	plans.Verify()
	for i, c := range []struct {
		name                               string
		forward                            bool
		batch, heads, queries, keys, width int
		options                            tensor.AttentionOptions
		dtype                              tensor.DType
		tolerance                          float64
	}{
		{"halves of 64 and 128", true, 1, 2, 140, 200, 128, tensor.AttentionOptions{Causal: true, Offset: 60}, tensor.BFloat16, 0.01},
		{"floats", false, 1, 2, 40, 130, 20, tensor.AttentionOptions{}, tensor.Float32, 2e-6},
		{"in other kernels", false, 1, 2, 40, 130, 20, tensor.AttentionOptions{}, tensor.Float64, 1e-6}, // as the floats of the CPU
		{"many workgroups", true, 1, 4, 150, 128, 32, tensor.AttentionOptions{Causal: true}, tensor.Float32, 1e-5},
		{"bfloat16", true, 2, 2, 70, 130, 24, tensor.AttentionOptions{Causal: true, Offset: 60}, tensor.BFloat16, 0.01},
		{"float16", true, 1, 2, 128, 128, 64, tensor.AttentionOptions{Window: 50}, tensor.Float16, 0.002},
		{"wide", false, 1, 1, 33, 129, 128, tensor.AttentionOptions{SoftCap: 3}, tensor.Float32, 2e-6},
		{"no keys for some", true, 1, 2, 40, 130, 16, tensor.AttentionOptions{Mask: mask(40, 130)}, tensor.Float32, 2e-6},
		{"no columns for the last rows", true, 1, 2, 200, 128, 16, tensor.AttentionOptions{Window: 10, Offset: 60}, tensor.BFloat16, 0.03},
		{"columns at the lowest number", true, 1, 1, 40, 130, 16, tensor.AttentionOptions{Mask: lowest(40, 130)}, tensor.Float32, 2e-6},
		{"dropout", true, 1, 2, 40, 130, 16, tensor.AttentionOptions{Dropout: 0.3}, tensor.Float32, 2e-6},
		{"a negative scale", true, 1, 2, 140, 200, 64, tensor.AttentionOptions{Causal: true, Offset: 60, Scale: -0.1}, tensor.BFloat16, 0.03},
		{"almost no scale", true, 1, 1, 70, 140, 64, tensor.AttentionOptions{Causal: true, Scale: 1e-42}, tensor.BFloat16, 0.05},
		{"without the result", false, 1, 2, 140, 200, 64, tensor.AttentionOptions{Causal: true, Offset: 60}, tensor.BFloat16, 0.03},
		{"two rows", true, 2, 2, 2, 300, 128, tensor.AttentionOptions{Causal: true, Offset: 250}, tensor.BFloat16, 0.01},
		{"few rows", true, 1, 1, 7, 130, 60, tensor.AttentionOptions{Window: 50, Causal: true, Offset: 100}, tensor.Float32, 1e-5},
		{"parts of columns", true, 1, 2, 3, 900, 64, tensor.AttentionOptions{}, tensor.BFloat16, 0.01},
		{"parts, most without columns", true, 1, 2, 9, 900, 32, tensor.AttentionOptions{Window: 40, Causal: true, Offset: 200}, tensor.Float32, 1e-5},
		{"parts, no keys for some", true, 1, 1, 9, 900, 16, tensor.AttentionOptions{Mask: mask(9, 900)}, tensor.Float32, 1e-5},
		{"parts at the lowest number", true, 1, 1, 9, 900, 16, tensor.AttentionOptions{Mask: lowest(9, 900)}, tensor.Float32, 1e-5},
	} {
		t.Run(c.name, func(t *testing.T) {
			if i%4 != 1 {
				notShort(t)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			random := func(shape ...int) tensor.Tensor { return normal(rng, shape...) }
			type qkv struct{ Q, K, V tensor.Tensor }
			in := qkv{random(c.batch, c.heads, c.queries, c.width), random(c.batch, c.heads, c.keys, c.width), random(c.batch, c.heads, c.keys, c.width)}
			cotangent := random(c.batch, c.heads, c.queries, c.width)
			run := func(d *tensor.Device, dtype tensor.DType) []float32 {
				x := qkv{in.Q.To(d).Cast(dtype), in.K.To(d).Cast(dtype), in.V.To(d).Cast(dtype)}
				_, y, g := grad.ValueAndGradAux(func(x qkv) (loss, y tensor.Tensor) {
					c.options.RNG = tensor.NewRNG(1)
					y = tensor.Attention(x.Q, x.K, x.V, &c.options)
					z := y.Cast(tensor.Float32)
					if c.forward { // the gradient needs the result, which a kernel before it stores
						z = z.Mul(z)
					}
					return z.Mul(cotangent.To(d)).Sum(), y
				})(x)
				if err := tensor.Eval(y, g); err != nil {
					t.Fatal(err)
				}
				return floatsOf(t, y, g.Q, g.K, g.V)
			}
			want := run(tensor.CPU(), tensor.Float32)
			list := []Target{nvidia, hopper, big}
			switch c.name {
			case "many workgroups", "no keys for some":
				list = append(list, noSubgroups, smallSubgroups, oneUnit)
			case "bfloat16":
				list = append(list, scheduletest.Positions64(nvidia), scheduletest.Positions64(hopper), scheduletest.Positions64(big))
			}
			if testing.Short() {
				list = list[i%len(list):][:1]
			}
			for _, target := range list {
				target.Wide = true
				kernels, large, cut := 0, 0, 0
				ref := attender(t, target, func(k *ir.Kernel) {
					if k.Template == ir.Attention {
						kernels++
						p, err := Compile(k, target)
						if err != nil {
							t.Fatal(err)
						}
						if p.Passes[0].Threads == 128/4*8 {
							large++
						}
						if len(p.Passes) > 1 {
							cut++
						}
						rows := 1
						for _, a := range k.Roles(ir.M).List() {
							rows *= k.Axes[a].Len
						}
						if inGroups := c.dtype != tensor.Float32 && target.SharedMatrices; target.Matrices && rows > 8 && inGroups != (p.Passes[0].Threads == 2*shader.Warpgroup) {
							t.Errorf("%d threads in a workgroup, products in shared memory %v", p.Passes[0].Threads, inGroups)
						}
					}
				})
				got := run(tensor.NewDevice(ref), c.dtype)
				fits := target.Matrices || c.width <= 64
				if want := c.dtype != tensor.Float64 && fits; want != (kernels >= 3) {
					t.Errorf("%+v: %d kernels of attention, want 3: %v", target, kernels, want)
				}
				if strings.HasPrefix(c.name, "parts") && cut == 0 {
					t.Error("no kernel computes parts of columns")
				}
				if target.Units == oneUnit.Units && c.name == "many workgroups" && large == 0 {
					t.Error("no kernel has workgroups of 128 rows")
				}
				if !fits && c.dtype != tensor.Float32 {
					continue // scores are rounded to halves
				}
				worst := 0.0
				for i := range got {
					worst = max(worst, math.Abs(float64(got[i]-want[i])))
				}
				if !(worst < c.tolerance) {
					t.Errorf("error %g", worst)
				}
				t.Logf("error %g", worst)
			}
		})
	}
}

// Attention of few rows, as of a decoder's next token, is one kernel for heads of a width that has no tiles, of one pass
// where columns are few.
func TestAttentionOfFewRows(t *testing.T) {
	plans.Verify()
	for _, c := range []struct {
		target      Target
		rows, width int
		columns     int
		dtype       tensor.DType
		passes      int // 0: no kernel of attention
		tolerance   float64
	}{
		{big, 3, 128, 300, tensor.BFloat16, 1, 0.01},
		{big, 8, 256, 300, tensor.Float32, 2, 1e-5},
		{hopper, 4, 256, 250, tensor.BFloat16, 2, 0.01},
		{hopper, 4, 64, 140, tensor.BFloat16, 1, 0.01},
		{hopper, 4, 64, 500, tensor.BFloat16, 2, 0.01},
		{nvidia, 2, 200, 900, tensor.Float16, 2, 0.002},
		{big, 3, 128, 1500, tensor.BFloat16, 2, 0.01},
		{hopper, 4, 40, 4500, tensor.Float32, 2, 1e-5},
		{big, 9, 128, 300, tensor.Float32, 0, 1e-5},
		{big, 8, 260, 300, tensor.Float32, 0, 1e-5},
		{smallSubgroups, 8, 72, 300, tensor.Float32, 0, 1e-5},
		{noSubgroups, 8, 72, 300, tensor.Float32, 0, 1e-5},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		q, k, v := normal(rng, 1, 2, c.rows, c.width), normal(rng, 1, 2, c.columns, c.width), normal(rng, 1, 2, c.columns, c.width)
		run := func(d *tensor.Device, dtype tensor.DType) []float32 {
			cast := func(x tensor.Tensor) tensor.Tensor { return x.To(d).Cast(dtype) }
			y := tensor.Attention(cast(q), cast(k), cast(v), &tensor.AttentionOptions{Causal: true, Offset: c.columns - 50})
			return floatsOf(t, y.Cast(tensor.Float32))
		}
		passes := 0
		got := run(tensor.NewDevice(attender(t, c.target, func(k *ir.Kernel) {
			if k.Template == ir.Attention {
				passes += len(compile(t, k, c.target).Passes)
			}
		})), c.dtype)
		if passes != c.passes {
			t.Errorf("%d rows of width %d, %d columns on %+v: %d passes of attention, want %d", c.rows, c.width, c.columns, c.target, passes, c.passes)
		}
		worst := 0.0
		for i, x := range run(tensor.CPU(), tensor.Float32) {
			worst = max(worst, math.Abs(float64(x-got[i])))
		}
		if !(worst < c.tolerance) && (c.passes > 0 || c.dtype == tensor.Float32) {
			t.Errorf("%d rows of width %d on %+v: error %g", c.rows, c.width, c.target, worst)
		}
	}
}

// Attention whose factors do not fit in the memory of a workgroup is computed in other kernels.
func TestAttentionMemory(t *testing.T) {
	for _, c := range []struct {
		dtype tensor.DType
		terms int // of scores
		bytes int // of a workgroup
		fits  bool
	}{
		{tensor.Float32, 1, 99 << 10, false},
		{tensor.Float32, 1, 163 << 10, true},
		{tensor.BFloat16, 1, 99 << 10, true},
		{tensor.BFloat16, 2, 227 << 10, true}, // not in groups
		{tensor.BFloat16, 5, 227 << 10, true},
		{tensor.Float32, 5, 227 << 10, false},
	} {
		target := hopper
		target.Wide, target.TileBytes = true, c.bytes
		ref, kernels := counter(t, target)
		ref.Loops.Columns = 2
		d := tensor.NewDevice(ref)
		in := make([]tensor.Tensor, 2*c.terms+1)
		for i := range in {
			in[i] = tensor.NewRNG(uint64(i)).Uniform(9, 128).To(d).Cast(c.dtype)
		}
		attend := func(x []tensor.Tensor) tensor.Tensor {
			scores := x[1].MatMul(x[2].T())
			for i := 3; i < len(x); i += 2 {
				scores = scores.Add(x[i].MatMul(x[i+1].T()))
			}
			y := scores.Mul(0.01).Softmax(1).MatMul(x[0]).Cast(tensor.Float32)
			return y.Mul(y).Sum()
		}
		if err := tensor.Eval(grad.ValueAndGrad(attend)(in)); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if *kernels > 0 != c.fits {
			t.Errorf("%+v: %d kernels of attention", c, *kernels)
		}
	}
}

// A kernel whose least tiles do not fit in a workgroup's memory is refused.
func TestAttentionRoom(t *testing.T) {
	for _, target := range []Target{big, nvidia} {
		small := target
		small.SharedBytes, small.TileBytes = 8<<10, 0
		n := 0
		d := tensor.NewDevice(attender(t, target, func(k *ir.Kernel) {
			if k.Template != ir.Attention {
				return
			}
			n++
			if _, err := Compile(k, small); err == nil || !strings.Contains(err.Error(), "8192 bytes") {
				t.Errorf("a kernel of attention with 8 KiB: error %v", err)
			}
		}))
		x := normal(rand.New(rand.NewPCG(1, 2)), 2, 128, 64).To(d)
		if err := tensor.Eval(tensor.Attention(x, x, x, nil)); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			t.Error("no kernel is of attention")
		}
	}
}

// A softmax written by hand has no guard against rows of -Inf alone. Whole blocks of columns, and
// the first of them, may still be hidden by that or by any low number.
func TestAttentionHidden(t *testing.T) {
	if testing.Short() {
		t.Skip("computes long attention")
	}
	const queries, keys, width = 40, 200, 8
	rng := rand.New(rand.NewPCG(1, 2))
	in := [3]tensor.Tensor{normal(rng, queries, width), normal(rng, keys, width), normal(rng, keys, width)}
	hidden := make([]bool, queries*keys)
	for i := range hidden {
		row, col := i/keys, i%keys
		hidden[i] = col < 100 || col > 190-row
	}
	run := func(d *tensor.Device, low float64) []float32 {
		hides := tensor.New(hidden, queries, keys).To(d)
		_, y, g := grad.ValueAndGradAux(func(x [3]tensor.Tensor) (loss, y tensor.Tensor) {
			scores := tensor.Where(hides, tensor.Full(low), x[0].MatMul(x[1].T()))
			y = scores.Softmax(1).MatMul(x[2])
			return y.Square().Sum(), y
		})([3]tensor.Tensor{in[0].To(d), in[1].To(d), in[2].To(d)})
		return floatsOf(t, y, g[0], g[1], g[2])
	}
	for _, low := range []float64{math.Inf(-1), -math.MaxFloat32, -3e37, -1e30, -3e9, -1e9, -100} {
		want := run(tensor.CPU(), low)
		for _, target := range []Target{nvidia, hopper, big, noSubgroups} {
			ref, n := counter(t, target)
			got := run(tensor.NewDevice(ref), low)
			for i, x := range got {
				if !(math.Abs(float64(x-want[i])) <= 1e-4) {
					t.Errorf("%g, %+v: element %d is %v, want %v", low, target, i, x, want[i])
					break
				}
			}
			if *n == 0 {
				t.Error("no kernel is of attention")
			}
		}
	}
}

// A mask on the weights hides nothing from the sums that they are divided by.
func TestAttentionWeightsMasked(t *testing.T) {
	const queries, keys, width = 40, 200, 8
	rng := rand.New(rand.NewPCG(1, 2))
	in := [3]tensor.Tensor{normal(rng, queries, width), normal(rng, keys, width), normal(rng, keys, width)}
	run := func(d *tensor.Device) []float32 {
		p := in[0].To(d).MatMul(in[1].To(d).T()).Softmax(1)
		ahead := tensor.Arange(keys).Sub(tensor.Arange(queries).Reshape(queries, 1)).To(d)
		return floatsOf(t, tensor.Where(ahead.Le(0), p, tensor.ZerosLike(p)).MatMul(in[2].To(d)))
	}
	want := run(tensor.CPU())
	for _, target := range []Target{nvidia, hopper, big} {
		ref, n := counter(t, target)
		got := run(tensor.NewDevice(ref))
		for i, x := range got {
			if !(math.Abs(float64(x-want[i])) <= 1e-5) {
				t.Errorf("%+v: element %d is %v, want %v", target, i, x, want[i])
				break
			}
		}
		if *n == 0 {
			t.Error("no kernel is of attention")
		}
	}
}

// The kernel of the gradients of keys and values has nine buffers here; WebGPU allows ten.
func TestAttentionBindings(t *testing.T) {
	for most, kernels := range map[int]int{0: 0, 8: 0, 9: 3} {
		ref, n := counter(t, big)
		ref.Bindings, ref.Loops.AttentionBindings = 8, most
		rng, d := rand.New(rand.NewPCG(1, 2)), tensor.NewDevice(ref)
		x := [3]tensor.Tensor{normal(rng, 2, 32, 16).To(d), normal(rng, 2, 128, 16).To(d), normal(rng, 2, 128, 16).To(d)}
		err := tensor.Eval(grad.ValueAndGrad(func(x [3]tensor.Tensor) tensor.Tensor {
			return tensor.Attention(x[0], x[1], x[2], nil).Square().Sum()
		})(x))
		if err != nil {
			t.Fatal(err)
		}
		if *n != kernels {
			t.Errorf("at most %d buffers: %d kernels of attention, want %d", most, *n, kernels)
		}
	}
}

// The gradients of keys and values that are parts of one tensor come from one kernel, which has
// one argument for them.
func TestAttentionParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	in := normal(rng, 3, 2, 128, 16)
	gradient := func(x tensor.Tensor) tensor.Tensor {
		return grad.Of(func(x tensor.Tensor) tensor.Tensor {
			return tensor.Attention(x.At(0), x.At(1), x.At(2), nil).Square().Sum()
		})(x)
	}
	want := floatsOf(t, gradient(in))
	ref, n := counter(t, big)
	for i, x := range floatsOf(t, gradient(in.To(tensor.NewDevice(ref)))) {
		if !(math.Abs(float64(x-want[i])) <= 1e-5) {
			t.Fatalf("element %d is %v, want %v", i, x, want[i])
		}
	}
	if *n != 3 {
		t.Errorf("%d kernels of attention, want 3", *n)
	}
}

// mask lets row i attend to keys whose number is less than 4i, and the tenth to none.
func mask(queries, keys int) tensor.Tensor {
	attends := make([]bool, queries*keys)
	for i := range attends {
		attends[i] = i/keys != 10 && i%keys < 4*(i/keys)
	}
	return tensor.New(attends, queries, keys)
}

// lowest adds the lowest number of float32 to the scores of the first 80 keys, and of all for the
// tenth row.
func lowest(queries, keys int) tensor.Tensor {
	bias := make([]float32, queries*keys)
	for i := range bias {
		if i/keys == 10 || i%keys < 80 {
			bias[i] = -math.MaxFloat32
		}
	}
	return tensor.New(bias, queries, keys)
}

// Blocks of columns that a mask hides from all rows of a workgroup are skipped: NaN there does no
// harm, though the product is no product by weights.
func TestAttentionSkips(t *testing.T) {
	const queries, keys, width = 40, 300, 16
	type options struct {
		Causal         bool
		Window, Offset int
	}
	attend := func(q, k, v tensor.Tensor, o options) tensor.Tensor {
		scores := q.MatMul(k.T())
		whole := func(x float64) tensor.Tensor { return tensor.Full(x, queries, keys) }
		ahead := tensor.Arange(0, keys, 1).Sub(tensor.Arange(0, queries, 1).Unsqueeze(1))
		upTo := func(n int) tensor.Tensor { return ahead.Le(whole(float64(n)).Cast(tensor.Int32)) }
		if o.Causal {
			attends := upTo(o.Offset)
			if o.Window > 0 {
				attends = attends.And(upTo(o.Offset - o.Window).Not())
			}
			scores = tensor.Where(attends, scores, whole(math.Inf(-1)))
		}
		return scores.Softmax(-1).MatMul(v)
	}
	ones := func(rows, hidden int) tensor.Tensor {
		x := make([]float32, rows*width)
		for i := range x {
			x[i] = 1
			if i >= hidden*width {
				x[i] = float32(math.NaN())
			}
		}
		return tensor.New(x, rows, width)
	}
	for _, c := range []struct {
		name    string
		hidden  int // the first column that is NaN
		options options
		nan     bool
	}{
		{"after the last", 64, options{Causal: true}, false},
		{"after the last, from an offset on", 128, options{Causal: true, Offset: 60}, false},
		{"after a window", 64, options{Causal: true, Window: 5}, false},
		{"in a block that is needed", 60, options{Causal: true}, true},
		{"without a mask", 299, options{}, true},
	} {
		drv := open(nvidia)
		d := tensor.NewDevice(drv)
		y, err := tensor.Data[float32](attend(ones(queries, queries).To(d), ones(keys, keys).To(d), ones(keys, c.hidden).To(d), c.options))
		if err != nil {
			t.Fatal(err)
		}
		nan := slices.ContainsFunc(y, func(x float32) bool { return x != x })
		if nan != c.nan || !nan && slices.ContainsFunc(y, func(x float32) bool { return math.Abs(float64(x)-1) > 1e-6 }) {
			t.Errorf("%s: NaN %v, want %v: %v", c.name, nan, c.nan, y[:8])
		}
	}
}

// Of float32 the kernel of causal attention has one loop, of halves another one without a mask: a driver takes
// long to compile products of float32 by matrix instructions.
func TestAttentionLoops(t *testing.T) {
	for _, c := range []struct {
		dtype tensor.DType
		twice bool
	}{{tensor.Float32, false}, {tensor.BFloat16, true}} {
		counts := map[bool]int{} // of matrix instructions, by causal
		for _, causal := range []bool{false, true} {
			drv := attender(t, nvidia, func(k *ir.Kernel) {
				p, err := Compile(k, nvidia)
				if err != nil {
					t.Fatal(err)
				}
				for _, q := range p.Passes {
					counts[causal] += strings.Count(ptx.Print(q, 80), "mma.sync")
				}
			})
			d, rng := tensor.NewDevice(drv), rand.New(rand.NewPCG(1, 2))
			x := normal(rng, 1, 1, 200, 32).Cast(c.dtype)
			if err := tensor.Eval(x); err != nil {
				t.Fatal(err)
			}
			x = x.To(d)
			if err := tensor.Eval(tensor.Attention(x, x, x, &tensor.AttentionOptions{Causal: causal})); err != nil {
				t.Fatal(err)
			}
		}
		if twice := counts[true] >= 2*counts[false]; counts[false] == 0 || twice != c.twice {
			t.Errorf("%v: %d matrix instructions, %d with a causal mask", c.dtype, counts[false], counts[true])
		}
	}
}
