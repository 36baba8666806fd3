package drivertest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/cases"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// indexTypes are the types that an index may have.
var indexTypes = []ir.DType{ir.Int32, ir.Uint32, ir.Int64}

// indexType is one of those that the device has.
func (s *suite) indexType(i int) ir.DType {
	var list []ir.DType
	for _, d := range indexTypes {
		if s.drv.Limits().Has(d) {
			list = append(list, d)
		}
	}
	return list[i%len(list)]
}

// thin is the shape with all axes but one of length 1.
func thin(dims []int, axis int) []int {
	out := perAxis(dims, func(int) int { return 1 })
	out[axis] = dims[axis]
	return out
}

// gathers picks elements of every type along every axis, by indices that vary
// over all axes or one.
func (s *suite) gathers() {
	s.each(ir.DTypes, func(s *suite, d ir.DType) {
		for i, dims := range [][]int{{6}, {3, 5, 4}, {2, 7}, {300, 5}} {
			for axis := range dims {
				to := shape.With(dims, axis, 9)
				t := s.indexType(i + axis)
				for _, l := range layouts {
					if len(dims) < l.rank {
						continue
					}
					what := fmt.Sprint(l.name, dims, axis)
					idx := s.below(t, dims[axis], to)
					s.check(what, graph.Gather(l.make(s, d, dims), idx, axis))
					idx = graph.Expand(s.below(t, dims[axis], thin(to, axis)), to)
					s.check(what+" rows", graph.Gather(l.make(s, d, dims), idx, axis))
				}
				idx := s.below(t, dims[axis], to)
				x := graph.Gather(s.tensor(d, dims...), idx, axis)
				pad := perAxis(to, func(int) graph.Padding { return graph.Padding{Before: 1, After: 2} })
				s.check(fmt.Sprint("padded ", dims, axis), graph.Pad(x, s.number(d), pad))
				idx = graph.Pad(s.below(t, dims[axis], to), 0, pad)
				big := perAxis(dims, func(n int) int { return n + 3 })
				s.check(fmt.Sprint("by padded ", dims, axis), graph.Gather(s.tensor(d, shape.With(big, axis, dims[axis])...), idx, axis))
			}
		}
		x := s.tensor(d, 4, 5)
		s.check("nothing", graph.Gather(x, s.below(ir.Int32, 4, []int{0, 5}), 0))
		flipped := graph.Flip(graph.Crop(s.tensor(d, 9, 5), []graph.Span{{Start: 1, Step: 2, Len: 4}, {Step: 1, Len: 5}}), []int{0})
		s.check("backwards", graph.Gather(flipped, s.below(ir.Int32, 4, []int{7, 5}), 0))
	})
}

// scatters combines elements of every type in a way, many at the same place.
func (s *suite) scatters(kind ir.Op) {
	s.each(typesOf(kind), func(s *suite, d ir.DType) {
		for i, dims := range [][]int{{6}, {3, 5, 4}, {2, 7}, {40, 5}} {
			for axis := range dims {
				from := shape.With(dims, axis, 9)
				t := s.indexType(i + axis)
				for k, l := range layouts {
					if len(dims) < l.rank || i != 1 && k%3 != axis {
						continue
					}
					what := fmt.Sprint(l.name, dims, axis)
					if (k+axis)%2 == 0 { // the next axis has the other
						zero := graph.Const(d, 0, dims)
						s.check(what+" updates", graph.Scatter(kind, zero, s.below(t, dims[axis], from), l.make(s, d, from), axis))
						continue
					}
					idx := graph.Expand(s.below(t, dims[axis], thin(from, axis)), from)
					s.check(what+" base", graph.Scatter(kind, l.make(s, d, dims), idx, s.tensor(d, from...), axis))
				}
			}
		}
		s.check("one place", graph.Scatter(kind, s.tensor(d, 1), s.below(ir.Int32, 1, []int{5}), s.tensor(d, 5), 0))
		s.check("one update a row", graph.Scatter(kind, graph.Const(d, 0, []int{5, 7}), s.below(ir.Int32, 7, []int{5, 1}), s.tensor(d, 5, 1), 1))
		s.check("no update", graph.Scatter(kind, s.tensor(d, 5, 7), s.below(ir.Int32, 7, []int{5, 0}), s.tensor(d, 5, 0), 1))
		n := 3000
		ones := graph.Const(d, ir.Int(d, 1), []int{n})
		s.check("many ones", graph.Scatter(kind, s.tensor(d, 17), s.below(ir.Int32, 17, []int{n}), ones, 0))
		if d.IsFloat() {
			x := cases.Values(d)
			s.check("special values", graph.Scatter(kind, s.tensor(d, 3), s.below(ir.Int32, 3, []int{len(x)}), s.of(d, x...), 0))
		}
		if (kind == ir.Add || kind == ir.Copy) && slices.Contains([]ir.DType{ir.Uint8, ir.Int64, ir.Float16, ir.Float32}, d) { // others take long
			s.manyUpdates(kind, d)
		}
	})
}

// manyUpdates scatters more updates to more rows than there are threads to keep.
func (s *suite) manyUpdates(kind ir.Op, d ir.DType) {
	const n, width = 600, 130
	t := s.indexType(2) // int64, if there are such
	for _, rows := range []int{3, 400} {
		base := s.tensor(d, rows, width)
		for _, most := range []int{rows, 2} { // few and many at one place
			idx := graph.Expand(s.below(t, most, []int{n, 1}), []int{n, width})
			s.check(fmt.Sprint(rows, " rows, ", most, " of them"), graph.Scatter(kind, base, idx, s.tensor(d, n, width), 0))
		}
	}
	elems := make([]ir.Number, n)
	elems[n/2] = ir.Int(t, -7)
	idx := graph.Expand(s.known.stored(t, []int{n, 1}, elems), []int{n, width})
	s.bad("many updates", -7, graph.Scatter(kind, s.tensor(d, 5, width), idx, s.tensor(d, n, width), 0))
}

// badIndices looks for the error that names an index out of range.
func (s *suite) badIndices() {
	s.each(indexTypes, func(s *suite, d ir.DType) {
		for _, bad := range []int64{5, 6, -1, 1 << 20, -1 << 31, 1 << 32, -1 << 63} {
			index := ir.Int(d, bad)
			want := index.Int64(d)
			if want == 0 {
				continue // 32 bits lack it
			}
			idx := s.of(d, 0, 4, index, 1, index+1)
			x := s.tensor(ir.Float32, 5)
			s.bad(fmt.Sprint("Gather at ", bad), want, graph.Gather(x, idx, 0))
			s.bad(fmt.Sprint("sum of a Gather at ", bad), want, graph.Reduce(ir.Sum, graph.Gather(x, idx, 0), []int{0}))
			s.bad(fmt.Sprint("Scatter at ", bad), want, graph.Scatter(ir.Add, x, idx, s.tensor(ir.Float32, 5), 0))
		}
		// Elements that a guard hides are not read.
		x, idx := s.tensor(ir.Float32, 5), s.below(d, 5, []int{4})
		y := graph.Pad(graph.Gather(x, idx, 0), ir.Float(ir.Float32, 7), []graph.Padding{{Before: 3, After: 3, Interior: 1}})
		s.check("padded", y)
	})
}

func (s *suite) bad(what string, index int64, n *graph.Node) {
	s.Helper()
	err := exec.Eval(s.dev, []*graph.Node{n})
	if err == nil && s.drv.Limits().Async { // it is not done yet
		_, err = exec.Read(s.dev, n)
	}
	var e *storage.IndexError
	if !errors.As(err, &e) {
		s.Errorf("%s: error %v, want an index error", what, err)
	} else if e.Index != index || e.Len != 5 {
		s.Errorf("%s: index %d of length %d, want %d of length 5", what, e.Index, e.Len, index)
	}
	if _, again := exec.Read(s.dev, n); !errors.As(again, &e) {
		s.Errorf("%s: reading it gives error %v, want an index error", what, again)
	}
}
