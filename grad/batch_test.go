package grad_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// An operand describes random tensors of one example: whole numbers unless the type is
// floating-point.
type operand struct {
	dtype  tensor.DType
	shape  []int
	lo, hi float64 // the elements are at least lo and less than hi
}

// draw returns a batch of n operands, along the first axis.
func (o operand) draw(rng *rand.Rand, n int) tensor.Tensor {
	shape := append([]int{n}, o.shape...)
	data := make([]float64, graph.Len(shape))
	for i := range data {
		if data[i] = o.lo + (o.hi-o.lo)*rng.Float64(); !o.dtype.IsFloat() {
			data[i] = math.Floor(data[i])
		}
	}
	return tensor.New(data).Reshape(shape...).Cast(o.dtype)
}

func floats(shape ...int) operand { return operand{tensor.Float64, shape, -2, 2} }

func bools(shape ...int) operand { return operand{tensor.Bool, shape, 0, 2} }

func words(shape ...int) operand { return operand{tensor.Uint32, shape, 0, 1 << 32} }

// below is int32 positions in an axis of length n.
func below(n int, shape ...int) operand { return operand{tensor.Int32, shape, 0, float64(n)} }

// signed is int32 positions that may also count from the end.
func signed(n int, shape ...int) operand {
	return operand{tensor.Int32, shape, -float64(n), float64(n)}
}

// A batchPoint is an op on operands of one example.
type batchPoint struct {
	name     string
	operands []operand
	f        func(x []*graph.Node) *graph.Node
}

// elementwise is a batchPoint of an op on operands of some kinds.
func elementwise(op ir.Op, kinds ...operand) batchPoint {
	return batchPoint{kinds[0].dtype.String(), kinds, func(x []*graph.Node) *graph.Node { return graph.Elementwise(op, x...) }}
}

// batchPoints are the points of ops without a derivative, and points with operands that
// have none.
var batchPoints = [ir.Ops][]batchPoint{
	ir.StopGradient: {{"", []operand{floats(2, 3)}, func(x []*graph.Node) *graph.Node { return graph.StopGradient(x[0]) }}},
	ir.Floor:        {elementwise(ir.Floor, floats(2, 3))},
	ir.Not:          {elementwise(ir.Not, bools(2, 3)), elementwise(ir.Not, words(3))},
	ir.Cast: {
		{"to integers", []operand{floats(2, 3)}, func(x []*graph.Node) *graph.Node { return graph.Cast(x[0], ir.Int32) }},
		{"to bool", []operand{below(2, 3)}, func(x []*graph.Node) *graph.Node { return graph.Cast(x[0], ir.Bool) }},
	},
	ir.Bitcast:  {{"", []operand{words(2, 3)}, func(x []*graph.Node) *graph.Node { return graph.Bitcast(x[0], ir.Int32) }}},
	ir.Div:      {elementwise(ir.Div, below(9, 2, 3), below(4, 2, 3))},
	ir.Eq:       {elementwise(ir.Eq, below(3, 2, 3), below(3, 2, 3))},
	ir.Lt:       {elementwise(ir.Lt, floats(2, 3), floats(2, 3))},
	ir.And:      {elementwise(ir.And, bools(2, 3), bools(2, 3)), elementwise(ir.And, words(3), words(3))},
	ir.Or:       {elementwise(ir.Or, bools(2, 3), bools(2, 3)), elementwise(ir.Or, words(3), words(3))},
	ir.Xor:      {elementwise(ir.Xor, bools(2, 3), bools(2, 3)), elementwise(ir.Xor, words(3), words(3))},
	ir.Shl:      {elementwise(ir.Shl, words(2, 3), operand{tensor.Uint32, []int{2, 3}, 0, 32})},
	ir.Shr:      {elementwise(ir.Shr, words(2, 3), operand{tensor.Uint32, []int{2, 3}, 0, 32})},
	ir.Where:    {elementwise(ir.Where, bools(2, 3), floats(2, 3), floats(2, 3))},
	ir.Threefry: {elementwise(ir.Threefry, words(3), words(3), words(3), words(3))},
	ir.Sum: {
		{"of bool", []operand{bools(4)}, func(x []*graph.Node) *graph.Node { return graph.Reduce(ir.Sum, x[0], []int{0}) }},
	},
	ir.ArgMax: {
		{"first", []operand{floats(4, 3)}, func(x []*graph.Node) *graph.Node { return graph.Reduce(ir.ArgMax, x[0], []int{0}) }},
		{"last", []operand{below(3, 2, 5)}, func(x []*graph.Node) *graph.Node { return graph.Reduce(ir.ArgMax, x[0], []int{1}) }},
	},
	ir.Reshape: {
		{"to a scalar", []operand{floats(1, 1)}, func(x []*graph.Node) *graph.Node { return graph.Reshape(x[0], []int{}) }},
		{"of a scalar", []operand{floats()}, func(x []*graph.Node) *graph.Node { return graph.Reshape(x[0], []int{1, 1}) }},
	},
	ir.Cat: {{"axis 0", []operand{floats(2, 3), floats(1, 3)}, func(x []*graph.Node) *graph.Node {
		return graph.Cat(0, []*graph.Node{x[0], x[1], x[0]})
	}}},
	ir.Gather: {
		{"first, by any index", []operand{floats(4, 2), below(4, 3, 2)}, func(x []*graph.Node) *graph.Node { return graph.Gather(x[0], x[1], 0) }},
		{"last, by any index", []operand{floats(2, 4), below(4, 2, 3)}, func(x []*graph.Node) *graph.Node { return graph.Gather(x[0], x[1], 1) }},
		{"one row", []operand{floats(4, 2), below(4, 1, 2)}, func(x []*graph.Node) *graph.Node { return graph.Gather(x[0], x[1], 0) }},
	},
	ir.Sort: {
		{"first", []operand{below(5, 4, 3)}, func(x []*graph.Node) *graph.Node { return graph.Sort(x[0], 0, 4) }},
		{"some of the last", []operand{below(5, 2, 6)}, func(x []*graph.Node) *graph.Node { return graph.Sort(x[0], 1, 3) }},
	},
	ir.HostCall: {{"", []operand{floats(2, 3), floats(2, 4)}, func(x []*graph.Node) *graph.Node { return hostSum(x...) }}},
	ir.Scatter:  slices.Concat(scatters(ir.Add), scatters(ir.Mul), scatters(ir.Max), scatters(ir.Min), scatters(ir.Copy)),
}

// hostSum is the sum, computed on the host, of all elements of each row of float64s.
func hostSum(x ...*graph.Node) *graph.Node {
	return graph.HostCall("hostSum", 1, "hostSum", func(out graph.HostArray, in []graph.HostArray) error {
		for i := range graph.Len(out.Shape) {
			sum := 0.0
			for _, a := range in {
				n := a.Shape[len(a.Shape)-1]
				for j := range n {
					sum += ir.Decode(a.DType, a.Data[8*(i*n+j):]).Float64(a.DType)
				}
			}
			ir.Float(out.DType, sum).Append(out.Data[8*i:8*i], out.DType)
		}
		return nil
	}, x...)
}

func scatters(kind ir.Op) []batchPoint {
	var list []batchPoint
	for axis, o := range [][]operand{
		{floats(4, 2), below(4, 5, 2), floats(5, 2)},
		{floats(2, 4), below(4, 2, 5), floats(2, 5)},
	} {
		list = append(list, batchPoint{fmt.Sprint(kind, ", axis ", axis), o, func(x []*graph.Node) *graph.Node {
			return graph.Scatter(kind, x[0], x[1], x[2], axis)
		}})
	}
	return list
}

// allBatchPoints returns an op's batchPoints, and its points with random operands.
func allBatchPoints(op ir.Op) []batchPoint {
	list := slices.Clone(batchPoints[op])
	for _, p := range points[op] {
		var operands []operand
		for _, shape := range p.shapes {
			o := operand{operandType(op), shape, p.lo, p.hi}
			if o.lo == 0 && o.hi == 0 {
				o.lo, o.hi = -2, 2
			}
			operands = append(operands, o)
		}
		list = append(list, batchPoint{p.name, operands, p.f})
	}
	return list
}

// near reports whether tensors are equal but for rounding, and if not, how
// they differ.
func near(t *testing.T, got, want tensor.Tensor) (string, bool) {
	t.Helper()
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return fmt.Sprintf("%v %v, want %v %v", got.DType(), got.Shape(), want.DType(), want.Shape()), false
	}
	g, w := data(t, got.Cast(tensor.Float64)), data(t, want.Cast(tensor.Float64))
	rounding := 1e-12
	if want.DType() == tensor.Float32 {
		rounding = 1e-5
	}
	for i := range g {
		both := math.IsNaN(g[i]) && math.IsNaN(w[i])
		if !both && g[i] != w[i] && !(math.Abs(g[i]-w[i]) <= rounding*(1+math.Abs(w[i]))) {
			return fmt.Sprintf("%v, want %v", g, w), false
		}
	}
	return "", true
}

// moveAxis moves an axis of x to another place, from the end if negative.
func moveAxis(x tensor.Tensor, from, to int) tensor.Tensor {
	order := make([]int, 0, x.Rank())
	for a := range x.Rank() {
		if a != (from+x.Rank())%x.Rank() {
			order = append(order, a)
		}
	}
	return x.Permute(slices.Insert(order, (to+x.Rank())%x.Rank(), from)...)
}

const examples = 3

// checkVmap compares Vmap of f with a loop over examples, where every choice
// of the operands has others in each example and the rest is captured; with
// all of them, also VmapAxes along every axis that they have, to every axis of
// the result.
func checkVmap(t *testing.T, call string, operands []operand, f func(x []tensor.Tensor) tensor.Tensor) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, uint64(len(call))))
	batches := make([]tensor.Tensor, len(operands))
	least := len(operands[0].shape)
	for i, o := range operands {
		batches[i] = o.draw(rng, examples)
		least = min(least, len(o.shape))
	}
	if err := tensor.Eval(batches); err != nil {
		t.Fatal(err)
	}
	all := 1<<len(operands) - 1
	for choice := 1; choice <= all; choice++ {
		var batch []tensor.Tensor
		for i, x := range batches {
			if choice>>i&1 == 1 {
				batch = append(batch, x)
			}
		}
		// one calls f for an example.
		one := func(example []tensor.Tensor) tensor.Tensor {
			x := make([]tensor.Tensor, len(operands))
			for i := range x {
				if choice>>i&1 == 1 {
					x[i], example = example[0], example[1:]
				} else {
					x[i] = batches[i].At(0)
				}
			}
			return f(x)
		}
		results := make([]tensor.Tensor, examples)
		for e := range results {
			example := make([]tensor.Tensor, len(batch))
			for i, x := range batch {
				example[i] = x.At(e)
			}
			results[e] = one(example)
		}
		want := tensor.Stack(0, results...)
		if diff, ok := near(t, grad.Vmap(one)(batch), want); !ok {
			t.Errorf("Vmap of %s, operands %0*b in a batch: got %s", call, len(operands), choice, diff)
		}
		if choice != all {
			continue
		}
		for in := -least - 1; in <= least; in++ {
			for i, x := range batches {
				batch[i] = moveAxis(x, 0, in)
			}
			for out := -want.Rank(); out < want.Rank(); out++ {
				got := grad.VmapAxes(one, in, out)(batch)
				if diff, ok := near(t, got, moveAxis(want, 0, out)); !ok {
					t.Errorf("VmapAxes(%d, %d) of %s: got %s", in, out, call, diff)
				}
			}
		}
	}
}

// TestVmapOps compares every op on all examples of a batch with a loop.
func TestVmapOps(t *testing.T) {
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		for _, p := range allBatchPoints(op) {
			checkVmap(t, fmt.Sprint(op, " ", p.name), p.operands, func(x []tensor.Tensor) tensor.Tensor {
				ns := make([]*graph.Node, len(x))
				for i := range x {
					ns[i] = node(x[i])
				}
				return tensorOf(p.f(ns))
			})
		}
	}
}
