package drivertest

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// product is the sum over the last axis of a [batch m k] times b [batch n k]:
// [batch m n].
func product(a, b *graph.Node) *graph.Node { return productBy(0, a, b) }

// productBy is a product of a kind: see [graph.MulBy].
func productBy(kind ir.Op, a, b *graph.Node) *graph.Node {
	m, n := a.Shape[1], b.Shape[1]
	p := graph.Reduce(ir.Sum, graph.MulBy(kind, insert(a, 2, n), insert(b, 1, m)), []int{3})
	return graph.Reshape(p, []int{a.Shape[0], m, n})
}

// A matrix makes the factor of a product: [batch rows cols].
type matrix struct {
	name string
	make func(s *suite, d ir.DType, batch, rows, cols int) *graph.Node
}

var matrices = []matrix{
	{"plain", func(s *suite, d ir.DType, b, r, c int) *graph.Node { return s.tensor(d, b, r, c) }},
	{"transposed", func(s *suite, d ir.DType, b, r, c int) *graph.Node {
		return graph.Permute(s.tensor(d, b, c, r), []int{0, 2, 1})
	}},
	{"shared", func(s *suite, d ir.DType, b, r, c int) *graph.Node {
		return graph.Expand(s.tensor(d, 1, r, c), []int{b, r, c})
	}},
	{"inner batch", func(s *suite, d ir.DType, b, r, c int) *graph.Node {
		return graph.Permute(s.tensor(d, r, b, c), []int{1, 0, 2})
	}},
	{"view", func(s *suite, d ir.DType, b, r, c int) *graph.Node { return s.leaf(d, []int{b, r, c}) }},
	{"strided", func(s *suite, d ir.DType, b, r, c int) *graph.Node {
		x := graph.Flip(s.tensor(d, b, 2*r, 3*c), []int{1})
		return graph.Crop(x, []graph.Span{{Step: 1, Len: b}, {Start: 1, Step: 2, Len: r}, {Step: 3, Len: c}})
	}},
	{"padded", func(s *suite, d ir.DType, b, r, c int) *graph.Node {
		p := graph.Padding{Before: 1, After: 1}
		x := s.tensor(d, b, max(r-2, 0), max(c-2, 0))
		if r < 2 || c < 2 {
			return s.tensor(d, b, r, c)
		}
		return graph.Pad(x, 0, []graph.Padding{{}, p, p})
	}},
	{"scaled", func(s *suite, d ir.DType, b, r, c int) *graph.Node {
		x := s.tensor(d, b, r, c)
		return graph.Binary(ir.Add, graph.Binary(ir.Mul, x, graph.Scalar(d, ir.Int(d, 2), x.Shape)), s.tensor(d, b, r, c))
	}},
	{"cast", func(s *suite, d ir.DType, b, r, c int) *graph.Node {
		return graph.Cast(s.tensor(ir.Bool, b, r, c), d)
	}},
	{"shared along a row", func(s *suite, d ir.DType, b, r, c int) *graph.Node {
		x := s.tensor(d, b, r, c)
		return graph.Binary(ir.Mul, x, graph.Expand(s.tensor(d, b, r, 1), x.Shape))
	}},
	{"expensive", func(s *suite, d ir.DType, b, r, c int) *graph.Node {
		x := s.tensor(d, b, r, c)
		if !d.IsFloat() {
			return x
		}
		return graph.Unary(ir.Tanh, x)
	}},
}

// epilogues come after a product p.
var epilogues = []struct {
	name string
	make func(s *suite, p *graph.Node) []*graph.Node
}{
	{"nothing", func(s *suite, p *graph.Node) []*graph.Node { return []*graph.Node{p} }},
	{"bias and relu", func(s *suite, p *graph.Node) []*graph.Node {
		bias := graph.Expand(s.tensor(p.DType, 1, 1, p.Shape[2]), p.Shape)
		return []*graph.Node{graph.Binary(ir.Max, graph.Binary(ir.Add, p, bias), graph.Const(p.DType, 0, p.Shape))}
	}},
	{"two outputs", func(s *suite, p *graph.Node) []*graph.Node {
		return []*graph.Node{p, graph.Binary(ir.Add, p, s.tensor(p.DType, p.Shape...))}
	}},
	{"transposed", func(s *suite, p *graph.Node) []*graph.Node {
		return []*graph.Node{graph.Unary(ir.Neg, graph.Permute(p, []int{2, 0, 1}))}
	}},
	{"reduced", func(s *suite, p *graph.Node) []*graph.Node {
		return []*graph.Node{graph.Reduce(ir.Sum, graph.Binary(ir.Mul, p, p), []int{0, 2})}
	}},
}

// products multiplies matrices of many shapes.
func (s *suite) products() {
	lengths := []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 33, 48, 64, 70}
	s.part("shapes", func(s *suite) {
		for i := range 80 {
			m, n, k := s.one(lengths...), s.one(lengths...), s.one(lengths...)
			if m*n*k > 60000 {
				continue
			}
			batch := s.one(1, 1, 1, 2, 3)
			a, b := matrices[i%2], matrices[i/2%2]
			s.check(fmt.Sprint(batch, m, n, k, a.name, b.name),
				product(a.make(s, ir.Float32, batch, m, k), b.make(s, ir.Float32, batch, n, k)))
		}
	})
	s.eachIn("edges", []ir.DType{ir.Float32}, func(s *suite, d ir.DType) {
		for _, e := range [][3]int{{0, 3, 4}, {3, 0, 4}, {3, 4, 0}, {1, 1, 1}, {1, 5, 6}, {5, 1, 6}, {5, 6, 1}, {1, 1, 100}, {100, 100, 1}} {
			s.check(fmt.Sprint(e), product(s.tensor(d, 2, e[0], e[2]), s.tensor(d, 2, e[1], e[2])))
		}
	})
	s.part("codes with scales", func(s *suite) {
		for _, e := range [][3]int{{1, 21, 64}, {7, 150, 96}, {16, 5, 160}} {
			m, n, k := e[0], e[1], e[2]
			codes := graph.Reshape(graph.Cast(s.tensor(ir.Int8, 2, n, k), ir.Float32), []int{2, n, k / 32, 32})
			scales := graph.Expand(s.tensor(ir.Float32, 2, n, k/32, 1), codes.Shape)
			rows := graph.Reshape(graph.Binary(ir.Mul, codes, scales), []int{2, n, k})
			s.check(fmt.Sprint(e), product(s.tensor(ir.Float32, 2, m, k), rows))
		}
	})
	s.eachIn("bytes", []ir.DType{ir.Int8, ir.Uint8}, func(s *suite, d ir.DType) {
		for i, a := range matrices {
			b := matrices[(i+3)%len(matrices)]
			x, y := graph.Cast(a.make(s, d, 2, 35, 70), ir.Int32), graph.Cast(b.make(s, d, 2, 20, 70), ir.Int32)
			s.check(a.name+" by "+b.name, product(x, y))
		}
	})
	s.eachIn("attention", floatTypes, func(s *suite, d ir.DType) {
		q, k, v := s.tensor(d, 2, 5, 4), s.tensor(d, 2, 6, 4), s.tensor(d, 2, 6, 3)
		scores := graph.Binary(ir.Mul, product(q, k), graph.Fill(d, 0.5, []int{2, 5, 6}))
		e := graph.Unary(ir.Exp, graph.Binary(ir.Sub, scores, graph.Expand(graph.Reduce(ir.ReduceMax, scores, []int{2}), scores.Shape)))
		w := graph.Binary(ir.Div, e, graph.Expand(graph.Reduce(ir.Sum, e, []int{2}), e.Shape))
		s.check("softmax", product(w, graph.Permute(v, []int{0, 2, 1})))
	})
	s.eachIn("by weights", floatTypes, (*suite).weights)
}

// weights multiplies by weights, of which each fourth is 0 and hides NaN. The first column has NaN that is not hidden.
func (s *suite) weights(d ir.DType) {
	for _, e := range [][3]int{{1, 33, 70}, {70, 40, 33}} {
		at := func(x *graph.Node, n int) *graph.Node { // that number of each four along the depth
			four := graph.Binary(ir.Rem, graph.Iota(x.Shape, 2), graph.Fill(ir.Int32, 4, x.Shape))
			return graph.Binary(ir.Eq, four, graph.Fill(ir.Int32, float64(n), x.Shape))
		}
		weight, x := s.tensor(d, 2, e[0], e[2]), s.tensor(d, 2, e[1], e[2])
		first := graph.Binary(ir.Eq, graph.Iota(x.Shape, 1), graph.Fill(ir.Int32, 0, x.Shape))
		nan := graph.Binary(ir.Or, at(x, 3), graph.Binary(ir.And, first, at(x, 0)))
		x = graph.Where(nan, graph.Fill(d, math.NaN(), x.Shape), x)
		weight = graph.Where(at(weight, 3), graph.Fill(d, 0, weight.Shape), weight)
		s.check(fmt.Sprint(e), productBy(ir.Where, weight, x))
		s.check(fmt.Sprint(e, " from the right"), graph.Reduce(ir.Sum, graph.Weigh(insert(weight, 1, e[1]), insert(x, 2, e[0])), []int{3}))
		row := graph.Expand(graph.Crop(weight, []graph.Span{{Len: 2, Step: 1}, {Len: 1, Step: 1}, {Len: e[2], Step: 1}}), x.Shape)
		s.check(fmt.Sprint(e, " along rows"), graph.Reduce(ir.Sum, graph.Weigh(row, x), []int{2}), graph.Weigh(row, x))
	}
}

// factors multiplies matrices that are made in many ways.
func (s *suite) factors() {
	s.each(typesOf(ir.Mul), func(s *suite, d ir.DType) {
		for i, a := range matrices {
			for j, b := range matrices {
				for batch := 1; batch <= 2; batch++ {
					if d != ir.Float32 && (i+j+batch)%4 != 0 {
						continue
					}
					s.check(fmt.Sprint(batch, " ", a.name, " by ", b.name), product(a.make(s, d, batch, 5, 6), b.make(s, d, batch, 7, 6)))
				}
			}
		}
	})
}

// epilogues multiplies matrices and goes on with the product.
func (s *suite) epilogues() {
	s.each(typesOf(ir.Mul), func(s *suite, d ir.DType) {
		for j, e := range epilogues {
			for i, a := range matrices {
				if spared(d, i+j) {
					continue
				}
				b := matrices[(i+1)%len(matrices)]
				p := product(a.make(s, d, 2, 5, 9), b.make(s, d, 2, 18, 9))
				s.check(a.name+", then "+e.name, e.make(s, p)...)
			}
		}
	})
}

// largeProducts fill more than one block along every axis. Their definition is
// computed by a loop here: the nodes have too many elements.
func (s *suite) largeProducts() {
	if r, ok := s.drv.(*Reference); ok && r.Prepare == nil {
		s.Skip("the oracle is too slow")
	}
	s.each([]ir.DType{ir.Float32, ir.Float64, ir.Int32}, func(s *suite, d ir.DType) {
		for j, c := range [][3]int{{130, 70, 300}, {300, 259, 20}, {33, 600, 129}, {512, 9, 257}, {7, 9, 2000}, {256, 256, 256}, {1, 1000, 600}, {1001, 1, 333}, {3, 70, 2500}} {
			m, n, k := c[0], c[1], c[2]
			for i := range 4 {
				if spared(d, i+j) {
					continue
				}
				a, b := matrices[i%2].make(s, d, 1, m, k), matrices[i/2].make(s, d, 1, n, k)
				p := product(a, b)
				if err := s.multiply(p.Operand(0), a, b); err != nil {
					s.Fatal(err)
				}
				s.check(fmt.Sprint(c, matrices[i%2].name, " by ", matrices[i/2].name), graph.Binary(ir.Add, p, graph.Const(d, ir.Int(d, 1), p.Shape)))
			}
		}
	})
}

// multiply notes the right values of sum, a sum of products of a and b.
func (s *suite) multiply(sum, a, b *graph.Node) error {
	x, err := s.known.of(a)
	if err != nil {
		return err
	}
	y, err := s.known.of(b)
	if err != nil {
		return err
	}
	d, k := sum.DType, a.Shape[2]
	out := &result{&interp.Array{DType: d, Shape: sum.Shape}, nil}
	v, w := floats(x.Array), floats(y.Array)
	for i := range a.Shape[1] {
		for j := range b.Shape[1] {
			whole, total, size := int64(0), 0.0, 0.0
			if !d.IsFloat() {
				for h, u := range x.Elems[i*k:][:k] {
					whole += int64(u) * int64(y.Elems[j*k+h])
				}
				out.Elems, out.off = append(out.Elems, ir.Int(d, whole)), append(out.off, 0)
				continue
			}
			for h, u := range v[i*k:][:k] {
				t := u * w[j*k+h]
				total += t
				size += math.Abs(t)
			}
			out.Elems = append(out.Elems, ir.Float(d, total))
			out.off = append(out.off, sumUlps*epsilon[d].eps*size)
		}
	}
	s.known[sum] = out
	return nil
}

// A convolution of two dimensions: the input is [batch groups·in height
// width], the kernel [groups·out in size size].
type convolution struct {
	batch, groups, in, out int
	height, width          int
	size                   [2]int
	stride, pad, dilation  int
}

// window is x [.. length ..] as [.. places .. size], from axis on.
func window(x *graph.Node, axis, size, stride, dilation int) *graph.Node {
	places := (x.Shape[axis]-1-(size-1)*dilation)/stride + 1
	x = insert(x, len(x.Shape), size)
	return graph.Window(x, axis, len(x.Shape)-1, stride, dilation, places)
}

// apply convolves: [batch groups out height width].
func (c convolution) apply(x, kernel *graph.Node) *graph.Node {
	p := graph.Padding{Before: c.pad, After: c.pad}
	x = graph.Pad(x, 0, []graph.Padding{{}, {}, p, p})
	x = window(x, 2, c.size[0], c.stride, c.dilation)
	x = window(x, 3, c.size[1], c.stride, c.dilation)
	h, w := x.Shape[2], x.Shape[3]
	full := []int{c.batch, c.groups, c.out, c.in, h, w, c.size[0], c.size[1]}
	x = graph.Reshape(x, []int{c.batch, c.groups, 1, c.in, h, w, c.size[0], c.size[1]})
	k := graph.Reshape(kernel, []int{1, c.groups, c.out, c.in, 1, 1, c.size[0], c.size[1]})
	sum := graph.Reduce(ir.Sum, graph.Binary(ir.Mul, graph.Expand(x, full), graph.Expand(k, full)), []int{3, 6, 7})
	return graph.Reshape(sum, []int{c.batch, c.groups, c.out, h, w})
}

// byInput is the gradient of apply by x, for dy [batch groups out height
// width].
func (c convolution) byInput(dy, kernel *graph.Node) *graph.Node {
	h, w := dy.Shape[3], dy.Shape[4]
	full := []int{c.batch, c.groups, c.out, c.in, h, w, c.size[0], c.size[1]}
	g := graph.Reshape(dy, []int{c.batch, c.groups, c.out, 1, h, w, 1, 1})
	k := graph.Reshape(kernel, []int{1, c.groups, c.out, c.in, 1, 1, c.size[0], c.size[1]})
	sum := graph.Reduce(ir.Sum, graph.Binary(ir.Mul, graph.Expand(g, full), graph.Expand(k, full)), []int{2})
	x := graph.Reshape(sum, []int{c.batch, c.groups * c.in, h, w, c.size[0], c.size[1]})
	x = graph.Reduce(ir.Sum, graph.Unwindow(x, 3, 5, c.stride, c.dilation, c.width+2*c.pad), []int{5})
	x = graph.Reduce(ir.Sum, graph.Unwindow(x, 2, 4, c.stride, c.dilation, c.height+2*c.pad), []int{4})
	x = graph.Reshape(x, []int{c.batch, c.groups * c.in, c.height + 2*c.pad, c.width + 2*c.pad})
	return graph.Crop(x, []graph.Span{
		{Step: 1, Len: c.batch}, {Step: 1, Len: c.groups * c.in},
		{Start: c.pad, Step: 1, Len: c.height}, {Start: c.pad, Step: 1, Len: c.width},
	})
}

// byKernel is the gradient of apply by the kernel.
func (c convolution) byKernel(x, dy *graph.Node) *graph.Node {
	p := graph.Padding{Before: c.pad, After: c.pad}
	x = graph.Pad(x, 0, []graph.Padding{{}, {}, p, p})
	x = window(x, 2, c.size[0], c.stride, c.dilation)
	x = window(x, 3, c.size[1], c.stride, c.dilation)
	h, w := x.Shape[2], x.Shape[3]
	full := []int{c.batch, c.groups, c.out, c.in, h, w, c.size[0], c.size[1]}
	x = graph.Reshape(x, []int{c.batch, c.groups, 1, c.in, h, w, c.size[0], c.size[1]})
	g := graph.Reshape(dy, []int{c.batch, c.groups, c.out, 1, h, w, 1, 1})
	return graph.Reduce(ir.Sum, graph.Binary(ir.Mul, graph.Expand(x, full), graph.Expand(g, full)), []int{0, 4, 5})
}

// windows convolves, both ways, and pools.
func (s *suite) windows() {
	s.each(floatTypes, func(s *suite, d ir.DType) {
		for _, c := range []convolution{
			{1, 1, 1, 1, 4, 4, [2]int{3, 3}, 1, 0, 1},
			{2, 1, 3, 5, 7, 6, [2]int{3, 2}, 1, 1, 1},
			{2, 1, 3, 4, 8, 7, [2]int{3, 3}, 2, 1, 1},
			{1, 2, 2, 3, 7, 7, [2]int{3, 3}, 1, 2, 2},
			{2, 4, 1, 1, 6, 5, [2]int{2, 3}, 2, 1, 1},
			{1, 1, 2, 8, 5, 5, [2]int{1, 1}, 1, 0, 1},
			{1, 1, 2, 3, 9, 9, [2]int{2, 2}, 3, 0, 2},
		} {
			if d != ir.Float32 && c.batch*c.groups > 2 {
				continue
			}
			what := fmt.Sprintf("%+v", c)
			input := func() *graph.Node { return s.tensor(d, c.batch, c.groups*c.in, c.height, c.width) }
			kernel := func() *graph.Node { return s.tensor(d, c.groups*c.out, c.in, c.size[0], c.size[1]) }
			y := c.apply(input(), kernel())
			dims := slices.Clone(y.Shape)
			bias := graph.Expand(s.tensor(d, 1, c.groups, c.out, 1, 1), dims)
			s.check(what, graph.Binary(ir.Max, graph.Binary(ir.Add, y, bias), graph.Const(d, 0, dims)))
			s.check(what+" by its input", c.byInput(s.tensor(d, dims...), kernel()))
			s.check(what+" by its kernel", c.byKernel(input(), s.tensor(d, dims...)))
			pool := window(window(input(), 2, 2, c.stride, 1), 3, 2, c.stride, 1)
			s.check(what+" pooled", graph.Reduce(ir.ReduceMax, pool, []int{4, 5}))
			pool = window(window(input(), 2, 2, c.stride, 1), 3, 2, c.stride, 1)
			s.check(what+" added up", graph.Reduce(ir.Sum, pool, []int{4, 5}))
		}
	})
}
