package tensor_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/property"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/tensor"
)

// sampled returns the value at a point of a line, whose elements beyond the ends are those
// at the ends.
func sampled(line []float64, at float64, mode tensor.Interpolation) float64 {
	get := func(i float64) float64 { return line[int(min(max(i, 0), float64(len(line)-1)))] }
	base := math.Floor(at)
	sum := 0.0
	for i := base - 1; i <= base+2; i++ {
		d, w := math.Abs(at-i), 0.0
		switch {
		case mode == tensor.Linear:
			w = max(1-d, 0)
		case d < 1:
			w = (1.25*d-2.25)*d*d + 1
		case d < 2:
			w = ((-0.75*d+3.75)*d-6)*d + 3
		}
		sum += w * get(i)
	}
	return sum
}

func TestResizeByDefinition(t *testing.T) {
	property.Check(t, func(r *property.T) {
		n, m := property.IntRange(1, 9).Draw(r, "from"), property.IntRange(1, 12).Draw(r, "to")
		mode := property.SampledFrom([]tensor.Interpolation{tensor.Nearest, tensor.Linear, tensor.Cubic, tensor.Area}).Draw(r, "mode")
		corners := (mode == tensor.Linear || mode == tensor.Cubic) && property.Bool().Draw(r, "corners")
		line := make([]float64, n)
		for i := range line {
			line[i] = float64(i * i % 7)
		}
		want := make([]float64, m)
		greatest := make([]float64, m)
		for i := range want {
			at := (float64(i)+0.5)*float64(n)/float64(m) - 0.5
			if corners {
				at = float64(i) * float64(n-1) / float64(max(m-1, 1))
			}
			lo, hi := i*n/m, ((i+1)*n+m-1)/m
			greatest[i] = slices.Max(line[lo:hi])
			switch mode {
			case tensor.Nearest:
				want[i] = line[lo]
			case tensor.Area:
				for _, v := range line[lo:hi] {
					want[i] += v / float64(hi-lo)
				}
			default:
				want[i] = sampled(line, at, mode)
			}
		}
		x := floats(line...).Reshape(1, 1, n, 1).Expand(2, 1, n, 3)
		o := &tensor.ResizeOptions{Mode: mode, AlignCorners: corners}
		got := x.Resize([]int{m, 3}, o)
		if !slices.EqualFunc(values(t, got.Index(1, 0, all, 2)), want, near) {
			r.Fatalf("Resize of %v to %d by %+v: %v, want %v", line, m, o, got.Index(1, 0, all, 2), want)
		}
		if got := values(t, x.AdaptiveMaxPool(m, 2).Index(1, 0, all, 0)); !slices.Equal(got, greatest) {
			r.Fatalf("AdaptiveMaxPool of %v to %d: %v, want %v", line, m, got, greatest)
		}
	})
	typed := floats(1, 2).Cast(tensor.Int32).Reshape(1, 1, 2).ResizeNearest(3)
	run(t, []check{
		{"ResizeNearest of int32", typed, tensor.Int32, []int{1, 1, 3}, []float64{1, 1, 2}},
		of("ResizeBicubic", floats(1, 2).Reshape(1, 1, 2).ResizeBicubic(2), []int{1, 1, 2}, 1, 2),
		of("AdaptiveAvgPool", iota(1, 2, 4).AdaptiveAvgPool(1), []int{1, 2, 1}, 1.5, 5.5),
	})
	for _, o := range []tensor.ResizeOptions{{Mode: tensor.Linear}, {Mode: tensor.Cubic, AlignCorners: true}, {Mode: tensor.Area}} {
		f := func(x tensor.Tensor) tensor.Tensor { return x.Square().Resize([]int{5, 2}, &o) }
		x := iota(1, 2, 3, 3).Sub(4).Cast(tensor.Float64)
		gradtest.Check(t, f, x, 2)
		batch := grad.Vmap(f)(tensor.Stack(0, x, x.Add(1)))
		if ok, err := tensor.AllClose(batch, tensor.Stack(0, f(x), f(x.Add(1))), 1e-12, 1e-12); !ok || err != nil {
			t.Errorf("%+v: Vmap differs (%v)", o, err)
		}
	}
}

// Points of long axes are exact, and computed without integers of 64 bits, which a device may lack.
func TestResizeOfLongAxes(t *testing.T) {
	for _, c := range []struct{ n, m int }{{441_000, 16_000}, {441_000, 60_001}, {60_001, 441_000}, {5_000_000, 1_600_000}, {3, 3_000_000}, {2_646_000, 7}} {
		if testing.Short() && c.m > 1_000_000 {
			continue
		}
		x := tensor.Arange(c.n).Cast(tensor.Float64).Reshape(1, 1, c.n)
		near, linear := x.ResizeNearest(c.m), x.ResizeBilinear(c.m)
		for _, n := range graph.Sorted([]*graph.Node{tensor.Internal.Node(graph.Token{}, near), tensor.Internal.Node(graph.Token{}, linear)}) {
			if n.DType == tensor.Int64 {
				t.Errorf("from %d to %d: %v is int64", c.n, c.m, n.Op)
			}
		}
		whole, points := values(t, near), values(t, linear)
		for i := range whole {
			point := float64((2*i+1)*c.n-c.m) / float64(2*c.m)
			point = min(max(point, 0), float64(c.n-1))
			if whole[i] != float64(i*c.n/c.m) || math.Abs(points[i]-point) > 1e-15*float64(c.n) {
				t.Fatalf("from %d to %d: point %d is at %v and %v, want %d and %v", c.n, c.m, i, whole[i], points[i], i*c.n/c.m, point)
			}
		}
	}
}

// gridWeights returns the weights of an axis of n elements at a coordinate.
func gridWeights(n int, c float64, o tensor.GridOptions) []float64 {
	lo, hi := -0.5, float64(n)-0.5
	if o.AlignCorners {
		lo, hi = 0, float64(n-1)
	}
	at := lo + (c+1)/2*(hi-lo)
	if o.Padding == tensor.Reflect {
		for hi > lo && (at < lo || at > hi) {
			if at < lo {
				at = 2*lo - at
			} else {
				at = 2*hi - at
			}
		}
	}
	if o.Padding != 0 {
		at = min(max(at, 0), float64(n-1))
	}
	w := make([]float64, n)
	for i := range w {
		switch d := math.Abs(at - float64(i)); {
		case o.Mode != tensor.Nearest:
			w[i] = max(1-d, 0)
		case math.RoundToEven(at) == float64(i):
			w[i] = 1
		}
	}
	return w
}

// GridSample, over any number of axes, is a sum of elements times the weights of all axes.
func TestGridSample(t *testing.T) {
	property.Check(t, func(r *property.T) {
		o := tensor.GridOptions{
			Mode:         property.SampledFrom([]tensor.Interpolation{0, tensor.Nearest, tensor.Linear}).Draw(r, "mode"),
			Padding:      property.SampledFrom([]tensor.PadMode{0, tensor.Replicate, tensor.Reflect}).Draw(r, "padding"),
			AlignCorners: property.Bool().Draw(r, "corners"),
		}
		spatial := property.SliceOfN(property.IntRange(1, 4), 1, 3).Draw(r, "lengths")
		const points, batch, channels = 3, 2, 2
		s := slices.Concat([]int{batch, channels}, spatial)
		x := make([]float64, product(s))
		for i := range x {
			x[i] = float64(i*i%7 + 1)
		}
		var grid, want []float64
		weights := make([][][]float64, batch*points) // of each axis
		for i := range weights {
			for a := range spatial {
				c := float64(property.IntRange(-160, 160).Draw(r, "coordinate"))/64 + 1.0/256
				grid = append(grid, c)
				weights[i] = append(weights[i], gridWeights(spatial[len(spatial)-1-a], c, o))
			}
			slices.Reverse(weights[i]) // coordinates have the last axis first
		}
		each := product(spatial)
		for b := range batch {
			for c := range channels {
				for p := range points {
					sum := 0.0
					for i, pos := range shape.Positions(spatial) {
						v := x[(b*channels+c)*each+i]
						for a, k := range pos {
							v *= weights[b*points+p][a][k]
						}
						sum += v
					}
					want = append(want, sum)
				}
			}
		}
		got := floats(x...).Reshape(s...).GridSample(floats(grid...).Reshape(batch, points, len(spatial)), &o)
		if g := values(t, got); !slices.EqualFunc(g, want, near) || !slices.Equal(got.Shape(), []int{batch, channels, points}) {
			r.Fatalf("%v of %v at %v by %+v: %v of %v, want %v", x, s, grid, o, g, got.Shape(), want)
		}
	})
	volume := iota(1, 2, 2, 2, 2)
	center := tensor.Zeros(1, 1, 3)
	run(t, []check{of("three axes", volume.GridSample(center, nil), []int{1, 2, 1}, 3.5, 11.5)})
	gradtest.Check(t, func(in [2]tensor.Tensor) tensor.Tensor { return in[0].GridSample(in[1], nil).Square() },
		[2]tensor.Tensor{iota(1, 2, 3, 4).Cast(tensor.Float64), tensor.New([]float64{0.1, -0.3, 0.7, 0.45}, 1, 2, 2)}, 2)
}
