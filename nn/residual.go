package nn

import (
	"slices"

	"github.com/tensorken/tensorken/tensor"
)

// A Residual adds the results of its body and of its shortcut, both of the input. An empty
// shortcut is the input itself.
//
// Source: He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", 2016.
type Residual struct {
	Body, Shortcut Sequential
}

// Apply returns Body(x) + Shortcut(x).
func (l Residual) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Residual")
	return joined(l.Body.Apply(x), l.Shortcut.Apply(x))
}

// joined adds tensors, which must have one shape.
func joined(body, shortcut tensor.Tensor) tensor.Tensor {
	if !slices.Equal(body.Shape(), shortcut.Shape()) {
		fail("Residual", "the body gives %v, the shortcut %v: set Shortcut to layers that give the body's shape", body.Shape(), shortcut.Shape())
	}
	return body.Add(shortcut)
}

// Train trains body and shortcut.
func (l Residual) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	defer named("Residual")
	body, nextBody := Train(l.Body, x, rng)
	shortcut, nextShortcut := Train(l.Shortcut, x, rng)
	return joined(body, shortcut), Residual{nextBody, nextShortcut}
}
