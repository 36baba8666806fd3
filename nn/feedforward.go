package nn

import (
	"github.com/tensorken/tensorken/tensor"
)

// A FeedForward computes Down(Act(Up(x))) on the last axis, as between the attentions of a
// transformer.
type FeedForward struct {
	Up, Down Linear
	Act      Func // nil is ReLU
}

// NewFeedForward returns a layer from width to hidden, act and back.
func NewFeedForward(rng *tensor.RNG, width, hidden int, act Func) FeedForward {
	return FeedForward{Up: NewLinear(rng, width, hidden), Down: NewLinear(rng, hidden, width), Act: act}
}

// Apply maps x of shape [... width] to the same shape.
func (l FeedForward) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("FeedForward")
	return l.Down.Apply(activate(l.Act, tensor.Tensor.ReLU, l.Up.Apply(x)))
}

// activate applies act, or zero if act is nil.
func activate(act, zero Func, x tensor.Tensor) tensor.Tensor {
	if act == nil {
		act = zero
	}
	return act(x)
}

// A GatedFeedForward computes Down(Act(Gate(x))·Up(x)) on the last axis: a SwiGLU with SiLU,
// a GeGLU with GELU. Llama's gate_proj, up_proj and down_proj are this.
//
// Source: Shazeer, "GLU Variants Improve Transformer", 2020.
type GatedFeedForward struct {
	Gate, Up, Down Linear
	Act            Func // nil is SiLU
}

// NewSwiGLU returns a gated layer from width to hidden and back, with SiLU and without
// biases. For a GeGLU set its Act to nn.Func(tensor.Tensor.GELU).
func NewSwiGLU(rng *tensor.RNG, width, hidden int) GatedFeedForward {
	linear := func(in, out int) Linear { return Linear{Weight: NewLinear(rng, in, out).Weight} }
	return GatedFeedForward{Gate: linear(width, hidden), Up: linear(width, hidden), Down: linear(hidden, width)}
}

// Apply maps x of shape [... width] to the same shape.
func (l GatedFeedForward) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("GatedFeedForward")
	return l.Down.Apply(activate(l.Act, tensor.Tensor.SiLU, l.Gate.Apply(x)).Mul(l.Up.Apply(x)))
}
