// Package gradtest checks the derivatives of functions of tensors against
// finite differences.
package gradtest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// A precision says how derivatives are compared in a type: see Check.
type precision struct{ step, tolerance, rounding float64 }

// precisions has the table of Check's comment. Finite differences are wrong by a
// multiple of step⁴, for which the tolerance leaves room, and by rounding over the
// step. The rounding allowed is some 10 units in the last place, 50 for float64, in
// which high orders are checked.
var precisions = map[tensor.DType]precision{
	tensor.Float64:  {1e-4, 1e-8, 1e-14},
	tensor.Float32:  {1.0 / 128, 1e-4, 1e-6},
	tensor.Float16:  {1.0 / 16, 1e-2, 4e-3},
	tensor.BFloat16: {1.0 / 8, 5e-2, 3e-2},
}

// Check fails the test unless the derivatives of f at a tree, up to an order of 1 or more,
// agree with finite differences. Each is taken along a random direction, the same in every
// run: the derivative of order 1 is the gradient's product with the direction, and the
// derivative of order n+1 is the same of the derivative of order n, as a function of the
// tree. f may return any number of elements of a floating-point type: Check differentiates
// their sum with random weights.
//
// Check compares finite differences with reverse mode, over the reverse mode of
// the orders before, and this with forward mode alone, forward mode over reverse,
// and reverse mode over forward. The modes with forward are left out for a function
// that uses [grad.Custom], which has none.
//
// A derivative is a sum of products of slopes and the direction's elements. Two
// ways to compute it may differ by
//
//	tolerance · S(n) + rounding · the greatest of S(0) to S(n-1)
//
// where S(n) is the sum of the sizes of those products, for order n, and S(0) the
// sum of the sizes of f's elements times their weights. Against finite differences
// the rounding is divided by the step. So derivatives agree to the digits of the
// tolerance, relative to their size where their terms do not cancel, unless
// rounding of a larger function or of larger terms hides these digits. Infinities
// and NaN always fail.
//
//	type      tolerance  rounding  rounding/step  step
//	float64   1e-8       1e-14     1e-10          1e-4
//	float32   1e-4       1e-6      1.3e-4         1/128
//	float16   1e-2       4e-3      6.4e-2         1/16
//	bfloat16  5e-2       3e-2      2.4e-1         1/8
//
// The row is the one with the largest step, among the types of f's result and of the
// leaves. The direction's elements have sizes from 1/2 to 1, times |x| where an element x
// of the tree is larger than 1. Within two steps along it f must be smooth, without a kink
// such as ReLU has at 0, and it must give the same for the same tree.
func Check[P any](t testing.TB, f func(P) tensor.Tensor, at P, order int) {
	t.Helper()
	switch {
	case f == nil:
		t.Errorf("gradtest.Check: the function is nil")
		return
	case order < 1:
		t.Errorf("gradtest.Check: order %d, want 1 or more", order)
		return
	}
	leaves, err := pytree.Flatten[tensor.Tensor](at)
	if err != nil {
		t.Errorf("gradtest.Check: a %T: %v", at, err)
		return
	}
	c := newChecker(at, leaves)
	if !slices.ContainsFunc(c.scale, tensor.Tensor.IsValid) {
		t.Errorf("gradtest.Check: nothing to differentiate by: the %T has no floating-point tensor but state", at)
		return
	}
	err = tensor.Try(func() {
		reverse, size := c.weighted(f)
		forward := reverse
		for n := 1; n <= order; n++ {
			reverse, forward, size = c.compare(t, reverse, forward, size, n)
		}
	})
	if err != nil {
		t.Errorf("gradtest.Check: %v", err)
	}
}

type checker[P any] struct {
	at     P // the tree that is checked, and its tensors
	leaves []tensor.Tensor
	scale  []tensor.Tensor // how far elements of a leaf move; absent for one that gets no derivative
	precision
	rng *rand.Rand
}

func newChecker[P any](at P, leaves []pytree.Leaf[tensor.Tensor]) *checker[P] {
	c := &checker[P]{at: at, rng: rand.New(rand.NewPCG(1, 2))}
	for _, l := range leaves {
		var scale tensor.Tensor
		if x := l.Value; x.IsValid() && x.DType().IsFloat() && !l.State {
			scale = x.Abs().Maximum(1)
			c.coarsen(x)
		}
		c.leaves = append(c.leaves, l.Value)
		c.scale = append(c.scale, scale)
	}
	return c
}

// coarsen has the checker compare no more precisely than x's type allows.
func (c *checker[P]) coarsen(x tensor.Tensor) {
	if p := precisions[x.DType()]; p.step > c.step {
		c.precision = p
	}
}

// random returns numbers of either sign and sizes from 1/2 to 1, of the shape
// and type of a tensor. Only float64 begins as such: not every device has it.
func (c *checker[P]) random(like tensor.Tensor) tensor.Tensor {
	wide, narrow := make([]float64, like.Len()), make([]float32, like.Len())
	for i := range wide {
		r := 2*c.rng.Float64() - 1
		wide[i] = (r + math.Copysign(1, r)) / 2
		narrow[i] = float32(wide[i])
	}
	x := tensor.New(narrow).Cast(like.DType())
	if like.DType() == tensor.Float64 {
		x = tensor.New(wide)
	}
	return x.Reshape(like.Shape()...)
}

// weighted returns the sum of f's elements with random weights, and the sum of
// the sizes of its terms.
func (c *checker[P]) weighted(f func(P) tensor.Tensor) (sum func(P) tensor.Tensor, size tensor.Tensor) {
	y := f(c.tree(c.leaves))
	c.coarsen(y)
	weights := c.random(y)
	return func(p P) tensor.Tensor { return f(p).Mul(weights).Sum() }, y.Mul(weights).Abs().Sum()
}

// A derivative is a function's derivative along a direction, computed in one way.
type derivative struct {
	By    string
	Value tensor.Tensor
}

// compare checks the derivatives of an order. reverse and forward compute the order before,
// by reverse mode and by forward mode, which may be nil; size is the largest sum of terms
// so far. compare returns the same of this order.
func (c *checker[P]) compare(t testing.TB, reverse, forward func(P) tensor.Tensor, size tensor.Tensor, order int) (nextReverse, nextForward func(P) tensor.Tensor, nextSize tensor.Tensor) {
	t.Helper()
	direction := make([]tensor.Tensor, len(c.scale))
	for i, s := range c.scale {
		if s.IsValid() {
			direction[i] = c.random(s).Mul(s)
		}
	}
	if err := tensor.Eval(direction); err != nil {
		panic(err)
	}
	byReverse := func(f func(P) tensor.Tensor) func(P) tensor.Tensor {
		return func(p P) tensor.Tensor { return dot(size, gradient(f, p), direction) }
	}
	byForward := func(f func(P) tensor.Tensor) func(P) tensor.Tensor {
		return func(p P) tensor.Tensor {
			_, d := grad.JVP(f, p, c.tree(direction))
			return d
		}
	}
	nextReverse = byReverse(reverse)
	all := []derivative{{"reverse mode", nextReverse(c.at)}}
	if forward != nil && !usesCustom(func() { byForward(forward)(c.at) }) {
		nextForward = byForward(forward)
		all = append(all, derivative{"forward mode", nextForward(c.at)})
		if order > 1 {
			all = append(all,
				derivative{"forward mode over reverse", byForward(reverse)(c.at)},
				derivative{"reverse mode over forward", byReverse(forward)(c.at)})
		}
	}
	nextSize = dot(size, absolute(gradient(reverse, c.at)), absolute(direction))
	if err := tensor.Eval(all, size, nextSize); err != nil {
		panic(err)
	}

	difference := func(k float64) float64 {
		h := k * c.step
		return (reverse(c.moved(direction, h)).Item() - reverse(c.moved(direction, -h)).Item()) / (2 * h)
	}
	want, by := (4*difference(1)-difference(2))/3, "finite differences"
	rounding := c.rounding / c.step
	for _, d := range all {
		got := d.Value.Item()
		bound := c.tolerance*nextSize.Item() + rounding*size.Item()
		if !(math.Abs(got-want) <= bound && bound < math.Inf(1)) {
			t.Errorf("gradtest.Check: derivative of order %d along a random direction: by %s got %.12g, want %.12g by %s, within %.2g", order, d.By, got, want, by, bound)
			break
		}
		want, by, rounding = all[0].Value.Item(), all[0].By, c.rounding
	}
	return nextReverse, nextForward, nextSize.Maximum(size)
}

// usesCustom reports whether forward mode meets a [grad.Custom] in f.
func usesCustom(f func()) bool {
	var e *tensor.Error
	err := tensor.Try(f)
	return errors.As(err, &e) && e.Op == "grad.Custom"
}

// tree returns a tree like the one that is checked, with other tensors; it
// shares nothing with it.
func (c *checker[P]) tree(ts []tensor.Tensor) P {
	p, err := pytree.Rebuild(c.at, ts)
	if err != nil {
		panic(err) // the tree was walked before
	}
	return p
}

// moved returns the tree some way along a direction.
func (c *checker[P]) moved(direction []tensor.Tensor, by float64) P {
	ts := slices.Clone(c.leaves)
	for i, d := range direction {
		if d.IsValid() {
			ts[i] = ts[i].Add(d.Mul(by))
		}
	}
	return c.tree(ts)
}

// gradient returns the tensors of f's gradient.
func gradient[P any](f func(P) tensor.Tensor, p P) []tensor.Tensor {
	leaves, err := pytree.Flatten[tensor.Tensor](grad.Of(f)(p))
	if err != nil {
		panic(err) // the tree was walked before
	}
	ts := make([]tensor.Tensor, len(leaves))
	for i, l := range leaves {
		ts[i] = l.Value
	}
	return ts
}

// dot returns the sum of the products of a and b, in the type of like.
func dot(like tensor.Tensor, a, b []tensor.Tensor) tensor.Tensor {
	sum := tensor.ZerosLike(like)
	for i, x := range a {
		if x.IsValid() {
			sum = sum.Add(x.Mul(b[i]).Sum().Cast(like.DType()))
		}
	}
	return sum
}

func absolute(ts []tensor.Tensor) []tensor.Tensor {
	abs := make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		if t.IsValid() {
			abs[i] = t.Abs()
		}
	}
	return abs
}
