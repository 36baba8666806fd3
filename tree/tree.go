// Package tree has functions of trees: Go values made of tensors, such as a
// model, its gradient or an optimizer's state.
//
// # Trees and names
//
// A tree is a [tensor.Tensor], or a struct, slice, array, map, pointer or
// interface of trees. Exported fields are walked in order, elements by index,
// map values by sorted key. A tensor's name is the path to it, with fields in
// snake case, joined by dots: blocks.3.attn.q.weight. An embedded struct, a
// pointer and an interface add nothing to it. Tags of fields change that:
//
//	LN1  nn.LayerNorm  `tensor:"ln_1"`   // named ln_1
//	Mean tensor.Tensor `tensor:",state"`    // saved, but not trained
//	Bias tensor.Tensor `tensor:",optional"` // files that are loaded may lack it
//	Mask tensor.Tensor `tensor:"-"`         // left out, shared with results
//
// A name and options may follow each other: `tensor:"running_mean,state,optional"`.
// The zero Tensor is an absent one, such as the bias of a layer that has none: the
// functions skip it. A pointer met twice is one subtree, named once and shared in
// results as well; pointers may form cycles. Equal tensors in two places are two.
//
// A result is a new tree: it shares no slice, map or pointer with its argument. An
// assignment keeps an earlier model, unless its tensors are donated, as by optim.Jit: then
// [Copy] does. Numbers, strings, funcs and unexported fields are copied as they are; so is
// a pointer to a value without tensors that has unexported fields, such as a *sync.Mutex.
//
// A value that cannot be walked, because an unexported field holds tensors,
// two tensors have one name or a slice or map contains itself, is misuse: the
// functions panic with a [*tensor.Error].
package tree

import (
	"errors"
	"fmt"
	"iter"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

var errNil = errors.New("the function is nil")

// All yields the name and tensor of each leaf of v, in order, without the
// absent ones.
func All(v any) iter.Seq2[string, tensor.Tensor] {
	return func(yield func(string, tensor.Tensor) bool) {
		for _, l := range flatten("All", v) {
			if l.Value.IsValid() && !yield(l.Name, l.Value) {
				return
			}
		}
	}
}

// Copy returns a tree like v whose tensors are computed copies with memory of their own: they stay
// when v is donated, as training steps do. It panics with a [*tensor.DeviceError] if there is not
// enough memory.
func Copy[T any](v T) T {
	c := mapped("Copy", v, func(_ string, t tensor.Tensor) tensor.Tensor { return tensor.Internal.Copy(graph.Token{}, t) })
	if err := tensor.Eval(c); err != nil {
		panic(err)
	}
	return c
}

// Donate donates the tensors of v: see [tensor.Donate].
func Donate(v any) {
	var ts []any
	for _, t := range All(v) {
		ts = append(ts, t)
	}
	tensor.Donate(ts...)
}

// Map returns a tree like v with f of each tensor in its place. Absent tensors
// stay absent, and f may return one.
func Map[T any](v T, f func(name string, t tensor.Tensor) tensor.Tensor) T {
	if f == nil {
		fail("Map", v, errNil)
	}
	return mapped("Map", v, f)
}

// Zip returns a tree like a with f of each tensor and of the one of that name
// in b, which is absent if b has none. A tensor that is in b alone is misuse;
// where it is absent in a it is in the result.
func Zip[T any](a, b T, f func(name string, x, y tensor.Tensor) tensor.Tensor) T {
	if f == nil {
		fail("Zip", a, errNil)
	}
	xs := flatten("Zip", a)
	ys, err := pytree.Align(xs, flatten("Zip", b))
	if err != nil {
		fail("Zip", a, err)
	}
	for i, x := range xs {
		if x.Value.IsValid() {
			ys[i] = f(x.Name, x.Value, ys[i])
		} else {
			ys[i] = tensor.Tensor{}
		}
	}
	return rebuild("Zip", a, ys)
}

// To returns v with every tensor committed to d: see [tensor.Tensor.To].
func To[T any](v T, d *tensor.Device) T {
	return mapped("To", v, func(_ string, t tensor.Tensor) tensor.Tensor { return t.To(d) })
}

// Cast returns v with its floating-point tensors converted to type d. It is
// differentiable, so a loss that casts its model computes in d while the
// parameters and their gradients keep their type.
func Cast[T any](v T, d tensor.DType) T {
	return mapped("Cast", v, func(_ string, t tensor.Tensor) tensor.Tensor {
		if t.DType().IsFloat() {
			return t.Cast(d)
		}
		return t
	})
}

// Ravel returns the elements of all tensors in v, in order, as one tensor of
// shape [Size(v)], and a function that makes a tree like v of such a tensor. The
// tensors must have one type; of none, flat is an empty float32 tensor.
func Ravel[T any](v T) (flat tensor.Tensor, back func(tensor.Tensor) T) {
	leaves := flatten("Ravel", v)
	var parts []tensor.Tensor
	total := 0
	for _, l := range leaves {
		if !l.Value.IsValid() {
			continue
		}
		if d := l.Value.DType(); len(parts) > 0 && d != parts[0].DType() {
			fail("Ravel", v, fmt.Errorf("%s is of type %v, tensors before it of %v: Cast to one type", pytree.Title(l.Name), d, parts[0].DType()))
		}
		parts = append(parts, l.Value.Reshape(-1))
		total += l.Value.Len()
	}
	flat = tensor.Zeros(0)
	if len(parts) > 0 {
		flat = tensor.Cat(0, parts...)
	}
	return flat, func(t tensor.Tensor) T {
		if t.Rank() != 1 || t.Len() != total {
			fail("Ravel", v, fmt.Errorf("going back needs shape [%d], not %v", total, t.Shape()))
		}
		out := make([]tensor.Tensor, len(leaves))
		start := 0
		for i, l := range leaves {
			if l.Value.IsValid() {
				n := l.Value.Len()
				out[i] = t.Slice(0, start, start+n).Reshape(l.Value.Shape()...)
				start += n
			}
		}
		return rebuild("Ravel", v, out)
	}
}

// Size returns the number of elements in all tensors of v together.
func Size(v any) int {
	n := 0
	for _, l := range flatten("Size", v) {
		if l.Value.IsValid() {
			n += l.Value.Len()
		}
	}
	return n
}

// mapped is Map, with errors of op.
func mapped[T any](op string, v T, f func(name string, t tensor.Tensor) tensor.Tensor) T {
	leaves := flatten(op, v)
	out := make([]tensor.Tensor, len(leaves))
	for i, l := range leaves {
		if l.Value.IsValid() {
			out[i] = f(l.Name, l.Value)
		}
	}
	return rebuild(op, v, out)
}

func flatten(op string, v any) []pytree.Leaf[tensor.Tensor] {
	leaves, err := pytree.Flatten[tensor.Tensor](v)
	if err != nil {
		fail(op, v, err)
	}
	return leaves
}

func rebuild[T any](op string, v T, leaves []tensor.Tensor) T {
	out, err := pytree.Rebuild(v, leaves)
	if err != nil {
		fail(op, v, err)
	}
	return out
}

// fail panics with a *tensor.Error of op on v.
func fail(op string, v any, err error) {
	tensor.Internal.Misuse(graph.Token{}, "tree."+op, err.Error(), fmt.Sprintf("a %T", v))
}
