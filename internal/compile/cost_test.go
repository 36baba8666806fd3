package compile

import (
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/internal/simplify"
	"github.com/tensorken/tensorken/ir"
)

// A plan reads and writes at least these bytes.
func TestCost(t *testing.T) {
	Verify()
	y, rows := leaf(0, 80, 80), leaf(1, 40, 80)
	idx := graph.Leaf(ir.Int32, []int{40, 80}, 2, []int{1, 80, 1})
	taken := graph.Leaf(ir.Int32, []int{40, 1}, 2, []int{1, 1, 0})
	even := []graph.Padding{{After: 1, Interior: 1}, {}}
	skip := func(x *graph.Node, start int) *graph.Node {
		return graph.Crop(x, []graph.Span{{Start: start, Step: 2, Len: 40}, {Step: 1, Len: 80}})
	}
	neg := func(x *graph.Node) *graph.Node { return graph.Unary(ir.Neg, x) }
	const row = 4 * 80
	for _, c := range []struct {
		name          string
		root          *graph.Node
		read, written int
	}{
		{"all of a leaf", neg(y), 80 * row, 80 * row},
		{"every second row", neg(skip(y, 0)), 40 * row, 40 * row},
		{"rows with gaps between", graph.Pad(rows, 0, even), 40 * row, 80 * row},
		{"rows with gaps between, of every second row", graph.Pad(neg(skip(y, 0)), 0, even), 40 * row, 80 * row},
		{"rows with gaps between, reversed", graph.Pad(graph.Flip(rows, []int{0}), 0, even), 40 * row, 80 * row},
		{"padded", graph.Pad(y, 0, []graph.Padding{{Before: 3, After: 2}, {Before: 1}}), 80 * row, 85 * 4 * 81},
		{"both halves", graph.Binary(ir.Add, skip(y, 0), skip(y, 1)), 80 * row, 40 * row},
		{"two parts", graph.Binary(ir.Add, graph.Crop(y, []graph.Span{{Step: 1, Len: 40}, {Step: 1, Len: 80}}), graph.Crop(y, []graph.Span{{Start: 40, Step: 1, Len: 40}, {Step: 1, Len: 80}})), 80 * row, 40 * row},
		{"one row, everywhere", neg(graph.Expand(graph.Crop(y, []graph.Span{{Step: 1, Len: 1}, {Step: 1, Len: 80}}), []int{9, 80})), row, 9 * row},
		{"a Scatter on a constant", graph.GatherTranspose(rows, idx, 0, 800), 2 * 40 * row, 800 * row},
		{"a Scatter on a constant, by rows", graph.GatherTranspose(rows, graph.Expand(taken, []int{40, 80}), 0, 800), 40*row + 40*4, 800 * row},
		{"a Scatter on a copy", graph.Scatter(ir.Add, y, idx, rows, 0), (80 + 2*40) * row, 80 * row},
		{"a Sort of which three are kept", graph.Sort(graph.Leaf(ir.Uint32, []int{80, 80}, 0, []int{1, 80, 1}), 1, 3), 80 * row, 80 * 3 * 4},
		{"a running sum", graph.Scan(ir.Add, y, 1), 80 * row, 80 * row},
	} {
		p, err := Graph(simplify.Nodes([]*graph.Node{c.root}), kernelize.Options{}, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var cost Cost
		for _, s := range p.Steps {
			x := s.Cost()
			cost.Read += x.Read
			cost.Written += x.Written
		}
		if cost.Read != c.read || cost.Written != c.written {
			t.Errorf("%s: reads %d B, writes %d B; want %d and %d\n%v", c.name, cost.Read, cost.Written, c.read, c.written, p)
		}
	}
}
