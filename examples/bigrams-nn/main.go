// Command bigrams-nn learns to make names with the smallest of neural
// networks, one layer without bias, from makemore, a lecture of Andrej
// Karpathy: given a letter, it says how probable each letter is to follow.
//
// Example bigrams finds these probabilities by counting. This one starts from
// random weights and improves them step by step, by the gradient of the loss.
// After 200 steps its loss is less than 0.02 above that of counting. It is the
// way that leads on to larger networks: they see more letters than one, and too
// many different cases to count them.
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
	rate  = 50 // large: of all the pairs that the loss is a mean of, few use a given weight
)

// examples are pairs of neighbouring letters.
type examples struct {
	x tensor.Tensor // the first of each pair, a 1 among zeros: float32 [pairs 27]
	y tensor.Tensor // the second, its number: int32 [pairs]
}

func examplesOf(list []string) examples {
	first, second := names.Pairs(list)
	return examples{first.OneHot(symbols).Cast(tensor.Float32), second}
}

// logProbabilities is the network, with weights [27 27]: of letters x [n 27]
// it gives the logarithms of the probabilities of what follows them, [n 27].
// A 1 among zeros picks a row of the weights. These may be any numbers;
// softmax makes probabilities of them, positive and with the sum 1.
func logProbabilities(weights, x tensor.Tensor) tensor.Tensor {
	return x.MatMul(weights).LogSoftmax(1)
}

// loss is the mean over all pairs of -log p of the letter that did follow.
func (e examples) loss(weights tensor.Tensor) tensor.Tensor {
	return nn.NLL(logProbabilities(weights, e.x), e.y).Mean()
}

// least is the loss of the model that counts, which no weights can undercut.
func (e examples) least() tensor.Tensor {
	counts := e.x.T().MatMul(e.y.OneHot(symbols).Cast(tensor.Float32)) // [27 27]
	logp := counts.Div(counts.Sum(1)).Log()
	// A pair that does not occur adds nothing, though its logarithm is -Inf.
	sum := tensor.Where(counts.Gt(0), counts.Mul(logp), 0).Sum()
	return sum.Div(counts.Sum()).Neg()
}

// train descends from random weights, and calls report with each step's
// number and the loss before it.
func train(rng *tensor.RNG, e examples, report func(step int, loss float64)) (weights tensor.Tensor, err error) {
	defer tensor.Catch(&err)
	weights = rng.Normal(symbols, symbols)
	lossAndGradient := grad.ValueAndGrad(e.loss)
	for step := range steps {
		loss, gradient := lossAndGradient(weights)
		weights = weights.Sub(gradient.Mul(rate)) // downhill
		if err := tensor.Eval(weights, loss); err != nil {
			return weights, err
		}
		report(step, loss.Item())
	}
	report(steps, e.loss(weights).Item())
	return weights, nil
}

// bigrams trains the network, draws names from it and tells the losses.
func bigrams(w io.Writer, list []string, rng *tensor.RNG) (err error) {
	defer tensor.Catch(&err)
	e := examplesOf(list)
	fmt.Fprintf(w, "%d names have %d pairs of neighbouring letters. A dot starts and ends a name.\n\n", len(list), e.y.Len())
	fmt.Fprintf(w, "counting, loss %.5f\n", e.least().Item())

	weights, err := train(rng, e, func(step int, loss float64) {
		if step%20 == 0 {
			fmt.Fprintf(w, "step %3d, loss %.5f\n", step, loss)
		}
	})
	if err != nil {
		return err
	}
	// What the network says of each symbol is a table, as that of the counts.
	p := logProbabilities(weights, tensor.Eye(symbols)).Exp()
	drawn, err := names.Sample(rng, p, 10)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nNew names: %s\n", strings.Join(drawn, ", "))
	return nil
}
