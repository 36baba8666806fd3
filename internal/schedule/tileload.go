package schedule

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A factorTile is a tile of a factor, of a step along the depth, on its way to
// shared memory.
type factorTile struct {
	*side
	stride int // in shared memory, from a position of the depth to the next, in vectors
	shared *shader.Shared
	loads  []tileLoad
}

// A tileLoad is four elements that a thread loads of each tile.
type tileLoad struct {
	q, u  *shader.Expr // their position along the lanes, in vectors of four, and across them
	acc   *shader.Var
	scope *scope       // knows the position along the side
	when  *shader.Expr // the load exists; nil: always
}

// prepare declares the shared memory and registers of a side of a tile, whose
// block begins at a number, and finds where a thread's part of each tile is.
func (q *tilePass) prepare(d *side, block int, begin *shader.Expr) factorTile {
	root, size := q.p.root, q.p.Threads
	f := factorTile{side: d, stride: block / 4}
	along := block / 4 // vectors of a tile along the lanes
	if d.alongK {
		f.stride++ // columns written by neighbours lie in other banks
		along = q.tile.k / 4
	}
	f.shared = q.p.share(q.factorType.Vec(4), 2*q.tile.k*f.stride)
	vectors := block * q.tile.k / 4
	for n := range ir.CeilDiv(vectors, size) {
		tag := fmt.Sprintf("%s%d", d.name, n)
		var l tileLoad
		number := shader.ThreadID.Plus(n * size)
		if (n+1)*size > vectors {
			l.when = number.Lt(vectors)
		}
		l.q = root.Let("q"+tag, number.Rem(along))
		l.u = root.Let("u"+tag, number.Div(along))
		l.acc = root.Var("l"+tag, shader.Number(q.factorType.Vec(4), 0))
		l.scope = root.beside("_" + tag)
		w := span{axes: d.axes, base: begin.Add(l.u), clamp: clamp(d.n, block)}
		switch {
		case !d.alongK:
			w.base, w.step, w.fours = begin.Add(l.q.Mul(4)), count(4), q.fours(d.axes)
		case l.when != nil: // u may be past the tile
			w.base = begin.Add(l.u.Min(vectors/along - 1))
		}
		l.scope.enterValid(w)
		f.loads = append(f.loads, l)
	}
	return f
}

// load loads the tile of a step into registers.
func (q *tilePass) load(sc *scope, f *factorTile, step *shader.Expr) {
	for _, l := range f.loads {
		in := l.scope.block()
		at := step.Mul(q.tile.k)
		w := span{axes: q.deep, base: at.Add(l.u), clamp: clamp(q.depth, q.tile.k)}
		switch {
		case f.alongK:
			w.base, w.step, w.fours = at.Add(l.q.Mul(4)), count(4), q.fours(q.deep)
		case l.when != nil:
			w.base = at.Add(l.u.Min(q.tile.k - 1))
		}
		in.enterValid(w)
		v := in.value(f.factor)
		list := make(value, 4)
		for lane := range list {
			list[lane] = v.lane(lane)
			for _, c := range slices.Concat(l.scope.valid, in.valid) {
				list[lane] = c.lane(lane).If(list[lane], number(q.factorType, 0))
			}
		}
		in.Set(l.acc, shader.Vec(4, list...))
		to := sc.when(l.when)
		to.Do(in.Stmts...)
		to.end()
	}
}

// put moves a tile from registers to shared memory, from a vector on.
func (f *factorTile) put(sc *scope, to *shader.Expr) {
	for _, l := range f.loads {
		in := sc.when(l.when)
		if f.alongK {
			at := in.Let("at", to.Add(l.q.Mul(4*f.stride)).Add(l.u.Div(4)))
			for n := range 4 {
				in.Do(&shader.StoreShared{Shared: f.shared, Index: at.Add(n * f.stride), Component: l.u.And(3), Value: l.acc.Ref().At(n)})
			}
		} else {
			in.Put(f.shared, to.Add(l.u.Mul(f.stride)).Add(l.q), l.acc.Ref())
		}
		in.end()
	}
}
