package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	plans "github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/schedule/scheduletest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// The products of one vector by several matrices are one kernel, in which a matrix of more rows is cut, and
// each row is swept by the threads of a subgroup, or of a few.
func TestProductsOfOneVector(t *testing.T) {
	plans.Verify()
	rng := rand.New(rand.NewPCG(1, 2))
	const depth = 1056
	x, scale := normal(rng, 1, depth), normal(rng, 1, 144)
	for i, c := range []struct {
		rows    []int
		scaled  bool // by elements of a vector, which all load
		kernels int
	}{
		{[]int{144, 144}, false, 1},
		{[]int{432, 144, 144}, false, 1},
		{[]int{144, 288}, false, 1},
		{[]int{144, 145}, false, 2},      // rows that do not divide
		{[]int{145 * 5, 145}, false, 2},  // too many parts
		{[]int{432, 432, 144}, false, 1}, // two of three parts
		{[]int{144, 144, 144}, true, 1},  // eight buffers
	} {
		if testing.Short() && i%3 != 1 {
			continue
		}
		var ws []tensor.Tensor
		for _, n := range c.rows {
			ws = append(ws, normal(rng, n, depth))
		}
		run := func(d *tensor.Device) []float32 {
			var ys []tensor.Tensor
			x, scale := x.To(d).Softmax(-1), scale.To(d) // of a kernel, or in the kernel of the products
			for i, w := range ws {
				y := x.MatMul(w.To(d).T()).Add(float64(i))
				if c.scaled {
					y = y.Mul(scale)
				}
				ys = append(ys, y)
			}
			if err := tensor.Eval(ys); err != nil {
				t.Fatal(err)
			}
			return floatsOf(t, ys...)
		}
		want := run(tensor.CPU())
		for _, target := range []Target{hopper, big, noSubgroups} {
			kernels := 0
			ref := attender(t, target, func(*ir.Kernel) { kernels++ })
			ref.Loops, ref.Bindings = target.LoopLimits(), 8
			got := run(tensor.NewDevice(ref))
			all := 1 + c.kernels
			if c.kernels == 1 && target.Matrices { // whose machine is fast enough to compute x in each workgroup
				all = 1
			}
			if kernels != all {
				t.Errorf("%v rows: %d kernels, want %d", c.rows, kernels, all)
			}
			for i := range got {
				if !(math.Abs(float64(got[i]-want[i])) <= 1e-3) {
					t.Fatalf("%v rows: element %d is %v, want %v", c.rows, i, got[i], want[i])
				}
			}
		}
	}
}

// The products of a few rows of halves by several matrices are one kernel where instructions multiply them from memory, and
// functions of several products are in it.
func TestProductsOfFewRows(t *testing.T) {
	plans.Verify()
	rng := rand.New(rand.NewPCG(1, 2))
	const depth = 1056
	half := func(rows, columns int) tensor.Tensor { return normal(rng, rows, columns).Cast(tensor.BFloat16).Keep() }
	for i, c := range []struct {
		times   int
		rows    []int // of matrices
		kernels int
	}{
		{4, []int{48, 48}, 1},
		{2, []int{144, 48, 48}, 1},
		{16, []int{48, 96}, 1},
		{4, []int{48, 49}, 2},  // rows that do not divide
		{17, []int{48, 48}, 2}, // many rows
	} {
		if testing.Short() && i%2 != 1 {
			continue
		}
		x := half(c.times, depth)
		var ws []tensor.Tensor
		for _, n := range c.rows {
			ws = append(ws, half(n, depth))
		}
		run := func(d *tensor.Device) []float32 {
			var ys []tensor.Tensor
			x := x.To(d).Softmax(-1) // of a kernel of its own
			for i, w := range ws {
				ys = append(ys, x.MatMul(w.To(d).T()).Add(float64(i)))
			}
			if len(ws) == 2 && c.rows[0] == c.rows[1] {
				ys = []tensor.Tensor{ys[0].SiLU().Mul(ys[1])}
			}
			for i := range ys {
				ys[i] = ys[i].Cast(tensor.Float32)
			}
			if err := tensor.Eval(ys); err != nil {
				t.Fatal(err)
			}
			return floatsOf(t, ys...)
		}
		want := run(tensor.CPU())
		for _, target := range []Target{hopper, nvidia, big} {
			kernels := 0
			ref := attender(t, target, func(*ir.Kernel) { kernels++ })
			if ref.Loops = target.LoopLimits(); target.Matrices {
				ref.Machine = scheduletest.Matrices
			}
			got := run(tensor.NewDevice(ref))
			if n := 1 + c.kernels; target.Matrices && kernels != n || !target.Matrices && kernels < 3 {
				t.Errorf("%d rows by %v: %d kernels, want %d with matrix instructions", c.times, c.rows, kernels, n)
			}
			for i := range got {
				if !(math.Abs(float64(got[i]-want[i])) <= 2e-2) {
					t.Fatalf("%d rows by %v: element %d is %v, want %v", c.times, c.rows, i, got[i], want[i])
				}
			}
		}
	}
}

// A matrix whose columns are cut for another one stays right where their axes do not match after that.
func TestProductsOfFewRowsCut(t *testing.T) {
	plans.Verify()
	rng := rand.New(rand.NewPCG(1, 2))
	half := func(lens ...int) tensor.Tensor { return normal(rng, lens...).Cast(tensor.BFloat16).Keep() }
	const depth = 64
	x, ws := half(4, depth), []tensor.Tensor{half(9, 20, depth), half(4, 15, depth)}
	run := func(d *tensor.Device) []float32 {
		var ys []tensor.Tensor
		x := x.To(d).Softmax(-1).Reshape(4, 1, 1, depth)
		for _, w := range ws {
			ys = append(ys, x.Mul(w.To(d)).Sum(-1).Cast(tensor.Float32))
		}
		if err := tensor.Eval(ys); err != nil {
			t.Fatal(err)
		}
		return floatsOf(t, ys...)
	}
	want := run(tensor.CPU())
	ref := attender(t, hopper, func(*ir.Kernel) {})
	ref.Loops, ref.Machine = hopper.LoopLimits(), scheduletest.Matrices
	for i, x := range run(tensor.NewDevice(ref)) {
		if !(math.Abs(float64(x-want[i])) <= 2e-2) {
			t.Fatalf("element %d is %v, want %v", i, x, want[i])
		}
	}
}

// Steps of a decoder put keys and values into a cache by a thread for each element, and find a full cache. The
// kernels of one position have one pass, since it is the same in all threads; of two layers one computes it.
func TestCacheSteps(t *testing.T) {
	plans.Verify()
	rng := rand.New(rand.NewPCG(1, 2))
	const heads, capacity, width = 2, 7, 4
	for _, target := range []Target{hopper, big, software} {
		ran := map[string]int{}
		ref := attender(t, target, func(k *ir.Kernel) {
			p, err := Compile(k, target)
			if err != nil {
				t.Fatal(err)
			}
			ran[fmt.Sprint(k.Template, " of ", len(p.Passes), " passes")]++
		})
		caches := map[*tensor.Device][2]nn.KVCache{}
		devices := []*tensor.Device{tensor.CPU(), tensor.NewDevice(ref)}
		for step, times := range []int{3, 2, 1, 1, 1} {
			k := normal(rng, 1, heads, times, width)
			var results [2][]float32
			var errs [2]error
			for n, d := range devices {
				layers := caches[d]
				for i := range layers {
					if step == 0 {
						layers[i] = nn.NewKVCache(1, heads, capacity, width)
					}
					if step == 1 {
						layers[i] = layers[i].OnDevice()
					}
					if step > 1 {
						layers[i].Pos = layers[0].Pos
					}
				}
				if step == 2 {
					clear(ran)
				}
				var next [2]nn.KVCache
				for i, l := range layers {
					next[i] = l.Append(k.To(d).Add(float64(i)), k.To(d).Mul(2))
				}
				caches[d] = next
				errs[n] = tensor.Eval(next)
				for _, x := range []tensor.Tensor{next[0].K, next[0].V, next[1].K, next[1].V} {
					list, err := tensor.Data[float32](x)
					if results[n] = append(results[n], list...); errs[n] == nil {
						errs[n] = err
					}
				}
			}
			if full := step == 4; (errs[0] != nil) != full || full && errs[0].Error() != fmt.Sprint(errs[1]) {
				t.Fatalf("step %d: errors %v and %v", step, errs[0], errs[1])
			}
			if step == 2 && (ran["pointwise of 1 passes"] > 2 || len(ran) != 2) {
				t.Errorf("kernels %v, want at most two for positions, and scatters of one pass", ran)
			}
			for i := range results[1] {
				if results[1][i] != results[0][i] {
					t.Fatalf("step %d: element %d is %v, want %v", step, i, results[1][i], results[0][i])
				}
			}
		}
	}
}

// A product of a vector by a matrix loads the first elements of the matrix before it waits for the kernel that makes the
// vector.
func TestStreamedAhead(t *testing.T) {
	few := hopper
	few.Units = 4                                       // so that some rows fill it
	for _, deep := range []int{1056, 3072, 4100, 512} { // rows of 512 are in registers
		const rows = 55
		k := kernel(ir.Reduce, []ir.Axis{{Len: rows, Role: ir.Parallel}, {Len: deep, Role: ir.Reduced}}, []ir.Arg{in(ir.BFloat16), in(ir.BFloat16), out(f32, rows)},
			load(f32, 0, by(0, 1)), load(f32, 1, by(deep, 1)), alu(ir.Mul, f32, 0, 1), reduction(ir.Sum, f32, 2, ir.Axes(1)), store(f32, 3, 2, by(1, 0)))
		if err := ir.Verify(k); err != nil {
			t.Fatal(err)
		}
		p := compile(t, k, few)
		if err := simt.Verify(p); err != nil {
			t.Fatal(err)
		}
		if err := checkResults(p, k, few, 0); err != nil {
			t.Error(err)
		}
		q := p.Passes[0]
		for _, b := range q.Buffers {
			if b.Ahead != (b.Arg == 1) {
				t.Errorf("depth %d: whether buffer %d is loaded ahead is %v", deep, b.Arg, b.Ahead)
			}
		}
		if q.Awaits() <= 0 {
			t.Errorf("depth %d: the pass begins to wait at statement %d", deep, q.Awaits())
		}
	}
}

// A matrix with guards is loaded in branches, which do not stand before a wait.
func TestStreamedPadding(t *testing.T) {
	d := tensor.NewDevice(attender(t, hopper, func(*ir.Kernel) {}))
	defer d.Close()
	x, y := tensor.Ones(4096, 1020).To(d).Keep(), tensor.Ones(1024).To(d).Keep()
	if err := tensor.Eval(x, y); err != nil {
		t.Fatal(err)
	}
	got, err := tensor.Data[float32](x.Pad(1, 4, 0).Mul(y).Sum(1))
	if err != nil || got[0] != 1020 || got[4095] != 1020 {
		t.Errorf("sums of rows: %v, %v, want 1020", got[:min(1, len(got))], err)
	}
}

// Elements of two bytes that a token puts into a cache are stored by fours.
func TestCacheOfHalves(t *testing.T) {
	plans.Verify()
	rng := rand.New(rand.NewPCG(1, 2))
	const heads, capacity, width = 2, 7, 8
	k, v := normal(rng, 1, heads, 1, width), normal(rng, 1, heads, 1, width)
	var want []float32
	fours := 0
	ref := attender(t, big, func(k *ir.Kernel) {
		if k.Template == ir.Routine {
			list := compile(t, k, big).Passes
			blocks(list[len(list)-1].Body, func(b *shader.Block) {
				for _, s := range b.Stmts {
					if s, ok := s.(*shader.Store); ok && len(s.Values) == 4 {
						fours++
					}
				}
			})
		}
	})
	for _, d := range []*tensor.Device{tensor.CPU(), tensor.NewDevice(ref)} {
		half := func(x tensor.Tensor) tensor.Tensor { return x.Cast(tensor.BFloat16).To(d) }
		c := nn.NewKVCache(1, heads, capacity, width)
		c.K, c.V = half(c.K), half(c.V)
		c = c.OnDevice()
		for range 2 {
			c = c.Append(half(k), half(v))
			if err := tensor.Eval(c); err != nil {
				t.Fatal(err)
			}
		}
		got := floatsOf(t, c.K.Cast(tensor.Float32), c.V.Cast(tensor.Float32))
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("the cache has %v, want %v", got, want)
		}
	}
	if fours == 0 {
		t.Error("no elements are stored by fours")
	}
}
