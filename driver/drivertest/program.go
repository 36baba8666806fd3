package drivertest

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A program is a graph under test and the nodes that each turn evaluates: a later turn
// finds the values that earlier ones stored. Its nodes are never computed themselves; each
// run makes copies.
type program struct {
	known results
	turns [][]*graph.Node
	signs bool // the sign of an exact zero counts
}

// newProgram returns a program that asks for roots in one turn.
func newProgram(known results, roots ...*graph.Node) (*program, error) {
	for _, r := range roots {
		if _, err := known.of(r); err != nil {
			return nil, err
		}
	}
	return &program{known: known, turns: [][]*graph.Node{roots}}, nil
}

func (p *program) roots() []*graph.Node { return slices.Concat(p.turns...) }

// check runs the program, unless the device has proofs of all its kernels.
func (p *program) check(drv driver.Device, d *exec.Device) error {
	nothing := func(*graph.Node, []byte) error { return nil }
	return checked(drv, func() error { return p.compute(d, nothing) }, func() error { return p.run(d) })
}

// run computes the program on a device and returns the first difference from the right
// results.
func (p *program) run(d *exec.Device) error {
	for _, r := range p.roots() {
		if _, err := p.known.of(r); err != nil {
			return err
		}
	}
	return p.compute(d, func(r *graph.Node, got []byte) error {
		if err := mismatch(p.known[r], decode(r.DType, got), p.signs); err != nil {
			return fmt.Errorf("%v %v %v: %w", r.Op, r.DType, r.Shape, err)
		}
		return nil
	})
}

// compute calls got with the bytes of each root.
func (p *program) compute(d *exec.Device, got func(root *graph.Node, bytes []byte) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v%s", r, frames())
		}
	}()
	copies := copied(p.roots(), nil)
	for _, turn := range p.turns {
		var roots []*graph.Node
		for _, r := range turn {
			roots = append(roots, copies[r])
		}
		if err := exec.Eval(d, roots); err != nil {
			return err
		}
		for _, r := range turn {
			bytes, err := exec.Read(d, copies[r])
			if err == nil {
				err = got(r, bytes)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// frames lists where in the compiler or the device a panic came from.
func frames() string {
	var b strings.Builder
	for line := range strings.Lines(string(debug.Stack())) {
		if strings.Contains(line, "/internal/") && strings.Contains(line, ".go:") {
			b.WriteString("\n" + strings.TrimSpace(line))
		}
	}
	return b.String()
}

// copied returns a copy of each node that roots depend on; some are replaced
// by others.
func copied(roots []*graph.Node, replaced map[*graph.Node]*graph.Node) map[*graph.Node]*graph.Node {
	copies := map[*graph.Node]*graph.Node{}
	for _, n := range graph.Sorted(roots) {
		switch {
		case replaced[n] != nil:
			copies[n] = replaced[n]
		case n.Op == ir.Buffer:
			copies[n] = n
		case n.Op.Class() == ir.Source:
			copies[n] = graph.FillLike(n, n.Shape)
		default:
			var src []*graph.Node
			for _, s := range n.Src().All() {
				src = append(src, copies[s])
			}
			copies[n] = graph.WithOperands(n, src...)
		}
	}
	return copies
}

// stored returns a leaf of those elements in row-major order.
func (rs results) stored(d ir.DType, dims []int, elems []ir.Number) *graph.Node {
	n := graph.Buffer(d, dims, &graph.Value{Store: storage.FromHost(encode(d, elems)), Strides: shape.RowMajor(dims)})
	rs.leaf(n, elems)
	return n
}

// shrink returns a small program that fails too.
func (p *program) shrink(d *exec.Device) *program {
	for tries := 400; tries > 0; {
		smaller := (*program)(nil)
		p.smaller(func(q *program) bool {
			tries--
			if q != nil && q.run(d) != nil {
				smaller = q
			}
			return smaller == nil && tries > 0
		})
		if smaller == nil {
			break
		}
		p = smaller
	}
	return p
}

// smaller yields programs that are a little smaller, most promising first.
func (p *program) smaller(yield func(*program) bool) {
	roots := p.roots()
	if len(roots) > 1 {
		for _, r := range roots {
			q, _ := newProgram(p.known, r)
			if !yield(q) {
				return
			}
		}
		if len(p.turns) > 1 {
			if q, _ := newProgram(p.known, roots...); !yield(q) {
				return
			}
		}
		for i := range roots {
			q, _ := newProgram(p.known, slices.Concat(roots[:i], roots[i+1:])...)
			if !yield(q) {
				return
			}
		}
	}
	for i, r := range roots {
		for _, s := range r.Src().All() {
			q, _ := newProgram(p.known, slices.Concat(roots[:i], []*graph.Node{s}, roots[i+1:])...)
			if s.Src().Len() > 0 && !yield(q) {
				return
			}
		}
	}
	for _, n := range slices.Backward(graph.Sorted(roots)) {
		if n.Op.Class() == ir.Source && (n.Op != ir.Buffer || plain(n)) || slices.Contains(roots, n) {
			continue
		}
		if !yield(p.cut(n)) {
			return
		}
	}
}

// plain reports whether a leaf lies in row-major order.
func plain(n *graph.Node) bool {
	v := n.Value()
	return v.Offset == 0 && slices.Equal(v.Strides, shape.RowMajor(n.Shape))
}

// cut returns the program with n stored.
func (p *program) cut(n *graph.Node) *program {
	known := results{}
	leaf := known.stored(n.DType, n.Shape, p.known[n].Elems)
	copies := copied(p.roots(), map[*graph.Node]*graph.Node{n: leaf})
	for old, m := range copies {
		if m.Op == ir.Buffer && m != leaf {
			known[m] = p.known[old]
		}
	}
	q := &program{known: known, signs: p.signs}
	for _, turn := range p.turns {
		var roots []*graph.Node
		for _, r := range turn {
			if _, err := known.of(copies[r]); err != nil {
				return nil
			}
			roots = append(roots, copies[r])
		}
		q.turns = append(q.turns, roots)
	}
	return q
}

// String lists the program's nodes, operands first.
func (p *program) String() string {
	var b strings.Builder
	number := map[*graph.Node]int{}
	for i, n := range graph.Sorted(p.roots()) {
		number[n] = i
		fmt.Fprintf(&b, "n%d = %v %v %v", i, n.Op, n.DType, n.Shape)
		for _, s := range n.Src().All() {
			fmt.Fprintf(&b, " n%d", number[s])
		}
		if len(n.Ints) > 0 {
			fmt.Fprintf(&b, " ints %v", n.Ints)
		}
		switch n.Op {
		case ir.Const, ir.Scalar, ir.Pad:
			fmt.Fprintf(&b, " num %s", n.Num.Text(n.DType))
		case ir.Scatter, ir.Scan:
			fmt.Fprintf(&b, " kind %v", n.Kind)
		case ir.Buffer:
			if v := n.Value(); !plain(n) {
				fmt.Fprintf(&b, " strides %v from %d", v.Strides, v.Offset)
			}
		}
		if n.RematLevel != 0 {
			fmt.Fprintf(&b, " generation %d", n.RematLevel)
		}
		if r := p.known[n]; n.Op == ir.Buffer && len(r.Elems) <= 32 {
			b.WriteString(" {")
			for j, x := range r.Elems {
				if j > 0 {
					b.WriteString(" ")
				}
				b.WriteString(x.Text(r.DType))
			}
			b.WriteString("}")
		}
		b.WriteString("\n")
	}
	for i, turn := range p.turns {
		fmt.Fprintf(&b, "turn %d asks for", i+1)
		for _, r := range turn {
			fmt.Fprintf(&b, " n%d", number[r])
		}
		b.WriteString("\n")
	}
	return b.String()
}
