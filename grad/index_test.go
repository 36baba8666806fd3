package grad_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/tensor"
)

// Specs of tests: tensors of indices and masks with their elements at hand.
type (
	at struct {
		shape []int
		i     []int32
	}
	on struct {
		shape []int
		b     []bool
	}
)

// is returns indices with one axis; grid with any.
func is(i ...int32) at                    { return at{[]int{len(i)}, i} }
func grid(shape []int, i ...int32) at     { return at{shape, i} }
func mask(b ...bool) on                   { return on{[]int{len(b)}, b} }
func area(rows, columns int, b string) on { return on{[]int{rows, columns}, trues(b)} }

// trues returns a bool for each letter, true for an x.
func trues(s string) []bool {
	b := make([]bool, len(s))
	for i := range s {
		b[i] = s[i] == 'x'
	}
	return b
}

// argument returns a spec as the library has it.
func argument(spec any) any {
	switch s := spec.(type) {
	case at:
		return tensor.New(s.i).Reshape(s.shape...)
	case on:
		return tensor.New(s.b).Reshape(s.shape...)
	}
	return spec
}

// A mode is one of the three ways to index.
type mode struct {
	name  string
	index func(x tensor.Tensor, specs ...any) tensor.Tensor
	// joined reports whether a tensor is broadcast with others.
	joined func(spec any) bool
	front  bool // joined axes come first in any case
}

var (
	isIndex   = func(spec any) bool { _, ok := spec.(at); return ok }
	isMask    = func(spec any) bool { _, ok := spec.(on); return ok }
	plainMode = mode{"Index", tensor.Tensor.Index, func(s any) bool { return isIndex(s) || isMask(s) }, false}
	outerMode = mode{"OIndex", tensor.Tensor.OIndex, func(any) bool { return false }, false}
	frontMode = mode{"VIndex", tensor.Tensor.VIndex, isIndex, true}
)

// A loop is an axis of the result, or several, over which plain loops go.
type loop struct {
	shape []int
	add   func(pos []int, x []int) // adds to the position in x
}

// selected is indexing by plain loops: the result's shape, and the row-major position in
// x, of a shape, of each of its elements. Specs have no Ellipsis.
func (m mode) selected(s []int, specs []any) (result, from []int) {
	var loops []loop
	var joint []loop
	var common []int
	first, last, tensors, kept, axis := -1, -1, 0, 0, 0
	base := make([]int, len(s))
	for _, spec := range specs {
		if v, ok := spec.(at); ok && len(v.shape) == 0 {
			spec = int(v.i[0])
		}
		a, rank := axis, 1
		l := loop{}
		switch v := spec.(type) {
		case int:
			base[a] = (v + s[a]) % s[a]
			axis++
			continue
		case tensor.Mark:
			l = loop{[]int{1}, func([]int, []int) {}}
			if v == tensor.NewAxis {
				rank = 0
			} else {
				l = loop{[]int{s[a]}, func(pos, x []int) { x[a] += pos[0] }}
			}
		case tensor.Range:
			start, n, _ := shape.Steps(v.Start, v.Stop, v.Step, s[a])
			l = loop{[]int{n}, func(pos, x []int) { x[a] += start + pos[0]*v.Step }}
		case at:
			l = loop{v.shape, func(pos, x []int) { x[a] += (int(v.i[shape.Rank(v.shape, pos)]) + s[a]) % s[a] }}
		case on:
			rank = len(v.shape)
			var places [][]int
			for i, pos := range shape.Positions(v.shape) {
				if v.b[i] {
					places = append(places, slices.Clone(pos))
				}
			}
			l = loop{[]int{len(places)}, func(pos, x []int) {
				for k, p := range places[pos[0]] {
					x[a+k] += p
				}
			}}
		}
		axis += rank
		kept++
		if !m.joined(spec) {
			loops = append(loops, l)
			continue
		}
		if first < 0 {
			first = kept
			loops = append(loops, loop{}) // the joint one
		}
		last = kept
		tensors++
		joint = append(joint, l)
		common, _ = shape.Broadcast(common, l.shape)
	}
	for ; axis < len(s); axis++ {
		a := axis
		loops = append(loops, loop{[]int{s[a]}, func(pos, x []int) { x[a] += pos[0] }})
	}
	if first >= 0 {
		i := slices.IndexFunc(loops, func(l loop) bool { return l.add == nil })
		loops = slices.Delete(loops, i, i+1)
		if m.front || last-first >= tensors {
			i = 0
		}
		loops = slices.Insert(loops, i, loop{common, func(pos, x []int) {
			for _, l := range joint {
				own := slices.Clone(pos[len(pos)-len(l.shape):])
				for k := range own {
					own[k] = min(own[k], l.shape[k]-1)
				}
				l.add(own, x)
			}
		}})
	}
	for _, l := range loops {
		result = append(result, l.shape...)
	}
	for _, pos := range shape.Positions(result) {
		x, rest := slices.Clone(base), pos
		for _, l := range loops {
			l.add(rest[:len(l.shape)], x)
			rest = rest[len(l.shape):]
		}
		from = append(from, shape.Rank(s, x))
	}
	return result, from
}

// expanded returns specs with the missing All in place of an Ellipsis.
func expanded(rank int, specs []any) []any {
	used := 0
	for _, spec := range specs {
		switch v := spec.(type) {
		case tensor.Mark:
			if v == tensor.All {
				used++
			}
		case on:
			used += len(v.shape)
		default:
			used++
		}
	}
	i := slices.Index(specs, any(tensor.Ellipsis))
	if i < 0 {
		return specs
	}
	return slices.Concat(specs[:i], slices.Repeat([]any{tensor.All}, rank-used), specs[i+1:])
}

// numbers returns small whole numbers, so that sums are exact.
func numbers(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.IntN(17) - 8)
	}
	return x
}

// indexDevice returns the device that TENSORKEN_DEVICE names, the CPU if none.
func indexDevice(t *testing.T) *tensor.Device {
	name := os.Getenv("TENSORKEN_DEVICE")
	if name == "" || name == "cpu" {
		return tensor.CPU()
	}
	d, _, err := device.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// An indexCase is a call of one mode, and the shape that it is known to give.
type indexCase struct {
	mode  mode
	shape []int
	specs []any
	want  []int // nil: the results of plain loops
}

// check compares values and gradients of Index and, by Index's rules, Set and AddAt with
// plain loops.
func (c indexCase) check(t *testing.T, d *tensor.Device, rng *rand.Rand) {
	t.Helper()
	call := fmt.Sprint(c.mode.name, " of ", c.shape, " by ", c.specs)
	specs := expanded(len(c.shape), c.specs)
	want, from := c.mode.selected(c.shape, specs)
	if c.want != nil && !slices.Equal(want, c.want) {
		t.Fatalf("%s: plain loops give %v, want %v", call, want, c.want)
	}
	args := make([]any, len(c.specs))
	for i, spec := range c.specs {
		args[i] = argument(spec)
	}
	old := numbers(rng, graph.Len(c.shape))
	x := tensor.New(old, c.shape...).To(d)
	equal := func(what string, got tensor.Tensor, shape []int, want []float32) {
		t.Helper()
		if !slices.Equal(got.Shape(), shape) {
			t.Errorf("%s: %s has shape %v, want %v", call, what, got.Shape(), shape)
			return
		}
		if g, err := tensor.Data[float32](got); err != nil || !slices.Equal(g, want) {
			t.Errorf("%s: %s = %v, %v, want %v", call, what, g, err, want)
		}
	}

	picked := make([]float32, len(from))
	for i, p := range from {
		picked[i] = old[p]
	}
	y := c.mode.index(x, args...)
	equal("result", y, want, picked)
	w := numbers(rng, len(from))
	weights := tensor.New(w).Reshape(y.Shape()...)
	gx := make([]float32, len(old))
	for i, p := range from {
		gx[p] += w[i]
	}
	equal("gradient", grad.Of(func(x tensor.Tensor) tensor.Tensor {
		return c.mode.index(x, args...).Mul(weights).Sum()
	})(x), c.shape, gx)
	if c.mode.name != "Index" {
		return
	}

	type pair struct{ X, V tensor.Tensor }
	v := numbers(rng, len(from))
	w = numbers(rng, len(old))
	weights = tensor.New(w, c.shape...)
	set, sum, writer := slices.Clone(old), slices.Clone(old), slices.Repeat([]int{-1}, len(old))
	for i, p := range from {
		set[p], sum[p], writer[p] = v[i], sum[p]+v[i], i
	}
	gx, taken, all := slices.Clone(w), make([]float32, len(v)), make([]float32, len(v))
	for i, p := range from {
		gx[p], all[i] = 0, w[p]
		if writer[p] == i {
			taken[i] = w[p]
		}
	}
	p := pair{x, tensor.New(v).Reshape(want...).To(d)}
	for _, a := range []struct {
		name   string
		f      func(x tensor.Tensor, v tensor.Operand, specs ...any) tensor.Tensor
		want   []float32
		gx, gv []float32
	}{{"Set", tensor.Tensor.Set, set, gx, taken}, {"AddAt", tensor.Tensor.AddAt, sum, w, all}} {
		equal(a.name, a.f(p.X, p.V, args...), c.shape, a.want)
		g := grad.Of(func(p pair) tensor.Tensor { return a.f(p.X, p.V, args...).Mul(weights).Sum() })(p)
		equal(a.name+", gradient by the tensor", g.X, c.shape, a.gx)
		equal(a.name+", gradient by the value", g.V, want, a.gv)
	}
	for _, p := range from {
		set[p] = 3
	}
	equal("Set of a number", x.Set(3, args...), c.shape, set)
}

// indexRules are the rules of NEP 21 and of Tensorken, with the shapes that they name.
func indexRules() []indexCase {
	all, fresh, dots := any(tensor.All), any(tensor.NewAxis), any(tensor.Ellipsis)
	span := func(start, stop int, step ...int) any { return tensor.Span(start, stop, step...) }
	nep := []int{5, 6, 7, 8}
	b := on{[]int{7, 8}, make([]bool, 56)}
	b.b[11] = true
	i1, i2 := is(1), is(2)
	mask55 := area(5, 5, "x.x.x.x.x.x.x.x.x.x.x.x.x")
	x := func(m mode, shape, want []int, specs ...any) indexCase { return indexCase{m, shape, specs, want} }
	cube := []int{4, 3, 2}
	return []indexCase{
		// Basic specs.
		x(plainMode, []int{2, 3}, []int{3}, 0, all),
		x(plainMode, []int{2, 3}, []int{2}, all, 0),
		x(plainMode, []int{2, 3}, []int{1, 3}, span(0, 1), all),
		x(plainMode, []int{2, 3}, []int{2, 1}, all, span(-1, 1, -1)),
		x(plainMode, []int{6}, []int{3}, span(5, 2, -1)),
		x(plainMode, []int{6}, []int{6}, span(-1, tensor.End, -1)),
		x(plainMode, []int{7}, []int{3}, span(5, tensor.End, -2)),
		x(plainMode, []int{7}, []int{3}, span(1, 6, 2)),
		x(plainMode, []int{6}, []int{0}, span(3, 3)),
		x(plainMode, []int{3}, []int{}, -1),
		x(plainMode, []int{3, 2, 4}, []int{1, 2, 4}, 1, fresh),
		x(plainMode, []int{3, 2, 4}, []int{1, 4}, 1, fresh, 1, span(0, 4)),
		x(plainMode, []int{3, 2, 4}, []int{1, 3, 2, 4, 1, 1}, fresh, dots, fresh, fresh),
		x(plainMode, []int{3, 2, 4}, []int{2}, 0, dots, 1),
		x(plainMode, []int{3, 2}, []int{2, 1}, 0, dots, fresh),
		x(plainMode, []int{3, 2}, []int{3, 1}, dots, fresh, 0),
		x(plainMode, []int{3, 2}, []int{1, 3}, fresh, dots, 0),
		// NEP 21's table.
		x(outerMode, nep, []int{5, 1, 2, 8}, dots, i1, grid([]int{2}, 2, 3), all),
		x(outerMode, nep, []int{5, 1, 7, 1}, dots, i1, all, i2),
		x(outerMode, nep, []int{5, 1, 8}, dots, i1, 0, all),
		x(outerMode, nep, []int{5, 1}, dots, 0, b),
		x(outerMode, nep, []int{6, 1}, 0, dots, b),
		x(outerMode, nep, []int{1, 6, 1}, i1, dots, b),
		x(outerMode, nep, []int{5, 1, 1}, dots, i2, b),
		x(frontMode, nep, []int{2, 5, 8}, dots, i1, is(2, 3), all),
		x(frontMode, nep, []int{2, 5, 7}, dots, i1, all, is(2, 3)),
		x(frontMode, nep, []int{1, 5, 8}, dots, i1, 0, all),
		x(frontMode, nep, []int{1, 5, 1}, dots, i2, b),
		x(plainMode, nep, []int{5, 2, 8}, dots, i1, is(2, 3), all),
		x(plainMode, nep, []int{2, 5, 7}, dots, i1, all, is(2, 3)),
		x(plainMode, nep, []int{5, 1, 8}, dots, i1, 0, all),
		x(plainMode, nep, []int{1, 6}, i1, dots, b),
		x(plainMode, nep, []int{5, 1}, dots, i2, b),
		// Outer and vectorized indexing.
		x(outerMode, cube, []int{2, 1, 2}, is(0, 2), is(1), is(1, 0)),
		x(outerMode, cube, []int{2, 2, 3, 2}, grid([]int{2, 2}, 0, 3, 1, 1)),
		x(outerMode, cube, []int{4, 3, 2, 2}, all, all, grid([]int{2, 2}, 0, 1, 1, 0)),
		x(outerMode, cube, []int{2, 2, 2, 2, 2}, grid([]int{2, 2}, 0, 3, 1, 1), is(0, -1), grid([]int{2, 2}, 0, 1, 1, 0)),
		x(outerMode, []int{3, 3}, []int{2, 2}, is(0, 2), is(0, 2)),
		x(frontMode, []int{3, 3}, []int{2}, is(0, 2), is(0, 2)),
		x(frontMode, cube, []int{2, 3}, is(0, 2), all, is(0, 1)),
		x(frontMode, []int{4, 2, 3}, []int{2, 4, 3}, all, is(1, 0)),
		x(outerMode, []int{4, 2, 3}, []int{4, 2, 3}, all, is(1, 0)),
		x(frontMode, []int{4, 2, 3}, []int{2, 2}, grid([]int{2, 2}, 2, 0, 1, 3), grid([]int{1, 2}, 1, 0), grid([]int{2, 1}, 2, 1)),
		// Rows longer than a line of a cache.
		x(plainMode, []int{5, 40}, []int{3, 40}, is(4, 0, -1)),
		x(plainMode, []int{2, 5, 40}, []int{2, 19, 40}, all, is(4, 0, -1, 1, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, -5)),
		x(outerMode, []int{3, 5, 20}, []int{2, 3, 20}, is(2, 0), is(1, 4, 1)),
		// Masks.
		x(outerMode, []int{4, 2, 3}, []int{2, 3}, area(4, 2, "x......x")),
		x(frontMode, []int{4, 2, 3}, []int{2, 3}, area(4, 2, "x......x")),
		x(outerMode, []int{4, 2, 3}, []int{4, 2}, all, area(2, 3, ".x..x.")),
		x(outerMode, []int{2, 2, 2, 3}, []int{2, 2}, area(2, 2, "x..x"), area(2, 3, ".x..x.")),
		x(frontMode, cube, []int{2, 1, 1}, mask(false, true, false, false), is(2, 1), span(1, tensor.End)),
		x(outerMode, []int{2, 2}, []int{2}, mask(true, true), 0),
		x(outerMode, []int{5, 5, 2}, []int{13, 2}, mask55),
		x(outerMode, []int{5, 5, 2}, []int{13}, mask55, 0),
		x(plainMode, []int{3, 2}, []int{0, 2}, mask(false, false, false)),
		x(outerMode, []int{3, 2}, []int{0, 1}, mask(false, false, false), is(1)),
		x(outerMode, []int{2, 3, 4}, []int{2, 2}, area(2, 3, "x....x"), is(1, -1)),         // an index after a mask of two axes
		x(outerMode, []int{4, 2, 3}, []int{4, 2}, dots, area(2, 3, ".x..x.")),              // Ellipsis before one
		x(plainMode, []int{2, 3, 4}, []int{2}, area(2, 3, "x....x"), is(1, -1)),            // as NumPy
		x(plainMode, []int{3}, []int{1, 3}, on{nil, []bool{true}}),                         // of rank 0
		x(plainMode, []int{3}, []int{0, 3}, on{nil, []bool{false}}),                        // of rank 0
		x(plainMode, []int{4, 3, 5}, []int{2, 2, 2}, span(3, 0, -2), is(2, 2), span(1, 3)), // twice the same
		x(plainMode, []int{4, 3, 5}, []int{2, 1, 4}, is(0, 1), fresh, is(0, 1), span(4, 0, -1)),
		x(plainMode, []int{4, 3}, []int{0, 3}, grid([]int{0})),
	}
}

func TestIndexRules(t *testing.T) {
	d, rng := indexDevice(t), rand.New(rand.NewPCG(1, 2))
	for _, c := range indexRules() {
		c.check(t, d, rng)
	}
}

// randomSpecs returns specs for some of the axes of a shape.
func randomSpecs(rng *rand.Rand, s []int) []any {
	var specs []any
	joint := 1 + rng.IntN(3) // indices have this length or 1, so that they broadcast
	dots := rng.IntN(2 * len(s))
	for a := 0; a < len(s); a++ {
		if a == dots {
			specs = append(specs, tensor.Ellipsis)
			a += rng.IntN(len(s) - a)
			continue
		}
		if rng.IntN(5) == 0 {
			specs = append(specs, tensor.NewAxis)
		}
		n := s[a]
		switch rng.IntN(6) {
		case 0:
			specs = append(specs, rng.IntN(2*n)-n)
		case 1:
			start := rng.IntN(n)
			if rng.IntN(2) == 0 {
				specs = append(specs, tensor.Span(start, tensor.End, -1-rng.IntN(2)))
			} else {
				specs = append(specs, tensor.Span(start, start+rng.IntN(n-start+1), 1+rng.IntN(3)))
			}
		case 2, 3:
			shape := [][]int{{}, {1}, {joint}, {2, joint}, {2, 1}}[rng.IntN(5)]
			i := make([]int32, graph.Len(shape))
			for k := range i {
				i[k] = int32(rng.IntN(2*n) - n)
			}
			specs = append(specs, at{shape, i})
		case 4:
			m := on{s[a : a+1], make([]bool, n)}
			if a+1 < len(s) && a+1 != dots && rng.IntN(2) == 0 {
				m = on{s[a : a+2], make([]bool, n*s[a+1])}
				a++
			}
			for range joint { // about as many true as indices
				m.b[rng.IntN(len(m.b))] = true
			}
			specs = append(specs, m)
		default:
			specs = append(specs, tensor.All)
		}
	}
	return specs
}

// joins reports whether all tensors that m joins broadcast.
func (m mode) joins(specs []any) bool {
	var common []int
	ok := true
	for _, spec := range specs {
		if !m.joined(spec) {
			continue
		}
		var s []int
		switch v := spec.(type) {
		case at:
			s = v.shape
		case on:
			n := 0
			for _, b := range v.b {
				if b {
					n++
				}
			}
			s = []int{n}
		}
		if common, ok = shape.Broadcast(common, s); !ok {
			return false
		}
	}
	return true
}

// TestRandomIndex compares indexing by random specs with plain loops.
func TestRandomIndex(t *testing.T) {
	d, rng, n := indexDevice(t), rand.New(rand.NewPCG(3, 4)), 250
	if testing.Short() {
		n = 60
	}
	if d != tensor.CPU() { // each compiles its own shaders
		n = 12
	}
	for range n {
		s := make([]int, 1+rng.IntN(4))
		for a := range s {
			s[a] = 1 + rng.IntN(4)
		}
		specs := randomSpecs(rng, s)
		for _, m := range []mode{plainMode, outerMode, frontMode} {
			if m.joins(specs) {
				indexCase{m, s, specs, nil}.check(t, d, rng)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// TestIndexDerivatives compares derivatives of assignments with finite differences.
func TestIndexDerivatives(t *testing.T) {
	type pair struct{ X, V tensor.Tensor }
	twice, m := i32(0, 2, 0), tensor.New([]bool{true, false, false, true, true, false, true, false, false}, 3, 3)
	for name, f := range map[string]func(p pair) tensor.Tensor{
		"Index":  func(p pair) tensor.Tensor { return p.X.Square().Index(twice, tensor.All, twice).Mul(p.V) },
		"OIndex": func(p pair) tensor.Tensor { return p.X.Square().OIndex(twice, m).Slice(1, 0, 3).Mul(p.V) },
		"Set":    func(p pair) tensor.Tensor { return p.X.Set(p.V.Square(), twice, tensor.All, twice).Exp() },
		"Set of a mask": func(p pair) tensor.Tensor {
			return p.X.Set(p.V.Slice(0, 0, 1).Slice(1, 0, 2).Square(), m, tensor.Span(1, 3)).Exp()
		},
		"AddAt": func(p pair) tensor.Tensor { return p.X.AddAt(p.V.Square(), twice, twice).Exp() },
		"AddAt of a part": func(p pair) tensor.Tensor {
			return p.X.AddAt(p.V.Square(), tensor.Span(-1, tensor.End, -1), 1, tensor.All).Exp()
		},
		"MaskedSelect": func(p pair) tensor.Tensor { return p.X.MaskedSelect(m).Mul(p.V.Reshape(9).Index(3).Exp()) },
		"MaskedFill":   func(p pair) tensor.Tensor { return p.X.MaskedFill(m, p.V.Slice(0, 0, 1).Square()).Exp() },
		"GatherND": func(p pair) tensor.Tensor {
			return p.X.GatherND(i32(0, 1, 2, 2, 0, 1).Reshape(3, 2)).Mul(p.V).Exp()
		},
		"ScatterND": func(p pair) tensor.Tensor { return p.X.ScatterND(i32(0, 1, 0).Reshape(3, 1), p.V.Square()).Exp() },
	} {
		t.Run(name, func(t *testing.T) {
			x := make([]float64, 36)
			for i := range x {
				x[i] = float64(i%7)/5 - 0.5
			}
			at := pair{tensor.New(x[:27], 3, 3, 3), tensor.New(x[27:], 3, 3)}
			gradtest.Check(t, f, at, 3)
		})
	}
}

// TestVmapIndex indexes the examples of a batch, with tensors, indices and values that
// they share or have each of their own.
func TestVmapIndex(t *testing.T) {
	checkVmap(t, "Index by two tensors", []operand{floats(3, 2, 4), signed(3, 5), signed(4, 5)}, func(x []tensor.Tensor) tensor.Tensor {
		return x[0].Index(x[1], tensor.All, x[2])
	})
	checkVmap(t, "OIndex", []operand{floats(3, 2, 4), signed(3, 2), signed(4, 5)}, func(x []tensor.Tensor) tensor.Tensor {
		return x[0].OIndex(x[1], 1, x[2])
	})
	checkVmap(t, "Set", []operand{floats(3, 2, 4), signed(3, 5), floats(5, 2)}, func(x []tensor.Tensor) tensor.Tensor {
		return x[0].Set(x[2], x[1], tensor.All, 2)
	})
	checkVmap(t, "AddAt", []operand{floats(3, 2, 4), signed(3, 5), floats(5, 2)}, func(x []tensor.Tensor) tensor.Tensor {
		return x[0].AddAt(x[2], x[1], tensor.All, 2)
	})
	checkVmap(t, "Set by a mask", []operand{floats(3, 2), bools(3, 2), floats(1)}, func(x []tensor.Tensor) tensor.Tensor {
		return x[0].Set(x[2], x[1])
	})
}
