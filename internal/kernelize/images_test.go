package kernelize

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// TestChannelsLast: an image between convolutions has channels innermost if that pays, if weights lie along outputs, or along the
// depth where tiles do, and if it is no result. Windows of each channel and means of all positions keep it so.
func TestChannelsLast(t *testing.T) {
	for _, c := range []struct {
		name                 string
		channels, positions  int
		columns              int
		along, result, other bool
		last                 bool
		windows, mean        bool // of the image
		deep                 bool // tiles take neighbours along the depth
	}{
		{"few positions", 96, 49, 32, true, false, false, true, false, false, false},
		{"few channels", 24, 4096, 32, true, false, false, false, false, false, false},
		{"weights along the depth", 96, 49, 32, false, false, false, false, false, false, false},
		{"a result", 96, 49, 32, true, true, false, false, false, false, false},
		{"read in another way", 96, 49, 32, true, false, true, false, false, false, false},
		{"a device that transposes tiles", 96, 49, 0, true, false, false, false, false, false, false},
		{"means", 96, 49, 32, true, false, false, true, false, true, false},
		{"windows", 72, 4098, 32, true, false, false, true, true, false, false},
		{"windows and means", 72, 4098, 32, true, false, false, true, true, true, false},
		{"tiles along the depth", 96, 49, 0, false, false, false, true, false, false, true},
		{"tiles along the depth, weights along outputs", 96, 49, 0, true, false, false, false, false, false, true},
		{"tiles along the depth, no fours", 90, 49, 0, false, false, false, false, false, false, true},
	} {
		m := &maker{}
		conv := func(x *graph.Node, outputs int) *graph.Node {
			in, p := x.Shape[1], x.Shape[2]
			w := m.leaf(in, outputs)
			if c.along {
				w = graph.Permute(w, []int{1, 0})
			} else {
				w = m.leaf(outputs, in)
			}
			shape := []int{2, outputs, in, p}
			product := elementwise(ir.Mul, graph.Expand(graph.Reshape(w, []int{1, outputs, in, 1}), shape), graph.Expand(graph.Reshape(x, []int{2, 1, in, p}), shape))
			y := graph.Reshape(sum(product, 2), []int{2, outputs, p})
			return elementwise(ir.Max, y, elementwise(ir.Neg, y))
		}
		y := conv(m.leaf(2, 64, c.positions), c.channels)
		z := y
		if c.windows {
			shape := []int{2, c.channels, c.positions - 2, 3}
			w := graph.Expand(graph.Reshape(m.leaf(c.channels, 3), []int{1, c.channels, 1, 3}), shape)
			x := graph.Window(graph.Expand(graph.Reshape(y, []int{2, c.channels, c.positions, 1}), []int{2, c.channels, c.positions, 3}), 2, 3, 1, 1, c.positions-2)
			z = graph.Reshape(sum(elementwise(ir.Mul, x, w), 3), []int{2, c.channels, c.positions - 2})
		}
		roots := []*graph.Node{conv(z, 64)}
		if c.mean {
			roots = append(roots, sum(z, 2))
		}
		if c.result {
			roots = append(roots, y)
		}
		if c.other {
			roots = append(roots, graph.Reduce(ir.Prod, y, []int{1, 2}))
		}
		kernels, _ := Graph(roots, Options{Machine: ir.Machine{Columns: c.columns, DeepTiles: c.deep}})
		k := kernels[0].Kernel
		var store *ir.View
		for i := range k.Body {
			if k.Body[i].Op == ir.Store {
				store = k.Body[i].View
			}
		}
		last := false
		for a, x := range store.Coef {
			last = last || x == 1 && k.Axes[a].Len == c.channels
		}
		if last != c.last {
			t.Errorf("%s: channels are innermost: %v, want %v\n%v", c.name, last, c.last, k)
		}
		for _, k := range kernels {
			if err := ir.Verify(k.Kernel); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// TestGreatestOfChannels: images before and after a pool of greatest elements have channels innermost, unless one of them is
// a result.
func TestGreatestOfChannels(t *testing.T) {
	const channels, positions = 96, 49
	for _, c := range []struct {
		name   string
		result int // of the images: 1 before the pool, 2 after it
		last   bool
	}{{"no result", 0, true}, {"the windows", 1, false}, {"the greatest elements", 2, false}} {
		m := &maker{}
		conv := func(x *graph.Node, outputs int) *graph.Node {
			shape := []int{2, outputs, x.Shape[1], x.Shape[2]}
			w := graph.Reshape(graph.Permute(m.leaf(shape[2], outputs), []int{1, 0}), []int{1, outputs, shape[2], 1})
			return graph.Reshape(sum(elementwise(ir.Mul, graph.Expand(w, shape), graph.Expand(graph.Reshape(x, []int{2, 1, shape[2], shape[3]}), shape)), 2), []int{2, outputs, shape[3]})
		}
		x := conv(m.leaf(2, 64, positions), channels)
		windows := graph.Window(graph.Expand(graph.Reshape(x, []int{2, channels, positions, 1}), []int{2, channels, positions, 3}), 2, 3, 1, 1, positions-2)
		y := graph.Reshape(graph.Reduce(ir.ReduceMax, windows, []int{3}), []int{2, channels, positions - 2})
		kernels, _ := Graph(append([]*graph.Node{conv(y, 64)}, []*graph.Node{nil, x, y}[c.result:][:min(c.result, 1)]...), Options{Machine: ir.Machine{Columns: 32}})
		for i := range 2 {
			k := kernels[i].Kernel
			store := slices.IndexFunc(k.Body, func(in ir.Instr) bool { return in.Op == ir.Store })
			last := false
			for a, n := range k.Body[store].View.Coef {
				last = last || n == 1 && k.Axes[a].Len == channels
			}
			if last != c.last {
				t.Errorf("%s is a result: kernel %d stores channels innermost: %v, want %v\n%v", c.name, i, last, c.last, k)
			}
		}
	}
}

// TestHeadsAreNoChannels: products of each head are stored as heads of rows, although the next product sums over heads, too.
func TestHeadsAreNoChannels(t *testing.T) {
	const heads, rows, width, depth = 12, 128, 32, 128
	m := &maker{}
	product := func(x, y *graph.Node, shape ...int) *graph.Node {
		return sum(elementwise(ir.Mul, graph.Expand(x, shape), graph.Expand(y, shape)), len(shape)-1)
	}
	values := graph.Permute(graph.Reshape(m.leaf(heads, depth, width), []int{1, heads, 1, depth, width}), []int{0, 1, 2, 4, 3})
	each := product(graph.Reshape(m.leaf(heads, rows, depth), []int{1, heads, rows, 1, depth}), values, 1, heads, rows, width, depth)
	joined := graph.Reshape(graph.Permute(graph.Reshape(each, []int{1, heads, rows, width}), []int{0, 2, 1, 3}), []int{rows, 1, heads * width})
	weights := graph.Reshape(graph.Permute(m.leaf(heads*width, 384), []int{1, 0}), []int{1, 384, heads * width})
	kernels, _ := Graph([]*graph.Node{product(joined, weights, rows, 384, heads*width)}, Options{Machine: ir.Machine{Columns: 32}})
	for i := range kernels[0].Body {
		if in := &kernels[0].Body[i]; in.Op == ir.Store && !slices.Equal(in.View.Coef[:3], []int{rows * width, width, 1}) {
			t.Errorf("heads, rows and columns are %v apart:\n%v", in.View.Coef[:3], kernels[0].Kernel)
		}
	}
}
