package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// AttentionOptions say which keys a query attends to, and how. A key must pass all of
// Mask, Causal and Window.
type AttentionOptions struct {
	// Mask broadcasts to [..., heads, queries, keys]: bools, true where a query attends to
	// a key, or floats of q's type that are added to the scores, such as -Inf. Absent: all.
	Mask Tensor
	// Causal lets the query at position p attend to the keys at positions up to p. The
	// first query is at position Offset, the first key at 0.
	Causal bool
	// Window, if not 0, lets it attend to keys less than Window positions away.
	Window int
	// Offset is the position of the first query, as the number of keys in a cache before: an
	// integer, or an int32 tensor of one element. nil is 0.
	Offset Operand
	// Scale is the factor of the scores; 0 is 1/√width.
	Scale float64
	// SoftCap, if not 0, bounds the scores before Mask is added: score is
	// SoftCap·tanh(score/SoftCap).
	SoftCap float64
	// Dropout is the probability with which each weight of a value is set to 0, and the
	// others are divided by 1-Dropout. Without an RNG none is.
	Dropout float64
	RNG     *RNG
}

// Attention returns softmax(q·kᵀ·scale)·v over the keys that each query attends to: q [...,
// heads, queries, width], k [..., heads, keys, width] and v [..., heads, keys, width of v] give
// [..., heads, queries, width of v]. A query that attends to no key gives zeros, and no NaN in
// derivatives. The heads of k and v may be fewer, if their number divides the number of q's:
// then consecutive heads of q share one. Axes before the heads are broadcast. With two axes
// there are no heads. A masked key and its value have no effect on results and derivatives, even
// NaN, but a key must be finite if the mask is of floats, which are added. Floats only.
func Attention(q, k, v Tensor, o *AttentionOptions) Tensor {
	x, y, z := q.floats("Attention"), k.node("Attention"), v.node("Attention")
	x, y = promote("Attention", x, y)
	x, z = promote("Attention", x, z)
	if o == nil {
		o = &AttentionOptions{}
	}
	if m := o.Mask; x.IsUntyped() && m.IsValid() && m.n.DType.IsFloat() {
		x, _ = promote("Attention", x, m.n)
	}
	x, y = promote("Attention", x, y) // z or the mask may have had a type that both lacked
	x, z = promote("Attention", x, z)
	a := attentionShape(o, x, y, z)
	first := o.firstQuery(x)
	scale := o.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(max(a.width, 1)))
	}
	if a.group > 1 { // each head of k meets its heads of q along an axis of their own
		x = graph.Reshape(x, splitHeads(x.Shape, a.group))
		y, z = insert(y, len(y.Shape)-2), insert(z, len(z.Shape)-2)
	}
	score, weigh, times := ir.Op(0), ir.Op(0), mul // kinds of products, see [graph.MulBy]
	if o.hides() {
		score, weigh, times = ir.Gather, ir.Where, graph.Weigh
	}
	s := matMulBy(score, x, Tensor{n: y}.T().n)
	if fraction, _ := math.Frexp(scale); o.Scale == 0 && fraction == 0.5 {
		s = s.Mul(Tensor{n: graph.Fill(s.n.DType, scale, s.n.Shape)}) // not a number of the plan: kernels multiply by powers of two for nothing
	} else {
		s = s.Mul(scale)
	}
	if o.SoftCap != 0 {
		limit := max(o.SoftCap, minPositive(s.DType()))
		s = s.Div(limit).Tanh()
		if o.hides() {
			s = Tensor{n: graph.Maskable(s.n)}
		}
		s = s.Mul(limit)
	}
	s = o.masked(s.n, a, first)
	out := matMulBy(weigh, o.dropped(softmaxOrZero(s.n, times)).n, z)
	if a.group > 1 {
		out = Tensor{n: graph.Reshape(out.n, joinHeads(out.n.Shape))}
	}
	return out
}

// An attentionSize has the lengths of a call of Attention.
type attentionSize struct {
	queries, keys, width int
	group                int // heads of q that share a head of k and v
}

func attentionShape(o *AttentionOptions, q, k, v *graph.Node) attentionSize {
	rank := len(q.Shape)
	bad := func(reason string) { fail("Attention", reason, q, k, v) }
	if rank < 2 || len(k.Shape) != rank || len(v.Shape) != rank {
		bad("the operands are [..., heads, time, width], of one rank")
	}
	a := attentionSize{q.Shape[rank-2], k.Shape[rank-2], q.Shape[rank-1], 1}
	if k.Shape[rank-1] != a.width {
		bad(fmt.Sprintf("queries have width %d, keys %d", a.width, k.Shape[rank-1]))
	}
	if v.Shape[rank-2] != a.keys {
		bad(fmt.Sprintf("there are %d keys and %d values", a.keys, v.Shape[rank-2]))
	}
	if rank > 2 {
		heads, shared := q.Shape[rank-3], k.Shape[rank-3]
		if v.Shape[rank-3] != shared || shared == 0 && heads > 0 || shared > 0 && heads%shared != 0 {
			bad(fmt.Sprintf("%s of q, %d of k and %d of v: those of k and v must be equal and divide q's",
				shape.Count(heads, "head"), shared, v.Shape[rank-3]))
		}
		if shared > 0 {
			a.group = max(heads/shared, 1)
		}
		batch, ok := shape.Broadcast(q.Shape[:rank-3], k.Shape[:rank-3])
		if ok {
			_, ok = shape.Broadcast(batch, v.Shape[:rank-3])
		}
		if !ok {
			bad("the axes before the heads do not broadcast: lengths must be equal or 1")
		}
	}
	if o.Window < 0 || o.Window > math.MaxInt32 {
		bad(fmt.Sprintf("Window is %d, want a number of positions", o.Window))
	}
	if math.IsNaN(o.Scale) || math.IsInf(o.Scale, 0) {
		bad(fmt.Sprintf("Scale is %v: want a finite number, or 0 for 1/√width", o.Scale))
	}
	if !(o.SoftCap >= 0) || math.IsInf(o.SoftCap, 1) {
		bad(fmt.Sprintf("SoftCap is %v: want a positive number, or 0 for none", o.SoftCap))
	}
	if !(o.Dropout >= 0 && o.Dropout < 1) {
		bad(fmt.Sprintf("Dropout is %v: want a probability below 1", o.Dropout))
	}
	checkPositions("Attention", q, a.queries)
	checkPositions("Attention", k, a.keys)
	return a
}

// splitHeads replaces the axis of heads by two, shared ones and groups.
func splitHeads(s []int, group int) []int {
	h := len(s) - 3
	return slices.Concat(s[:h], []int{s[h] / group, group}, s[h+1:])
}

// joinHeads is the inverse of splitHeads.
func joinHeads(s []int) []int {
	h := len(s) - 4
	return slices.Concat(s[:h], []int{s[h] * s[h+1]}, s[h+2:])
}

// hides reports whether some queries may not attend to some keys, which then have no effect on them even if
// they are NaN.
func (o *AttentionOptions) hides() bool {
	return o.Mask.IsValid() || o.Causal || o.Window != 0 || o.Dropout != 0
}

// masked returns the scores s, -Inf for keys to which a query does not attend.
func (o *AttentionOptions) masked(s *graph.Node, a attentionSize, first queryStart) Tensor {
	scores := Tensor{n: s}
	if o.Mask.IsValid() {
		m := o.mask(s, a)
		if m.n.DType != ir.Bool {
			scores = scores.Add(m)
		} else {
			scores = Where(m, scores, lowest(scores.n))
		}
	}
	if !o.Causal && o.Window == 0 {
		return scores
	}
	upTo := first.upTo(a)
	var attends Tensor
	if o.Causal {
		attends = upTo(0)
	}
	if o.Window > 0 {
		if !o.Causal {
			attends = upTo(o.Window - 1)
		}
		attends = attends.And(upTo(-o.Window).Not())
	}
	return Where(attends, scores, lowest(scores.n))
}

// lowest is -Inf for scores. A constant of the plan, not a run-time number: compilers see
// that it masks.
func lowest(scores *graph.Node) Tensor { return Tensor{n: fill(scores, math.Inf(-1))} }

// A queryStart is the position of the first query: a tensor, or a number if that is absent.
type queryStart struct {
	tensor Tensor
	number int
	fixed  bool // the number is a part of the program
}

func (o *AttentionOptions) firstQuery(q *graph.Node) queryStart {
	switch v := o.Offset.(type) {
	case nil:
		return queryStart{fixed: true}
	case Tensor:
		n := v.node("Attention")
		if n.DType != ir.Int32 || n.Len() != 1 {
			fail("Attention", fmt.Sprintf("Offset is %v %v, want an int32 tensor of one element", n.DType, n.Shape), q)
		}
		checkDevices("Attention", q, n)
		return queryStart{tensor: v.Reshape()}
	default:
		num, status := number(ir.Int32, v)
		if status != fits {
			fail("Attention", fmt.Sprintf("Offset is %v, want a position of int32, or a tensor of one", v), q)
		}
		return queryStart{number: int(int32(num))}
	}
}

// upTo returns a function that tells for queries and keys whether a key is at most n
// positions after the query.
func (f queryStart) upTo(a attentionSize) func(n int) Tensor {
	grid := []int{a.queries, a.keys}
	ahead := Tensor{n: sub(graph.Iota(grid, 1), graph.Iota(grid, 0))} // of the query, but for the first's position
	constant := func(n int) Tensor {
		return Tensor{n: graph.Const(ir.Int32, ir.Int(ir.Int32, int64(n)), ahead.n.Shape)}
	}
	if f.tensor.IsValid() { // it is the one argument, so that devices know a bound
		ahead := ahead.Sub(f.tensor)
		return func(n int) Tensor { return ahead.Le(constant(n)) }
	}
	// Beyond these limits lies no key: so great numbers do not overflow.
	return func(n int) Tensor {
		last := min(max(f.number+n, -a.queries), a.keys)
		if f.fixed {
			return ahead.Le(constant(last))
		}
		return ahead.Le(last)
	}
}

// mask returns the mask for scores, whose heads may be split.
func (o *AttentionOptions) mask(s *graph.Node, a attentionSize) Tensor {
	m := o.Mask.node("Attention")
	if m.DType != ir.Bool && m.DType != s.DType && !takesType(m, s.DType) {
		fail("Attention", fmt.Sprintf("the mask is of bools, or of floats of q's type %v: Cast it", s.DType), m)
	}
	checkDevices("Attention", s, m)
	whole := s.Shape
	if a.group > 1 {
		whole = joinHeads(s.Shape)
	}
	if !shape.BroadcastsTo(m.Shape, whole) {
		fail("Attention", fmt.Sprintf("the mask does not broadcast to the scores %v", whole), m)
	}
	if h := len(m.Shape) - 3; a.group > 1 && h >= 0 {
		if m.Shape[h] == 1 {
			m = insert(m, h)
		} else {
			m = graph.Reshape(m, splitHeads(m.Shape, a.group))
		}
	}
	return Tensor{n: m}
}

// dropped returns the weights p after dropout.
func (o *AttentionOptions) dropped(p Tensor) Tensor {
	if o.RNG == nil || o.Dropout == 0 {
		return p
	}
	kept := o.RNG.Uniform(p.n.Shape...).Ge(o.Dropout)
	zero := Tensor{n: graph.Const(p.n.DType, 0, p.n.Shape)} // not a number of the plan: compilers know that it drops
	return Where(kept, p.Mul(1/(1-o.Dropout)), zero)
}

// softmaxOrZero is the softmax along the last axis, and zeros for a row of -Inf. Its derivatives multiply by
// its elements, as times does.
func softmaxOrZero(s *graph.Node, times func(y, v *graph.Node) *graph.Node) Tensor {
	over := []int{len(s.Shape) - 1}
	m := shift(s, over)
	m = graph.Where(eq(m, fill(m, math.Inf(-1))), fill(m, 0), m)
	e := exp(sub(s, spreadTo(m, s)))
	sum := graph.Reduce(ir.Sum, e, over)
	sum = graph.Where(eq(sum, fill(sum, 0)), fill(sum, 1), sum)
	return softmaxOf(s, div(e, spreadTo(sum, s)), over, times)
}
