package schedule

import "github.com/tensorken/tensorken/internal/shader"

// eight is the number of halves in a vector of 16 bytes.
const eight = 8

// copies reports whether each eight neighbours of a side's factor are a vector in memory.
func (x *contraction) copies(s *side) bool {
	in, along := &x.k.Body[s.factor], s.axes
	if s.alongK {
		along = x.deep
	}
	if len(in.Src) > 0 || len(in.View.Guards) > 0 || len(along) == 0 {
		return false
	}
	inner := along[len(along)-1]
	return x.k.Axes[inner].Len%eight == 0 && x.stepsBy(eight, in, inner)
}

// copiesBoth reports whether both factors can be copied to shared memory.
func (x *contraction) copiesBoth() bool { return x.copies(&x.rows) && x.copies(&x.cols) }

// multiplyCopies multiplies tile by tile along the depth. Each step whose products run has a buffer. Tiles
// of the next steps are copied to the other buffers meanwhile.
func (q *tilePass) multiplyCopies() {
	root, t := q.p.root, q.tile
	q.m = q.prepare(&q.rows, t.m, q.at.row)
	q.n = q.prepare(&q.cols, t.n, q.at.col)
	q.bounds()
	ahead := t.unit.buffers - 1 - t.unit.running
	start := root.block()
	for i := range ahead {
		q.copyTiles(start, q.first.Plus(i), u32(i))
	}
	loop, step := root.loop("step", q.first, q.last, 1)
	number := loop.Let("number", step.Sub(q.first))
	now := loop.Let("now", number.Rem(t.unit.buffers))
	loop.Do(&shader.CopyWait{Pending: ahead - 1})
	q.barrier(loop)
	// The products that read the buffer have ended: each thread has waited for them in the last step.
	q.copyTiles(loop, step.Plus(ahead), loop.Let("then", number.Add(ahead).Rem(t.unit.buffers)))
	t.unit.methods.multiply(q, loop, now.Mul(q.m.size(t)), now.Mul(q.n.size(t)))
	root.Do(start.Stmts...)
	loop.end()
	root.Do(&shader.CopyWait{}) // the last copies are not multiplied, but shared memory is used again
}

// copyTiles starts to copy the tiles of a step, or of the last one, as a group.
func (q *tilePass) copyTiles(sc *scope, step, buffer *shader.Expr) {
	in := sc.block()
	step = in.Let("copied", step.Min(q.last.Sub(1)))
	for _, f := range []*factorTile{&q.m, &q.n} {
		q.copyTile(in, f, q.depthAt(step), buffer.Mul(f.size(q.tile)))
	}
	in.Do(&shader.CopyCommit{})
	in.end()
}

// copyTile starts to copy a tile, at a position of the depth, to shared memory from a vector on.
func (q *tilePass) copyTile(sc *scope, f *factorTile, at, to *shader.Expr) {
	if apart, ok := q.regular(f); ok {
		q.copyVectors(sc, f, &f.loads[0], at, to, len(f.loads), apart)
		return
	}
	for _, l := range f.loads {
		q.copyVectors(sc, f, &l, at, to, 1, copyDistance{})
	}
}

// A copyDistance is the distance of the vectors that a thread copies: in elements of the factor, and
// in vectors of shared memory.
type copyDistance struct{ from, to int }

// regular returns the distance of a thread's vectors, if it is the same for all: a thread has the
// same place in each so many lines.
func (q *tilePass) regular(f *factorTile) (copyDistance, bool) {
	axes, lines, vectors := q.deep, f.depth, f.block/eight
	if f.alongK {
		axes, lines, vectors = f.axes, f.block, f.depth/eight
	}
	if len(axes) == 0 {
		return copyDistance{}, false
	}
	inner := axes[len(axes)-1]
	period := 8 // of lines whose vectors are exchanged in the same way
	if f.order != nil {
		period = 16 // of columnOrder
	}
	apart := q.p.Threads / vectors
	ok := q.p.Threads%vectors == 0 && lines%apart == 0 && apart%period == 0 && q.k.Axes[inner].Len%lines == 0
	return copyDistance{apart * q.k.Body[f.factor].View.Coef[inner], apart * 8}, ok
}

// copyVectors copies the vectors of a load, at a position of the depth, to a tile, and the next ones at
// a distance.
func (q *tilePass) copyVectors(sc *scope, f *factorTile, l *tileLoad, at, to *shader.Expr, n int, apart copyDistance) {
	if l.when != nil {
		block := sc.when(l.when)
		defer block.end()
		sc = block
	}
	w := span{axes: q.deep, clamp: q.clamp(q.depth, q.tile.depth()), base: at.Add(l.u.Convert(at.Type))}
	if f.alongK {
		w.base, w.step, w.fours = at.Add(l.q.Mul(eight).Convert(at.Type)), count(4), q.fours(q.deep)
	}
	in := l.scopes[0].on(sc.Block, tag("_"+f.name, 0))
	in = in.block()
	in.enterValid(w)
	body := &q.k.Body[f.factor]
	index := in.place(body.View, q.p.offset(body.Arg)).lane(0)
	valid := in.condition(0)
	if valid != nil {
		index = valid.If(index, number(index.Type, 0)) // an address that is a multiple of 16
	}
	index, to = in.Let("index", index), in.Let("vector", to.Add(lineAt(f, l)))
	for i := range n {
		in.Do(&shader.CopyAsync{Shared: f.shared, To: to.Plus(i * apart.to), Buffer: q.p.input(body.Arg), Index: index.Plus(i * apart.from), Valid: valid})
	}
	sc.Do(in.head)
}

// lineAt is where a tile in lines of 64 has the vector of a load. A tile of more than 64 places
// of the depth is one of 64 behind the other.
func lineAt(f *factorTile, l *tileLoad) *shader.Expr {
	at := l.u
	if f.order != nil {
		at = f.order(at)
	}
	line, vector, behind := at, l.q, l.q.Div(8)
	switch {
	case !f.alongK && f.depth > 64:
		line, vector, behind = l.q.Div(8).Mul(64).Add(at.And(63)), l.q.And(7), at.Div(64)
	case !f.alongK:
		line, vector = l.q.Div(8).Mul(64).Add(at), l.q.And(7)
	case f.depth > 64:
		vector = l.q.And(7)
	}
	at = line.Mul(8).Add(vector.Xor(line.And(7)))
	if f.depth > 64 {
		at = at.Add(behind.Mul(8 * f.block))
	}
	return at
}
