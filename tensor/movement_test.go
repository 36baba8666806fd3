package tensor_test

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/property"
	"github.com/tensorken/tensorken/tensor"
)

func TestMovement(t *testing.T) {
	a := iota(2, 3)
	v := iota(6)
	parts := v.Split(0, 1, 0, 5)
	run(t, []check{
		of("Reshape", a.Reshape(3, 2), []int{3, 2}, 0, 1, 2, 3, 4, 5),
		of("Reshape -1", a.Reshape(-1), []int{6}, 0, 1, 2, 3, 4, 5),
		of("Reshape to a scalar", floats(7).Reshape(), []int{}, 7),
		of("Reshape of nothing", tensor.Zeros(0, 3).Reshape(-1, 3), []int{0, 3}),
		of("Reshape of a view", a.T().Reshape(-1), []int{6}, 0, 3, 1, 4, 2, 5),
		of("Flatten(1)", iota(2, 1, 2).Flatten(1), []int{2, 2}, 0, 1, 2, 3),
		of("Flatten(-1)", a.Flatten(-1), []int{2, 3}, 0, 1, 2, 3, 4, 5),
		of("Flatten of a scalar", tensor.Scalar(1).Flatten(0), []int{1}, 1),
		of("Expand", floats(1, 2).Reshape(2, 1).Expand(2, 2, 2), []int{2, 2, 2}, 1, 1, 2, 2, 1, 1, 2, 2),
		of("Tile", floats(1, 2).Tile(2, 2), []int{2, 4}, 1, 2, 1, 2, 1, 2, 1, 2),
		of("Tile by less", a.Tile(2), []int{2, 6}, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5),
		of("Tile by 0", a.Tile(0, 1), []int{0, 3}),
		same("Repeat", floats(1, 2).Repeat(0, 2), 1, 1, 2, 2),
		of("Permute", a.Permute(1, 0), []int{3, 2}, 0, 3, 1, 4, 2, 5),
		of("Permute, negative", a.Permute(-1, -2), []int{3, 2}, 0, 3, 1, 4, 2, 5),
		of("Transpose", iota(1, 2, 3).Transpose(0, -1), []int{3, 2, 1}, 0, 3, 1, 4, 2, 5),
		of("T", a.T(), []int{3, 2}, 0, 3, 1, 4, 2, 5),
		of("Flip(1)", a.Flip(1), []int{2, 3}, 2, 1, 0, 5, 4, 3),
		of("Flip", a.Flip(), []int{2, 3}, 5, 4, 3, 2, 1, 0),
		of("Squeeze", iota(1, 2, 1).Squeeze(), []int{2}, 0, 1),
		of("Squeeze(-1)", iota(1, 2, 1).Squeeze(-1), []int{1, 2}, 0, 1),
		of("Unsqueeze(0, -1)", floats(1, 2).Unsqueeze(0, -1), []int{1, 2, 1}, 1, 2),
		of("Pad", a.Pad(1, 0, 2), []int{2, 5}, 0, 1, 2, 0, 0, 3, 4, 5, 0, 0),
		of("Slice", a.Slice(1, 0, -1), []int{2, 2}, 0, 1, 3, 4),
		same("Slice to the end", v.Slice(0, 4, end), 4, 5),
		same("Slice by 2", v.Slice(0, 1, end, 2), 1, 3, 5),
		same("Slice backwards", v.Slice(0, -1, end, -1), 5, 4, 3, 2, 1, 0),
		same("Slice backwards by 2", v.Slice(0, 5, 0, -2), 5, 3, 1),
		same("Slice backwards, one", v.Slice(0, 5, 2, -9), 5),
		of("Slice of nothing", v.Slice(0, 3, 3), []int{0}),
		of("Slice past the last", v.Slice(0, 6, 6), []int{0}),
		of("Slice of an empty axis backwards", tensor.Zeros(0).Slice(0, -1, end, -1), []int{0}),
		same("Slice of a flip", v.Flip(0).Slice(0, 1, 3), 4, 3),
		same("Split, first", parts[0], 0),
		of("Split, second", parts[1], []int{0}),
		same("Split, third", parts[2], 1, 2, 3, 4, 5),
		of("Cat(0)", tensor.Cat(0, a, a.Slice(0, 0, 1)), []int{3, 3}, 0, 1, 2, 3, 4, 5, 0, 1, 2),
		of("Cat(-1)", tensor.Cat(-1, a, tensor.Ones(2, 1)), []int{2, 4}, 0, 1, 2, 1, 3, 4, 5, 1),
		of("Stack(0)", tensor.Stack(0, floats(1, 2), floats(3, 4)), []int{2, 2}, 1, 2, 3, 4),
		of("Stack(-1)", tensor.Stack(-1, floats(1, 2), floats(3, 4)), []int{2, 2}, 1, 3, 2, 4),
		same("Roll", v.Roll(0, 2), 4, 5, 0, 1, 2, 3),
		same("Roll back", v.Roll(0, -7), 1, 2, 3, 4, 5, 0),
		of("Tril", iota(3, 3).Tril(0), []int{3, 3}, 0, 0, 0, 3, 4, 0, 6, 7, 8),
		of("Tril(1)", a.Tril(1), []int{2, 3}, 0, 1, 0, 3, 4, 5),
		of("Triu(-1)", iota(3, 2).Triu(-1), []int{3, 2}, 0, 1, 2, 3, 0, 5),
		of("Triu far out", a.Triu(9), []int{2, 3}, 0, 0, 0, 0, 0, 0),
		of("Tril drops NaN", floats(1, nan, 1, 1).Reshape(2, 2).Tril(0), []int{2, 2}, 1, 0, 1, 1),
		of("Diag of a vector", floats(1, 2).Diag(0), []int{2, 2}, 1, 0, 0, 2),
		of("Diag(1) of a vector", floats(1, 2).Diag(1), []int{3, 3}, 0, 1, 0, 0, 0, 2, 0, 0, 0),
		of("Diag(-1) of a vector", floats(1, 2).Diag(-1), []int{3, 3}, 0, 0, 0, 1, 0, 0, 0, 2, 0),
		of("Diag of nothing", tensor.Zeros(0).Diag(0), []int{0, 0}),
		same("Diag of a matrix", a.Diag(0), 0, 4),
		same("Diag(1) of a matrix", a.Diag(1), 1, 5),
		same("Diag(-1) of a matrix", a.Diag(-1), 3),
		of("Diag(3) of a matrix", a.Diag(3), []int{0}),
		of("Diag of matrices", iota(2, 2, 2).Diag(0), []int{2, 2}, 0, 3, 4, 7),
		of("At(1)", a.At(1), []int{3}, 3, 4, 5),
		of("At(-1, 0)", a.At(-1, 0), []int{}, 3),
		of("Unfold", v.Unfold(0, 3, 2), []int{2, 3}, 0, 1, 2, 2, 3, 4),
		of("Unfold(0) of a matrix", iota(3, 2).Unfold(0, 2, 1), []int{2, 2, 2}, 0, 2, 1, 3, 2, 4, 3, 5),
	})
	for i, row := range a.Rows() {
		if got, want := values(t, row), []float64{3 * float64(i), 3*float64(i) + 1, 3*float64(i) + 2}; !slices.Equal(got, want) {
			t.Errorf("Rows: row %d is %v, want %v", i, got, want)
		}
	}
}

func TestIndex(t *testing.T) {
	a, b := iota(2, 3), iota(3, 2, 4)
	run(t, []check{
		same("row", a.Index(1), 3, 4, 5),
		same("column", a.Index(all, -1), 2, 5),
		of("element", a.Index(1, 2), []int{}, 5),
		of("nothing", a.Index(), []int{2, 3}, 0, 1, 2, 3, 4, 5),
		of("span", a.Index(span(0, 1)), []int{1, 3}, 0, 1, 2),
		of("every other", a.Index(all, span(0, end, 2)), []int{2, 2}, 0, 2, 3, 5),
		of("reversed", a.Index(span(-1, end, -1), span(-1, end, -1)), []int{2, 3}, 5, 4, 3, 2, 1, 0),
		of("Range literal", a.Index(tensor.Range{Stop: 1}), []int{1, 3}, 0, 1, 2),
		of("NewAxis", a.Index(1, tensor.NewAxis, span(1, 3)), []int{1, 2}, 4, 5),
		same("Ellipsis", b.Index(0, tensor.Ellipsis, 1), 1, 5),
		same("only Ellipsis is missing", b.Index(0, 1, tensor.Ellipsis, span(0, 2)), 4, 5),
		of("NewAxis, Ellipsis, 0", a.Index(tensor.NewAxis, tensor.Ellipsis, 0), []int{1, 2}, 0, 3),
		of("many", b.Index(tensor.NewAxis, 1, tensor.Ellipsis, tensor.NewAxis, span(3, 1, -1)), []int{1, 2, 1, 2}, 11, 10, 15, 14),
		of("indices", a.Index(all, ints(2, -3)), []int{2, 2}, 2, 0, 5, 3),
		of("indices among others", b.Index(1, ints(1, 0, 1).Reshape(3, 1), span(0, 1)), []int{3, 1, 1}, 12, 8, 12),
		of("indices after NewAxis", a.Index(tensor.NewAxis, ints(1)), []int{1, 1, 3}, 3, 4, 5),
		of("scalar index", a.Index(ints(1).At(0)), []int{3}, 3, 4, 5),
	})
}

// A dense is a tensor as a function of positions, by which movement operations are
// defined.
type dense struct {
	shape []int
	at    func(i []int) float64
}

func (d dense) values() []float64 {
	var out []float64
	var walk func(i []int)
	walk = func(i []int) {
		if len(i) == len(d.shape) {
			out = append(out, d.at(i))
			return
		}
		for p := range d.shape[len(i)] {
			walk(append(slices.Clone(i), p))
		}
	}
	walk([]int{})
	return out
}

// moves are steps of the property test: each draws arguments and applies an operation to
// a tensor and to its dense.
var moves = []func(r *property.T, x tensor.Tensor, d dense) (tensor.Tensor, dense){
	permute, flip, slice, pad, expand, reshape, at, roll, cat,
}

func axis(r *property.T, d dense) int { return property.IntRange(0, len(d.shape)-1).Draw(r, "axis") }

// along returns d with position p of an axis replaced by f(p).
func along(d dense, a, length int, f func(p int) int) dense {
	shape := slices.Clone(d.shape)
	shape[a] = length
	return dense{shape, func(i []int) float64 {
		j := slices.Clone(i)
		j[a] = f(i[a])
		return d.at(j)
	}}
}

func permute(r *property.T, x tensor.Tensor, d dense) (tensor.Tensor, dense) {
	order := make([]int, len(d.shape))
	for i := range order {
		order[i] = i
	}
	order = property.Permutation(order).Draw(r, "order")
	shape := make([]int, len(order))
	for i, a := range order {
		shape[i] = d.shape[a]
	}
	return x.Permute(order...), dense{shape, func(i []int) float64 {
		j := make([]int, len(i))
		for k, a := range order {
			j[a] = i[k]
		}
		return d.at(j)
	}}
}

func flip(r *property.T, x tensor.Tensor, d dense) (tensor.Tensor, dense) {
	a := axis(r, d)
	n := d.shape[a]
	return x.Flip(a), along(d, a, n, func(p int) int { return n - 1 - p })
}

func slice(r *property.T, x tensor.Tensor, d dense) (tensor.Tensor, dense) {
	a := axis(r, d)
	n := d.shape[a]
	start := property.IntRange(0, n).Draw(r, "start")
	stop := property.IntRange(start, n).Draw(r, "stop")
	step := property.IntRange(1, 3).Draw(r, "step")
	count := (stop - start + step - 1) / step
	if count == 0 || property.Bool().Draw(r, "forwards") {
		return x.Slice(a, start, stop, step), along(d, a, count, func(p int) int { return start + p*step })
	}
	first := stop - 1
	stop = start - 1
	if stop < 0 {
		stop = end
	}
	return x.Slice(a, first-n, stop, -step), along(d, a, count, func(p int) int { return first - p*step })
}

func pad(r *property.T, x tensor.Tensor, d dense) (tensor.Tensor, dense) {
	a := axis(r, d)
	before, after := property.IntRange(0, 2).Draw(r, "before"), property.IntRange(0, 2).Draw(r, "after")
	shape := slices.Clone(d.shape)
	n := shape[a]
	shape[a] += before + after
	return x.Pad(a, before, after), dense{shape, func(i []int) float64 {
		j := slices.Clone(i)
		if j[a] -= before; j[a] < 0 || j[a] >= n {
			return 0
		}
		return d.at(j)
	}}
}

func expand(r *property.T, x tensor.Tensor, d dense) (tensor.Tensor, dense) {
	a := property.IntRange(0, len(d.shape)).Draw(r, "axis")
	n := property.IntRange(0, 2).Draw(r, "times")
	shape := slices.Insert(slices.Clone(d.shape), a, n)
	return x.Unsqueeze(a).Expand(shape...), dense{shape, func(i []int) float64 {
		return d.at(slices.Delete(slices.Clone(i), a, a+1))
	}}
}

func reshape(r *property.T, x tensor.Tensor, d dense) (tensor.Tensor, dense) {
	n := 1
	for _, m := range d.shape {
		n *= m
	}
	var shape []int
	for rest := n; rest > 1 && len(shape) < 4; {
		f := property.SampledFrom([]int{1, 2, 3, rest}).Draw(r, "length")
		if rest%f == 0 {
			shape, rest = append(shape, f), rest/f
		}
		if len(shape) == 4 {
			shape[3] *= rest
		}
	}
	if n < 2 {
		shape = []int{n, 1}
	}
	total := 1
	for _, m := range shape {
		total *= m
	}
	if total != n {
		shape = []int{n}
	}
	flat := d.values()
	return x.Reshape(shape...), dense{shape, func(i []int) float64 {
		p := 0
		for k, j := range i {
			p = p*shape[k] + j
		}
		return flat[p]
	}}
}

func at(r *property.T, x tensor.Tensor, d dense) (tensor.Tensor, dense) {
	if d.shape[0] == 0 || len(d.shape) < 2 {
		return x, d
	}
	p := property.IntRange(0, d.shape[0]-1).Draw(r, "position")
	return x.At(p), dense{d.shape[1:], func(i []int) float64 { return d.at(append([]int{p}, i...)) }}
}

func roll(r *property.T, x tensor.Tensor, d dense) (tensor.Tensor, dense) {
	a := axis(r, d)
	n, by := d.shape[a], property.IntRange(-5, 5).Draw(r, "by")
	return x.Roll(a, by), along(d, a, n, func(p int) int { return ((p-by)%n + n) % n })
}

func cat(r *property.T, x tensor.Tensor, d dense) (tensor.Tensor, dense) {
	a := axis(r, d)
	n := d.shape[a]
	y := along(d, a, 2*n, func(p int) int { return p % n })
	return tensor.Cat(a, x, x), y
}

func TestMovementByDefinition(t *testing.T) {
	property.Check(t, func(r *property.T) {
		shape := property.SliceOfN(property.IntRange(0, 4), 1, 3).Draw(r, "shape")
		x := iota(shape...).Add(1)
		strides := make([]int, len(shape))
		for i, s := len(shape)-1, 1; i >= 0; i-- {
			strides[i] = s
			s *= shape[i]
		}
		d := dense{shape, func(i []int) float64 {
			p := 1
			for k, j := range i {
				p += j * strides[k]
			}
			return float64(p)
		}}
		for range property.IntRange(1, 6).Draw(r, "moves") {
			if len(d.shape) > 5 || x.Len() > 500 {
				break
			}
			x, d = property.SampledFrom(moves).Draw(r, "move")(r, x, d)
			if got := x.Shape(); !slices.Equal(got, d.shape) {
				r.Fatalf("shape %v, want %v", got, d.shape)
			}
		}
		got, err := tensor.Data[float32](x)
		if err != nil {
			r.Fatal(err)
		}
		want := d.values()
		if len(got) != len(want) {
			r.Fatalf("%d elements, want %d", len(got), len(want))
		}
		for i := range got {
			if float64(got[i]) != want[i] {
				r.Fatalf("got %v, want %v", got, want)
			}
		}
	})
}
