package graph

import (
	"math"

	"github.com/tensorken/tensorken/ir"
)

// An interval has the integers from lo to hi, and both are elements.
type interval struct{ lo, hi int64 }

// HasNegative reports whether an untyped constant of int32 is known to have an element below
// 0. It knows the operations of the table intervals.
func HasNegative(x *Node) bool {
	known := map[*Node]*interval{} // nil for nodes of unknown interval
	Walk([]*Node{x}, func(n *Node) (Operands, bool) {
		_, seen := known[n]
		return n.Src(), !seen
	}, func(n *Node, operands Operands) {
		known[n] = nil
		f := intervals[n.Op]
		if f == nil || n.DType != ir.Int32 || n.Len() == 0 || operands.Len() == 0 && n.Op.Class() != ir.Source { // it dropped them
			return
		}
		var src []interval
		for _, s := range operands.All() {
			if s.Len() == 0 {
				continue
			}
			if known[s] == nil {
				return
			}
			src = append(src, *known[s])
		}
		// A function of two elements takes its extremes if one of them is always the same.
		if n.Op.Class() == ir.Elementwise && len(src) == 2 && src[0].lo < src[0].hi && src[1].lo < src[1].hi {
			return
		}
		if i := f(n, src); i.lo >= math.MinInt32 && i.hi <= math.MaxInt32 { // it does not wrap
			known[n] = &i
		}
	})
	return known[x] != nil && known[x].lo < 0
}

// intervals has the interval of a node's elements, given the intervals of its operands.
var intervals = [ir.Ops]func(n *Node, x []interval) interval{
	ir.Const:  func(n *Node, _ []interval) interval { return interval{int64(n.Num), int64(n.Num)} },
	ir.Scalar: func(n *Node, _ []interval) interval { return interval{int64(n.Num), int64(n.Num)} },
	ir.Iota:   func(n *Node, _ []interval) interval { return interval{0, int64(n.Shape[n.Ints[0]]) - 1} },
	ir.Neg:    func(_ *Node, x []interval) interval { return interval{-x[0].hi, -x[0].lo} },
	ir.Add:    extremes(func(a, b int64) int64 { return a + b }),
	ir.Sub:    extremes(func(a, b int64) int64 { return a - b }),
	ir.Mul:    extremes(func(a, b int64) int64 { return a * b }),
	ir.Max:    extremes(func(a, b int64) int64 { return max(a, b) }),
	ir.Min:    extremes(func(a, b int64) int64 { return min(a, b) }),
	ir.Cat: func(_ *Node, x []interval) interval {
		all := x[0]
		for _, i := range x {
			all = interval{min(all.lo, i.lo), max(all.hi, i.hi)}
		}
		return all
	},
	ir.Reshape: same,
	ir.Permute: same,
	ir.Expand:  same,
	ir.Flip:    same,
}

func same(_ *Node, x []interval) interval { return x[0] }

// extremes is for a function that rises or falls with each operand.
func extremes(f func(a, b int64) int64) func(*Node, []interval) interval {
	return func(_ *Node, x []interval) interval {
		a, b := f(x[0].lo, x[1].lo), f(x[0].hi, x[1].hi)
		c, d := f(x[0].lo, x[1].hi), f(x[0].hi, x[1].lo)
		return interval{min(a, b, c, d), max(a, b, c, d)}
	}
}
