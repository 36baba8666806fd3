package schedule

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A factorTile is a tile of a factor, of a step along the depth, on its way to shared memory:
// vectors of four words.
type factorTile struct {
	*side
	left   bool
	block  int   // of the side
	lines  patch // what a thread loads at once
	stride int   // in shared memory, from a word of the depth to the next, in vectors
	depth  int   // elements of a tile
	shared *shader.Shared
	loads  []tileLoad
	order  lineOrder
	column func(n *shader.Expr) *shader.Expr // the column of a thread's n-th block along the depth; nil: n
	spread bool                              // the parts of a block lie spread over the depth
}

// A tileLoad is a block of elements that a thread loads of each tile.
type tileLoad struct {
	// The block's position, in blocks: q in the direction of lines, in which neighbours
	// follow each other, and u in the other.
	q, u   *shader.Expr
	scopes []*scope     // know the position along the side: of each line, or of each vector in it
	when   *shader.Expr // the block exists; nil: always
}

// side is the block's position along the side, and deep that along the depth.
func (l *tileLoad) side(f *factorTile) *shader.Expr {
	if f.alongK {
		return l.u
	}
	return l.q
}

func (l *tileLoad) depth(f *factorTile) *shader.Expr {
	if f.alongK {
		return l.q
	}
	return l.u
}

// size is the number of vectors of a tile in shared memory.
func (f *factorTile) size(t tile) int { return t.k * f.stride }

// prepare declares the shared memory of a side of a tile, whose block begins at a number,
// and finds where a thread's part of each tile is.
func (q *tilePass) prepare(d *side, block int, begin *shader.Expr) factorTile {
	f := q.declare(d, block, q.tile.unit.buffers)
	q.place(q.p.root, &f, begin)
	return f
}

// declare declares the shared memory of a side of a tile.
func (q *tilePass) declare(d *side, block, buffers int) factorTile {
	f := q.factorTile(d, block, nil)
	f.shared = q.p.share(q.word().Vec(4), buffers*f.size(q.tile))
	f.shared.Align = q.tile.unit.align
	return f
}

// factorTile returns a tile of a factor in shared memory.
func (q *tilePass) factorTile(d *side, block int, shared *shader.Shared) factorTile {
	u := q.tile.unit
	f := factorTile{side: d, left: d == &q.rows, block: block, lines: u.aside, depth: q.tile.depth(), shared: shared}
	if d.alongK {
		f.lines = u.deep
	}
	if d.alongK && !f.left {
		f.order = q.order
	}
	f.stride = u.methods.stride(q, &f)
	return f
}

// place finds where a thread's part of a tile is whose block begins at a number.
func (q *tilePass) place(root *scope, f *factorTile, begin *shader.Expr) {
	d, block, size, depth := f.side, f.block, q.p.Threads, q.tile.depth()
	along, across := block, depth
	if d.alongK {
		along, across = depth, block
	}
	along /= 4 * f.lines.vectors
	blocks := along * across / f.lines.lines
	for n := range ir.CeilDiv(blocks, size) {
		name := tag(d.name, n)
		var l tileLoad
		number := shader.ThreadID.Plus(n * size)
		if (n+1)*size > blocks {
			l.when = number.Lt(blocks)
			number = number.Min(blocks - 1) // others load the last, and drop it
		}
		l.q, l.u = number.Rem(along), number.Div(along)
		if d.turned {
			l.u, l.q = number.Rem(blocks/along), number.Div(blocks/along)
		}
		l.q, l.u = root.Let("q"+name, l.q), root.Let("u"+name, l.u)
		if d.alongK {
			for s := range f.lines.lines {
				in := root.beside("_" + tag(name, s))
				at := l.u.Mul(f.lines.lines).Plus(s)
				if f.column != nil {
					at = f.column(at)
				}
				in.enterValid(span{axes: d.axes, base: begin.Add(at.Convert(begin.Type)), clamp: q.clamp(d.n, block)})
				l.scopes = append(l.scopes, in)
			}
		} else {
			for i := range f.lines.vectors {
				in := root.beside("_" + tag(name, i))
				at := begin.Add(l.q.Mul(4 * f.lines.vectors).Plus(4 * i).Convert(begin.Type))
				in.enterValid(span{axes: d.axes, base: at, step: count(4), fours: q.fours(d.axes), clamp: q.clamp(d.n, block)})
				l.scopes = append(l.scopes, in)
			}
		}
		f.loads = append(f.loads, l)
	}
}

// word is the type of words in shared memory.
func (q *tilePass) word() shader.Type {
	if q.tile.unit.lanes > 1 {
		return shader.U32
	}
	return q.factorType
}

// A tilesLoaded is a tile of each factor in registers: of each block its vectors, line by line.
type tilesLoaded [2][][]*shader.Expr

// load loads the tiles of a step into registers.
func (q *tilePass) load(sc *scope, step *shader.Expr) (out tilesLoaded) {
	for i, f := range []*factorTile{&q.m, &q.n} {
		out[i] = q.loadTile(sc, f, q.depthAt(step))
	}
	return out
}

// loadTile loads a tile of a factor, from a position of the depth on, into registers.
func (q *tilePass) loadTile(sc *scope, f *factorTile, at *shader.Expr) (blocks [][]*shader.Expr) {
	for n, l := range f.loads {
		blocks = append(blocks, q.loadBlock(sc, f, &l, tag(f.name, n), at))
	}
	return blocks
}

// loadBlock loads a block, at a position of the depth.
func (q *tilePass) loadBlock(sc *scope, f *factorTile, l *tileLoad, name string, at *shader.Expr) (vectors []*shader.Expr) {
	for line := range f.lines.lines {
		for i := range f.lines.vectors {
			n := i // of the scope
			if f.alongK {
				n = line
			}
			known := l.scopes[n]
			in := known.on(sc.Block, tag("_", line, i))
			in.enterValid(q.depthSpan(in, f, at, f.start(l, line, i)))
			v := in.value(f.factor)
			list := make(value, 4)
			for lane := range list {
				list[lane] = v.lane(lane)
				for _, c := range slices.Concat(known.valid, in.valid) {
					list[lane] = c.lane(lane).If(list[lane], number(q.factorType, 0))
				}
			}
			vectors = append(vectors, sc.Let(tag("l"+name+"_", line, i), shader.Vec(4, list...)))
		}
	}
	return vectors
}

// depthSpan is the span of a vector of a tile: from a number on, of the tile that begins at a position
// of the depth.
func (q *tilePass) depthSpan(sc *scope, f *factorTile, at, number *shader.Expr) span {
	if len(q.taps) > 0 {
		return q.tapSpan(sc, at, number)
	}
	w := span{axes: q.deep, clamp: q.clamp(q.depth, q.tile.depth()*max(1, q.steps)), base: at.Add(number.Convert(at.Type))}
	if f.alongK {
		w.step, w.fours = count(4), q.fours(q.deep)
	}
	return w
}

// start is where, along the depth of a tile, a vector in a line of a block begins.
func (f *factorTile) start(l *tileLoad, line, vector int) *shader.Expr {
	parts, part, size, at := f.lines.lines, line, 1, l.u
	if f.alongK {
		parts, part, size, at = f.lines.vectors, vector, 4, l.q
	}
	if f.spread {
		return at.Mul(size).Plus(part * f.depth / parts)
	}
	return at.Mul(size * parts).Plus(size * part)
}

// put moves tiles from registers to a buffer in shared memory.
func (q *tilePass) put(sc *scope, x tilesLoaded, buffer *shader.Expr) {
	for i, f := range []*factorTile{&q.m, &q.n} {
		q.putTile(sc, f, x[i], buffer.Mul(f.size(q.tile)))
	}
}

// fill moves a tile, from a position of the depth on, from memory to the first buffer.
func (q *tilePass) fill(sc *scope, f *factorTile, at *shader.Expr) {
	q.putTile(sc, f, q.loadTile(sc, f, at), u32(0))
}

// putTile moves a tile from registers to shared memory, from a vector on.
func (q *tilePass) putTile(sc *scope, f *factorTile, blocks [][]*shader.Expr, to *shader.Expr) {
	for n := range f.loads {
		in := sc.when(f.loads[n].when)
		q.tile.unit.methods.put(q, in, f, &f.loads[n], blocks[n], to)
		in.end()
	}
}
