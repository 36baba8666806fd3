// Command bigrams generates names by counting how often one letter follows another. It is
// the first model of Andrej Karpathy's lecture makemore, and the smallest language model.
// It
//
//   - counts the pairs of neighbouring letters in a list of names,
//   - computes probabilities from the counts,
//   - draws new names by these, letter by letter,
//   - prints the model's loss on the names, which example bigrams-nn reaches by training,
//   - draws the probabilities as a heat map if the flag -plot names a file.
//
// For makemore's list of 32,033 names the loss is 2.454577. The lecture prints 2.4543562,
// because it adds 228,146 float32 numbers in sequence and accumulates rounding errors.
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
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

var (
	on   = flag.String("device", "", device.Usage)
	file = flag.String("names", "", names.Usage)
	seed = flag.Uint64("seed", 1, "seed that the new names are drawn from")
	draw = flag.String("plot", "", "draw the probabilities into this file, a .png or an .svg")
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
	if *draw != "" {
		if err := heatmap(probabilities(count(pairsOf(list)))).Save(*draw); err != nil {
			log.Fatal(err)
		}
	}
}

// symbols is the number of letters and the dot, which starts and ends a name.
const symbols = len(names.Alphabet)

// pairsOf returns the position of each pair of neighbours in a flattened table of all
// pairs: int32 [pairs].
func pairsOf(list []string) tensor.Tensor {
	first, second := names.Pairs(list)
	return first.Mul(symbols).Add(second)
}

// count returns how often each symbol (rows) is followed by each (columns):
// int32 [27 27]. Each pair adds 1 to its element of the table.
func count(pairs tensor.Tensor) tensor.Tensor {
	zeros := tensor.Zeros(symbols * symbols).Cast(tensor.Int32)
	one := tensor.New([]int32{1}) // broadcast over the pairs
	return zeros.ScatterAdd(0, pairs, one).Reshape(symbols, symbols)
}

// probabilities returns the model, float32 [27 27]: the row of a symbol has the
// probabilities of the next symbol. It adds 1 to every count, so that pairs that do not
// occur have a small probability.
func probabilities(counts tensor.Tensor) tensor.Tensor {
	n := counts.Add(1).Cast(tensor.Float32)
	return n.Div(n.Sum(1)) // [27 27] / [27 1]: each row by its sum
}

// loss returns the mean negative log-likelihood, -log p over all pairs. It looks up the
// pairs in the table of count.
func loss(p, pairs tensor.Tensor) tensor.Tensor {
	return p.Log().Reshape(-1).Take(0, pairs).Mean().Neg()
}

// oneByOne computes loss by adding the pairs in sequence.
func oneByOne(p, pairs tensor.Tensor) (float32, error) {
	logs, err := tensor.Data[float32](p.Log().Reshape(-1).Take(0, pairs))
	var sum float32
	for _, x := range logs {
		sum += x
	}
	return -sum / float32(len(logs)), err
}

// bigrams counts, draws names and prints the loss.
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

// heatmap draws the model: rows are symbols, columns the next symbols.
func heatmap(p tensor.Tensor) *plot.Figure {
	f := plot.Heatmap(p)
	f.Title = "The probability of the next letter in a name"
	f.X.Names = strings.Split(names.Alphabet, "")
	f.Y.Names = f.X.Names
	f.X.Label, f.Y.Label, f.Z.Label = "next letter", "letter", "probability"
	return f
}
