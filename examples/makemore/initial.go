package main

import (
	"cmp"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

// starts are the beginnings that stage init compares.
var starts = []start{
	{name: "weights of 1", sure: true},
	{name: "gain 1", gain: 1},
	{name: "gain 5/3", gain: 5.0 / 3},
	{name: "gain 3", gain: 3},
	{name: "gain 3, batch norm", gain: 3, batchNorm: true},
	{name: "weights of 1, batch norm", batchNorm: true},
}

// The deep models of stage init, and the examples that they are shown.
const (
	studyLayers, studyWidth = 5, 100
	studyBatch              = 1000
)

// A probed model is one with zeros [n width] that are added to the activations of hidden
// layers. The gradient by the zeros is the gradient by the activations.
type probed struct {
	Model  deep
	Probes []tensor.Tensor
}

// A view has a deep model's activations and gradients for a batch.
type view struct {
	Loss        tensor.Tensor
	Activations []tensor.Tensor // of each hidden layer, [n width]
	Gradient    probed          // of the loss
}

func look(m deep, e examples, rng *tensor.RNG) view {
	p := probed{Model: m}
	for range m.Hidden {
		p.Probes = append(p.Probes, tensor.ZerosOf(tensor.Float32, e.X.Dim(0), studyWidth))
	}
	l, h, g := grad.ValueAndGradAux(func(p probed) (tensor.Tensor, []tensor.Tensor) {
		var activations []tensor.Tensor
		logits, _ := p.Model.forward(e.X, rng, func(layer int, h tensor.Tensor) tensor.Tensor {
			activations = append(activations, h.Add(p.Probes[layer]))
			return activations[layer]
		})
		sum, count := loss(logits, e.Y)
		return sum.Div(count), activations
	})(p)
	return view{l, h, g}
}

// weights returns the gradients of the hidden layers' weights.
func (v view) weights() (ts []tensor.Tensor) {
	for _, l := range v.Gradient.Model.Hidden {
		ts = append(ts, l.Linear.Weight)
	}
	return ts
}

// saturated returns where a tanh is so near to its ends that it passes no gradient.
func saturated(h tensor.Tensor) tensor.Tensor { return h.Abs().Gt(0.97) }

// initial is the stage that compares starts: activations should neither vanish nor
// saturate, and gradients should be alike in all layers.
func initial(s *session) error {
	n := batchNorm
	e := n.examples(s.data.train, s.data)
	size := min(studyBatch, e.X.Dim(0))
	batch := examples{e.X.Slice(0, 0, size), e.Y.Slice(0, 0, size)}
	views := make([]view, len(starts))
	for i, o := range starts {
		rng := s.rng()
		v := look(newDeep(rng, studyLayers, studyWidth, o), batch, rng)
		if err := tensor.Eval(v); err != nil {
			return err
		}
		views[i] = v
		fmt.Fprintf(s.w, "  %s: loss %.3f\n", o.name, v.Loss.Item())
		for k, h := range v.Activations {
			fmt.Fprintf(s.w, "    layer %d: activations %.3f, saturated %2.0f %%, gradient %.2e\n", k+1,
				h.Std().Item(), 100*saturated(h).Cast(tensor.Float32).Mean().Item(), v.Gradient.Probes[k].Std().Item())
		}
	}
	if err := s.drawViews(views); err != nil {
		return err
	}
	return s.updates(e)
}

// drawViews draws histograms for all starts.
func (s *session) drawViews(views []view) error {
	for _, c := range []struct {
		name, title string
		of          func(v view) []tensor.Tensor
	}{
		{"activations", "activations", func(v view) []tensor.Tensor { return v.Activations }},
		{"gradients", "gradients of activations", func(v view) []tensor.Tensor { return v.Gradient.Probes }},
		{"weights", "gradients of weights", view.weights},
	} {
		err := s.draw(c.name, func() *plot.Figure {
			var panels []*plot.Figure
			for i, v := range views {
				f := densities(c.of(v), c.name == "activations")
				f.Title = starts[i].name + ": " + c.title
				panels = append(panels, f)
			}
			return plot.Grid(2, panels...)
		})
		if err != nil {
			return err
		}
	}
	return s.draw("saturated", func() *plot.Figure {
		var panels []*plot.Figure
		for _, i := range []int{0, 2} {
			h := views[i].Activations[0]
			f := plot.Image(saturated(h.Slice(0, 0, min(32, h.Dim(0)))))
			f.Title = "saturated units (white, from the left) by example, " + starts[i].name
			panels = append(panels, f)
		}
		return plot.Grid(1, panels...)
	})
}

// densities draws a histogram of each tensor as a line, between the ends of a tanh, or
// within three standard deviations of the widest.
func densities(ts []tensor.Tensor, tanh bool) *plot.Figure {
	const bins = 40
	end := 1.0
	if !tanh {
		end = 0
		for _, t := range ts {
			end = max(end, 3*t.Std().Item())
		}
		end = cmp.Or(end, 1)
	}
	edges := tensor.Linspace(-end, end, bins+1).Cast(tensor.Float32)
	centres := edges.Slice(0, 0, -1).Add(end / bins)
	var series []plot.Series
	for i, t := range ts {
		share := t.Reshape(-1).Histogram(edges).Cast(tensor.Float32).Div(t.Len())
		series = append(series, plot.Series{Name: fmt.Sprintf("layer %d", i+1), X: centres, Y: share})
	}
	f := plot.Lines(series...)
	f.Width, f.Height = 480, 270
	return f
}

// updates trains two of the models and prints how large an update of a weight is, compared
// with the weight: about 1/1000 is right.
func (s *session) updates(e examples) error {
	steps := cmp.Or(s.steps, 200)
	var panels []*plot.Figure
	for _, o := range []start{starts[1], starts[4]} {
		rng := s.rng()
		m := newDeep(rng, studyLayers, studyWidth, o)
		ratios := make([][]float64, studyLayers)
		for range steps {
			at := rng.Ints(e.X.Dim(0), 32)
			v := look(m, examples{e.X.Take(0, at), e.Y.Take(0, at)}, rng)
			step := make([]tensor.Tensor, studyLayers)
			for k, g := range v.weights() {
				w := m.Hidden[k].Linear.Weight
				step[k] = g.Mul(descentRate).Std().Div(w.Std())
			}
			m = descend(m, v.Gradient.Model)
			if err := tensor.Eval(m, step); err != nil {
				return err
			}
			for k, r := range step {
				ratios[k] = append(ratios[k], math.Log10(r.Item()))
			}
		}
		fmt.Fprintf(s.w, "  %s: after %d steps the logarithm of an update, divided by the weight, is", o.name, steps)
		var series []plot.Series
		for k, r := range ratios {
			fmt.Fprintf(s.w, " %.3f", r[steps-1])
			series = append(series, plot.Series{Name: fmt.Sprintf("layer %d", k+1), Y: tensor.New(r)})
		}
		fmt.Fprintln(s.w)
		f := plot.Lines(series...)
		f.Title, f.X.Label, f.Y.Label = o.name, "step", "log10(update / weight)"
		f.Y.Min, f.Y.Max, f.Width, f.Height = -5, 0, 480, 300
		panels = append(panels, f)
	}
	return s.draw("updates", func() *plot.Figure { return plot.Grid(2, panels...) })
}
