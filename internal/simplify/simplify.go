// Package simplify rewrites graphs into equal ones that compile to less: it finds equal
// subexpressions, folds constants and applies a table of rules. Read simplify.go first.
package simplify

import (
	"encoding/binary"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A rule returns a node equal to n, made by b, or nil where it does not
// apply. The operands of n are simplified already.
type rule func(b *builder, n *graph.Node) *graph.Node

// rules has, for each op, the rules to try in order: its class's rules, then the tables' in
// the other files.
var rules = func() (t [ir.Ops][]rule) {
	for o := range t {
		if ir.Table[o].Class == ir.Alias {
			t[o] = append(t[o], operand)
		}
		if ir.Table[o].Class == ir.Elementwise {
			t[o] = append(t[o], foldConstants)
		}
		if ir.Table[o].Class == ir.Reduction {
			t[o] = append(t[o], reduceNothing, reduceUniform, reduceExpanded, reduceOnce, sumProducts)
		}
		if ir.Table[o].Class == ir.Movement && ir.Op(o) != ir.Cat && ir.Op(o) != ir.Copy {
			t[o] = append(t[o], movements...)
		}
	}
	t[ir.Reshape] = append(t[ir.Reshape], squeezeExpand)
	for _, part := range []map[ir.Op][]rule{algebra, indexed, windows, ordered} {
		for o, r := range part {
			t[o] = append(t[o], r...)
		}
	}
	return t
}()

// Nodes returns nodes equal to roots, in their order. Their graph shares no
// two equal nodes and is free of aliases; no node but a constant is empty.
func Nodes(roots []*graph.Node) []*graph.Node {
	nodes, number := graph.Numbered(roots)
	var operands []*graph.Node
	simple := Build(len(nodes), func(i int, done []*graph.Node) (*graph.Node, []*graph.Node) {
		n := nodes[i]
		operands = operands[:0]
		for _, s := range n.Src().All() {
			k, _ := number.Get(s)
			operands = append(operands, done[k])
		}
		return n, operands
	})
	out := make([]*graph.Node, len(roots))
	for i, r := range roots {
		k, _ := number.Get(r)
		out[i] = simple[k]
	}
	return out
}

// Build returns count nodes, simplified as by Nodes. For node i, node gives a node like it
// and its operands, among the simplified nodes before it, done[:i]. Build copies a node
// that has operands, and sets Number of the copy, or of a node without, to i.
func Build(count int, node func(i int, done []*graph.Node) (n *graph.Node, src []*graph.Node)) []*graph.Node {
	b := &builder{rules: &rules, table: make(map[string]*graph.Node, count)}
	done := make([]*graph.Node, count)
	for i := range done {
		n, src := node(i, done[:i])
		if m, ok := b.table[string(b.bytes(n, src))]; ok {
			done[i] = m
			continue
		}
		if len(src) > 0 {
			n = graph.WithOperands(n, src...)
		}
		n.Number = int32(i)
		b.source = n.Number
		done[i] = b.addNew(n)
	}
	return done
}

// A builder makes simplified nodes, one of each kind.
type builder struct {
	rules  *[ir.Ops][]rule
	number graph.Numbers
	table  map[string]*graph.Node // by canonical bytes
	source int32                  // the Number of the node that is simplified
	key    []byte
	src    []*graph.Node // backs the operands of a node that is looked up
}

// add returns the simplified node equal to n, whose operands are simplified.
func (b *builder) add(n *graph.Node) *graph.Node {
	b.src = n.Src().Append(b.src[:0])
	if m, ok := b.table[string(b.bytes(n, b.src))]; ok {
		return m
	}
	return b.addNew(n)
}

// addNew is add of a node that the table lacks, whose bytes are in b.key.
func (b *builder) addNew(n *graph.Node) *graph.Node {
	key := string(b.key) // rewrite makes other keys
	m := b.rewrite(n)
	if m == nil {
		m = n
		b.number.Set(n, b.number.Len())
		if n.Number == 0 && b.source != 0 { // a rule has made it
			n.Number = b.source
		}
	}
	b.table[key] = m
	return m
}

func (b *builder) rewrite(n *graph.Node) *graph.Node {
	if n.Len() == 0 && n.Op != ir.Const {
		return b.add(graph.Const(n.DType, 0, n.Shape))
	}
	for _, r := range b.rules[n.Op] {
		if m := r(b, n); m != nil {
			return m
		}
	}
	return nil
}

// bytes returns a key of a node like n on simplified operands: equal nodes have equal
// keys. It is in b.key until the next call.
func (b *builder) bytes(n *graph.Node, src []*graph.Node) []byte {
	k := append(b.key[:0], byte(n.Op), byte(n.DType), byte(n.Kind), byte(len(n.Shape)), byte(len(n.Ints)))
	k = binary.AppendVarint(k, int64(n.RematLevel))
	k = binary.AppendUvarint(k, uint64(n.Num))
	for _, d := range n.Shape {
		k = binary.AppendUvarint(k, uint64(d))
	}
	for _, i := range n.Ints {
		k = binary.AppendVarint(k, int64(i))
	}
	for _, s := range src {
		number, _ := b.number.Get(s)
		k = binary.AppendUvarint(k, uint64(number))
	}
	b.key = k
	return k
}

func (b *builder) elementwise(op ir.Op, src ...*graph.Node) *graph.Node {
	return b.add(graph.Elementwise(op, src...))
}

// reshaped is uniform x with another shape.
func (b *builder) reshaped(x *graph.Node, shape []int) *graph.Node {
	return b.add(graph.FillLike(x, shape))
}

// uniform reports whether all elements of n are one number.
func uniform(n *graph.Node) bool { return n.Op == ir.Const || n.Op == ir.Scalar }

// isConst reports whether n is a constant of value v.
func isConst(n *graph.Node, v float64) bool {
	return n.Op == ir.Const && n.Num.Float64(n.DType) == v
}
