package schedule

import (
	"fmt"

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

func (x *contraction) block(sc *scope, name string) *block {
	b := new(block)
	for r := range b {
		for h := range b[r] {
			b[r][h] = x.vector(sc, fmt.Sprintf("%s%d%d", name, r, h))
		}
	}
	return b
}

// naive computes a block of the result in each thread, without shared memory
// or barriers.
func (x *contraction) naive() {
	x.pass(x.t.threads(), func(p *pass) {
		root := p.root
		high, wide := ir.CeilDiv(x.rows.n, naiveRows), ir.CeilDiv(x.cols.n, naiveCols)
		blocks := high * wide * x.batches
		p.groups = ir.CeilDiv(blocks, p.Threads)
		t := x.countType(blocks)
		item := p.repeating("item", shader.GroupID.Convert(t).Mul(p.Threads).Add(shader.ThreadID.Convert(t)), blocks)
		batch := root.Let("batch", item.Div(high*wide))
		m0 := root.Let("m0", item.Div(wide).Rem(high).Convert(x.countType(x.rows.n)).Mul(naiveRows))
		n0 := root.Let("n0", item.Rem(wide).Convert(x.countType(x.cols.n)).Mul(naiveCols))
		root.enter(span{axes: x.batch, base: batch})
		m := span{axes: x.rows.axes, base: m0, step: count(naiveRows), fours: x.fours(x.rows.axes), clamp: x.clamp(x.rows.n, naiveRows)}
		n := span{axes: x.cols.axes, base: n0, step: count(naiveCols), fours: x.fours(x.cols.axes), clamp: x.clamp(x.cols.n, naiveCols)}
		rows, cols := root.beside("_m"), root.beside("_n")
		rows.enter(m)
		cols.enter(n)
		acc := x.block(root, "c")
		if x.depth > 0 {
			x.multiplyBlock(rows, cols, acc)
		}
		m.step, m.fours, n.step = nil, false, count(4)
		for h := range naiveCols / 4 {
			sc := root.block()
			n.base = sc.Let("col", n0.Add(4*h))
			sc.enterValid(n)
			for r := range naiveRows {
				in := sc.block()
				m.base = in.Let("row", m0.Add(r))
				in.enterValid(m)
				x.finish(in, components(acc[r][h].Ref()), place{batch: batch, row: m.base, col: n.base, split: u32(0)})
				in.end()
			}
			sc.end()
		}
	})
}

// chunk is the number of products that are added to one accumulator. The sums of
// chunks are then added, so that rounding errors stay small.
const chunk = 1024

// multiplyBlock multiplies along the depth.
func (x *contraction) multiplyBlock(rows, cols *scope, acc *block) {
	root := rows.p.root
	last := x.total(x.depth)
	k := &shader.Var{Name: "k", Type: last.Type, Mutable: true}
	a, b := rows.block(), cols.block()
	a.enter(span{axes: x.deep, base: k.Ref()})
	b.axes = a.axes
	left, right := a.value(x.rows.factor), b.value(x.cols.factor)
	first := number(last.Type, 0)
	chunks, part := root, acc
	if x.depth > chunk && x.resultType.IsFloat() {
		chunks, first = root.loop("first", first, last, chunk)
		last = first.Add(chunk).Min(x.depth)
		part = x.block(chunks, "d")
	}
	loop := chunks.block()
	loop.Do(a.Stmts...)
	loop.Do(b.Stmts...)
	for h := range naiveCols / 4 {
		four := loop.Let(fmt.Sprintf("b%d", h), shader.Vec(4, right.lane(4*h), right.lane(4*h+1), right.lane(4*h+2), right.lane(4*h+3)))
		for r := range naiveRows {
			x.multiply(loop, part[r][h], left.lane(r), four)
		}
	}
	// A compiler that knows the number of iterations would unroll the loop and
	// factor common operands out of the sum.
	end := last.Launder(shader.SecondWay)
	loop.head = &shader.For{Var: k, Init: first, Cond: k.Ref().Lt(end), Next: k.Ref().Add(1), Body: loop.Block}
	loop.end()
	if chunks == root {
		return
	}
	for r := range acc {
		for h := range acc[r] {
			chunks.Set(acc[r][h], acc[r][h].Ref().Add(part[r][h].Ref()))
		}
	}
	chunks.end()
}
