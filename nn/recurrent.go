package nn

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// RecurrentOptions are the options of the constructors of recurrent layers.
type RecurrentOptions struct {
	Layers        int  // 0 is 1
	Bidirectional bool // with cells that read the input from its end
	NoBias        bool
	Dropout       float64 // see [LSTM]
	Projection    int     // of an LSTM: project outputs to this width, below the gates'; 0 is off
}

// A recurrent is an [RNN], [LSTM] or [GRU].
type recurrent struct {
	Layers, Reverse []Cell
	Dropout         float64
	Checkpoint      int
}

// newCell draws a cell as PyTorch does.
func (r *recurrence) newCell(op string, rng *tensor.RNG, in, width int, o RecurrentOptions) Cell {
	if width < 1 || o.Projection < 0 || o.Projection >= width || o.Projection > 0 && r.layer != "LSTM" {
		fail(op, "the width is %d and the projection %d: want a positive width and, only of an LSTM, a smaller projection or 0", width, o.Projection)
	}
	out := width
	if o.Projection > 0 {
		out = o.Projection
	}
	draw := func(shape ...int) tensor.Tensor {
		checkDraw(op, rng, shape)
		return uniform(rng, bound(width), shape...)
	}
	c := Cell{WeightIH: draw(r.gates*width, in), WeightHH: draw(r.gates*width, out)}
	if !o.NoBias {
		c.BiasIH, c.BiasHH = draw(r.gates*width), draw(r.gates*width)
	}
	if o.Projection > 0 {
		c.WeightHR = draw(out, width)
	}
	return c
}

// maxLayers bounds Layers, which are made one by one.
const maxLayers = 1 << 16

// newCells draws the cells of all layers.
func (r *recurrence) newCells(rng *tensor.RNG, in, width int, o *RecurrentOptions) recurrent {
	var layers, reverse []Cell
	if o == nil {
		o = &RecurrentOptions{}
	}
	op := "New" + r.layer
	setting(op, "Dropout", o.Dropout, limits.Probability)
	if o.Layers < 0 || o.Layers > maxLayers {
		fail(op, "%d layers: want at least 1, or 0 for 1, and at most %d", o.Layers, maxLayers)
	}
	for range max(o.Layers, 1) {
		layers = append(layers, r.newCell(op, rng, in, width, *o))
		next := layers[0].WeightHH.Dim(1)
		if o.Bidirectional {
			reverse = append(reverse, r.newCell(op, rng, in, width, *o))
			next *= 2
		}
		in = next
	}
	return recurrent{Layers: layers, Reverse: reverse, Dropout: o.Dropout}
}

// run is the method Run of a layer.
func (r *recurrence) run(l recurrent, x tensor.Tensor, state []tensor.Tensor, lengths tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, []tensor.Tensor) {
	defer named(r.layer)
	setting(r.layer, "Dropout", l.Dropout, limits.Probability)
	directions := r.checkLayers(l, x)
	axes := slices.Delete(x.Shape(), x.Rank()-2, x.Rank())
	if state == nil {
		state = r.zeros(l.Layers[0], append([]int{len(directions) * len(l.Layers)}, axes...))
	}
	r.checkState(r.layer, l.Layers[0], state, append([]int{len(directions) * len(l.Layers)}, axes...))
	valid := r.valid(x, lengths)
	y := timeFirst(x)
	last := make([][]tensor.Tensor, r.states)
	for i := range l.Layers {
		if i > 0 {
			y = drop(r.layer, l.Dropout, y, rng, y.Shape())
		}
		outs := make([]tensor.Tensor, len(directions))
		for d, cells := range directions {
			first := make([]tensor.Tensor, r.states)
			for k, s := range state {
				first[k] = s.At(i*len(directions) + d)
			}
			next, out := r.scan(cells[i], y, first, valid, &grad.ScanOptions{Reverse: d == 1, Checkpoint: l.Checkpoint})
			outs[d] = out
			for k, s := range next {
				last[k] = append(last[k], s)
			}
		}
		if y = tensor.Cat(-1, outs...); valid.IsValid() {
			y = tensor.Where(valid, y, 0)
		}
	}
	stacked := make([]tensor.Tensor, r.states)
	for k := range stacked {
		stacked[k] = tensor.Stack(0, last[k]...)
	}
	return timeLast(y), stacked
}

// scan runs a cell over x, whose first axis is time. A step that is not valid keeps the
// state.
func (r *recurrence) scan(c Cell, x tensor.Tensor, state []tensor.Tensor, valid tensor.Tensor, o *grad.ScanOptions) (last []tensor.Tensor, y tensor.Tensor) {
	type input struct{ X, Valid tensor.Tensor }
	return grad.Scan(func(s []tensor.Tensor, in input) ([]tensor.Tensor, tensor.Tensor) {
		next := r.next(c, in.X, s)
		if in.Valid.IsValid() {
			for k := range next {
				next[k] = tensor.Where(in.Valid, next[k], s[k])
			}
		}
		return next, next[0]
	}, state, input{x, valid}, o)
}

// checkLayers panics unless the layer takes x, and returns its cells of each direction.
func (r *recurrence) checkLayers(l recurrent, x tensor.Tensor) [][]Cell {
	if len(l.Layers) == 0 {
		fail(r.layer, "it has no layers: make it with nn.New%s, or load it", r.layer)
	}
	if x.Rank() < 2 {
		fail(r.layer, "the input %v has no axis of time: want [... time in]", x.Shape())
	}
	directions := [][]Cell{l.Layers}
	if l.Reverse != nil {
		directions = append(directions, l.Reverse)
	}
	in := x.Dim(-1)
	for i := range l.Layers {
		for d, cells := range directions {
			if len(cells) != len(l.Layers) {
				fail(r.layer, "it has %d layers, and Reverse has %d: want as many, or nil", len(l.Layers), len(cells))
			}
			r.check(r.layer, cells[i], in, fmt.Sprintf("_l%d%s", i, []string{"", "_reverse"}[d]))
		}
		in = len(directions) * l.Layers[i].WeightHH.Dim(1)
	}
	checkType(r.layer, "the input", x, l.Layers[0])
	return directions
}

// valid returns which steps lengths count, [time ... 1], or an absent tensor.
func (r *recurrence) valid(x, lengths tensor.Tensor) tensor.Tensor {
	if !lengths.IsValid() {
		return lengths
	}
	time, axes := x.Dim(-2), x.Shape()[:x.Rank()-2]
	checkIndices(r.layer, "lengths", lengths)
	if !slices.Equal(lengths.Shape(), axes) {
		fail(r.layer, "lengths are %v, want %v: one for each sequence of the input %v", lengths.Shape(), axes, x.Shape())
	}
	counts := tensor.Internal.Positions(graph.Token{}, "nn."+r.layer, "length", "lengths below %d", x, lengths, time+1)
	steps := tensor.Arange(time).Reshape(append([]int{time}, slices.Repeat([]int{1}, len(axes)+1)...)...)
	return steps.Lt(counts.Unsqueeze(-1))
}

// timeFirst moves time from the last axis but one to the first.
func timeFirst(x tensor.Tensor) tensor.Tensor {
	for i := x.Rank() - 2; i > 0; i-- {
		x = x.Transpose(i, i-1)
	}
	return x
}

// timeLast is the opposite of timeFirst.
func timeLast(x tensor.Tensor) tensor.Tensor {
	for i := range x.Rank() - 2 {
		x = x.Transpose(i, i+1)
	}
	return x
}
