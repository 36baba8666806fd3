package vector

import (
	"testing"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// TestChainedOps: ops that only each other read are one op, a hard-swish too, which reads its argument twice.
func TestChainedOps(t *testing.T) {
	if simd.Chain == nil {
		t.Skip("no routine")
	}
	const n = 100
	k := &ir.Kernel{Template: ir.Pointwise, Axes: []ir.Axis{{Len: n, Role: ir.Parallel}}}
	k.Args = []ir.Arg{{Kind: ir.Out, DType: ir.Float32, Len: n}, {Kind: ir.In, DType: ir.Float32, Len: n}, {Kind: ir.In, DType: ir.Float32, Len: n}}
	add := func(op ir.Op, domain ir.AxisSet, src ...int) int {
		k.Body = append(k.Body, ir.Instr{Op: op, Type: ir.Float32, Src: src, Domain: domain})
		return len(k.Body) - 1
	}
	number := func(x float64) int {
		i := add(ir.Const, 0)
		k.Body[i].Num = ir.Float(ir.Float32, x)
		return i
	}
	load := func(arg int) int {
		i := add(ir.Load, 1)
		k.Body[i].Arg, k.Body[i].View = arg, &ir.View{Coef: []int{1}}
		return i
	}
	x := add(ir.Add, 1, load(1), load(2))
	y := add(ir.Max, 1, add(ir.Add, 1, x, number(3)), number(0))
	six := number(6)
	less := add(ir.Lt, 1, six, y)
	k.Body[less].Type = ir.Bool
	y = add(ir.Mul, 1, x, add(ir.Mul, 1, add(ir.Where, 1, less, six, y), number(1.0/6)))
	store := add(ir.Store, 1, y)
	k.Body[store].View = &ir.View{Coef: []int{1}}
	if err := ir.Verify(k); err != nil {
		t.Fatal(err)
	}
	s := &Space{Nest: loopnest.Canonical(k), Tune: &DefaultTuning}
	a := Assemble(s, Schedule{Lanes: []int{0}, Extent: []int{n}, Roots: []int{store}})
	links := 0
	for _, op := range a.Ops {
		links = max(links, len(op.links))
	}
	if len(a.Ops) != 4 || links != 7 { // two loads, the chain, the store; five ops, to save x, to multiply by it
		t.Errorf("%d ops, a chain of %d links, want 4 and 7", len(a.Ops), links)
	}
}
