package attention

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A columnValue is a load that has one value for a column. The values of a block are copied to shared memory with its tiles.
type columnValue struct {
	load   int // the instruction
	shared *shader.Shared
	block  *shader.Block // whose vectors are known
	known  []build.Value // by square of columns
}

// findColumns finds the loads of float32 that have one value for a column, each four of which are a vector in memory.
func (a *groups) findColumns() {
	for i := range a.Nest.Body {
		in := &a.Nest.Body[i]
		if in.Op != ir.Load || len(a.n) != 1 || in.Domain&^a.Nest.Roles(ir.Batch, ir.N) != 0 || !a.varies(i) || a.Nest.Args[in.Arg].DType != ir.Float32 ||
			len(in.Src) > 0 || len(in.View.Guards) > 0 || !a.Fours(a.n) || !a.StepsBy(4, in, a.n[0]) || len(a.values) == a.threads/shader.Warp {
			continue
		}
		a.values = append(a.values, columnValue{load: i})
	}
}

// copyColumns starts to copy the values of a block's columns to a buffer, each by a warp.
func (a *groups) copyColumns(sc *build.Scope, at, buffer *shader.Expr) {
	n := a.width / 4
	for i, v := range a.values {
		vector := shader.ThreadID.Sub(i * shader.Warp)
		in := sc.When(vector.Lt(n))
		vector = in.Let(build.Tag("vector", i), vector)
		in.EnterValid(build.Span{Axes: a.n, Base: at.Add(vector.Mul(4)), Step: build.Lanes(4), Fours: true, Clamp: a.Clamp(a.Nest.Size(a.n), a.width)})
		load := &a.Nest.Body[v.load]
		valid, index := in.Condition(0), in.Place(load.View, a.p.Offset(load.Arg)).Lane(0)
		if valid != nil {
			index = valid.If(index, build.Number(index.Type, 0)) // an address that is a multiple of 16
		}
		in.Do(&shader.CopyAsync{Shared: v.shared, To: buffer.Mul(n).Add(vector), Buffer: a.p.Input(load.Arg), Index: index, Valid: valid})
		in.End()
	}
}

// enterColumns gives a scope the values of the columns of square h of a block.
func (a *groups) enterColumns(loop, sc *build.Scope, h int) {
	for i := range a.values {
		v := &a.values[i]
		if v.block != loop.Block {
			v.block, v.known = loop.Block, make([]build.Value, a.wide)
		}
		if v.known[h] == nil {
			x := loop.Let(build.Tag("column", i, h), v.shared.At(a.now.Mul(a.width/4).Add(a.tx).Plus(4*h)).Bitcast(shader.F32.Vec(4)))
			v.known[h] = build.Value{x.At(0), x.At(1), x.At(2), x.At(3)}
		}
		sc.Values[v.load] = v.known[h]
	}
}
