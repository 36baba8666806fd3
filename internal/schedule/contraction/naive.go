package contraction

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// The block of results that a thread computes alone.
const (
	naiveRows = 4
	naiveCols = 8
)

// A block has a thread's accumulators by row and four columns.
type block [naiveRows][naiveCols / 4]*shader.Var

func newBlock(x *product.Product, sc *build.Scope, name string) *block {
	b := new(block)
	for r := range b {
		for h := range b[r] {
			b[r][h] = x.Vector(sc, fmt.Sprintf("%s%d%d", name, r, h))
		}
	}
	return b
}

// addNaive computes a block of the result in each thread, without shared memory
// or barriers.
func addNaive(x *product.Product) {
	x.AddPass(x.Target.Threads(), func(p *build.Pass) {
		root := p.Root
		high, wide := ir.CeilDiv(x.Rows.N, naiveRows), ir.CeilDiv(x.Cols.N, naiveCols)
		blocks := high * wide * x.Batches
		p.Workgroups = ir.CeilDiv(blocks, p.Threads)
		t := x.CountType(blocks)
		item := p.Repeating("item", shader.GroupID.Convert(t).Mul(p.Threads).Add(shader.ThreadID.Convert(t)), blocks)
		batch := root.Let("batch", item.Div(high*wide))
		m0 := root.Let("m0", item.Div(wide).Rem(high).Convert(x.CountType(x.Rows.N)).Mul(naiveRows))
		n0 := root.Let("n0", item.Rem(wide).Convert(x.CountType(x.Cols.N)).Mul(naiveCols))
		root.Enter(build.Span{Axes: x.Batch, Base: batch})
		m := build.Span{Axes: x.Rows.Axes, Base: m0, Step: build.Lanes(naiveRows), Fours: x.Fours(x.Rows.Axes), Clamp: x.Clamp(x.Rows.N, naiveRows)}
		n := build.Span{Axes: x.Cols.Axes, Base: n0, Step: build.Lanes(naiveCols), Fours: x.Fours(x.Cols.Axes), Clamp: x.Clamp(x.Cols.N, naiveCols)}
		rows, cols := root.Beside("_m"), root.Beside("_n")
		rows.Enter(m)
		cols.Enter(n)
		acc := newBlock(x, root, "c")
		if x.Depth > 0 {
			multiplyBlock(x, root, rows, cols, acc)
			x.Repair(root, acc.list(), func(sc *build.Scope) { multiplyBlock(x, sc, rows, cols, acc) })
		}
		m.Step, m.Fours, n.Step = nil, false, build.Lanes(4)
		for h := range naiveCols / 4 {
			sc := root.Inner()
			n.Base = sc.Let("col", n0.Add(4*h))
			sc.EnterValid(n)
			for r := range naiveRows {
				in := sc.Inner()
				m.Base = in.Let("row", m0.Add(r))
				in.EnterValid(m)
				x.Finish(in, product.Components(acc[r][h].Ref()), product.Place{Batch: batch, Row: m.Base, Col: n.Base, Split: build.U32(0)})
				in.End()
			}
			sc.End()
		}
	})
}

// chunk is the number of products that are added to one accumulator. The sums of
// chunks are then added, so that rounding errors stay small.
const chunk = 1024

// list lists all accumulators.
func (b *block) list() (all []*shader.Var) {
	for r := range b {
		all = append(all, b[r][:]...)
	}
	return all
}

// multiplyBlock multiplies along the depth.
func multiplyBlock(x *product.Product, root, rows, cols *build.Scope, acc *block) {
	last := x.Total(x.Depth)
	k := &shader.Var{Name: "k", Type: last.Type, Mutable: true}
	a, b := rows.Inner(), cols.Inner()
	a.Enter(build.Span{Axes: x.Deep, Base: k.Ref()})
	b.Axes = a.Axes
	left, right := a.Value(x.Rows.Factor), b.Value(x.Cols.Factor)
	first := build.Number(last.Type, 0)
	chunks, part := root, acc
	if x.Depth > chunk && x.ResultType.IsFloat() {
		chunks, first = root.Loop("first", first, last, chunk)
		last = first.Add(chunk).Min(x.Depth)
		part = newBlock(x, chunks, "d")
	}
	loop := chunks.Inner()
	loop.Do(a.Stmts...)
	loop.Do(b.Stmts...)
	for h := range naiveCols / 4 {
		four := loop.Let(fmt.Sprintf("b%d", h), shader.Vec(4, right.Lane(4*h), right.Lane(4*h+1), right.Lane(4*h+2), right.Lane(4*h+3)))
		for r := range naiveRows {
			x.Multiply(loop, part[r][h], left.Lane(r), four)
		}
	}
	// A compiler that knows the number of iterations would unroll the loop and
	// factor common operands out of the sum.
	end := last.Launder(shader.SecondWay)
	loop.Head = &shader.For{Var: k, Init: first, Cond: k.Ref().Lt(end), Next: k.Ref().Add(1), Body: loop.Block}
	loop.End()
	if chunks == root {
		return
	}
	for r := range acc {
		for h := range acc[r] {
			chunks.Set(acc[r][h], acc[r][h].Ref().Add(part[r][h].Ref()))
		}
	}
	chunks.End()
}
