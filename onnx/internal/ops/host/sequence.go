package host

import (
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Sequences has the operators of sequences and optionals.
var Sequences = []op.Row{
	op.New("ConcatFromSequence", concatFromSequence),
	op.New("Optional", optional),
	op.New("OptionalGetElement", optionalGetElement),
	op.New("OptionalHasElement", optionalHasElement),
	op.New("SequenceAt", sequenceAt),
	op.New("SequenceConstruct", sequenceConstruct),
	op.New("SequenceEmpty", sequenceEmpty),
	op.New("SequenceErase", sequenceErase),
	op.New("SequenceInsert", sequenceInsert),
	op.New("SequenceLength", sequenceLength),
	op.New("SplitToSequence", splitToSequence),
}

// sequence returns input i, a sequence.
func sequence(c *op.Call, i int) op.Value {
	v := c.Value(i)
	if v.Kind != op.SequenceKind {
		c.Fail("input %d is %v, want a sequence", i, v)
	}
	return v
}

// position returns the position in input i, which counts from the end if it is negative.
func position(c *op.Call, i, n int) int {
	p := c.ScalarInt(i)
	if p < -n || p >= n {
		c.Fail("position %d of %d", p, n)
	}
	if p < 0 {
		p += n
	}
	return p
}

func sequenceAt(c *op.Call) []op.Value {
	s := sequence(c, 0).Sequence
	return []op.Value{s[position(c, 1, len(s))]}
}

func sequenceConstruct(c *op.Call) []op.Value {
	return []op.Value{op.Sequence(c.Value(0).Elem, c.In...)}
}

func sequenceEmpty(c *op.Call) []op.Value {
	return []op.Value{op.Sequence(c.Elem("dtype", op.Float))}
}

func sequenceErase(c *op.Call) []op.Value {
	v := sequence(c, 0)
	at := len(v.Sequence) - 1
	if c.Has(1) {
		at = position(c, 1, len(v.Sequence))
	}
	if at < 0 {
		c.Fail("the sequence is empty")
	}
	return []op.Value{op.Sequence(v.Elem, slices.Delete(slices.Clone(v.Sequence), at, at+1)...)}
}

func sequenceInsert(c *op.Call) []op.Value {
	v, x := sequence(c, 0), c.Value(1)
	at := len(v.Sequence)
	if c.Has(2) && at+1 > 0 {
		p := c.ScalarInt(2)
		if p < 0 {
			p += at
		}
		if p < 0 || p > at {
			c.Fail("position %d of %d", p, at)
		}
		at = p
	}
	return []op.Value{op.Sequence(x.Elem, slices.Insert(slices.Clone(v.Sequence), at, x)...)}
}

func sequenceLength(c *op.Call) []op.Value {
	return []op.Value{op.KnownInts([]int{len(sequence(c, 0).Sequence)})}
}

func concatFromSequence(c *op.Call) []op.Value {
	v := sequence(c, 0)
	if len(v.Sequence) == 0 {
		c.Fail("the sequence is empty")
	}
	return c.Apply(op.Move(func(d *op.Call) T {
		ts, axis := d.Tensors(), c.Int("axis", 0)
		if c.Bool("new_axis", false) {
			return tensor.Stack(c.Axis(axis, ts[0].Rank()+1), ts...)
		}
		return tensor.Cat(c.Axis(axis, ts[0].Rank()), ts...)
	}), v.Sequence)
}

// splitToSequence cuts into parts of a length, or of lengths, or of one element.
func splitToSequence(c *op.Call) []op.Value {
	axis, keep := c.Int("axis", 0), c.Bool("keepdims", true)
	cut := op.Moves(func(c *op.Call) []T {
		x := c.Tensor(0)
		axis := c.Axis(axis, x.Rank())
		n := x.Dim(axis)
		size, sizes := 1, []int(nil)
		if c.Has(1) {
			keep = true
			if sizes = c.Ints(1); len(c.In[1].Dims()) == 0 {
				size, sizes = sizes[0], nil
			}
		}
		if sizes == nil {
			if size < 1 {
				c.Fail("parts of %d elements", size)
			}
			for ; n > 0; n -= size {
				sizes = append(sizes, min(size, n))
			}
		}
		parts := x.Split(axis, sizes...)
		for i := range parts {
			if !keep {
				parts[i] = parts[i].Squeeze(axis)
			}
		}
		return parts
	})
	return []op.Value{op.Sequence(c.Value(0).Elem, cut(c)...)}
}

func optional(c *op.Call) []op.Value {
	if c.Has(0) {
		return c.In[:1]
	}
	return []op.Value{{}}
}

func optionalGetElement(c *op.Call) []op.Value { return []op.Value{c.Value(0)} }

func optionalHasElement(c *op.Call) []op.Value {
	return []op.Value{op.Known(op.Of(tensor.FullOf(tensor.Bool, c.Has(0))))}
}
