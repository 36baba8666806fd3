package tiles

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
)

// eight is the number of halves in a vector of 16 bytes.
const eight = 8

// ofEight is the patch of a vector of eight halves.
var ofEight = patch{1, 2}

// Copies reports whether each eight neighbours of a side's factor are a vector in memory.
func Copies(x *product.Product, s *product.Side) bool {
	in, along := &x.Nest.Body[s.Factor], s.Axes
	if s.AlongK {
		along = x.Deep
	}
	if len(in.Src) > 0 || len(in.View.Guards) > 0 || len(along) == 0 {
		return false
	}
	inner := along[len(along)-1]
	return x.Nest.Axes[inner].Len%eight == 0 && x.StepsBy(eight, in, inner)
}

// CopiesBoth reports whether both factors can be copied to shared memory.
func CopiesBoth(x *product.Product) bool { return Copies(x, &x.Rows) && Copies(x, &x.Cols) }

// multiplyCopies multiplies tile by tile along the depth. Each step whose products run has a buffer. Tiles
// of the next steps are copied to the other buffers meanwhile.
func (q *Pass) multiplyCopies() {
	root, t := q.P.Root, q.Tile
	q.M = q.prepare(&q.Rows, t.M, q.At.Row)
	q.N = q.prepare(&q.Cols, t.N, q.At.Col)
	q.bounds()
	ahead := t.Unit.Buffers - 1 - t.Unit.running
	start := root.Inner()
	for i := range ahead {
		q.copyTiles(start, q.First.Plus(i), build.U32(i))
	}
	loop, step := root.Loop("step", q.First, q.Last, 1)
	number := loop.Let("number", step.Sub(q.First))
	now := loop.Let("now", number.Rem(t.Unit.Buffers))
	loop.Do(&shader.CopyWait{Pending: ahead - 1})
	q.barrier(loop)
	// The products that read the buffer have ended: each thread has waited for them in the last step.
	q.copyTiles(loop, step.Plus(ahead), loop.Let("then", number.Add(ahead).Rem(t.Unit.Buffers)))
	t.Unit.Methods.multiply(q, loop, now.Mul(q.M.Size(t)), now.Mul(q.N.Size(t)))
	root.Do(start.Stmts...)
	loop.End()
	root.Do(&shader.CopyWait{}) // the last copies are not multiplied, but shared memory is used again
}

// copyTiles starts to copy the tiles of a step, or of the last one, as a group.
func (q *Pass) copyTiles(sc *build.Scope, step, buffer *shader.Expr) {
	in := sc.Inner()
	step = in.Let("copied", step.Min(q.Last.Sub(1)))
	for _, f := range []*Factor{&q.M, &q.N} {
		q.CopyFactor(in, f, q.depthAt(step), buffer.Mul(f.Size(q.Tile)))
	}
	in.Do(&shader.CopyCommit{})
	in.End()
}

// CopyFactor starts to copy a tile, at a position of the depth, to shared memory from a vector on.
func (q *Pass) CopyFactor(sc *build.Scope, f *Factor, at, to *shader.Expr) {
	n, apart := q.regular(f)
	for i := 0; i < len(f.Loads); i += n {
		q.copyVectors(sc, f, &f.Loads[i], at, to, n, apart)
	}
}

// together is how many vectors of a line neighbouring threads copy: all or, so that a thread has the same place in each
// of several lines, eight and then the next eight; 0 if no such number is there.
func (q *Pass) together(f *Factor) int {
	vectors, lines := f.Block/eight, f.depth
	if f.AlongK {
		vectors, lines = f.depth/eight, f.Block
	}
	period := 8 // of lines whose vectors are exchanged in the same way
	if f.Order != nil {
		period = 16 // of ColumnOrder
	}
	for _, n := range []int{vectors, 8} {
		if apart := q.P.Threads / n; f.lines == ofEight && q.P.Threads%n == 0 && vectors%n == 0 && lines%apart == 0 && apart%period == 0 {
			return n
		}
	}
	return 0
}

// A copyDistance is the distance of the vectors that a thread copies: in elements of the factor, and
// in vectors of shared memory.
type copyDistance struct{ from, to int }

// regular returns how many vectors, which a thread copies one after the other, have the same distance, and this.
func (q *Pass) regular(f *Factor) (n int, apart copyDistance) {
	axes, lines, per := q.Deep, f.depth, q.together(f)
	if f.AlongK {
		axes, lines = f.Axes, f.Block
	}
	deep := !f.AlongK && f.depth > 64 && f.Block > 64 // lines 64 and 63 are apart
	if per == 0 || deep || len(axes) == 0 || q.Nest.Axes[axes[len(axes)-1]].Len%lines > 0 {
		return 1, apart
	}
	next := q.P.Threads / per // lines
	return lines / next, copyDistance{next * q.Nest.Body[f.Factor].View.Coef[axes[len(axes)-1]], next * 8}
}

// copyVectors copies the vectors of a load, at a position of the depth, to a tile, and the next ones at
// a distance.
func (q *Pass) copyVectors(sc *build.Scope, f *Factor, l *load, at, to *shader.Expr, n int, apart copyDistance) {
	if l.when != nil {
		block := sc.When(l.when)
		defer block.End()
		sc = block
	}
	w := build.Span{Axes: q.Deep, Clamp: q.Clamp(q.Depth, q.Tile.Depth()), Base: at.Add(l.u.Convert(at.Type))}
	if f.AlongK {
		w.Base, w.Step, w.Fours = at.Add(l.q.Mul(eight).Convert(at.Type)), build.Lanes(4), q.Fours(q.Deep)
	}
	in := l.scopes[0].On(sc.Block, build.Tag("_"+f.Name, 0))
	in = in.Inner()
	in.EnterValid(w)
	body := &q.Nest.Body[f.Factor]
	index := in.Place(body.View, q.P.Offset(body.Arg)).Lane(0)
	valid := in.Condition(0)
	if valid != nil {
		index = valid.If(index, build.Number(index.Type, 0)) // an address that is a multiple of 16
	}
	index, to = in.Let("index", index), in.Let("vector", to.Add(lineAt(f, l)))
	for i := range n {
		in.Do(&shader.CopyAsync{Shared: f.Shared, To: to.Plus(i * apart.to), Buffer: q.P.Input(body.Arg), Index: index.Plus(i * apart.from), Valid: valid})
	}
	sc.Do(in.Head)
}

// lineAt is where a tile in lines of 64 has the vector of a load. A tile of more than 64 places
// of the depth is one of 64 behind the other.
func lineAt(f *Factor, l *load) *shader.Expr {
	at := l.u
	if f.Order != nil {
		at = f.Order(at)
	}
	line, vector, behind := at, l.q, l.q.Div(8)
	switch {
	case !f.AlongK && f.depth > 64:
		line, vector, behind = l.q.Div(8).Mul(64).Add(at.And(63)), l.q.And(7), at.Div(64)
	case !f.AlongK:
		line, vector = l.q.Div(8).Mul(64).Add(at), l.q.And(7)
	case f.depth > 64:
		vector = l.q.And(7)
	}
	at = line.Mul(8).Add(vector.Xor(line.And(7)))
	if f.depth > 64 {
		at = at.Add(behind.Mul(8 * f.Block))
	}
	return at
}
