package blockwise

import (
	"testing"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/simplify"
	"github.com/tensorken/tensorken/ir"
)

// given is leaf i, of float32.
func given(i int, dims ...int) *graph.Node {
	return graph.Leaf(ir.Float32, dims, i, append([]int{1}, shape.RowMajor(dims)...))
}

// product multiplies x, [batch rows depth], by y, [batch columns depth], transposed.
func product(x, y *graph.Node) *graph.Node {
	b, m, n, k := x.Shape[0], x.Shape[1], y.Shape[1], x.Shape[2]
	dims := []int{b, m, n, k}
	left := graph.Expand(graph.Reshape(x, []int{b, m, 1, k}), dims)
	right := graph.Expand(graph.Reshape(y, []int{b, 1, n, k}), dims)
	return graph.Reshape(graph.Reduce(ir.Sum, graph.Binary(ir.Mul, left, right), []int{3}), []int{b, m, n})
}

func turned(x *graph.Node) *graph.Node { return graph.Permute(x, []int{0, 2, 1}) }

func softmax(x *graph.Node) *graph.Node {
	last := []int{len(x.Shape) - 1}
	e := graph.Unary(ir.Exp, graph.Binary(ir.Sub, x, graph.Expand(graph.Reduce(ir.ReduceMax, x, last), x.Shape)))
	return graph.Binary(ir.Div, e, graph.Expand(graph.Reduce(ir.Sum, e, last), x.Shape))
}

// TestFuse says which scores are computed in loops, and which are stored.
func TestFuse(t *testing.T) {
	compile.Verify()
	const batch, rows, columns, width = 2, 48, 64, 8
	limits := ir.LoopLimits{Bytes: 1 << 12, Rows: 4, Columns: columns, Conflict: 64}
	q, k, v, ct := given(0, batch, rows, width), given(1, batch, columns, width), given(2, batch, columns, width), given(3, batch, rows, width)
	p := softmax(product(q, k))
	out := product(p, turned(v))
	gradients := func(q, k, v, p, ct *graph.Node) []*graph.Node {
		dp := product(ct, v)
		ds := graph.Binary(ir.Mul, p, graph.Binary(ir.Sub, dp, graph.Expand(graph.Reduce(ir.Sum, graph.Binary(ir.Mul, p, dp), []int{2}), p.Shape)))
		return []*graph.Node{product(ds, turned(k)), product(turned(ds), turned(q)), product(turned(p), turned(ct))}
	}
	backward := func(ct *graph.Node) []*graph.Node { return gradients(q, k, v, p, ct) }
	// Rows attend to themselves, so that the gradient is the sum of three.
	self := func(x, ct *graph.Node) *graph.Node {
		g := gradients(x, x, x, softmax(product(x, x)), ct)
		return graph.Binary(ir.Add, graph.Binary(ir.Add, g[2], g[1]), g[0])
	}
	// The operation after attention mixes its rows.
	after := graph.Binary(ir.Mul, ct, graph.Expand(graph.Reduce(ir.Sum, out, []int{1, 2}), ct.Shape))
	deep := func(i, n int) *graph.Node { return given(i, batch, n, maxDepth+1) }
	gpu := ir.LoopLimits{Bytes: 1 << 16, Rows: 4, Columns: columns, Serial: true}
	few, many := gpu, gpu
	few.Bytes, many.Scores = 1<<14, 4*batch*rows*columns
	more := many
	more.Scores++
	for _, c := range []struct {
		name   string
		roots  []*graph.Node
		limits ir.LoopLimits
		loops  int
		scores int // buffers of the scores' size
	}{
		{"attention", []*graph.Node{out}, limits, 1, 0},
		{"with derivatives by a constant", append(backward(ct), out), limits, 1, 0},
		{"with derivatives by what comes after", append(backward(after), out), limits, 2, 0},
		{"with the derivative by all factors", []*graph.Node{self(given(0, batch, columns, width), given(3, batch, columns, width))}, limits, 2, 0},
		{"probabilities that are asked for", []*graph.Node{out, p}, limits, 1, 1},
		{"rows in another order", []*graph.Node{out, graph.Reduce(ir.Prod, p, []int{1})}, limits, 1, 1},
		{"deep scores", []*graph.Node{product(softmax(product(deep(0, rows), deep(1, columns))), turned(v))}, limits, 0, 2},
		{"no product", []*graph.Node{graph.Reduce(ir.Sum, graph.Unary(ir.Tanh, p), []int{2})}, limits, 0, 1},
		{"short rows", []*graph.Node{out}, ir.LoopLimits{Bytes: 1 << 12, Rows: 4, Columns: columns + 1}, 0, 2},
		{"few rows", []*graph.Node{product(softmax(product(given(0, batch, minMatrix-1, width), k)), turned(v))}, limits, 0, 0},
		{"blocks of two matrices", append(backward(ct), out), gpu, 1, 0},
		{"blocks of two matrices, by what comes after", append(backward(after), out), gpu, 2, 0},
		{"blocks of rows, one after the other", append(backward(ct), out), few, 1, 0},
		{"scores of the least size", []*graph.Node{out}, many, 1, 0},
		{"small scores", []*graph.Node{out}, more, 0, 2},
		{"a device without loops", []*graph.Node{out}, ir.LoopLimits{}, 0, 2},
	} {
		plan, err := compile.Graph(simplify.Nodes(c.roots), kernelize.Options{}, nil)
		if err == nil {
			err = Fuse(plan, c.limits, 0)
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		loops, scores := 0, map[int]bool{}
		for i := range plan.Steps {
			s := &plan.Steps[i]
			if s.Loop != nil {
				loops++
			}
			for b := range s.Buffers(ir.Out) {
				if plan.Buffers[b].Len == batch*rows*columns {
					scores[b] = true
				}
			}
		}
		if loops != c.loops || len(scores) != c.scores {
			t.Errorf("%s: %d loops and %d buffers of scores, want %d and %d\n%v", c.name, loops, len(scores), c.loops, c.scores, plan)
		}
	}
}
