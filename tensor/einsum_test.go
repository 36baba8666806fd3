package tensor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/property"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/tensor"
)

// An einsumTerm is the axes of a tensor in a spec: letters, and for an ellipsis the digits
// up to 1, which is its last axis.
type einsumTerm string

// spec returns a term as Einsum knows it, with an ellipsis for digits.
func (e einsumTerm) spec() string {
	first := strings.IndexAny(string(e), "321.")
	if first < 0 {
		return string(e)
	}
	letters := func(l rune) rune {
		if strings.ContainsRune("321.", l) {
			return -1
		}
		return l
	}
	return string(e[:first]) + "..." + strings.Map(letters, string(e[first:]))
}

// axes returns the labels of a term. A dot is an ellipsis of no axes.
func (e einsumTerm) axes() string { return strings.ReplaceAll(string(e), ".", "") }

// drawTerm returns letters and perhaps an ellipsis anywhere among them.
func drawTerm(r *property.T, letters []rune, dots string, ellipsis bool) einsumTerm {
	term := slices.Clone(letters)
	if ellipsis {
		at := property.IntRange(0, len(term)).Draw(r, "ellipsis at")
		if dots == "" {
			dots = "."
		}
		term = slices.Insert(term, at, []rune(dots)...)
	}
	return einsumTerm(term)
}

// Einsum is a sum over all labels that the result lacks: of any letters, repeated ones and
// ellipses of several ranks, with axes of length 1 that are broadcast.
func TestEinsumByDefinition(t *testing.T) {
	lengths := map[rune]int{'a': 2, 'b': 3, 'C': 2, 'd': 1, '1': 2, '2': 3}
	property.Check(t, func(r *property.T) {
		var terms, specs []string
		var operands []tensor.Tensor
		longest, count, dots := map[rune]int{}, map[rune]int{}, ""
		for range property.IntRange(1, 3).Draw(r, "operands") {
			letters := property.SliceOfN(property.SampledFrom([]rune("abCd")), 0, 3).Draw(r, "letters")
			own := "21"[property.IntRange(0, 2).Draw(r, "rank"):]
			ellipsis := property.Bool().Draw(r, "ellipsis")
			if ellipsis && len(own) > len(dots) {
				dots = own
			}
			term := drawTerm(r, letters, own, ellipsis)
			thin := map[rune]bool{} // the labels that have length 1 here
			s := []int{}
			for _, l := range term.axes() {
				if _, drawn := thin[l]; !drawn {
					thin[l] = property.IntRange(0, 3).Draw(r, "thin") == 0
				}
				n := lengths[l]
				if thin[l] {
					n = 1
				}
				s = append(s, n)
				longest[l] = max(longest[l], n)
				count[l]++
			}
			terms, specs = append(terms, term.axes()), append(specs, term.spec())
			operands = append(operands, iota(s...).Add(1))
		}
		spec, out := strings.Join(specs, ","), ""
		if property.Bool().Draw(r, "implied") {
			out = dots
			for _, l := range "Cabd" { // as Unicode sorts them
				if count[l] == 1 {
					out += string(l)
				}
			}
		} else {
			all := slices.DeleteFunc([]rune("abCd"), func(l rune) bool { return count[l] == 0 })
			letters := property.Permutation(all).Draw(r, "result")
			term := drawTerm(r, letters[:property.IntRange(0, len(letters)).Draw(r, "kept")], dots, property.Bool().Draw(r, "keep ellipsis"))
			spec, out = spec+"->"+term.spec(), term.axes()
		}

		// All labels take all values.
		labels := out
		for l := range longest {
			if !strings.ContainsRune(labels, l) {
				labels += string(l)
			}
		}
		space := make([]int, len(labels))
		for i, l := range labels {
			space[i] = longest[l]
		}
		s := space[:len(out)]
		offset := func(axes string, shape, at []int) int {
			p := 0
			for i, l := range axes {
				p = p*shape[i] + min(at[strings.IndexRune(labels, l)], shape[i]-1)
			}
			return p
		}
		want := make([]float64, tensor.Zeros(s...).Len())
		xs, partial := make([][]float64, len(terms)), make([][]float64, len(terms))
		for i, x := range operands {
			xs[i] = values(t, x)
			partial[i] = make([]float64, x.Len())
		}
		for _, at := range shape.Positions(space) {
			to := offset(out, s, at)
			from := make([]int, len(terms))
			product := 1.0
			for i, term := range terms {
				from[i] = offset(term, operands[i].Shape(), at)
				product *= xs[i][from[i]]
			}
			want[to] += product
			for i := range terms {
				partial[i][from[i]] += product / xs[i][from[i]] * float64(to+1) // no element is 0
			}
		}
		got, pull := grad.VJP(func(x []tensor.Tensor) tensor.Tensor { return tensor.Einsum(spec, x...) }, operands)
		if g := values(t, got); !slices.Equal(got.Shape(), s) || !slices.EqualFunc(g, want, near) {
			r.Fatalf("%s: %v of %v, want %v of %v", spec, got.Shape(), g, s, want)
		}
		for i, d := range pull(iota(s...).Add(1)) {
			if g := values(t, d); !slices.EqualFunc(g, partial[i], near) {
				r.Fatalf("%s: derivative by operand %d is %v, want %v", spec, i, g, partial[i])
			}
		}
	})
}
