package draw_test

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/draw"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// An SVG is text: Save writes it to a file.
func ExampleSVG() {
	x := tensor.New([]float32{1, 2, 3})
	var s draw.SVG = draw.Graph(x.Sub(x.Mean()).Square())
	fmt.Println(strings.Count(string(s), "<rect"), "operations")
	// Output: 9 operations
}

func ExampleModel() {
	net := nn.Sequential{nn.NewLinear(tensor.NewRNG(1), 4, 8), nn.Func(tensor.Tensor.ReLU), nn.NewLinear(tensor.NewRNG(2), 8, 1)}
	x := tensor.Zeros(5, 4)
	s := draw.Model(nn.SummaryOf(net, func(net nn.Sequential) tensor.Tensor { return net.Apply(x) }))
	fmt.Println(strings.Contains(string(s), "Linear"), strings.Contains(string(s), "[5 8]"))
	// Output: true true
}
