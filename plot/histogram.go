package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tensorken/tensorken/tensor"
)

// histogram is the content of a histogram.
type histogram struct {
	t             tensor.Tensor
	bins          int
	edges, counts []float64
}

// maxBins is the greatest number of intervals.
const maxBins = 1 << 16

// Histogram draws how many elements of t are in each of a number of intervals of equal
// length, from the least to the greatest finite element, or from X.Min to X.Max. bins 0 is
// the square root of the number of elements, 50 at most. Integers and bools get no more
// intervals than there are numbers. The elements are counted on t's device.
func Histogram(t tensor.Tensor, bins int) *Figure {
	check("Histogram", t)
	if bins < 0 || bins > maxBins {
		misuse("Histogram", fmt.Sprintf("%d bins: want at most %d, or 0 for a number that fits", bins, maxBins), t)
	}
	if bins == 0 {
		bins = int(min(math.Ceil(math.Sqrt(float64(t.Len()))), 50))
	}
	f := &Figure{content: &histogram{t: t, bins: bins}}
	f.Y.Label = "elements"
	return f
}

func (h *histogram) load(f *Figure) error {
	x := floats(h.t).Reshape(-1)
	low, high := f.X.Min, f.X.Max
	if !f.X.isSet() {
		finite := x.IsFinite()
		lowest, highest := tensor.Where(finite, x, math.Inf(1)).Min(), tensor.Where(finite, x, math.Inf(-1)).Max()
		if err := tensor.Eval(x, lowest, highest); err != nil {
			return err
		}
		low, high = lowest.Item(), highest.Item()
	}
	bins := h.bins
	switch isFloat := h.t.DType().IsFloat(); {
	case low > high: // no number is finite
		low, high, bins = 0, 1, 1
	case !isFloat && high-low < float64(bins):
		low, high, bins = low-0.5, high+0.5, int(high-low)+1
	case low == high:
		room := max(math.Abs(low)/1000, 0.5)
		low, high = low-room, high+room
	}
	h.edges = make([]float64, bins+1)
	for i := range h.edges {
		share := float64(i) / float64(bins)
		h.edges[i] = low*(1-share) + high*share
	}
	counts := x.Histogram(tensor.New(h.edges).Cast(x.DType()))
	var err error
	h.counts, err = numbers("Histogram", counts)
	return err
}

func (*histogram) kind() kinds                      { return histograms }
func (*histogram) check(*Figure) error              { return nil }
func (*histogram) size(*Figure) (width, height int) { return 640, 420 }

// upTo returns the axis of counts, which begins at 0 unless it has ends of its own.
func (a Axis) upTo(most float64) Axis {
	if !a.isSet() {
		a.Min, a.Max = 0, max(most, 1)
	}
	return a
}

func (h *histogram) draw(f *Figure, c draw.Canvas) {
	_, most := finiteRange(h.counts)
	x := Axis{Label: f.X.Label, Min: h.edges[0], Max: h.edges[len(h.edges)-1]}
	y := f.Y.upTo(most * 1.05)
	p := newPlot(x, y)
	p.Add(bars{h, x, y})
	p.Draw(draw.Crop(c, gapRoom*pixel, -gapRoom*pixel, gapRoom*pixel, -gapRoom*pixel))
}

// bars is a plotter of the counts.
type bars struct {
	*histogram
	x, y Axis
}

// Plot implements [plot.Plotter].
func (b bars) Plot(c draw.Canvas, _ *plot.Plot) {
	for i, count := range b.counts {
		left, right := c.X(b.x.at(b.edges[i])), c.X(b.x.at(b.edges[i+1]))
		if right-left > 3*pixel {
			right -= pixel // a gap between bars
		}
		low, high := c.Y(b.y.at(0)), c.Y(b.y.at(count))
		c.FillPolygon(Color(0), c.ClipPolygonXY([]vg.Point{{X: left, Y: low}, {X: left, Y: high}, {X: right, Y: high}, {X: right, Y: low}}))
	}
}
