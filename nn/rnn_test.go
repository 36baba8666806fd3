package nn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A run is the method Run of a recurrent layer.
type run func(l cells, x tensor.Tensor, state []tensor.Tensor, lengths tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, []tensor.Tensor)

// cells are the parameters of a recurrent layer.
type cells struct {
	Layers  []nn.Cell `tensor:"*_l#"`
	Reverse []nn.Cell `tensor:"*_l#_reverse"`
}

// recurrent has the recurrent layers, each with its parameters, its cell and how many tensors
// a state has.
var recurrent = []struct {
	name   string
	make   func(rng *tensor.RNG, in, width int, o *nn.RecurrentOptions) cells
	run    run
	cell   func(c nn.Cell, x tensor.Tensor, state []tensor.Tensor) []tensor.Tensor
	states int
}{
	{"RNN", func(rng *tensor.RNG, in, width int, o *nn.RecurrentOptions) cells {
		l := nn.NewRNN(rng, in, width, o)
		return cells{l.Layers, l.Reverse}
	}, func(l cells, x tensor.Tensor, s []tensor.Tensor, n tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, []tensor.Tensor) {
		return nn.RNN{Layers: l.Layers, Reverse: l.Reverse, Dropout: 0.5}.Run(x, s, n, rng)
	}, func(c nn.Cell, x tensor.Tensor, s []tensor.Tensor) []tensor.Tensor {
		return nn.RNNCell{Cell: c}.Apply(x, s)
	}, 1},
	{"RNN of ReLU", func(rng *tensor.RNG, in, width int, o *nn.RecurrentOptions) cells {
		l := nn.NewRNN(rng, in, width, o)
		return cells{l.Layers, l.Reverse}
	}, func(l cells, x tensor.Tensor, s []tensor.Tensor, n tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, []tensor.Tensor) {
		return nn.RNN{Layers: l.Layers, Reverse: l.Reverse, Dropout: 0.5, ReLU: true}.Run(x, s, n, rng)
	}, func(c nn.Cell, x tensor.Tensor, s []tensor.Tensor) []tensor.Tensor {
		return nn.RNNCell{Cell: c, ReLU: true}.Apply(x, s)
	}, 1},
	{"LSTM", func(rng *tensor.RNG, in, width int, o *nn.RecurrentOptions) cells {
		l := nn.NewLSTM(rng, in, width, o)
		return cells{l.Layers, l.Reverse}
	}, func(l cells, x tensor.Tensor, s []tensor.Tensor, n tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, []tensor.Tensor) {
		return nn.LSTM{Layers: l.Layers, Reverse: l.Reverse, Dropout: 0.5, Checkpoint: 2}.Run(x, s, n, rng)
	}, func(c nn.Cell, x tensor.Tensor, s []tensor.Tensor) []tensor.Tensor {
		return nn.LSTMCell{Cell: c}.Apply(x, s)
	}, 2},
	{"GRU", func(rng *tensor.RNG, in, width int, o *nn.RecurrentOptions) cells {
		l := nn.NewGRU(rng, in, width, o)
		return cells{l.Layers, l.Reverse}
	}, func(l cells, x tensor.Tensor, s []tensor.Tensor, n tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, []tensor.Tensor) {
		return nn.GRU{Layers: l.Layers, Reverse: l.Reverse, Dropout: 0.5}.Run(x, s, n, rng)
	}, func(c nn.Cell, x tensor.Tensor, s []tensor.Tensor) []tensor.Tensor {
		return nn.GRUCell{Cell: c}.Apply(x, s)
	}, 1},
}

// looped computes one example, x [time in] and a state {[layers·directions width]}, by a Go
// loop over cells that stops after n steps.
func looped(cell func(c nn.Cell, x tensor.Tensor, state []tensor.Tensor) []tensor.Tensor, l cells, x tensor.Tensor, state []tensor.Tensor, n int) (y tensor.Tensor, last []tensor.Tensor) {
	directions := [][]nn.Cell{l.Layers}
	if l.Reverse != nil {
		directions = append(directions, l.Reverse)
	}
	all := make([][]tensor.Tensor, len(state))
	for i := range l.Layers {
		outs := make([]tensor.Tensor, len(directions))
		for d, cells := range directions {
			s := make([]tensor.Tensor, len(state))
			for k := range s {
				s[k] = state[k].At(i*len(directions) + d)
			}
			rows := slices.Repeat([]tensor.Tensor{tensor.ZerosLike(s[0])}, x.Dim(0))
			for t := range n {
				if d == 1 {
					t = n - 1 - t
				}
				s = cell(cells[i], x.At(t), s)
				rows[t] = s[0]
			}
			outs[d] = tensor.Stack(0, rows...)
			for k := range s {
				all[k] = append(all[k], s[k])
			}
		}
		x = tensor.Cat(1, outs...)
	}
	for _, s := range all {
		last = append(last, tensor.Stack(0, s...))
	}
	return x, last
}

// weighted is a loss that depends on every element of a layer's results.
func weighted(y tensor.Tensor, last []tensor.Tensor) tensor.Tensor {
	w := func(t tensor.Tensor) tensor.Tensor {
		return t.Mul(tensor.Linspace(1, 20, t.Len()).Sin().Reshape(t.Shape()...)).Sum()
	}
	loss := w(y)
	for _, s := range last {
		loss = loss.Add(w(s))
	}
	return loss
}

// TestRecurrent compares layers and their gradients with a loop over cells, example by
// example.
func TestRecurrent(t *testing.T) {
	const batch, time, in, width = 3, 5, 2, 4
	for _, c := range recurrent {
		for i, o := range []*nn.RecurrentOptions{nil, {Layers: 2, NoBias: true}, {Layers: 2, Bidirectional: true}, {Layers: 3, Bidirectional: true, Projection: 2}} {
			if o != nil && o.Projection > 0 && c.name != "LSTM" {
				continue
			}
			for j, lengths := range [][]int{nil, {5, 0, 3}} {
				if testing.Short() && (i+2*j)%4 != 2 {
					continue
				}
				name := fmt.Sprintf("%s of %+v with lengths %v", c.name, o, lengths)
				rng := tensor.NewRNG(1)
				type args struct {
					L     cells
					X     tensor.Tensor
					State []tensor.Tensor
				}
				a := tree.Cast(args{L: c.make(rng, in, width, o), X: rng.Normal(batch, time, in)}, tensor.Float64)
				number := len(a.L.Layers) + len(a.L.Reverse)
				for k := range c.states {
					n := width
					if k == 0 {
						n = a.L.Layers[0].WeightHH.Dim(1)
					}
					a.State = append(a.State, rng.Normal(number, batch, n).Cast(tensor.Float64))
				}
				var counts tensor.Tensor
				if lengths != nil {
					counts = tensor.From(lengths)
				}
				layer := func(a args) (tensor.Tensor, []tensor.Tensor) { return c.run(a.L, a.X, a.State, counts, nil) }
				loop := func(a args) (tensor.Tensor, []tensor.Tensor) {
					var ys []tensor.Tensor
					lasts := make([][]tensor.Tensor, c.states)
					for i := range batch {
						n := time
						if lengths != nil {
							n = lengths[i]
						}
						var first []tensor.Tensor
						for _, s := range a.State {
							first = append(first, s.Index(tensor.All, i))
						}
						y, last := looped(c.cell, a.L, a.X.At(i), first, n)
						ys = append(ys, y)
						for k := range last {
							lasts[k] = append(lasts[k], last[k])
						}
					}
					var last []tensor.Tensor
					for _, s := range lasts {
						last = append(last, tensor.Stack(1, s...))
					}
					return tensor.Stack(0, ys...), last
				}
				y, last := layer(a)
				wantY, wantLast := loop(a)
				g := grad.Of(func(a args) tensor.Tensor { return weighted(layer(a)) })(a)
				want := grad.Of(func(a args) tensor.Tensor { return weighted(loop(a)) })(a)
				for _, plan := range []any{[]any{y, last}, []any{wantY, wantLast}, g, want} {
					if err := tensor.Eval(plan); err != nil {
						t.Fatal(err)
					}
				}
				near(t, name, y, wantY, 1e-12)
				for k := range last {
					near(t, name+": last state", last[k], wantLast[k], 1e-12)
				}
				tree.Zip(g, want, func(field string, x, y tensor.Tensor) tensor.Tensor {
					near(t, name+": gradient of "+field, x, y, 1e-10)
					return x
				})
			}
		}
	}
}

// Batches by Vmap, and several batch axes or none, are the same examples.
func TestRecurrentBatches(t *testing.T) {
	rng := tensor.NewRNG(2)
	for _, c := range recurrent {
		l := c.make(rng, 2, 3, &nn.RecurrentOptions{Bidirectional: true})
		x, lengths := rng.Normal(4, 5, 2), tensor.From([]int{5, 1, 3, 2})
		type results struct {
			Y    tensor.Tensor
			Last []tensor.Tensor
		}
		apply := func(x, lengths tensor.Tensor) results {
			y, last := c.run(l, x, nil, lengths, nil)
			return results{y, last}
		}
		want := apply(x, lengths)
		type example struct{ X, Length tensor.Tensor }
		got := grad.Vmap(func(e example) results { return apply(e.X, e.Length) })(example{x, lengths})
		near(t, c.name+" under Vmap", got.Y, want.Y, 1e-6)
		near(t, c.name+" under Vmap: last state", got.Last[0].Transpose(0, 1), want.Last[0], 1e-6)
		near(t, c.name+" of one example", apply(x.At(2), lengths.At(2)).Y, want.Y.At(2), 1e-6)
		near(t, c.name+" of [2 2 time in]", apply(x.Reshape(2, 2, 5, 2), lengths.Reshape(2, 2)).Y.Reshape(4, 5, 6), want.Y, 1e-6)
	}
}

// A sequence in two parts, of which the second begins with the state of the first, is one.
func TestRecurrentState(t *testing.T) {
	rng := tensor.NewRNG(3)
	for _, c := range recurrent {
		l, x := c.make(rng, 2, 3, &nn.RecurrentOptions{Layers: 2}), rng.Normal(4, 7, 2)
		y, last := c.run(l, x, nil, tensor.Tensor{}, nil)
		a, s := c.run(l, x.Slice(1, 0, 3), nil, tensor.Tensor{}, nil)
		b, s := c.run(l, x.Slice(1, 3, 7), s, tensor.Tensor{}, nil)
		near(t, c.name+" in two parts", tensor.Cat(1, a, b), y, 1e-6)
		near(t, c.name+" in two parts: last state", s[0], last[0], 1e-6)
		none, same := c.run(l, x.Slice(1, 0, 0), last, tensor.Tensor{}, nil)
		near(t, c.name+" of no steps: last state", same[0], last[0], 0)
		if !slices.Equal(none.Shape(), []int{4, 0, 3}) {
			t.Errorf("%s of no steps is %v", c.name, none.Shape())
		}
	}
}

// The last state of no steps is the first, and so is its gradient.
func TestRecurrentNoSteps(t *testing.T) {
	rng := tensor.NewRNG(8)
	for _, c := range recurrent {
		type args struct {
			L     cells
			X     tensor.Tensor
			State []tensor.Tensor
		}
		a := args{L: c.make(rng, 2, 3, &nn.RecurrentOptions{Layers: 2, Bidirectional: true}), X: tensor.ZerosOf(tensor.Float32, 5, 0, 2)}
		for range c.states {
			a.State = append(a.State, rng.Normal(4, 5, 3))
		}
		g := grad.Of(func(a args) tensor.Tensor {
			y, last := c.run(a.L, a.X, a.State, tensor.Tensor{}, nil)
			return weighted(y.Sum(), last)
		})(a)
		want := grad.Of(func(s []tensor.Tensor) tensor.Tensor { return weighted(tensor.Scalar(0), s) })(a.State)
		for k := range want {
			near(t, c.name+": gradient of the state", g.State[k], want[k], 0)
		}
		near(t, c.name+": gradient of the input", g.X, a.X, 0)
		for field, x := range tree.All(g.L) {
			near(t, c.name+": gradient of "+field, x, tensor.ZerosLike(x), 0)
		}
	}
}

// Dropout drops outputs between layers, in training alone.
func TestRecurrentDropout(t *testing.T) {
	rng := tensor.NewRNG(4)
	for _, c := range recurrent {
		x := rng.Normal(4, 6, 2)
		for layers, differs := range map[int]bool{1: false, 2: true} {
			l := c.make(rng, 2, 3, &nn.RecurrentOptions{Layers: layers})
			y, _ := c.run(l, x, nil, tensor.Tensor{}, nil)
			trained, last := c.run(l, x, nil, tensor.Tensor{}, tensor.NewRNG(1))
			if ok, err := tensor.AllClose(y, trained, 1e-6, 1e-6); err != nil || ok == differs {
				t.Errorf("%s of %d layers: results with and without dropout are equal: %v (%v)", c.name, layers, ok, err)
			}
			near(t, c.name+" with dropout: last state", last[0].At(layers-1), trained.Index(tensor.All, -1), 0)
		}
	}
}

func TestRecurrentDerivatives(t *testing.T) {
	rng := tensor.NewRNG(5)
	x := rng.Normal(2, 3, 2)
	order := 2
	if testing.Short() {
		order = 1
	}
	for _, c := range recurrent {
		l := c.make(rng, 2, 2, &nn.RecurrentOptions{Bidirectional: true})
		gradtest.Check(t, func(l cells) tensor.Tensor { return weighted(c.run(l, x, nil, tensor.From([]int{3, 1}), nil)) }, l, order)
	}
}

// The plan of a layer with its gradient does not grow with the number of steps.
func TestRecurrentPlan(t *testing.T) {
	for _, c := range recurrent {
		rng := tensor.NewRNG(6)
		l := c.make(rng, 3, 4, &nn.RecurrentOptions{Layers: 2, Bidirectional: true})
		lines := func(steps int) int {
			x := tensor.NewRNG(7).Normal(2, steps, 3)
			return strings.Count(tensor.Explain(grad.Of(func(l cells) tensor.Tensor {
				return weighted(c.run(l, x, nil, tensor.From([]int{steps, 2}), nil))
			})(l)), "\n")
		}
		if a, b := lines(10), lines(1000); a != b {
			t.Errorf("%s: a plan of %d lines for 10 steps, of %d for 1000", c.name, a, b)
		}
	}
}

// A tagger labels each step of a sequence.
type tagger struct {
	Wte  nn.Embedding
	LSTM nn.LSTM
	Out  nn.Linear
}

func (m tagger) Apply(ids tensor.Tensor) tensor.Tensor {
	y, _ := m.LSTM.Apply(m.Wte.Apply(ids), nil)
	return m.Out.Apply(y)
}

func newTagger(layers int) tagger {
	rng := tensor.NewRNG(1)
	lstm := nn.NewLSTM(rng, 3, 4, &nn.RecurrentOptions{Layers: layers, Bidirectional: true})
	return tagger{nn.NewEmbedding(rng, 11, 3), lstm, nn.NewLinear(rng, 8, 2)}
}

func TestRecurrentSummary(t *testing.T) {
	ids := tensor.New([]int32{1, 2, 3, 4, 5}, 1, 5)
	got := nn.SummaryOf(newTagger(1), func(m tagger) tensor.Tensor { return m.Apply(ids) })
	// A step has products of 2·16·(3 + 4), their sums and biases of 3·16, three sigmoids and
	// two tanhs.
	lstm := got.Layers[2]
	if least := 2 * 5 * (2*16*(3+4) + 3*16 + 5*4); lstm.FLOPs < least || lstm.FLOPs > least*3/2 || !slices.Equal(lstm.Output, []int{1, 5, 8}) {
		t.Errorf("SummaryOf: %+v, want at least %d FLOPs and an output of [1 5 8]", lstm, least)
	}
}

// Steps of training that are recorded once are those that are not.
func TestRecurrentJit(t *testing.T) {
	ids := tensor.NewRNG(2).Ints(11, 2, 5)
	step := func(m tagger) tagger {
		g := grad.Of(func(m tagger) tensor.Tensor { return nn.CrossEntropy(m.Apply(ids), ids.Rem(2)).Mean() })(m)
		return tree.Zip(m, g, func(_ string, x, g tensor.Tensor) tensor.Tensor { return x.Sub(g) })
	}
	recorded := grad.Jit(step)
	a, b := newTagger(2), newTagger(2)
	for range 3 {
		a, b = step(a), recorded(b)
	}
	tree.Zip(a, b, func(name string, x, y tensor.Tensor) tensor.Tensor {
		near(t, "recorded: "+name, y, x, 1e-6)
		return x
	})
}

// Parameters have PyTorch's names.
func TestRecurrentNames(t *testing.T) {
	rng := tensor.NewRNG(8)
	var names []string
	for name := range tree.All(map[string]any{
		"rnn": nn.NewLSTM(rng, 3, 4, &nn.RecurrentOptions{Bidirectional: true, Projection: 2}), "cell": nn.NewGRUCell(rng, 3, 4),
	}) {
		names = append(names, name)
	}
	want := strings.Fields(`cell.weight_ih cell.weight_hh cell.bias_ih cell.bias_hh
		rnn.weight_ih_l0 rnn.weight_hh_l0 rnn.bias_ih_l0 rnn.bias_hh_l0 rnn.weight_hr_l0
		rnn.weight_ih_l0_reverse rnn.weight_hh_l0_reverse rnn.bias_ih_l0_reverse rnn.bias_hh_l0_reverse rnn.weight_hr_l0_reverse`)
	if !slices.Equal(names, want) {
		t.Errorf("names %v, want %v", names, want)
	}
}

func TestRecurrentMisuse(t *testing.T) {
	rng := tensor.NewRNG(9)
	l := nn.NewLSTM(rng, 3, 4, nil)
	bi := nn.NewGRU(rng, 3, 4, &nn.RecurrentOptions{Layers: 2, Bidirectional: true})
	var absent tensor.Tensor
	x := rng.Normal(2, 5, 3)
	changed := func(f func(c *nn.Cell)) nn.LSTM {
		l := tree.Map(l, func(_ string, t tensor.Tensor) tensor.Tensor { return t })
		f(&l.Layers[0])
		return l
	}
	for _, tt := range []struct {
		f    func()
		want string
	}{
		{func() { nn.LSTM{}.Apply(x, nil) }, "nn.LSTM: it has no layers: make it with nn.NewLSTM, or load it"},
		{func() { nn.GRU{Layers: make([]nn.Cell, 1)}.Apply(x, nil) }, "nn.GRU: weight_ih_l0 or weight_hh_l0 is absent"},
		{func() { l.Apply(rng.Normal(5), nil) }, "nn.LSTM: the input [5] has no axis of time: want [... time in]"},
		{func() { l.Apply(rng.Normal(2, 5, 4), nil) }, "nn.LSTM: weight_ih_l0 is [16 3], want [16 4] for inputs of width 4"},
		{func() { l.Apply(x.Cast(tensor.Float64), nil) }, "nn.LSTM: the input is float64 and the parameters are float32: Cast one of them"},
		{func() {
			l.Apply(x, tree.Cast([]tensor.Tensor{rng.Normal(1, 2, 4), rng.Normal(1, 2, 4)}, tensor.Float64))
		}, "nn.LSTM: h of the state is float64"},
		{func() { l.Apply(x, []tensor.Tensor{rng.Normal(1, 2, 4)}) }, "nn.LSTM: the state has 1 tensors, want 2: h and c"},
		{func() { l.Apply(x, []tensor.Tensor{rng.Normal(1, 2, 4), absent}) }, "nn.LSTM: c of the state is absent"},
		{func() { l.Apply(x, []tensor.Tensor{rng.Normal(1, 2, 4), rng.Normal(2, 4)}) }, "nn.LSTM: c of the state is [2 4], want [1 2 4]"},
		{func() { bi.Apply(x, []tensor.Tensor{rng.Normal(2, 2, 4)}) }, "nn.GRU: h of the state is [2 2 4], want [4 2 4]"},
		{func() { nn.GRU{Layers: bi.Layers, Reverse: bi.Reverse[:1]}.Apply(x, nil) }, "nn.GRU: it has 2 layers, and Reverse has 1: want as many, or nil"},
		{func() { l.Run(x, nil, tensor.From([]int{1, 2, 3}), nil) }, "nn.LSTM: lengths are [3], want [2]: one for each sequence of the input [2 5 3]"},
		{func() { l.Run(x, nil, tensor.From([]float32{1, 2}), nil) }, "nn.LSTM: lengths are float32, want integers"},
		{func() { y, _ := l.Run(x, nil, tensor.From([]int{1, 6}), nil); must(tensor.Eval(y)) }, "nn.LSTM: length 6"},
		{func() { changed(func(c *nn.Cell) { c.WeightHH = rng.Normal(16, 3) }).Apply(x, nil) }, "nn.LSTM: weight_hh_l0 is [16 3], want [4·width width]"},
		{func() { changed(func(c *nn.Cell) { c.BiasHH = rng.Normal(4) }).Apply(x, nil) }, "nn.LSTM: bias_hh_l0 is [4], want [16]"},
		{func() { nn.RNNCell{}.Apply(x, nil) }, "nn.RNNCell: weight_ih or weight_hh is absent: make the layer with nn.NewRNNCell, or load it"},
		{func() { nn.NewGRUCell(rng, 3, 4).Apply(rng.Normal(2, 3), []tensor.Tensor{rng.Normal(4)}) }, "nn.GRUCell: h of the state is [4], want [2 4]"},
		{func() { nn.NewGRU(rng, 3, 4, &nn.RecurrentOptions{Projection: 2}) }, "nn.NewGRU: the width is 4 and the projection 2"},
		{func() { nn.NewLSTM(rng, 3, 0, nil) }, "nn.NewLSTM: the width is 0"},
		{func() { nn.NewRNN(nil, 3, 4, nil) }, "nn.NewRNN: the *RNG is nil"},
	} {
		err := tensor.Try(tt.f)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "rnn_test.go:") {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
