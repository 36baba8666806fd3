package train

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A NaN is the place at which a computation made its first number that is not finite.
type NaN struct {
	Value float64 // NaN, or an infinity if there is no NaN
	Op    string  // the operation of the graph, such as "Log"; "" for a tensor that was given
	Shape []int
	Index []int // of the number in the operation's result
	// Operands are the numbers that it was computed from, nil for an operation that is not
	// elementwise.
	Operands []float64
	Pos      string // the file and line that called the operation, "" if unknown
	// Backward says that a derivative made it; Pos is then the operation that was
	// differentiated.
	Backward bool
}

// String describes n in a line.
func (n *NaN) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the first %v", n.Value)
	if n.Op == "" {
		fmt.Fprintf(&b, " is in a tensor %v that was given, at %v", n.Shape, n.Index)
		return b.String()
	}
	fmt.Fprintf(&b, " is made by %s of shape %v", n.Op, n.Shape)
	switch {
	case n.Pos != "" && n.Backward:
		fmt.Fprintf(&b, ", the derivative of %s", n.Pos)
	case n.Pos != "":
		fmt.Fprintf(&b, ", called in %s", n.Pos)
	}
	fmt.Fprintf(&b, ", at %v", n.Index)
	for i, x := range n.Operands {
		fmt.Fprint(&b, []string{" of ", " and "}[min(i, 1)], x)
	}
	return b.String()
}

// FindNaN calls f and returns where the tensors in its result, a tree, have their first NaN
// from, or if they have none, their first infinity: the operation with such numbers in its
// result and none in its operands. It returns nil if all are finite.
//
//	found, err := train.FindNaN(func() any { return grad.Of(loss)(model) })
//	fmt.Println(found) // the first NaN is made by Log of shape [4 3], called in model.go:12, at [0 2] of -1
//
// f is to make the tensors, from others that are computed, and compute none itself. FindNaN
// examines the result of each operation, so it takes several times as long as the
// computation, and more memory. Operations are the graph's: a softmax, say, is Sub, Exp,
// Sum and Div, all with the line of its call. If tensors come in a slice of type []any, the
// derivatives should come after the value, so that NaN.Backward is right.
func FindNaN(f func() any) (found *NaN, err error) {
	if f == nil {
		misuse("FindNaN", "the function is nil: want one that computes a tree")
	}
	defer tensor.Catch(&err)
	stop := graph.RecordSites()
	result := func() any { defer stop(); return f() }()
	var roots []*graph.Node
	forward := 0
	for _, t := range tree.All(result) {
		if t.DType().IsFloat() {
			roots = append(roots, tensor.Internal.Node(graph.Token{}, t))
		}
		if len(roots) == 1 {
			forward = len(graph.Sorted(roots))
		}
	}
	s := newSearch(roots)
	for _, s.is = range []func(tensor.Tensor) tensor.Tensor{tensor.Tensor.IsNaN, tensor.Tensor.IsInf} {
		if found, err = s.run(roots, forward); found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// anyNotFinite reports whether one of the floating-point tensors in trees has a number
// that is not finite.
func anyNotFinite(trees ...any) (bool, error) {
	any := tensor.Zeros(1).Ne(0)
	for _, t := range tree.All(trees) {
		if t.DType().IsFloat() {
			any = any.Or(t.Sub(t).Ne(0).Any().Reshape(1)) // Inf - Inf is NaN, which differs from 0
		}
	}
	flags, err := tensor.Data[bool](any)
	return err == nil && flags[0], err
}

// A search looks for the operation that made a kind of number. Nodes are numbered,
// operands first.
type search struct {
	nodes []*graph.Node
	src   [][]*graph.Node // operands, which nodes drop when they are computed
	sites []*graph.CallSite
	at    graph.Numbers
	is    func(tensor.Tensor) tensor.Tensor
	bad   []bool    // by node
	taken [][2]bool // for Where: whether elements taken from an operand are bad
}

func newSearch(roots []*graph.Node) *search {
	s := &search{}
	s.nodes, s.at = graph.Numbered(roots)
	for _, n := range s.nodes {
		var src []*graph.Node
		for _, x := range n.Src().All() {
			src = append(src, x)
		}
		s.src, s.sites = append(s.src, src), append(s.sites, n.CallSite())
	}
	return s
}

// chunk is the number of nodes that one plan examines.
const chunk = 256

// run returns the operation that made a bad number of the roots, nil if all are finite.
// Nodes from number forward on are derivatives.
func (s *search) run(roots []*graph.Node, forward int) (*NaN, error) {
	if err := s.examine(); err != nil {
		return nil, err
	}
	first := -1
	seen := make([]bool, len(s.nodes))
	var visit []int
	for _, r := range roots {
		visit = append(visit, s.number(r))
	}
	for len(visit) > 0 {
		i := visit[len(visit)-1]
		visit = visit[:len(visit)-1]
		if seen[i] || !s.bad[i] {
			continue
		}
		seen[i] = true
		from := s.sources(i)
		visit = append(visit, from...)
		if len(from) == 0 && (first < 0 || i < first) {
			first = i
		}
	}
	if first < 0 {
		return nil, nil
	}
	return s.describe(first, first >= forward)
}

func (s *search) number(n *graph.Node) int {
	i, _ := s.at.Get(n)
	return i
}

// sources returns the operands that node i may have its bad numbers from.
func (s *search) sources(i int) (from []int) {
	n := s.nodes[i]
	for k, x := range s.src[i] {
		j := s.number(x)
		switch {
		case !s.bad[j]:
		case n.Op == ir.Where && (k == 0 || !s.taken[i][k-1]):
		case n.Op.Class() == ir.Alias && k > 0:
		default:
			from = append(from, j)
		}
	}
	return from
}

// examine finds the nodes with bad numbers. It stores the results of all operations, so that
// each is computed once, but for those that are only passed through.
func (s *search) examine() error {
	s.bad, s.taken = make([]bool, len(s.nodes)), make([][2]bool, len(s.nodes))
	var flags []tensor.Tensor
	var to []*bool
	flush := func() error {
		if len(flags) == 0 {
			return nil
		}
		values, err := tensor.Data[bool](tensor.Cat(0, flags...))
		for i, v := range values {
			*to[i] = v
		}
		flags, to = nil, nil
		return err
	}
	flag := func(t tensor.Tensor, into *bool) {
		flags, to = append(flags, t.Any().Reshape(1)), append(to, into)
	}
	for i, n := range s.nodes {
		if !n.DType.IsFloat() || s.isPassed(i) {
			continue
		}
		if n.Op.Class() != ir.Movement {
			n.Keep()
		}
		flag(s.is(wrap(n)), &s.bad[i])
		if n.Op == ir.Where && len(s.src[i]) == 3 {
			cond := wrap(s.src[i][0])
			for k, c := range []tensor.Tensor{cond, cond.Not()} {
				flag(s.is(wrap(s.src[i][k+1])).And(c), &s.taken[i][k])
			}
		}
		if len(flags) >= chunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	for i := range s.nodes {
		if s.nodes[i].DType.IsFloat() && s.isPassed(i) {
			s.bad[i] = len(s.sources(i)) > 0
		}
	}
	return nil
}

// isPassed reports whether the result of node i is not examined, but taken for bad if an
// operand is: it has the elements of an operand, or is the product of a contraction, which
// is as large as all its multiplications.
func (s *search) isPassed(i int) bool {
	n := s.nodes[i]
	switch {
	case len(s.src[i]) == 0:
		return false
	case n.Op.Class() == ir.Alias || isRepeated(n.Op):
		return true
	}
	return n.Op == ir.Mul && s.repeats(s.src[i][0]) && s.repeats(s.src[i][1])
}

// isRepeated reports whether an operation repeats the elements of its operand.
func isRepeated(op ir.Op) bool { return op == ir.Expand || op == ir.Window }

// repeats reports whether n is a view with repeated elements.
func (s *search) repeats(n *graph.Node) bool {
	for n.Op.Class() == ir.Movement {
		src := s.src[s.number(n)]
		if isRepeated(n.Op) || len(src) == 0 {
			return isRepeated(n.Op)
		}
		n = src[0]
	}
	return false
}

// describe returns the report about the bad number of node i.
func (s *search) describe(i int, backward bool) (*NaN, error) {
	n := s.nodes[i]
	out := &NaN{Op: n.Op.String(), Shape: n.Shape, Pos: s.sites[i].Pos(), Backward: backward}
	if n.Op == ir.Buffer {
		out.Op = ""
	}
	flat := wrap(n).Reshape(-1)
	at := int(s.is(flat).Cast(tensor.Int32).ArgMax(0).Item())
	out.Index, out.Value = indexOf(n.Shape, at), flat.At(at).Item()
	if n.Op.Class() == ir.Elementwise {
		for _, x := range s.src[i] {
			out.Operands = append(out.Operands, wrap(x).Cast(tensor.Float32).Reshape(-1).At(at).Item())
		}
	}
	return out, nil
}

// indexOf returns the index of the element with a number, row-major.
func indexOf(lengths []int, at int) []int {
	index := make([]int, len(lengths))
	for axis, stride := range shape.RowMajor(lengths) {
		index[axis] = at / stride % lengths[axis]
	}
	return index
}

func wrap(n *graph.Node) tensor.Tensor { return tensor.Internal.Tensor(graph.Token{}, n) }
