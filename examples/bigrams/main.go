// Command bigrams learns to make names by counting: how often does one letter
// follow another? It is the first model of Andrej Karpathy's lecture makemore,
// and the smallest of language models. It
//
//   - counts the pairs of neighbouring letters in a list of names,
//   - turns the counts into probabilities,
//   - draws new names from these, letter by letter,
//   - says how well the model knows the names: its loss, which example
//     bigrams-nn reaches in another way.
//
// For the 32,033 names that come with makemore the loss is 2.454577, and
// 2.4543562 as the lecture has it, which adds up 228,146 float32 numbers one
// after the other and rounds as many times.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/tensor"
)

var (
	on   = flag.String("device", "", device.Usage)
	file = flag.String("names", "", names.Usage)
	seed = flag.Uint64("seed", 1, "seed that the new names are drawn from")
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

// pairsOf returns where each pair of neighbours in the names stands in a table
// of all pairs, flattened: int32 [pairs].
func pairsOf(list []string) tensor.Tensor {
	first, second := names.Pairs(list)
	return first.Mul(symbols).Add(second)
}

// count returns how often each symbol (rows) is followed by each (columns):
// int32 [27 27]. Every pair adds a one to its place in the table.
func count(pairs tensor.Tensor) tensor.Tensor {
	zeros := tensor.Zeros(symbols * symbols).Cast(tensor.Int32)
	one := tensor.New([]int32{1}) // broadcast over the pairs
	return zeros.ScatterAdd(0, pairs, one).Reshape(symbols, symbols)
}

// probabilities returns the model, float32 [27 27]: the row of a symbol has
// the probabilities of what follows it. One is added to every count, so that
// nothing is held to be impossible only because it was not seen.
func probabilities(counts tensor.Tensor) tensor.Tensor {
	n := counts.Add(1).Cast(tensor.Float32)
	return n.Div(n.Sum(1)) // [27 27] by [27 1]: each row by its sum
}

// loss returns the mean over all pairs of -log p, the negative log-likelihood:
// the lower, the better the model knows the names. It looks up each pair in
// the table that count has filled.
func loss(p, pairs tensor.Tensor) tensor.Tensor {
	return p.Log().Reshape(-1).Take(0, pairs).Mean().Neg()
}

// oneByOne is loss with the sum taken one pair after the other.
func oneByOne(p, pairs tensor.Tensor) (float32, error) {
	logs, err := tensor.Data[float32](p.Log().Reshape(-1).Take(0, pairs))
	var sum float32
	for _, x := range logs {
		sum += x
	}
	return -sum / float32(len(logs)), err
}

// bigrams counts, draws names and tells the loss.
func bigrams(w io.Writer, list []string, rng *tensor.RNG) (err error) {
	defer tensor.Catch(&err)
	pairs := pairsOf(list)
	fmt.Fprintf(w, "%d names have %d pairs of neighbouring letters. A dot starts and ends a name.\n", len(list), pairs.Len())

	counts := count(pairs)
	p := probabilities(counts)
	if err := tensor.Eval(counts, p); err != nil {
		return err
	}
	fmt.Fprint(w, "\nThe most frequent pairs, and the probability that the second follows the first:\n\n")
	if err := printMostFrequent(w, counts, p); err != nil {
		return err
	}
	fmt.Fprint(w, "\nHow often a letter (rows) is followed by another (columns):\n\n")
	if err := printTable(w, counts); err != nil {
		return err
	}

	drawn, err := names.Sample(rng, p, 10)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nNew names: %s\n", strings.Join(drawn, ", "))

	fmt.Fprint(w, "\nThe negative log-likelihood of a pair:\n\n")
	fmt.Fprintf(w, "  %.6f if all symbols were equally probable\n", math.Log(float64(symbols)))
	fmt.Fprintf(w, "  %.6f by the counts\n", loss(p, pairs).Item())
	slow, err := oneByOne(p, pairs)
	fmt.Fprintf(w, "  %.7f by the counts, added up one pair after the other, in float32\n", slow)
	return err
}

// printMostFrequent prints the ten most frequent pairs, or all if fewer occur.
func printMostFrequent(w io.Writer, counts, p tensor.Tensor) error {
	n, err := tensor.Data[int32](counts)
	if err != nil {
		return err
	}
	q, err := tensor.Data[float32](p)
	if err != nil {
		return err
	}
	order := make([]int, len(n))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(n[b], n[a]) })
	for _, i := range order[:10] {
		if n[i] == 0 {
			break
		}
		fmt.Fprintf(w, "  %c%c %7d %7.4f\n", names.Alphabet[i/symbols], names.Alphabet[i%symbols], n[i], q[i])
	}
	return nil
}

// printTable prints the counts with the symbols of rows and columns.
func printTable(w io.Writer, counts tensor.Tensor) error {
	n, err := tensor.Data[int32](counts)
	if err != nil {
		return err
	}
	width := len(fmt.Sprint(slices.Max(n))) + 1
	fmt.Fprint(w, " ")
	for _, s := range names.Alphabet {
		fmt.Fprintf(w, "%*c", width, s)
	}
	for i, row := range slices.Collect(slices.Chunk(n, symbols)) {
		fmt.Fprintf(w, "\n%c", names.Alphabet[i])
		for _, v := range row {
			fmt.Fprintf(w, "%*d", width, v)
		}
	}
	fmt.Fprintln(w)
	return nil
}
