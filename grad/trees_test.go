package grad_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A mixture has leaves of every kind.
type mixture struct {
	X      tensor.Tensor
	Ptr    *norm
	Tied   *norm // the same as Ptr
	List   []tensor.Tensor
	ByName map[string]any
	Index  tensor.Tensor // int32
	Mask   tensor.Tensor // bool
	Mean   tensor.Tensor `tensor:",state"`
	Absent tensor.Tensor
	Size   int
}

func newMixture() mixture {
	n := &norm{Scale: f64(2, 3), Mean: f64(1, 1)}
	return mixture{
		X: f64(5, 7), Ptr: n, Tied: n, List: []tensor.Tensor{f64(1, 2), {}}, ByName: map[string]any{"a": f64(4, 4), "b": "text"},
		Index: i32(1, 0), Mask: tensor.New([]bool{true, false}), Mean: f64(10, 10), Size: 9,
	}
}

// results are made of a mixture by a function.
type results struct {
	Product  tensor.Tensor
	Itself   tensor.Tensor
	Constant tensor.Tensor
	Position tensor.Tensor // int32
	Flag     tensor.Tensor // bool
	Mean     tensor.Tensor `tensor:",state"`
	Absent   tensor.Tensor
	Nested   map[string]tensor.Tensor
	Size     int
}

// use makes results, and leaves nothing of its argument as it was.
func use(m mixture) results {
	product := m.X.Mul(m.Ptr.Scale).Mul(m.Tied.Scale).Mul(m.Mean).Add(m.ByName["a"].(tensor.Tensor).Take(0, m.Index))
	r := results{
		Product: product, Itself: m.X, Constant: f64(8), Position: product.ArgMax(0), Flag: m.X.Gt(6), Mean: m.Mean.Add(m.X),
		Nested: map[string]tensor.Tensor{"masked": tensor.Where(m.Mask, m.List[0], 0)}, Size: m.Size + 1,
	}
	m.List[0], m.Ptr.Scale, m.ByName["a"] = f64(0), f64(0), nil
	return r
}

// checkAbsent fails unless a leaf is.
func checkAbsent(t *testing.T, call string, x tensor.Tensor) {
	t.Helper()
	if x.IsValid() {
		t.Errorf("%s = %v, want it absent", call, x)
	}
}

func TestForwardTrees(t *testing.T) {
	m, v := newMixture(), newMixture()
	v.X, v.Ptr.Scale, v.List[0], v.ByName["a"] = f64(1, 10), f64(1, 0), f64(3, 3), f64(0.5, 0.25)
	v.Mean, v.Ptr.Mean, v.Index = f64(1e6, 1e6), f64(1e6, 1e6), i32(7, 7) // without effect
	y, dy := grad.JVP(use, m, v)
	z, push := grad.Linearize(use, m)
	for call, r := range map[string]results{"JVP": y, "Linearize": z} {
		check(t, call+": product", r.Product, 5*4*10+4, 7*9*10+4)
		check(t, call+": itself", r.Itself, 5, 7)
		check(t, call+": mean", r.Mean, 15, 17)
		check(t, call+": masked", r.Nested["masked"], 1, 0)
		check(t, call+": position", r.Position.Cast(tensor.Float64), 1)
		checkAbsent(t, call+": absent", r.Absent)
		if node(r.Itself) != node(m.X) {
			t.Errorf("%s: a result that was handed through is another node", call)
		}
		if r.Size != 10 {
			t.Errorf("%s: size = %d, want 10", call, r.Size)
		}
	}
	for call, r := range map[string]results{"JVP's tangent": dy, "the derivative": push(v), "the derivative, once more": push(v)} {
		check(t, call+": product", r.Product, 1*4*10+5*2*2*10+0.25, 10*9*10+0.5)
		check(t, call+": itself", r.Itself, 1, 10)
		check(t, call+": constant", r.Constant, 0)
		check(t, call+": masked", r.Nested["masked"], 3, 0)
		checkAbsent(t, call+": position", r.Position)
		checkAbsent(t, call+": flag", r.Flag)
		checkAbsent(t, call+": mean, which is state", r.Mean)
		checkAbsent(t, call+": absent", r.Absent)
		if r.Size != 10 {
			t.Errorf("%s: size = %d, want 10", call, r.Size)
		}
	}
	empty := new(norm)
	nothing := push(mixture{List: make([]tensor.Tensor, 2), Ptr: empty, Tied: empty, ByName: map[string]any{"a": tensor.Tensor{}, "b": ""}})
	check(t, "the derivative along nothing", nothing.Product, 0, 0)
	check(t, "the model's list afterwards", m.List[0], 1, 2)
	check(t, "the model's scale afterwards", m.Ptr.Scale, 2, 3)

	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			check(t, "the derivative, in a goroutine", push(v).Nested["masked"], 3, 0)
		})
	}
	wait.Wait()

	// Diff gives a tree, and so does the derivative of a tree by reverse mode.
	d := grad.Diff(func(x tensor.Tensor) results {
		return results{Product: x.Exp(), Constant: f64(1, 2), Position: i32(1), Nested: map[string]tensor.Tensor{"x": x}}
	})(f64(0))
	check(t, "Diff: product", d.Product, 1)
	check(t, "Diff: constant", d.Constant, 0, 0)
	check(t, "Diff: x", d.Nested["x"], 1)
	checkAbsent(t, "Diff: position", d.Position)
}

func TestReverseTrees(t *testing.T) {
	loss := func(m mixture) tensor.Tensor { return use(m).Product.Sum() }
	m, v := newMixture(), newMixture()
	v.X, v.Ptr.Scale = f64(1, 0), f64(0, 1)
	v.List, v.ByName = make([]tensor.Tensor, 2), map[string]any{"a": tensor.Tensor{}, "b": ""}
	h := grad.HVP(loss, m, v) // of x·s²·10
	check(t, "HVP: x", h.X, 0, 60)
	check(t, "HVP: scale", h.Ptr.Scale, 40, 140)
	check(t, "HVP: list.0", h.List[0], 0, 0)
	check(t, "HVP: by_name.a", h.ByName["a"].(tensor.Tensor), 0, 0)

	sums := func(m mixture) tensor.Tensor { return use(m).Product }
	for name, j := range map[string]mixture{"JacFwd": grad.JacFwd(sums)(m), "JacRev": grad.JacRev(sums)(m)} {
		checkShaped(t, name+": x", j.X, []int{2, 2}, 40, 0, 0, 90)
		checkShaped(t, name+": scale", j.Ptr.Scale, []int{2, 2}, 200, 0, 0, 420)
		checkShaped(t, name+": list.0", j.List[0], []int{2, 2}, 0, 0, 0, 0)
		checkShaped(t, name+": by_name.a", j.ByName["a"].(tensor.Tensor), []int{2, 2}, 0, 1, 1, 0)
		checkGradientLike(t, name, j)
	}
	checkGradientLike(t, "HVP", h)
	checkGradientLike(t, "Of", grad.Of(loss)(m))

	// Hessian of a tree.
	flat, unravel := tree.Ravel(mixture{X: m.X, Ptr: &norm{Scale: m.Ptr.Scale}})
	hessian := grad.Hessian(func(x tensor.Tensor) tensor.Tensor {
		m := unravel(x)
		return m.X.Mul(m.Ptr.Scale).Mul(m.Ptr.Scale).Sum()
	})(flat)
	checkShaped(t, "Hessian", hessian, []int{4, 4},
		0, 0, 4, 0,
		0, 0, 0, 6,
		4, 0, 10, 0,
		0, 6, 0, 14)
}

// checkGradientLike fails unless leaves without a derivative are absent and all else is as
// in the mixture.
func checkGradientLike(t *testing.T, call string, m mixture) {
	t.Helper()
	checkAbsent(t, call+": index", m.Index)
	checkAbsent(t, call+": mask", m.Mask)
	checkAbsent(t, call+": mean", m.Mean)
	checkAbsent(t, call+": ptr.mean", m.Ptr.Mean)
	checkAbsent(t, call+": list.1", m.List[1])
	checkAbsent(t, call+": absent", m.Absent)
	if m.Tied != m.Ptr || m.Size != 9 || m.ByName["b"] != "text" {
		t.Errorf("%s: the tree has not the shape of the argument: %+v", call, m)
	}
}

func TestVmapTrees(t *testing.T) {
	one := newMixture()
	n := &norm{Scale: matrix(2, 2, 2, 3, 4, 5), Mean: matrix(2, 2, 1, 1, 2, 2)}
	m := mixture{
		X: matrix(2, 2, 5, 7, 1, 2), Ptr: n, Tied: n, List: []tensor.Tensor{matrix(2, 2, 1, 2, 3, 4), {}},
		ByName: map[string]any{"a": matrix(2, 2, 4, 4, 5, 6), "b": "text"}, Index: tensor.New([]int32{1, 0, 1, 1}, 2, 2),
		Mask: tensor.New([]bool{true, false, false, true}, 2, 2), Mean: matrix(2, 2, 10, 10, 1, 1), Size: one.Size,
	}
	calls := 0
	y := grad.Vmap(func(m mixture) results {
		calls++
		if m.Tied != m.Ptr || m.Size != 9 || m.X.Rank() != 1 || m.Absent.IsValid() || m.ByName["b"] != "text" {
			t.Errorf("the function got %v", m.X.Shape())
		}
		return use(m)
	})(m)
	if calls != 1 {
		t.Errorf("the function was called %d times, want once", calls)
	}
	checkShaped(t, "product", y.Product, []int{2, 2}, 204, 634, 16+6, 50+6)
	checkShaped(t, "itself", y.Itself, []int{2, 2}, 5, 7, 1, 2)
	checkShaped(t, "constant", y.Constant, []int{2, 1}, 8, 8)
	checkShaped(t, "mean", y.Mean, []int{2, 2}, 15, 17, 2, 3)
	checkShaped(t, "masked", y.Nested["masked"], []int{2, 2}, 1, 0, 0, 4)
	checkShaped(t, "position", y.Position.Cast(tensor.Float64), []int{2}, 1, 1)
	checkShaped(t, "flag", y.Flag.Cast(tensor.Float64), []int{2, 2}, 0, 1, 0, 0)
	checkAbsent(t, "absent", y.Absent)
	if y.Position.DType() != tensor.Int32 || y.Flag.DType() != tensor.Bool || y.Size != 10 {
		t.Errorf("types %v and %v and size %d, want int32, bool, 10", y.Position.DType(), y.Flag.DType(), y.Size)
	}
	check(t, "the argument's list afterwards", m.List[0], 1, 2, 3, 4)

	// Gradients of each example, of all that has one.
	g := grad.Vmap(grad.Of(func(m mixture) tensor.Tensor { return use(m).Product.Sum() }))(m)
	checkShaped(t, "gradients of x", g.X, []int{2, 2}, 40, 90, 16, 25)
	checkShaped(t, "gradients of scale", g.Ptr.Scale, []int{2, 2}, 200, 420, 8, 20)
	checkShaped(t, "gradients of by_name.a", g.ByName["a"].(tensor.Tensor), []int{2, 2}, 1, 1, 0, 2)
	checkShaped(t, "gradients of list.0", g.List[0], []int{2, 2}, 0, 0, 0, 0)
	checkGradientLike(t, "Vmap of Of", g)

	// The examples along the last axes, in and out.
	last := grad.VmapAxes(func(p [2]tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{p[0].MatMul(p[1]), p[1]}
	}, -1, -1)([2]tensor.Tensor{tensor.Ones(3, 2, 4), tensor.Ones(2, 4)})
	for i, want := range [][]int{{3, 4}, {2, 4}} {
		if got := last[i].Shape(); !slices.Equal(got, want) {
			t.Errorf("VmapAxes(-1, -1): result %d has shape %v, want %v", i, got, want)
		}
	}
}

// TestLinearizeStores checks that residuals are stored once the derivative has been called,
// but not for JVP, which calls it once.
func TestLinearizeStores(t *testing.T) {
	var exp tensor.Tensor
	f := func(x tensor.Tensor) tensor.Tensor {
		exp = x.Exp()
		return exp.Reshape(1, 2).Mul(2)
	}
	grad.JVP(f, f64(0, 1), f64(1, 1))
	if node(exp).IsKept() {
		t.Error("JVP: an intermediate result is to be stored")
	}
	_, push := grad.Linearize(f, f64(0, 1))
	if node(exp).IsKept() {
		t.Error("Linearize: an intermediate result is to be stored before the derivative is called")
	}
	check(t, "Linearize", push(f64(1, 1)), 2, 2*math.E)
	if !node(exp).IsKept() {
		t.Error("Linearize: the derivative was called, and what it needs is not to be stored")
	}
}

// TestResidualsStored says which node is stored of a movement or of a function with a rule
// of its own: the one that has the elements. Inside of another transformation no node is,
// because the whole is called again there.
func TestResidualsStored(t *testing.T) {
	x := f64(1, 2)
	var inner tensor.Tensor // a function's intermediate result
	square := grad.Custom(
		func(x tensor.Tensor) tensor.Tensor {
			inner = x.Neg().Square()
			return inner
		},
		func(_, y, ct tensor.Tensor) tensor.Tensor { return ct.Mul(y) })
	moved := func(x tensor.Tensor) tensor.Tensor {
		inner = x.Neg()
		return inner.Reshape(-1, 1).Square()
	}
	for _, tt := range []struct {
		name string
		f    function
		want []float64 // the gradient
	}{
		{"a movement", moved, []float64{2, 4}},
		{"Custom", square, []float64{1, 4}},
	} {
		y, pull := grad.VJP(tt.f, x)
		if node(inner).IsKept() {
			t.Errorf("%s: it is to be stored before the pullback is called", tt.name)
		}
		g := pull(tensor.OnesLike(y))
		if !node(inner).IsKept() {
			t.Errorf("%s: the pullback was called, and what it needs is not to be stored", tt.name)
		}
		check(t, tt.name+": gradient", g, tt.want...)
		if node(inner).Value() == nil {
			t.Errorf("%s: the gradient was computed, and what a second one needs is not stored", tt.name)
		}

		for name, around := range map[string]function{
			"Of": derivative(pullOnes(tt.f), 1), "Vmap": each(pullOnes(tt.f)),
			"Of Checkpoint": derivative(grad.Checkpoint(pullOnes(tt.f)), 1),
		} {
			around(x)
			if node(inner).IsKept() {
				t.Errorf("%s inside of %s: it is to be stored", tt.name, name)
			}
		}
	}
}

// TestArgumentMayChange changes a tree after it was an argument, as a program
// may that uses one map for all its steps.
func TestArgumentMayChange(t *testing.T) {
	type weights = map[string]tensor.Tensor
	w := weights{"a": f64(2), "b": f64(3)}
	product := func(w weights) tensor.Tensor { return w["a"].Mul(w["b"]).Sum() }
	_, pull := grad.VJP(product, w)
	_, push := grad.Linearize(product, w)
	delete(w, "b")
	w["a"], w["other"] = f64(100), f64(7)
	g := pull(f64(1).Reshape())
	if len(g) != 2 {
		t.Errorf("the pullback gives %d tensors, want 2", len(g))
	}
	check(t, "gradient by a", g["a"], 3)
	check(t, "gradient by b", g["b"], 2)
	check(t, "change", push(weights{"a": f64(1), "b": f64(10)}), 23)
}

// TestWrappedTrees takes a tree through functions that are differentiated as
// a whole.
func TestWrappedTrees(t *testing.T) {
	ct := results{Product: f64(1, 2), Itself: f64(10, 20), Nested: map[string]tensor.Tensor{"masked": f64(100, 200)}}
	v := newMixture()
	v.X, v.Ptr.Scale, v.List[0] = f64(1, 10), f64(1, 0), f64(3, 3)
	pulled := func(f func(mixture) results) mixture {
		_, pull := grad.VJP(f, newMixture())
		return pull(ct)
	}
	pushed := func(f func(mixture) results) results {
		_, d := grad.JVP(f, newMixture(), v)
		return d
	}
	// same compares the leaves of two trees.
	same := func(call string, got, want any) {
		t.Helper()
		all := map[string]tensor.Tensor{}
		for name, x := range tree.All(got) {
			all[name] = x
		}
		n := 0
		for name, x := range tree.All(want) {
			n++
			if y, ok := all[name]; !ok {
				t.Errorf("%s: %s is absent, want %v", call, name, x)
			} else if diff, ok := near(t, y, x); !ok {
				t.Errorf("%s: %s: got %s", call, name, diff)
			}
		}
		if n != len(all) {
			t.Errorf("%s: %d tensors, want %d", call, len(all), n)
		}
	}
	wrapped := map[string]func(mixture) results{
		"Checkpoint": grad.Checkpoint(use),
		"CustomJVP":  grad.CustomJVP(use, func(at, v mixture) (results, results) { return grad.JVP(use, at, v) }),
		"Custom": grad.Custom(use, func(at mixture, _, ct results) mixture {
			_, pull := grad.VJP(use, at)
			return pull(ct)
		}),
	}
	m := newMixture()
	for name, f := range wrapped {
		same(name, f(m), use(newMixture()))
		same(name+", VJP", pulled(f), pulled(use))
		if name != "Custom" {
			same(name+", JVP", pushed(f), pushed(use))
		}
		batch := tree.Map(m, func(_ string, x tensor.Tensor) tensor.Tensor { return tensor.Stack(0, x, x) })
		same(name+", Vmap", grad.Vmap(f)(batch), grad.Vmap(use)(batch))
		same(name+", Vmap of VJP", grad.Vmap(func(m mixture) mixture {
			_, pull := grad.VJP(f, m)
			return pull(ct)
		})(batch), grad.Vmap(func(m mixture) mixture {
			_, pull := grad.VJP(use, m)
			return pull(ct)
		})(batch))
	}
	check(t, "the argument's list afterwards", m.List[0], 1, 2)
	stopped := grad.StopGradient(m)
	same("StopGradient", stopped, m)
	if stopped.Ptr != stopped.Tied || stopped.Ptr == m.Ptr {
		t.Error("StopGradient's pointers are not as its argument's: shared with each other, not with it")
	}
}
