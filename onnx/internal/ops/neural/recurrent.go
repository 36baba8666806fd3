package neural

import (
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Recurrent has the layers that read sequences.
var Recurrent = []op.Row{
	op.New("GRU", op.Many(func(c *op.Call) []T { return recur(c, &gru) })),
	op.New("LSTM", op.Many(func(c *op.Call) []T { return recur(c, &lstm) })),
	op.New("RNN", op.Many(func(c *op.Call) []T { return recur(c, &rnn) })),
}

// A kind is a recurrent layer: its gates, the activations that it has by default, and its step.
type kind struct {
	gates, states int
	activations   []string
	step          func(l *layer, x T, state []T) []T
}

var (
	rnn  = kind{1, 1, []string{"Tanh"}, rnnStep}
	gru  = kind{3, 1, []string{"Sigmoid", "Tanh"}, gruStep}
	lstm = kind{4, 2, []string{"Sigmoid", "Tanh", "Tanh"}, lstmStep}
)

// A layer is one direction. Gates follow each other on the last axes of the weights.
type layer struct {
	width              int
	r                  T // [out gates·width]
	recurrentBias      T // [gates·width], or absent
	peepholes          T // [3·width], or absent
	f                  []func(T) T
	clip               float64 // of the operands of activations; 0 is off
	linearBefore, tied bool    // linear_before_reset, input_forget
}

// gate returns gate i of sums.
func (l *layer) gate(x T, i int) T { return x.Slice(-1, i*l.width, (i+1)*l.width) }

// act applies activation i.
func (l *layer) act(i int, x T) T {
	if l.clip > 0 {
		x = x.Clamp(-l.clip, l.clip)
	}
	return l.f[i](x)
}

// through is h by the recurrent weights, with their bias.
func (l *layer) through(h, r, bias T) T {
	y := h.MatMul(r)
	if bias.IsValid() {
		y = y.Add(bias)
	}
	return y
}

func rnnStep(l *layer, x T, state []T) []T {
	return []T{l.act(0, x.Add(l.through(state[0], l.r, l.recurrentBias)))}
}

func gruStep(l *layer, x T, state []T) []T {
	h := state[0]
	part := func(t T, i, j int) T { // gates i to j of weights or a bias
		if !t.IsValid() {
			return t
		}
		return t.Slice(-1, i*l.width, j*l.width)
	}
	sums := x.Slice(-1, 0, 2*l.width).Add(l.through(h, part(l.r, 0, 2), part(l.recurrentBias, 0, 2)))
	z, reset := l.act(0, l.gate(sums, 0)), l.act(0, l.gate(sums, 1))
	r, bias := part(l.r, 2, 3), part(l.recurrentBias, 2, 3)
	var inner T
	if l.linearBefore {
		inner = reset.Mul(l.through(h, r, bias))
	} else {
		inner = l.through(reset.Mul(h), r, bias)
	}
	next := l.act(1, l.gate(x, 2).Add(inner))
	return []T{next.Add(z.Mul(h.Sub(next)))}
}

func lstmStep(l *layer, x T, state []T) []T {
	h, memory := state[0], state[1]
	sums := x.Add(l.through(h, l.r, l.recurrentBias))
	see := func(gate, peephole int, memory T) T {
		y := l.gate(sums, gate)
		if l.peepholes.IsValid() {
			y = y.Add(l.gate(l.peepholes, peephole).Mul(memory))
		}
		return l.act(0, y)
	}
	in, forget := see(0, 0, memory), see(2, 2, memory)
	if l.tied {
		forget = in.Neg().Add(1)
	}
	memory = forget.Mul(memory).Add(in.Mul(l.act(1, l.gate(sums, 3))))
	out := see(1, 1, memory)
	return []T{out.Mul(l.f[2](memory)), memory}
}

// recur runs a layer in its directions. With layout 0 the input is [time batch in].
func recur(c *op.Call, k *kind) []T {
	x := c.Tensor(0)
	batchFirst := c.Bool("layout", false)
	if batchFirst {
		x = x.Transpose(0, 1)
	}
	directions := map[string][]bool{"forward": {false}, "reverse": {true}, "bidirectional": {false, true}}[c.String("direction", "forward")]
	w, r := c.Tensor(1), c.Tensor(2)
	if directions == nil || w.Dim(0) != len(directions) {
		c.Fail("direction is %q, and the weights have %d", c.String("direction", "forward"), w.Dim(0))
	}
	width := r.Dim(2)
	var lengths T
	if c.Has(4) {
		lengths = c.Tensor(4).Cast(tensor.Int32)
	}
	var ys []T
	lasts := make([][]T, k.states)
	for d, reverse := range directions {
		l := &layer{
			width: width, r: r.Select(0, d).T(), clip: c.Float("clip", 0), linearBefore: c.Bool("linear_before_reset", false),
			tied: c.Bool("input_forget", false), f: activations(c, k, d),
		}
		seen := x
		if reverse {
			seen = flipped(x, lengths)
		}
		sums := seen.MatMul(w.Select(0, d).T()) // of all steps
		if c.Has(3) {
			both := c.Tensor(3).Select(0, d)
			sums, l.recurrentBias = sums.Add(both.Slice(0, 0, k.gates*width)), both.Slice(0, k.gates*width, 2*k.gates*width)
		}
		if k == &lstm && c.Has(7) {
			l.peepholes = c.Tensor(7).Select(0, d)
		}
		init := make([]T, k.states)
		for s := range init {
			if init[s] = tensor.ZerosOf(x.DType(), x.Dim(1), width); c.Has(5 + s) {
				state := c.Tensor(5 + s)
				if batchFirst {
					state = state.Transpose(0, 1)
				}
				init[s] = state.Select(0, d)
			}
		}
		state, y := steps(k, l, sums, init, lengths)
		if reverse {
			y = flipped(y, lengths)
		}
		ys = append(ys, y)
		for s := range state {
			lasts[s] = append(lasts[s], state[s])
		}
	}
	out := []T{tensor.Stack(1, ys...)} // [time directions batch width]
	axis := 0
	if batchFirst {
		out[0], axis = out[0].Permute(2, 0, 1, 3), 1
	}
	for _, l := range lasts {
		out = append(out, tensor.Stack(axis, l...))
	}
	return out
}

// steps runs a layer over sums, [time batch gates·width]. After a sequence has ended its state stays, and
// its outputs are 0.
func steps(k *kind, l *layer, sums T, init []T, lengths T) (last []T, y T) {
	type step struct {
		X    T
		Ends T `tensor:",optional"` // [batch 1]: the sequence goes on
	}
	xs := step{X: sums}
	if lengths.IsValid() {
		time := tensor.Arange(sums.Dim(0)).Cast(tensor.Int32).Reshape(-1, 1, 1)
		xs.Ends = time.Lt(lengths.Reshape(1, -1, 1))
	}
	return grad.Scan(func(state []T, x step) ([]T, T) {
		next := k.step(l, x.X, state)
		y := next[0]
		if x.Ends.IsValid() {
			for i := range next {
				next[i] = tensor.Where(x.Ends, next[i], state[i])
			}
			y = tensor.Where(x.Ends, y, tensor.ZerosLike(y))
		}
		return next, y
	}, init, xs, nil)
}

// flipped turns sequences, [time batch …], around, each of its own length.
func flipped(x, lengths T) T {
	if !lengths.IsValid() {
		return x.Flip(0)
	}
	time := tensor.Arange(x.Dim(0)).Cast(tensor.Int32).Reshape(-1, 1)
	at := lengths.Reshape(1, -1).Sub(1).Sub(time)
	at = tensor.Where(at.Ge(0), at, time) // [time batch]
	return x.TakeAlong(0, at.Unsqueeze(-1).Expand(x.Shape()...))
}

// An activation has defaults of its alpha and beta, if it has them.
type activation struct {
	numbers []float64
	f       func(x T, numbers []float64) T
}

// plain is an activation without numbers.
func plain(f func(T) T) activation {
	return activation{f: func(x T, _ []float64) T { return f(x) }}
}

var activationsByName = map[string]activation{
	"Affine":          {[]float64{1, 0}, func(x T, n []float64) T { return x.Mul(n[0]).Add(n[1]) }},
	"Elu":             {[]float64{1}, func(x T, n []float64) T { return x.ELU(n[0]) }},
	"HardSigmoid":     {[]float64{0.2, 0.5}, func(x T, n []float64) T { return x.Mul(n[0]).Add(n[1]).Clamp(0, 1) }},
	"LeakyRelu":       {[]float64{0.01}, func(x T, n []float64) T { return x.LeakyReLU(n[0]) }},
	"Relu":            plain(T.ReLU),
	"ScaledTanh":      {[]float64{1, 1}, func(x T, n []float64) T { return x.Mul(n[1]).Tanh().Mul(n[0]) }},
	"Sigmoid":         plain(T.Sigmoid),
	"Softplus":        plain(T.Softplus),
	"Softsign":        plain(T.Softsign),
	"Tanh":            plain(T.Tanh),
	"ThresholdedRelu": {[]float64{1}, func(x T, n []float64) T { return tensor.Where(x.Gt(n[0]), x, tensor.ZerosLike(x)) }},
}

// activations returns the functions of a direction, by attributes. A function with an alpha takes the next one of
// its list, and one with a beta likewise, over all directions in order.
func activations(c *op.Call, k *kind, direction int) []func(T) T {
	names, n := k.activations, len(k.activations)
	if a := c.Strings("activations"); len(a) > 0 {
		if len(a) < (direction+1)*n {
			c.Fail("activations are %v, want %d for each direction", a, n)
		}
		names = a[:(direction+1)*n]
	}
	var lists [2][]float32
	for i, name := range []string{"activation_alpha", "activation_beta"} {
		if a := c.Attr(name); a != nil {
			lists[i] = a.Floats
		}
	}
	var fs []func(T) T
	for _, name := range names {
		a, ok := activationsByName[name]
		if !ok {
			c.Fail("there is no activation %q", name)
		}
		numbers := slices.Clone(a.numbers)
		for i := range numbers {
			if len(lists[i]) > 0 {
				numbers[i], lists[i] = float64(lists[i][0]), lists[i][1:]
			}
		}
		fs = append(fs, func(x T) T { return a.f(x, numbers) })
	}
	return fs[len(fs)-n:]
}
