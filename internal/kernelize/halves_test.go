package kernelize

import (
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// Factors of products of halves are stored if the device wants it, once for all products.
func TestHalves(t *testing.T) {
	cast := func(x *graph.Node) *graph.Node { return graph.Cast(x, ir.BFloat16) }
	gpu := ir.Machine{Bandwidth: 4.8e12, Adds: 33e12, Halves: 500e12}
	for _, c := range []struct {
		name    string
		make    func(m *maker) []*graph.Node
		machine ir.Machine
		want    []string
	}{
		{"as they are", func(m *maker) []*graph.Node {
			return list(matmul(m.of(ir.BFloat16, 4, 6), cast(m.leaf(5, 6))))
		}, ir.Machine{}, []string{"contraction 4x5|6: Sum*"}},
		{"stored", func(m *maker) []*graph.Node {
			w := cast(m.leaf(6, 6))
			return list(matmul(matmul(m.of(ir.BFloat16, 4, 6), w), graph.Permute(w, []int{1, 0})))
		}, gpu, []string{"pointwise 6x6: Cast*", "contraction 4x6|6: Sum*", "contraction 4x6|6: Sum*"}},
		{"others", func(m *maker) []*graph.Node {
			return list(matmul(m.leaf(4, 6), elementwise(ir.Neg, m.leaf(5, 6))))
		}, gpu, []string{"contraction 4x5|6: Sum*"}},
		{"functions of bfloat16, computed again", func(m *maker) []*graph.Node { return functions(m, ir.BFloat16) }, gpu,
			[]string{"contraction 4x6|5: Sum* Sqrt* Neg Exp Mul", "contraction 4x6|6: Sum Mul Div Add*"}},
		{"functions of float16, which overflow where they are stored", func(m *maker) []*graph.Node { return functions(m, ir.Float16) }, gpu,
			[]string{"contraction 4x6|5: Sum Sqrt* Neg Exp* Mul*", "contraction 4x6|6: Sum Mul Div Add*"}},
	} {
		got := groups(c.make(&maker{}), Options{Machine: c.machine})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: groups:\n\t%s\nwant:\n\t%s", c.name, strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
		}
	}
}

// functions are several of one product, for an expression after another product.
func functions(m *maker, d ir.DType) []*graph.Node {
	x := matmul(m.of(d, 4, 5), m.of(d, 6, 5))
	y := matmul(elementwise(ir.Sqrt, x), m.of(d, 6, 6))
	f, g := elementwise(ir.Exp, elementwise(ir.Neg, x)), elementwise(ir.Mul, x, x)
	return list(elementwise(ir.Add, elementwise(ir.Mul, y, f), elementwise(ir.Div, y, g)))
}
