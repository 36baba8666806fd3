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
	"github.com/tensorken/tensorken/internal/walk"
	"github.com/tensorken/tensorken/tensor"
)

// precision says how finite differences are taken in a type: the step, and
// the error allowed, relative to the numbers that were subtracted and added.
// The formula's own error is a multiple of step⁴, that of rounding is the
// type's precision divided by the step.
var precision = map[tensor.DType]struct{ step, tolerance float64 }{
	tensor.Float64:  {1e-4, 1e-7},
	tensor.Float32:  {1.0 / 64, 1e-3},
	tensor.Float16:  {1.0 / 8, 5e-2},
	tensor.BFloat16: {1.0 / 4, 2e-1},
}

// Check fails the test unless the derivatives of f at a tree, up to an order,
// agree with finite differences. Each is taken along a random direction, the
// same in every run: of order 1 it is the gradient's product with the
// direction, and of order n+1 that of the derivative of order n, as a function
// of the tree. f may give any number of elements of a floating-point type:
// what is checked is their sum with random weights.
//
// What is compared with finite differences is reverse mode, over the reverse
// mode of the orders before. To that are compared forward mode over reverse,
// reverse mode over forward, and forward mode alone. A function that uses
// [grad.Custom] has no forward mode, and that is left out.
//
// Float64 leaves are checked to seven digits, float32 to three. Within twice
// the step (1e-4 in float64, 1/64 in float32) f should have no kink, such as
// ReLU has at 0, and it must give the same for the same tree.
func Check[P any](t testing.TB, f func(P) tensor.Tensor, at P, order int) {
	t.Helper()
	c := checker[P]{at: at, rng: rand.New(rand.NewPCG(1, 2))}
	err := tensor.Try(func() {
		reverse := c.weighted(f)
		forward := reverse
		for n := 1; n <= order; n++ {
			reverse, forward = c.compare(t, reverse, forward, n)
		}
	})
	if err != nil {
		t.Errorf("gradtest.Check: %v", err)
	}
}

type checker[P any] struct {
	at  P
	rng *rand.Rand
}

// random returns numbers in [-1, 1), of the shape and type of a tensor. Those
// of less precision begin as float32, which every device has.
func (c *checker[P]) random(like tensor.Tensor) tensor.Tensor {
	wide, narrow := make([]float64, like.Len()), make([]float32, like.Len())
	for i := range wide {
		wide[i] = 2*c.rng.Float64() - 1
		narrow[i] = float32(wide[i])
	}
	x := tensor.New(narrow).Cast(like.DType())
	if like.DType() == tensor.Float64 {
		x = tensor.New(wide)
	}
	return x.Reshape(like.Shape()...)
}

// weighted returns the sum of f's elements with random weights.
func (c *checker[P]) weighted(f func(P) tensor.Tensor) func(P) tensor.Tensor {
	var weights tensor.Tensor
	return func(p P) tensor.Tensor {
		y := f(p)
		if !weights.IsValid() {
			weights = c.random(y)
		}
		return y.Mul(weights).Sum()
	}
}

// A derivative is a function's derivative along a direction, had in some way.
type derivative struct {
	By    string
	Value tensor.Tensor
}

// compare checks the derivatives of a given order. Those of the order before
// are had by reverse mode and by forward mode, which is nil if there is none;
// compare returns the same of this order.
func (c *checker[P]) compare(t testing.TB, reverse, forward func(P) tensor.Tensor, order int) (nextReverse, nextForward func(P) tensor.Tensor) {
	t.Helper()
	value := reverse(c.at)
	slopes := c.leaves(grad.Of(reverse)(c.at))
	direction := slices.Clone(slopes)
	worst := value.DType()
	for i, d := range direction {
		if d.IsValid() {
			direction[i] = c.random(d)
			if precision[d.DType()].step > precision[worst].step {
				worst = d.DType()
			}
		}
	}
	pull := func(f func(P) tensor.Tensor) func(P) tensor.Tensor {
		return func(p P) tensor.Tensor { return c.dot(value, c.leaves(grad.Of(f)(p)), direction) }
	}
	push := func(f func(P) tensor.Tensor) func(P) tensor.Tensor {
		return func(p P) tensor.Tensor {
			_, d := grad.JVP(f, p, c.rebuild(direction))
			return d
		}
	}
	nextReverse = pull(reverse)
	all := []derivative{{"reverse mode", nextReverse(c.at)}}
	if forward != nil && !usesCustom(func() { push(forward)(c.at) }) {
		nextForward = push(forward)
		all = append(all, derivative{"forward mode", nextForward(c.at)})
		if order > 1 {
			all = append(all,
				derivative{"forward mode over reverse", push(reverse)(c.at)},
				derivative{"reverse mode over forward", pull(forward)(c.at)})
		}
	}
	size := c.dot(value, absolute(slopes), absolute(direction))
	if err := tensor.Eval(value, all, size); err != nil {
		panic(err)
	}

	h := precision[worst].step
	difference := func(k float64) float64 {
		return (reverse(c.moved(direction, k*h)).Item() - reverse(c.moved(direction, -k*h)).Item()) / (2 * k * h)
	}
	want, by := (4*difference(1)-difference(2))/3, "finite differences"
	for _, d := range all {
		got := d.Value.Item()
		scale := math.Abs(value.Item()) + math.Abs(want) + size.Item()
		if !(math.Abs(got-want) <= precision[worst].tolerance*scale) {
			t.Errorf("gradtest.Check: derivative of order %d along a random direction: by %s got %.12g, want %.12g by %s", order, d.By, got, want, by)
			break
		}
		want, by = all[0].Value.Item(), all[0].By
	}
	return nextReverse, nextForward
}

// usesCustom reports whether forward mode meets a [grad.Custom] in f.
func usesCustom(f func()) bool {
	var e *tensor.Error
	err := tensor.Try(f)
	return errors.As(err, &e) && e.Op == "grad.Custom"
}

// leaves returns the tensors of a tree.
func (c *checker[P]) leaves(p P) []tensor.Tensor {
	leaves, err := walk.Flatten[tensor.Tensor](p)
	if err != nil {
		panic(err) // the tree was walked before
	}
	ts := make([]tensor.Tensor, len(leaves))
	for i, l := range leaves {
		ts[i] = l.Value
	}
	return ts
}

// moved returns the tree some way along a direction.
func (c *checker[P]) moved(direction []tensor.Tensor, by float64) P {
	ts := c.leaves(c.at)
	for i, d := range direction {
		if d.IsValid() {
			ts[i] = ts[i].Add(d.Mul(by))
		}
	}
	return c.rebuild(ts)
}

// rebuild returns the tree with other tensors.
func (c *checker[P]) rebuild(ts []tensor.Tensor) P {
	p, err := walk.Rebuild(c.at, ts)
	if err != nil {
		panic(err) // the tree was walked before
	}
	return p
}

// dot returns the sum of the products of a and b, in the type of like.
func (c *checker[P]) dot(like tensor.Tensor, a, b []tensor.Tensor) tensor.Tensor {
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
