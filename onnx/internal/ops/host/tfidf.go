package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// A gram is a column of the result, and its weight.
type gram struct {
	column int
	weight float32
}

// tfIdf counts n-grams of a pool, in rows of integers or strings. Between their elements may be skips.
func tfIdf(c *op.Call) T {
	v := c.Value(0)
	var words []string
	if v.Kind == op.StringKind {
		words = v.Strings
	} else {
		for _, x := range c.Int64s(0) {
			words = append(words, fmt.Sprint(x))
		}
	}
	s := v.Dims()
	if len(s) == 0 || len(s) > 2 {
		c.Fail("the input has shape %v, want one or two axes", s)
	}
	columns := c.IntsAttr("ngram_indexes")
	if len(columns) == 0 {
		c.Fail("it has no ngram_indexes")
	}
	width := slices.Max(columns) + 1
	pool := poolOf(c, columns)
	rows, length := 1, s[len(s)-1]
	if len(s) == 2 {
		rows = s[0]
	}
	out := make([]float32, c.Count("a table", rows*c.Count("a row", width)))
	least, most, skips := max(1, c.Int("min_gram_length", 1)), min(length, c.Int("max_gram_length", 1)), min(length, c.Int("max_skip_count", 0))
	for r := range rows {
		row := words[r*length:][:length]
		counts := out[r*width:][:width]
		weights := make([]float32, width)
		for n := least; n <= most; n++ {
			for skip := 0; skip <= skips && (n > 1 || skip == 0); skip++ {
				countGrams(row, n, skip+1, pool, counts, weights)
			}
		}
		weigh(c, counts, weights)
	}
	return tensor.New(out, append(slices.Clone(s[:len(s)-1]), width)...)
}

// poolOf returns the n-grams of the attributes, whose words are joined by NUL.
func poolOf(c *op.Call, columns []int) map[string]gram {
	var words []string
	if a := c.Attr("pool_strings"); a != nil && len(a.Strings) > 0 {
		words = a.Strings
	} else {
		for _, x := range c.IntsAttr("pool_int64s") {
			words = append(words, fmt.Sprint(x))
		}
	}
	var weights []float32
	if a := c.Attr("weights"); a != nil {
		weights = a.Floats
	}
	starts := append(slices.Clone(c.IntsAttr("ngram_counts")), len(words))
	if slices.Min(starts) < 0 || slices.Max(starts) > len(words) {
		c.Fail("ngram_counts are %v of %d words", starts[:len(starts)-1], len(words))
	}
	pool := map[string]gram{}
	k := 0
	for i := range len(starts) - 1 {
		n := i + 1
		for at := starts[i]; at+n <= starts[i+1] && k < len(columns); at += n {
			g := gram{columns[k], 1}
			if k < len(weights) {
				g.weight = weights[k]
			}
			pool[strings.Join(words[at:at+n], "\x00")] = g
			k++
		}
	}
	return pool
}

// countGrams counts the n-grams of a row whose elements are step apart.
func countGrams(row []string, n, step int, pool map[string]gram, counts, weights []float32) {
	for i := 0; i+(n-1)*step < len(row); i++ {
		words := make([]string, n)
		for j := range words {
			words[j] = row[i+j*step]
		}
		if g, ok := pool[strings.Join(words, "\x00")]; ok && g.column >= 0 {
			counts[g.column]++
			weights[g.column] = g.weight
		}
	}
}

// weigh replaces counts by the numbers of the mode.
func weigh(c *op.Call, counts, weights []float32) {
	mode := c.String("mode", "TF")
	for i, n := range counts {
		switch {
		case n == 0, mode == "TF":
		case mode == "IDF":
			counts[i] = weights[i]
		case mode == "TFIDF":
			counts[i] = n * weights[i]
		default:
			c.Fail("there is no mode %q", mode)
		}
	}
}
