package optim_test

import (
	"fmt"
	"log"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// Two ranks, here goroutines, step by the mean of their gradients.
func ExampleRanks() {
	err := dist.Local(2, func(g *dist.Group) error {
		var ranks optim.Ranks = g
		o := &optim.Optimizer{Rule: optim.SGD{}, LR: 0.5, Parallel: ranks}
		w, x := tensor.New([]float32{1}), float64(ranks.Rank()) // each rank has its data
		loss, gradient := grad.ValueAndGrad(func(w tensor.Tensor) tensor.Tensor { return w.Sub(x).Square().Sum() })(w)
		if err := o.Step(&w, gradient); err != nil {
			return err
		}
		text := fmt.Sprint("rank ", ranks.Rank(), " of ", ranks.Size(), ": loss ", loss, ", w ", w)
		if ranks.Rank() == 1 {
			fmt.Println(text)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: rank 1 of 2: loss 0, w [0.5]
}
