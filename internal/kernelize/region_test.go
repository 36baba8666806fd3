package kernelize

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simplify"
	"github.com/tensorken/tensorken/ir"
)

func transposed(x *graph.Node) *graph.Node { return graph.Permute(x, []int{1, 0}) }

// gradients are the gradients of softmax(q·kᵀ)·v by q, k and v, with weights p, for a
// cotangent.
func gradients(q, k, v, p, ct *graph.Node) []*graph.Node {
	dp := matmul(ct, v)
	ds := elementwise(ir.Mul, p, elementwise(ir.Sub, dp, along(sum(elementwise(ir.Mul, p, dp), 1), p)))
	return list(matmul(ds, transposed(k)), matmul(transposed(ds), transposed(q)), matmul(transposed(p), transposed(ct)))
}

// TestRegions says which kernels attention becomes on a device that runs kernels of attention.
func TestRegions(t *testing.T) {
	const rows, columns, width = 48, 64, 8
	limits := ir.LoopLimits{Columns: columns, Attention: 32, AttentionBytes: 1 << 20, Scores: math.MaxInt}
	short, narrow, tight, large := limits, limits, limits, limits
	short.Columns, narrow.Attention, large.Scores = columns+1, width-1, 1
	large.AttentionBytes, tight.AttentionBytes = 1<<20, 1
	forward := func(m *maker, masked func(s *graph.Node) *graph.Node) (q, k, v, p, out *graph.Node) {
		q, k, v = m.leaf(rows, width), m.leaf(columns, width), m.leaf(columns, width)
		p = softmax(masked(matmul(q, k)), 1)
		return q, k, v, p, matmul(p, transposed(v))
	}
	plain := func(s *graph.Node) *graph.Node { return s }
	scores := []int{rows, columns}
	condition := func() *graph.Node { return elementwise(ir.Lt, graph.Iota(scores, 0), graph.Iota(scores, 1)) }
	causal := func(s *graph.Node) *graph.Node {
		return graph.Where(condition(), graph.Fill(f32, math.Inf(-1), scores), s)
	}
	output := func(masked func(s *graph.Node) *graph.Node) func(m *maker) []*graph.Node {
		return func(m *maker) []*graph.Node {
			_, _, _, _, out := forward(m, masked)
			return list(out)
		}
	}
	gradient := func(masked func(s *graph.Node) *graph.Node) func(m *maker) []*graph.Node {
		return func(m *maker) []*graph.Node {
			q, k, v, p, out := forward(m, masked)
			return gradients(q, k, v, p, elementwise(ir.Mul, out, along(sum(out, 0, 1), out)))
		}
	}
	for _, c := range []struct {
		name   string
		make   func(m *maker) []*graph.Node
		limits ir.LoopLimits
		want   string
	}{
		{"attention", output(plain), limits, "1 attention"},
		{"a causal mask", output(causal), limits, "1 attention"},
		{"a bias", func(m *maker) []*graph.Node {
			return output(func(s *graph.Node) *graph.Node { return elementwise(ir.Add, s, m.leaf(scores...)) })(m)
		}, limits, "1 attention"},
		{"scores of two products", func(m *maker) []*graph.Node {
			return output(func(s *graph.Node) *graph.Node {
				return elementwise(ir.Add, s, matmul(m.leaf(rows, 3), m.leaf(columns, 3)))
			})(m)
		}, limits, "1 attention"},
		{"weights of two values", func(m *maker) []*graph.Node {
			_, _, _, p, out := forward(m, plain)
			return list(out, matmul(p, m.leaf(5, columns)))
		}, limits, "1 attention"},
		{"work after it", func(m *maker) []*graph.Node {
			_, _, _, _, out := forward(m, plain)
			return list(elementwise(ir.Exp, elementwise(ir.Add, out, m.leaf(rows, width))))
		}, limits, "1 attention"},
		{"values that are computed", func(m *maker) []*graph.Node {
			_, _, _, p, _ := forward(m, plain)
			return list(matmul(p, transposed(elementwise(ir.Neg, m.leaf(columns, width)))))
		}, limits, "1 attention"},
		{"a reduction of rows that is asked for", func(m *maker) []*graph.Node {
			q, k, v := m.leaf(rows, width), m.leaf(columns, width), m.leaf(columns, width)
			s := matmul(q, k)
			return list(matmul(softmax(s, 1), transposed(v)), graph.Reduce(ir.ReduceMax, s, []int{1}))
		}, limits, "1 attention"},
		{"the gradient", gradient(plain), limits, "3 attention, 2 reduce"},
		{"the gradient, causal", gradient(causal), limits, "3 attention, 2 reduce"},
		{"the gradient of large scores where threads multiply", gradient(plain), large, "1 attention, 5 contraction, 3 reduce"},
		{"the same with the result, for a cotangent that does not depend on it", func(m *maker) []*graph.Node {
			q, k, v, p, out := forward(m, plain)
			return append(gradients(q, k, v, p, m.leaf(rows, width)), out)
		}, large, "6 contraction, 2 reduce"},
		{"weights that are asked for", func(m *maker) []*graph.Node {
			_, _, _, p, out := forward(m, plain)
			return list(out, p)
		}, limits, "2 contraction, 1 reduce"},
		{"rows in another order", func(m *maker) []*graph.Node {
			_, _, _, p, out := forward(m, plain)
			return list(out, graph.Reduce(ir.Prod, p, []int{0}))
		}, limits, "2 contraction, 2 reduce"},
		{"short rows", output(plain), short, "2 contraction, 1 reduce"},
		{"deep scores", output(plain), narrow, "2 contraction, 1 reduce"},
		{"little memory", output(plain), tight, "2 contraction, 1 reduce"},
		{"a device without such kernels", output(plain), ir.LoopLimits{}, "2 contraction, 1 reduce"},
		{"no product", func(m *maker) []*graph.Node {
			_, _, _, p, _ := forward(m, plain)
			return list(sum(elementwise(ir.Tanh, p), 1))
		}, limits, "1 contraction, 1 reduce"},
	} {
		m := &maker{}
		kernels, _ := Graph(simplify.Nodes(c.make(m)), Options{Loops: c.limits})
		counts := map[string]int{}
		for _, k := range kernels {
			if err := ir.Verify(k.Kernel); err != nil {
				t.Errorf("%s: %v in\n%v", c.name, err, k.Kernel)
			}
			if k.Roles(ir.Batch) != 0 {
				t.Errorf("%s: there is one matrix of scores, and a batch in\n%v", c.name, k.Kernel)
			}
			if _, ok := loopnest.NewAttention(k.Kernel); !ok && k.Template == ir.Attention {
				t.Errorf("%s: one pass is not enough for\n%v", c.name, k.Kernel)
			}
			counts[k.Template.String()]++
		}
		var got []string
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			got = append(got, fmt.Sprint(counts[name], " ", name))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
