package nn

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// A Layer computes a tensor from a tensor.
type Layer interface {
	// Apply is the layer's result at inference.
	Apply(x tensor.Tensor) tensor.Tensor
}

// A Stateful layer computes something else in training than at inference, or
// carries statistics from step to step.
type Stateful interface {
	Layer
	// Train is the layer's result in training, and the layer with its new
	// statistics, of the same type as the layer.
	Train(x tensor.Tensor, rng *tensor.RNG) (y tensor.Tensor, next Layer)
}

// Train applies l to x in training and returns the result and l with its new
// statistics. It is Apply where l is not Stateful or rng is nil.
func Train[L Layer](l L, x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, L) {
	s, ok := any(l).(Stateful)
	if !ok || rng == nil {
		return l.Apply(x), l
	}
	y, next := s.Train(x, rng)
	return y, next.(L)
}

// A Sequential applies its layers one after the other. Their parameters are
// named by position: "0.weight".
type Sequential []Layer

// Apply applies every layer.
func (l Sequential) Apply(x tensor.Tensor) tensor.Tensor {
	for _, layer := range l {
		x = layer.Apply(x)
	}
	return x
}

// Train trains every layer.
func (l Sequential) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	next := make(Sequential, len(l))
	for i, layer := range l {
		x, next[i] = Train(layer, x, rng)
	}
	return x, next
}

// A Func is a function as a layer: nn.Func(tensor.Tensor.ReLU). What it
// captures is not trained and not saved.
type Func func(tensor.Tensor) tensor.Tensor

// Apply calls the function.
func (f Func) Apply(x tensor.Tensor) tensor.Tensor { return f(x) }

// or is the default of a number that was left zero.
func or(x, byDefault float64) float64 {
	if x == 0 {
		return byDefault
	}
	return x
}

// fail panics with a *tensor.Error that points at the user's call.
func fail(op, format string, args ...any) {
	tensor.Internal.Misuse(graph.Token{}, "nn."+op, fmt.Sprintf(format, args...))
}

// present panics where a layer was not made by its constructor or loaded.
func present(layer, field string, t tensor.Tensor) {
	if !t.IsValid() {
		fail(layer, "%s is absent: make the layer with nn.New%s, or load it", field, layer)
	}
}
