package bench

import (
	"math"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// lstm returns the setup of training steps of an LSTM on sequences of noise, whose loss is the
// mean square of the outputs.
func lstm(batch, time, in, width, layers int, bidirectional bool) setup {
	return func(from *inputs) func() (tensor.Tensor, error) {
		x := from.floats(1, batch, time, in)
		var l nn.LSTM
		directions := []*[]nn.Cell{&l.Layers}
		if bidirectional {
			directions = append(directions, &l.Reverse)
		}
		in := in
		for range layers {
			for _, cells := range directions {
				draw := func(lengths ...int) tensor.Tensor { return from.floats(1/math.Sqrt(float64(width)), lengths...) }
				*cells = append(*cells, nn.Cell{
					WeightIH: draw(4*width, in), WeightHH: draw(4*width, width), BiasIH: draw(4 * width), BiasHH: draw(4 * width),
				})
			}
			in = len(directions) * width
		}
		return trained(optim.New(optim.Adam{}, 1e-3), l, x, func(l nn.LSTM, x tensor.Tensor) tensor.Tensor {
			y, _ := l.Apply(x, nil)
			return y.Square().Mean()
		})
	}
}
