package graph

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/ir"
)

// A typing says whether a node's type is fixed.
type typing uint8

const (
	typed   typing = iota // it depends on stored elements, or a cast of the user's fixes it
	neutral               // a constant of an operation's definition, or of such constants alone
	untyped               // of the user's constants, perhaps with neutral ones: see IsUntyped
)

// IsUntyped reports whether n is an untyped constant, as 1.5 is in Go: its type is a
// default, which gives way to the type of the first typed node that it meets.
func (n *Node) IsUntyped() bool { return n.typing == untyped }

// IsTyped reports whether stored elements or a cast fix n's type, and the type of results
// computed from n.
func (n *Node) IsTyped() bool { return n.typing == typed }

// AsUntyped makes a constant that is not used yet untyped, and returns it.
func (n *Node) AsUntyped() *Node {
	n.typing = untyped
	return n
}

// typingOf returns the typing of an operation's result, from the operands that decide its
// type.
func typingOf(op ir.Op, src []*Node) typing {
	t := neutral
	for i, s := range src {
		switch {
		case op == ir.Where && i == 0, (op == ir.Gather || op == ir.Scatter) && i == 1:
			// A condition, an index.
		case s.typing == typed || op == ir.Threefry:
			return typed
		case s.typing == untyped:
			t = untyped
		}
	}
	return t
}

// Typed returns x with its type fixed: x itself unless it is untyped, else another name.
func Typed(x *Node) *Node {
	if x.typing != untyped {
		return x
	}
	n := CoOutput(x, nil)
	n.typing = typed
	return n
}

func (n *Node) isConstant() bool { return n.Op == ir.Const || n.Op == ir.Scalar }

// withNumber returns a Const or Scalar n of type d.
func (n *Node) withNumber(d ir.DType) *Node {
	num := n.Num
	if d != n.DType {
		num = ir.Float(d, n.exact())
	}
	return makeSource(n.Op, d, n.Shape, n.Ints, num).Exactly(n.exact())
}

// Convert returns an untyped x in type d, not its own. For float64 it is computed in that
// type, from numbers that were not rounded to float32, as far as operands are at hand: a
// node with a value may have dropped its operands.
func Convert(x *Node, d ir.DType) *Node {
	if d == ir.Float64 && x.DType == ir.Float32 {
		return widened(x)
	}
	y := Cast(x, d)
	y.typing = typed // y is new
	return y
}

// ByType returns f(src), for an f whose nodes, and not only their constants, depend on the
// type of the floats, as the bits that Sort compares do. If all floats are untyped, so are the
// results, whatever f stores, and [Convert] to float64 calls f again, with the operands in
// float64. Results that are nil stay nil.
func ByType(f func(src []*Node) []*Node, src ...*Node) []*Node {
	out := f(src)
	t := neutral
	for _, s := range src {
		switch {
		case s == nil || !s.DType.IsFloat():
		case s.typing == typed || s.DType != ir.Float32:
			return out
		case s.typing == untyped:
			t = untyped
		}
	}
	again := sync.OnceValue(func() []*Node {
		wide := slices.Clone(src)
		for i, s := range src {
			if s != nil && s.DType == ir.Float32 {
				wide[i] = widened(s)
			}
		}
		return f(wide)
	})
	for i, n := range out {
		switch {
		case n == nil || slices.Contains(src, n):
			continue
		case n.typing == typed:
			out[i] = CoOutput(n, nil)
		}
		out[i].typing = t
		inFloat64 := func() *Node { return again()[i] }
		out[i].detail().inFloat64.Store(&inFloat64)
	}
	return out
}

// KeepWide notes that wide, computed, is n in float64: n may be computed too, and have dropped its
// operands.
func KeepWide(n, wide *Node) {
	if wide != n {
		wide.Outlive()
	}
	n.detail().wide.Store(wide)
}

// Table makes n, new stored elements of float32, an untyped constant; inFloat64 makes its
// equivalent in float64.
func Table(n *Node, inFloat64 func() *Node) *Node {
	n.typing = untyped
	n.detail().inFloat64.Store(&inFloat64)
	return n
}

// again returns n as ByType makes it in float64, or Table, nil if neither made n or its
// operands are gone.
func (n *Node) again() *Node {
	if d := n.details.Load(); d != nil {
		if f := d.inFloat64.Load(); f != nil {
			return (*f)()
		}
	}
	return nil
}

// wide returns the result of an earlier widened(n): a loop may make a constant grow and meet
// float64 in each iteration, and then widens only the new nodes. A node that dropped its
// operands has only the result of [KeepWide]; otherwise its value is cast, because an ever
// longer chain of operands would be computed again.
func (n *Node) wide() *Node {
	if d := n.details.Load(); d != nil {
		if w := d.wide.Load(); w != nil && (n.Src().Len() > 0 || w.Value() != nil) {
			return w
		}
	}
	return nil
}

// widened returns x, of float32, in float64.
func widened(x *Node) *Node {
	wide := x.wide()
	if wide == nil {
		if wide = widen(x); wide.typing != typed && wide != x { // it is new
			wide.typing = typed
		}
		if x.Src().Len() > 0 {
			KeepWide(x, wide)
		}
	}
	if wide == x {
		wide = Cast(x, ir.Float64)
		wide.typing = typed
	}
	return wide
}

// widen returns x, of float32, computed in float64; x itself if that would take bits of
// float32, which float64 lacks.
func widen(x *Node) *Node {
	wide := map[*Node]*Node{}
	lost := false
	Walk([]*Node{x}, func(n *Node) (Operands, bool) {
		if _, seen := wide[n]; seen {
			return Operands{}, false
		}
		if w := n.wide(); w != nil {
			wide[n], lost = w, lost || w == n
			return Operands{}, false
		}
		if w := n.again(); w != nil {
			wide[n] = w
			return Operands{}, false
		}
		switch {
		case n.Op == ir.StopGradient, n.Op == ir.ToDevice:
		case n.typing == typed, n.Op.Class() == ir.Alias: // it may be an argument
			return Operands{}, true
		}
		return n.Src(), true
	}, func(n *Node, operands Operands) {
		if lost {
			return
		}
		var src []*Node
		changed := n.DType == ir.Float32 && n.typing != typed
		for _, s := range operands.All() {
			src = append(src, wide[s])
			changed = changed || wide[s] != s
		}
		switch {
		case !changed:
			wide[n] = n
		case n.isConstant():
			wide[n] = n.withNumber(ir.Float64)
		case len(src) == 0:
			wide[n] = Cast(n, ir.Float64)
		default:
			lost = n.Op == ir.Bitcast
			wide[n] = n.retyped(src)
		}
	})
	if lost {
		return x
	}
	return wide[x]
}

// retyped returns n on wider operands, float64 if n is float32.
func (n *Node) retyped(src []*Node) *Node {
	d := n.DType
	if d == ir.Float32 {
		d = ir.Float64
	}
	if n.Op == ir.Cast {
		return makeNode(n.Op, d, n.Shape, nil, src...)
	}
	c := WithOperands(n, src...)
	c.DType = d
	return c
}
