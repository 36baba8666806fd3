package drivertest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

type part struct {
	name string
	test func(*suite)
}

// parts are the parts of Test, the longest first, so that little is left to do at the end.
var parts = []part{
	{"Elementwise", (*suite).elementwise},
	{"Factors", (*suite).factors},
	{"Epilogues", (*suite).epilogues},
	{"Chains", (*suite).chains},
	{"ScatterAdd", func(s *suite) { s.scatters(ir.Add) }},
	{"ScatterMax", func(s *suite) { s.scatters(ir.Max) }},
	{"ScatterMin", func(s *suite) { s.scatters(ir.Min) }},
	{"ScatterMul", func(s *suite) { s.scatters(ir.Mul) }},
	{"ScatterSet", func(s *suite) { s.scatters(ir.Copy) }},
	{"Scan", (*suite).scans},
	{"Sort", (*suite).sorts},
	{"Special", (*suite).special},
	{"Unreal", (*suite).unreal},
	{"Reductions", (*suite).reductions},
	{"Gathers", (*suite).gathers},
	{"Casts", (*suite).casts},
	{"Windows", (*suite).windows},
	{"Formats", (*suite).formats},
	{"LongReductions", (*suite).longReductions},
	{"LargeProducts", (*suite).largeProducts},
	{"Products", (*suite).products},
	{"Loops", (*suite).loops},
	{"Attention", (*suite).attentionKernels},
	{"InPlace", (*suite).inPlace},
	{"Layouts", (*suite).layouts},
	{"Outputs", (*suite).outputs},
	{"Goroutines", (*suite).goroutines},
	{"Concurrent", (*suite).concurrent},
	{"Wrapping", (*suite).wrapping},
	{"Viewing", (*suite).viewing},
	{"HostAllocation", (*suite).hostAllocation},
	{"Sharing", (*suite).sharing},
	{"Peers", (*suite).peers},
	{"Collectives", (*suite).collectives},
	{"Snapshots", (*suite).snapshots},
	{"Holding", (*suite).holding},
	{"Raw", (*suite).raw},
	{"Profiling", (*suite).profiling},
	{"Fixed", (*suite).fixed},
	{"BadIndices", (*suite).badIndices},
	{"Status", (*suite).status},
	{"SameBits", (*suite).sameBits},
	{"Calls", (*suite).calls},
	{"Parts", (*suite).parts},
	{"Random", (*suite).randomBits},
	{"Memory", (*suite).outOfMemory},
	{"Buffers", (*suite).buffers},
	{"Types", (*suite).missingTypes},
	{"Close", (*suite).closing},
}

// names are the parts' names, each after a space.
func names() (s string) {
	for _, p := range parts {
		s += " " + p.name
	}
	return s
}

// Test fails for everything that a device does wrong. Its parts run at the
// same time, each on a device that it opens for itself. If some are named, the
// others are left out.
func Test(t *testing.T, open func() (driver.Device, error), only ...string) {
	compile.Verify()
	for _, name := range only {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			t.Fatalf("Test has no part %q: it has%s", name, names())
		}
	}
	for _, part := range parts {
		if len(only) > 0 && !slices.Contains(only, part.name) {
			continue
		}
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			drv, err := open()
			if err != nil {
				t.Fatal(err)
			}
			part.test(newSuite(t, drv, open))
		})
	}
}

// A suite is one part of Test on a device of its own.
type suite struct {
	*testing.T
	*generator
	drv   driver.Device
	dev   *exec.Device
	open  func() (driver.Device, error)
	signs bool // the sign of an exact zero counts
}

func newSuite(t *testing.T, drv driver.Device, open func() (driver.Device, error)) *suite {
	dev := exec.New(drv)
	t.Cleanup(func() { dev.Close() })
	return &suite{
		T:         t,
		generator: newGenerator(rand.New(rand.NewPCG(1, 2)), drv.Limits().Types),
		drv:       drv,
		dev:       dev,
		open:      open,
	}
}

// each runs a test for every type of a set, with a suite of the subtest. It skips types
// that the device lacks. With -short it runs float32 and a third of the others, which depends on the part.
func (s *suite) each(types []ir.DType, test func(s *suite, d ir.DType)) {
	for _, d := range types {
		s.Run(d.String(), func(t *testing.T) {
			if testing.Short() && d != ir.Float32 && (int(d)+len(s.Name()))%3 != 0 {
				t.Skip("-short")
			}
			if !s.drv.Limits().Has(d) {
				t.Skipf("%s has no %v", s.drv.Name(), d)
			}
			test(s.under(t), d)
		})
	}
}

// spared reports whether a type is spared the i-th of several like cases: float32 has them
// all, the others every second one; with -short half of these. Devices may take long to compile, and compose a
// kernel from parts for its type, layout and operation.
func spared(d ir.DType, i int) bool {
	step := 2
	if d == ir.Float32 {
		step = 1
	}
	if testing.Short() {
		step *= 2
	}
	return i%step != 0
}

// few returns types, with -short the first of them alone.
func few(types ...ir.DType) []ir.DType {
	if testing.Short() {
		return types[:1]
	}
	return types
}

// part runs a test as a subtest.
func (s *suite) part(name string, test func(s *suite)) {
	s.Run(name, func(t *testing.T) { test(s.under(t)) })
}

// eachIn runs each as a subtest.
func (s *suite) eachIn(name string, types []ir.DType, test func(s *suite, d ir.DType)) {
	s.part(name, func(s *suite) { s.each(types, test) })
}

// under is s for a subtest.
func (s *suite) under(t *testing.T) *suite {
	g := *s.generator
	g.known = results{}
	return &suite{t, &g, s.drv, s.dev, s.open, s.signs}
}

// typesOf lists the types that an op takes.
func typesOf(op ir.Op) []ir.DType {
	var list []ir.DType
	for _, d := range ir.DTypes {
		if ir.Table[op].Types.Has(d) {
			list = append(list, d)
		}
	}
	return list
}

// floatTypes are the floating-point types.
var floatTypes = typesOf(ir.Exp)

// check computes roots and compares them with their definition. It skips graphs that need a
// type that the device lacks.
func (s *suite) check(what string, roots ...*graph.Node) {
	s.Helper()
	for _, n := range graph.Sorted(roots) {
		if !s.drv.Limits().Has(n.DType) {
			return
		}
	}
	p := &program{known: s.known, turns: [][]*graph.Node{roots}, signs: s.signs}
	if err := p.check(s.drv, s.dev); err != nil {
		s.Errorf("%s: %v\n%v", what, err, p)
	}
}

// tensor is a stored tensor in row-major order.
func (s *suite) tensor(d ir.DType, dims ...int) *graph.Node {
	return s.known.stored(d, dims, s.numbers(d, graph.Len(dims)))
}

// of is a stored tensor of those numbers.
func (s *suite) of(d ir.DType, x ...ir.Number) *graph.Node {
	return s.known.stored(d, []int{len(x)}, x)
}

// A layout makes a tensor of a shape whose elements lie, or are made, in some
// way.
type layout struct {
	name string
	rank int // at least
	make func(s *suite, d ir.DType, dims []int) *graph.Node
}

// last is the shape with its last axis of length n.
func last(dims []int, n int) []int { return shape.With(dims, len(dims)-1, n) }

// perAxis returns a value for every axis.
func perAxis[T any](dims []int, f func(n int) T) []T {
	out := make([]T, len(dims))
	for i, n := range dims {
		out[i] = f(n)
	}
	return out
}

var layouts = []layout{
	{"contiguous", 0, func(s *suite, d ir.DType, dims []int) *graph.Node { return s.tensor(d, dims...) }},
	{"view", 0, func(s *suite, d ir.DType, dims []int) *graph.Node { return s.leaf(d, dims) }},
	{"permuted", 2, func(s *suite, d ir.DType, dims []int) *graph.Node {
		order := shape.All(len(dims))
		slices.Reverse(order)
		from := slices.Clone(dims)
		slices.Reverse(from)
		return graph.Permute(s.tensor(d, from...), order)
	}},
	{"expanded", 1, func(s *suite, d ir.DType, dims []int) *graph.Node {
		return graph.Expand(s.tensor(d, last(dims, 1)...), dims)
	}},
	{"expanded outside", 2, func(s *suite, d ir.DType, dims []int) *graph.Node {
		return graph.Expand(s.tensor(d, shape.With(dims, 0, 1)...), dims)
	}},
	{"flipped", 1, func(s *suite, d ir.DType, dims []int) *graph.Node {
		return graph.Flip(s.tensor(d, dims...), shape.All(len(dims)))
	}},
	{"cropped", 1, func(s *suite, d ir.DType, dims []int) *graph.Node {
		x := s.tensor(d, perAxis(dims, func(n int) int { return 2*n + 1 })...)
		return graph.Crop(x, perAxis(dims, func(n int) graph.Span { return graph.Span{Start: 1, Step: 2, Len: n} }))
	}},
	{"cropped of flipped", 1, func(s *suite, d ir.DType, dims []int) *graph.Node {
		x := s.tensor(d, perAxis(dims, func(n int) int { return 3*n + 2 })...)
		x = graph.Flip(x, []int{len(dims) - 1})
		return graph.Crop(x, perAxis(dims, func(n int) graph.Span { return graph.Span{Start: 1, Step: 3, Len: n} }))
	}},
	{"padded", 1, func(s *suite, d ir.DType, dims []int) *graph.Node {
		x := s.tensor(d, perAxis(dims, func(n int) int { return max(n-3, 0) })...)
		return graph.Pad(x, s.number(d), perAxis(dims, func(n int) graph.Padding {
			return graph.Padding{Before: min(n, 1), After: min(n, 3) - min(n, 1)}
		}))
	}},
	{"interior padded", 1, func(s *suite, d ir.DType, dims []int) *graph.Node {
		x := s.tensor(d, perAxis(dims, func(n int) int { return (n + 1) / 2 })...)
		return graph.Pad(x, s.number(d), perAxis(dims, func(n int) graph.Padding {
			return graph.Padding{After: min(n, 1-n&1), Interior: 1}
		}))
	}},
	{"windows", 2, func(s *suite, d ir.DType, dims []int) *graph.Node {
		i, k := len(dims)-2, len(dims)-1
		x := s.tensor(d, shape.With(dims, i, 2*max(dims[i]-1, 0)+max(dims[k]-1, 0)+1)...)
		return graph.Window(x, i, k, 2, 1, dims[i])
	}},
	{"summed windows", 2, func(s *suite, d ir.DType, dims []int) *graph.Node {
		i, k := len(dims)-2, len(dims)-1
		x := s.tensor(d, shape.With(dims, i, (dims[i]+1)/2)...)
		return graph.Unwindow(x, i, k, 2, 1, dims[i])
	}},
	{"reshaped", 2, func(s *suite, d ir.DType, dims []int) *graph.Node {
		order := shape.All(len(dims))
		slices.Reverse(order)
		return graph.Reshape(graph.Permute(s.tensor(d, dims...), order), dims)
	}},
	{"gathered", 1, func(s *suite, d ir.DType, dims []int) *graph.Node {
		x := s.tensor(d, last(dims, 5)...)
		one := perAxis(dims, func(int) int { return 1 })
		idx := s.below(ir.Int32, 5, last(one, dims[len(dims)-1]))
		return graph.Gather(x, graph.Expand(idx, dims), len(dims)-1)
	}},
	{"computed", 0, func(s *suite, d ir.DType, dims []int) *graph.Node {
		return graph.Where(s.tensor(ir.Bool, dims...), s.tensor(d, dims...), s.tensor(d, dims...))
	}},
	{"joined", 1, func(s *suite, d ir.DType, dims []int) *graph.Node {
		n := dims[len(dims)-1]
		return graph.Cat(len(dims)-1, []*graph.Node{s.tensor(d, last(dims, n/2)...), s.tensor(d, last(dims, n-n/2)...)})
	}},
	{"constant", 0, func(s *suite, d ir.DType, dims []int) *graph.Node { return graph.Const(d, s.number(d), dims) }},
	{"number", 0, func(s *suite, d ir.DType, dims []int) *graph.Node { return graph.Scalar(d, s.number(d), dims) }},
}

// below is a stored index of numbers less than n.
func (s *suite) below(d ir.DType, n int, dims []int) *graph.Node {
	elems := make([]ir.Number, graph.Len(dims))
	for i := range elems {
		elems[i] = ir.Number(s.IntN(n))
	}
	return s.known.stored(d, dims, elems)
}

// shapes are the shapes of most tests: an ordinary one, odd ones, and some without elements
// or axes.
var shapes = [][]int{{3, 4, 5}, {1, 7}, {2, 0, 3}, {0}, {}}

// layouts stores every layout of every type as it is.
func (s *suite) layouts() {
	s.each(ir.DTypes, func(s *suite, d ir.DType) {
		for _, dims := range append(shapes, []int{13, 300}, []int{5, 1, 2, 1, 3, 2}) {
			for _, l := range layouts {
				if len(dims) >= l.rank {
					s.check(l.name, l.make(s, d, dims))
				}
			}
		}
	})
}
