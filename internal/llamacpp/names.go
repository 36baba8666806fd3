package llamacpp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// A line of a table of tensors.
type line struct {
	gguf, hf []string // names without weight and bias, cut at dots; %d and * are numbers
	how      string   // an operation, or a condition
}

// A setting is a line of a table of settings.
type setting struct {
	key, name string
	typ       string // u: uint32, f: float32
}

func (a *architecture) lines() (all []line) {
	for text := range strings.Lines(a.tensors) {
		if f := strings.Fields(text); len(f) > 1 {
			all = append(all, line{strings.Split(f[0], "."), strings.Split(f[1], "."), strings.Join(f[2:], "")})
		}
	}
	return all
}

// keyed returns the whole key of metadata.
func (a *architecture) keyed(key string) string {
	if strings.HasPrefix(key, "tokenizer.") {
		return key
	}
	return a.name + "." + key
}

func (a *architecture) settingLines() (all []setting) {
	for text := range strings.Lines(a.settings) {
		if f := strings.Fields(text); len(f) > 0 {
			all = append(all, setting{a.keyed(f[0]), f[1], f[2]})
		}
	}
	return all
}

// cutEnd cuts weight or bias from the end of a tensor's name; end is "" if it has neither.
func cutEnd(name string) (parts []string, end string) {
	parts = strings.Split(name, ".")
	if last := parts[len(parts)-1]; last == "weight" || last == "bias" {
		return parts[:len(parts)-1], last
	}
	return parts, ""
}

// match returns the numbers of a name of a pattern.
func match(pattern, name []string) (numbers []int, ok bool) {
	if len(pattern) != len(name) {
		return nil, false
	}
	for i, p := range pattern {
		if p == "%d" || p == "*" {
			n, err := strconv.Atoi(name[i])
			if err != nil || n < 0 || strconv.Itoa(n) != name[i] {
				return nil, false
			}
			numbers = append(numbers, n)
		} else if p != name[i] {
			return nil, false
		}
	}
	return numbers, true
}

// fill returns the name of a pattern with numbers.
func fill(pattern []string, numbers []int, end string) string {
	parts := append(slices.Clone(pattern), end)
	for i, p := range parts {
		if p == "%d" || p == "*" {
			parts[i], numbers = strconv.Itoa(numbers[0]), numbers[1:]
		}
	}
	return strings.Join(parts, ".")
}

// stacked reports whether the tensors of a pattern are one in GGUF.
func (l line) stacked() bool { return slices.Contains(l.hf, "*") }

// heads are numbers of heads, and a factor of the norms of queries, 0 for 1.
type heads struct {
	queries, keys int
	scale         float64
}

// check returns an error unless the rows of queries or keys are pairs of each head.
func (h heads) check(name, how string, shape []int) error {
	n, ok := map[string]int{"queries": h.queries, "keys": h.keys}[how]
	if ok && (len(shape) == 0 || shape[0] == 0 || shape[0]%(2*n) != 0) {
		return fmt.Errorf("%q is of shape %v: want %d heads with pairs of rows", name, shape, n)
	}
	return nil
}

// An operation changes the elements of a tensor.
type operation struct {
	load, store func(x tensor.Tensor, h heads) tensor.Tensor
}

// pairs permutes the rows of each head, which are halves of pairs by pairs, or the other way
// round.
func pairs(x tensor.Tensor, n, halves int) tensor.Tensor {
	rows := x.Dim(0)
	first := 2
	if halves != 2 {
		first = rows / n / 2
	}
	shape := append([]int{n, first, rows / n / first}, x.Shape()[1:]...)
	return x.Reshape(shape...).Transpose(1, 2).Reshape(x.Shape()...)
}

// movePairs is pairs of rows from a file, which may be in blocks.
func movePairs(x tensor.Tensor, n int) tensor.Tensor {
	return tensor.Internal.MoveBlocks(graph.Token{}, "gguf", x, func(x tensor.Tensor) tensor.Tensor { return pairs(x, n, 0) })
}

func transpose(x tensor.Tensor, _ heads) tensor.Tensor {
	if len(x.Shape()) < 2 { // a bias
		return x
	}
	return x.T()
}

func plusOne(x tensor.Tensor, _ heads) tensor.Tensor { return x.Cast(tensor.Float32).Add(1) }

func minusOne(x tensor.Tensor, _ heads) tensor.Tensor { return x.Sub(1) }

var operations = map[string]operation{
	"queries": {
		func(x tensor.Tensor, h heads) tensor.Tensor { return movePairs(x, h.queries) },
		func(x tensor.Tensor, h heads) tensor.Tensor { return pairs(x, h.queries, 2) },
	},
	"keys": {
		func(x tensor.Tensor, h heads) tensor.Tensor { return movePairs(x, h.keys) },
		func(x tensor.Tensor, h heads) tensor.Tensor { return pairs(x, h.keys, 2) },
	},
	"transposed": {transpose, transpose},
	"plus1":      {minusOne, plusOne},
	"scaled":     {minusOne, func(x tensor.Tensor, h heads) tensor.Tensor { return plusOne(x, h).Mul(cmp.Or(h.scale, 1)) }},
}

func floats(x tensor.Tensor) ([]float64, error) {
	list, err := tensor.Data[float32](x.Cast(tensor.Float32))
	all := make([]float64, len(list))
	for i, v := range list {
		all[i] = float64(v)
	}
	return all, err
}

// llama3Factors returns the divisors of rates in the scaling of Llama 3.
func llama3Factors(s map[string]any, number func(string) float64) ([]float32, error) {
	width, _ := s["head_dim"].(uint32)
	theta, _ := s["rope_theta"].(float32)
	factor, low, high := number("factor"), number("low_freq_factor"), number("high_freq_factor")
	length := number("original_max_position_embeddings")
	if width == 0 || !(theta > 0 && factor > 0 && 0 < low && low < high && length > 0) {
		return nil, errors.New("rotary positions of type llama3 lack a setting, or have one that is not above 0")
	}
	factors := make([]float32, width/2)
	for i := range factors {
		turns := length / (2 * math.Pi * math.Pow(float64(theta), 2*float64(i)/float64(width)))
		kept := min(max((turns-low)/(high-low), 0), 1)
		factors[i] = float32(1 / ((1-kept)/factor + kept))
	}
	return factors, nil
}

// compareNames compares names part by part, numbers by value.
func compareNames(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a, b)
	})
}
