package tensor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// Einsum multiplies tensors and sums over axes, by a spec in Einstein's notation. Letters
// name the axes of each tensor and, after "->", the axes of the result. Axes with one
// letter share an index; letters that the result lacks are summed over. A letter that
// occurs twice in one tensor selects its diagonal. "..." stands for any further axes, which
// are broadcast. Without "->", the result has "..." and then, in alphabetical order, the
// letters that occur once.
//
//	Einsum("ij,jk->ik", a, b) // a matrix product
//	Einsum("ii", a)           // the trace
//	Einsum("...d,...d->...", a, b)
func Einsum(spec string, ts ...Tensor) Tensor {
	e := einsum{spec: spec, lengths: map[label]int{}}
	terms := e.parse(nodes("Einsum", ts))
	for len(terms) > 1 {
		terms = append([]term{e.pair(terms[0], terms[1], terms[2:])}, terms[2:]...)
	}
	last := e.sumOut(terms[0], e.result)
	order := make([]int, len(e.result))
	for i, l := range e.result {
		order[i] = slices.Index(last.labels, l)
	}
	return Tensor{n: graph.Permute(last.n, order)}
}

// A label names an axis: by a letter, or in an ellipsis by a negative number, -1 for
// the last axis.
type label rune

func (l label) String() string {
	if l < 0 {
		return ellipsis
	}
	return string(rune(l))
}

// A term is an operand whose axes have distinct labels.
type term struct {
	n      *graph.Node
	labels []label
}

type einsum struct {
	spec     string
	operands []any
	result   []label
	lengths  map[label]int
}

func (e *einsum) fail(format string, args ...any) {
	fail("Einsum", fmt.Sprintf("%q: ", e.spec)+fmt.Sprintf(format, args...), e.operands...)
}

// parse parses the spec and returns the operands as terms.
func (e *einsum) parse(ns []*graph.Node) []term {
	for _, n := range ns {
		e.operands = append(e.operands, n)
	}
	inputs, output, explicit := strings.Cut(strings.ReplaceAll(e.spec, " ", ""), "->")
	parts := strings.Split(inputs, ",")
	if len(parts) != len(ns) || len(ns) == 0 {
		e.fail("the spec is for %s, the call has %d", shape.Count(len(parts), "tensor"), len(ns))
	}
	promoteAll("Einsum", ns)
	terms, dots := make([]term, len(ns)), 0
	count := map[label]int{}
	for i, n := range ns {
		if n.DType == ir.Bool {
			failType("Einsum", n)
		}
		n = graph.Cast(n, n.DType.SumType())
		extra := len(n.Shape) - len(strings.Replace(parts[i], ellipsis, "", 1))
		if extra < 0 || extra > 0 && !strings.Contains(parts[i], ellipsis) {
			e.fail("%q is not for rank %d", parts[i], len(n.Shape))
		}
		dots = max(dots, extra)
		labels := e.labels(parts[i], extra)
		for a, l := range labels {
			count[l]++
			e.measure(l, n.Shape[a])
		}
		terms[i] = e.distinct(term{n, labels})
	}
	if explicit {
		e.result = e.labels(output, dots)
	} else {
		e.result = implicit(count, dots)
	}
	for i, l := range e.result {
		if _, ok := e.lengths[l]; !ok || slices.Contains(e.result[:i], l) {
			e.fail("axis %q of the result must be an axis of a tensor, and occur once", l)
		}
	}
	return terms
}

const ellipsis = "..."

// labels parses names of axes; an ellipsis stands for dots axes.
func (e *einsum) labels(names string, dots int) []label {
	before, after, ok := strings.Cut(names, ellipsis)
	var out []label
	for _, c := range before {
		out = append(out, e.letter(c))
	}
	for i := range dots {
		if ok {
			out = append(out, label(i-dots))
		}
	}
	for _, c := range after {
		out = append(out, e.letter(c))
	}
	return out
}

func (e *einsum) letter(c rune) label {
	if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
		e.fail("%q is not a letter", c)
	}
	return label(c)
}

// measure records the length n of an axis with label l, and checks it against others.
func (e *einsum) measure(l label, n int) {
	m, ok := e.lengths[l]
	if ok && m != n && m != 1 && n != 1 {
		e.fail("axis %q has length %d and %d", l, m, n)
	}
	if !ok || m == 1 {
		e.lengths[l] = n
	}
}

// implicit returns the labels of the result of a spec without "->".
func implicit(count map[label]int, dots int) []label {
	var out []label
	for i := range dots {
		out = append(out, label(i-dots))
	}
	var once []label
	for l, n := range count {
		if n == 1 && l > 0 {
			once = append(once, l)
		}
	}
	slices.Sort(once)
	return append(out, once...)
}

// distinct replaces axes with one label by their diagonal.
func (e *einsum) distinct(t term) term {
	for a := 0; a < len(t.labels); {
		b := slices.Index(t.labels[a+1:], t.labels[a])
		if b < 0 {
			a++
			continue
		}
		b += a + 1
		if t.n.Shape[a] != t.n.Shape[b] {
			e.fail("axis %q has length %d and %d", t.labels[a], t.n.Shape[a], t.n.Shape[b])
		}
		t.n, t.labels = diagonal(t.n, a, b), slices.Delete(t.labels, a, a+1)
	}
	return t
}

// sumOut sums over the axes of t that are not in keep.
func (e *einsum) sumOut(t term, keep []label) term {
	var axes []int
	var rest []label
	for i, l := range t.labels {
		if slices.Contains(keep, l) {
			rest = append(rest, l)
		} else {
			axes = append(axes, i)
		}
	}
	if axes == nil {
		return t
	}
	return term{drop(graph.Reduce(ir.Sum, t.n, axes), axes...), rest}
}

// pair multiplies two terms and sums over labels that neither the rest nor the result
// has.
func (e *einsum) pair(x, y term, rest []term) term {
	needed := slices.Clone(e.result)
	for _, t := range rest {
		needed = append(needed, t.labels...)
	}
	x = e.sumOut(x, slices.Concat(needed, y.labels))
	y = e.sumOut(y, slices.Concat(needed, x.labels))
	var kept, summed []label
	for _, l := range needed { // in the result's order
		if !slices.Contains(kept, l) && (slices.Contains(x.labels, l) || slices.Contains(y.labels, l)) {
			kept = append(kept, l)
		}
	}
	for _, l := range x.labels {
		if !slices.Contains(kept, l) {
			summed = append(summed, l)
		}
	}
	all := slices.Concat(kept, summed)
	s := make([]int, len(all))
	for i, l := range all {
		s[i] = 1
		for _, t := range []term{x, y} {
			if a := slices.Index(t.labels, l); a >= 0 && s[i] == 1 {
				s[i] = t.n.Shape[a]
			}
		}
	}
	checkLen("Einsum", s, e.operands...)
	axesIn := func(t term) []int {
		axes := make([]int, len(t.labels))
		for i, l := range t.labels {
			axes[i] = slices.Index(all, l)
		}
		return axes
	}
	return term{contract(x.n, axesIn(x), y.n, axesIn(y), s, len(summed)), kept}
}
