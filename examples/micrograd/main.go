// Command micrograd repeats Andrej Karpathy's micrograd, with package grad in place of its
// engine. It
//
//   - computes the derivatives of an expression of two numbers,
//   - computes the derivatives of a neuron with two inputs, and draws its expression graph
//     if the flag -graph names a file,
//   - trains a network to tell two half moons apart, and draws where it decides if the flag
//     -plot names a file.
//
// micrograd's engine has a rule for each operation on numbers. Package grad has such rules for
// operations on tensors: a number is a tensor of shape [].
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/tensor"
)

var (
	on      = flag.String("device", "", device.Usage)
	seed    = flag.Uint64("seed", 1, "seed of the moons and of the first weights")
	steps   = flag.Int("steps", 100, "steps of training")
	graph   = flag.String("graph", "", "draw the neuron's graph into this file, an .svg")
	picture = flag.String("plot", "", "draw the moons and the decision boundary into this file, a .png or an .svg")
)

func main() {
	flags.Parse()
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	if err := micrograd(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func micrograd(w io.Writer) (err error) {
	defer tensor.Catch(&err)
	if err := printExpression(w); err != nil {
		return err
	}
	if err := printNeuron(w); err != nil {
		return err
	}
	if *graph != "" {
		svg, err := drawNeuron()
		if err == nil {
			err = svg.Save(*graph)
		}
		if err != nil {
			return err
		}
	}
	rng := tensor.NewRNG(*seed)
	x, y := moons(rng, 100)
	m, err := train(w, rng, x, y, *steps)
	if err != nil || *picture == "" {
		return err
	}
	return decisions(m, x, y).Save(*picture)
}

// printExpression prints the example of micrograd's README.
func printExpression(w io.Writer) error {
	at := inputs{tensor.Scalar(-4), tensor.Scalar(2)}
	g, d := expression(at), derivatives(at)
	if err := tensor.Eval(g, d); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "g = %.4f, dg/da = %.3f, dg/db = %.3f\n", g.Item(), d.A.Item(), d.B.Item())
	return err
}
