// Command bigrams-nn generates names with the smallest neural network, one layer without
// bias, from Andrej Karpathy's lecture makemore: given a letter, it computes the
// probabilities of the next letter.
//
// Example bigrams finds these probabilities by counting. This one starts with random
// weights and follows the gradient of the loss. After 200 steps its loss is less than 0.02
// above the loss of counting. Larger networks are trained in the same way: they see more
// than one letter, and too many cases to count.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

var (
	on   = flag.String("device", "", device.Usage)
	file = flag.String("names", "", names.Usage)
	seed = flag.Uint64("seed", 1, "seed of the first weights and of the names drawn")
)

func main() {
	flags.Parse()
	list, err := names.Read(*file)
	if err != nil {
		log.Fatal(err)
	}
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	if err := bigrams(os.Stdout, list, tensor.NewRNG(*seed)); err != nil {
		log.Fatal(err)
	}
}

// symbols is the number of letters and the dot, which starts and ends a name.
const symbols = len(names.Alphabet)

const (
	steps = 200
	rate  = 50 // large, because few of the pairs in the mean loss use a given weight
)

// examples are pairs of neighbouring letters.
type examples struct {
	x tensor.Tensor // the first letter of each pair, one-hot: float32 [pairs 27]
	y tensor.Tensor // the second letter's number: int32 [pairs]
}

func examplesOf(list []string) examples {
	first, second := names.Pairs(list)
	return examples{first.OneHot(symbols).Cast(tensor.Float32), second}
}

// logProbabilities is the network, with weights [27 27]: for letters x [n 27] it returns
// the log-probabilities of the next letters, [n 27]. A one-hot letter selects a row of the
// weights; softmax turns its numbers into probabilities, positive and with sum 1.
func logProbabilities(weights, x tensor.Tensor) tensor.Tensor {
	return x.MatMul(weights).LogSoftmax(1)
}

// loss returns the mean of -log p of the second letter over all pairs.
func (e examples) loss(weights tensor.Tensor) tensor.Tensor {
	return nn.NLL(logProbabilities(weights, e.x), e.y).Mean()
}

// countingLoss returns the loss of the counting model, the minimum for all weights.
func (e examples) countingLoss() tensor.Tensor {
	counts := e.x.T().MatMul(e.y.OneHot(symbols).Cast(tensor.Float32)) // [27 27]
	logp := counts.Div(counts.Sum(1)).Log()
	// A pair that does not occur adds nothing, though its logarithm is -Inf.
	sum := tensor.Where(counts.Gt(0), counts.Mul(logp), 0).Sum()
	return sum.Div(counts.Sum()).Neg()
}

// train follows the gradient from random weights. It calls report with the number of each
// step and the loss before it.
func train(rng *tensor.RNG, e examples, report func(step int, loss float64)) (weights tensor.Tensor, err error) {
	defer tensor.Catch(&err)
	weights = rng.Normal(symbols, symbols)
	lossAndGradient := grad.ValueAndGrad(e.loss)
	for step := range steps {
		loss, gradient := lossAndGradient(weights)
		weights = weights.Sub(gradient.Mul(rate)) // a step of gradient descent
		if err := tensor.Eval(weights, loss); err != nil {
			return weights, err
		}
		report(step, loss.Item())
	}
	report(steps, e.loss(weights).Item())
	return weights, nil
}

// bigrams trains the network, draws names from it and prints the losses.
func bigrams(w io.Writer, list []string, rng *tensor.RNG) (err error) {
	defer tensor.Catch(&err)
	e := examplesOf(list)
	fmt.Fprintf(w, "%d names have %d pairs of neighbouring letters. A dot starts and ends a name.\n\n", len(list), e.y.Len())
	fmt.Fprintf(w, "counting, loss %.5f\n", e.countingLoss().Item())

	weights, err := train(rng, e, func(step int, loss float64) {
		if step%20 == 0 {
			fmt.Fprintf(w, "step %3d, loss %.5f\n", step, loss)
		}
	})
	if err != nil {
		return err
	}
	// The network's output for each symbol is a table like the counts'.
	p := logProbabilities(weights, tensor.Eye(symbols)).Exp()
	drawn, err := names.Sample(rng, p, 10)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nNew names: %s\n", strings.Join(drawn, ", "))
	return nil
}
