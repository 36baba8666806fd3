package grad_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

func node(t tensor.Tensor) *graph.Node { return tensor.Internal.Node(graph.Token{}, t) }

func tensorOf(n *graph.Node) tensor.Tensor { return tensor.Internal.Tensor(graph.Token{}, n) }

// TestRules fails for an op whose rules differ from its row in the op table, for a
// differentiable one without a point that has it, and for one that is not tried on a batch.
func TestRules(t *testing.T) {
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		diff := ir.Table[op].Diff
		if got, want := grad.HasPartial(op), diff == ir.Partials; got != want {
			t.Errorf("grad/rules.go has partial derivatives of %v: %v, want %v", op, got, want)
		}
		if got, want := grad.HasTranspose(op), diff == ir.Linear; got != want {
			t.Errorf("grad/rules.go has a transpose of %v: %v, want %v", op, got, want)
		}
		class := ir.Table[op].Class
		if got, want := grad.HasBatch(op), class != ir.Source && class != ir.KernelOnly && class != ir.Repeated && op != ir.Copy; got != want { // TestScan batches recurrences
			t.Errorf("%v: has a batching rule: %v, want %v", op, got, want)
		}
		if grad.HasBatch(op) && len(allBatchPoints(op)) == 0 {
			t.Errorf("grad/batch_test.go has no point at which batching of %v is checked", op)
		}
		if diff == ir.Zero {
			if ir.Table[op].Why == "" {
				t.Errorf("%v: not differentiable, for no reason", op)
			}
			continue
		}
		if len(points[op]) == 0 {
			t.Errorf("grad/points_test.go has no point at which derivatives of %v are checked", op)
		}
		for _, p := range points[op] {
			x := make([]*graph.Node, len(p.shapes))
			for i, s := range p.shapes {
				x[i] = node(tensor.Zeros(s...).Cast(operandType(op)))
			}
			found := false
			for _, n := range graph.Sorted([]*graph.Node{p.f(x)}) {
				found = found || n.Op == op
			}
			if !found {
				t.Errorf("%v %s: the point does not use the op", op, p.name)
			}
		}
	}
}

// operandType is the type of a point's operands: float32 where Cast is to be
// seen, which rounds.
func operandType(op ir.Op) tensor.DType {
	if op == ir.Cast {
		return tensor.Float32
	}
	return tensor.Float64
}

func TestPoints(t *testing.T) {
	order := 3
	if testing.Short() {
		order = 2
	}
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		for _, p := range points[op] {
			t.Run(op.String()+" "+p.name, func(t *testing.T) {
				at := p.at(op, operandType(op))
				gradtest.Check(t, p.function(), at, order)
				if len(at) == 1 {
					return
				}
				for i := range at { // the others are constants
					gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor {
						operands := slices.Clone(at)
						operands[i] = x
						return p.function()(operands)
					}, at[i], 2)
				}
			})
		}
	}
}

// at is random operands of a point, no two elements of which are near each
// other: where they tie, Max has a kink.
func (p point) at(op ir.Op, d tensor.DType) []tensor.Tensor {
	seed := fnv.New64a() // by name: another op does not move the points of this one
	seed.Write([]byte(op.String()))
	rng := rand.New(rand.NewPCG(4, seed.Sum64()))
	lo, hi := p.lo, p.hi
	if lo == 0 && hi == 0 {
		lo, hi = -2, 2
	}
	n := 0
	for _, s := range p.shapes {
		n += graph.Len(s)
	}
	places := rng.Perm(n)
	at := make([]tensor.Tensor, len(p.shapes))
	for i, s := range p.shapes {
		data := make([]float64, graph.Len(s))
		for j := range data {
			data[j] = lo + (hi-lo)*(float64(places[0])+rng.Float64()/4)/float64(n)
			places = places[1:]
		}
		at[i] = tensor.New(data).Cast(d).Reshape(s...)
	}
	return at
}

// An op of an author who left out its rule is an error that names it.
func TestNoRule(t *testing.T) {
	defer func() {
		if got, want := fmt.Sprint(recover()), "export_test.go:17: Floor of [2]: grad/rules.go has no rule for it"; got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	grad.Partial(graph.Unary(ir.Floor, node(tensor.Zeros(2))), 0)
}

// function is f of tensors.
func (p point) function() func(x []tensor.Tensor) tensor.Tensor {
	return func(x []tensor.Tensor) tensor.Tensor {
		ns := make([]*graph.Node, len(x))
		for i := range x {
			ns[i] = node(x[i])
		}
		return tensorOf(p.f(ns))
	}
}
