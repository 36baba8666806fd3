package tiles

import (
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A Factor is a tile of a factor, of a step along the depth, on its way to shared memory:
// vectors of four words.
type Factor struct {
	*product.Side
	left   bool
	Block  int   // of the side
	lines  patch // the patch that a thread loads at once
	stride int   // in shared memory, from a word of the depth to the next, in vectors
	depth  int   // elements of a tile
	Shared *shader.Shared
	Loads  []load
	Order  LineOrder
	column func(n *shader.Expr) *shader.Expr // the column of a thread's n-th block along the depth; nil: n
	spread bool                              // the parts of a block lie spread over the depth
}

// A load is a block of elements that a thread loads of each tile.
type load struct {
	// The block's position, in blocks: q in the direction of lines, in which neighbours
	// follow each other, and u in the other.
	q, u   *shader.Expr
	scopes []*build.Scope // know the position along the side: of each line, or of each vector in it
	when   *shader.Expr   // the block exists; nil: always
}

// side is the block's position along the side, and deep its position along the depth.
func (l *load) side(f *Factor) *shader.Expr {
	if f.AlongK {
		return l.u
	}
	return l.q
}

func (l *load) depth(f *Factor) *shader.Expr {
	if f.AlongK {
		return l.q
	}
	return l.u
}

// Size is the number of vectors of a tile in shared memory.
func (f *Factor) Size(t Tile) int { return t.K * f.stride }

// prepare declares the shared memory of a side of a tile, whose block begins at a number,
// and finds where a thread's part of each tile is.
func (q *Pass) prepare(d *product.Side, block int, begin *shader.Expr) Factor {
	f := q.Declare(d, block, q.Tile.Unit.Buffers)
	q.Place(q.P.Root, &f, begin)
	return f
}

// Declare declares the shared memory of a side of a tile.
func (q *Pass) Declare(d *product.Side, block, buffers int) Factor {
	f := q.NewFactor(d, block, nil)
	f.Shared = q.P.Share(q.word().Vec(4), buffers*f.Size(q.Tile))
	f.Shared.Align = q.Tile.Unit.align
	return f
}

// NewFactor returns a tile of a factor in shared memory.
func (q *Pass) NewFactor(d *product.Side, block int, shared *shader.Shared) Factor {
	u := q.Tile.Unit
	f := Factor{Side: d, left: d == &q.Rows, Block: block, lines: u.aside, depth: q.Tile.Depth(), Shared: shared}
	if d.AlongK {
		f.lines = u.deep
	}
	if d.AlongK && !f.left {
		f.Order = q.order
	}
	f.stride = u.Methods.stride(q, &f)
	return f
}

// Place finds where a thread's part of a tile is whose block begins at a number.
func (q *Pass) Place(root *build.Scope, f *Factor, begin *shader.Expr) {
	d, block, size, depth := f.Side, f.Block, q.P.Threads, q.Tile.Depth()
	along, across := block, depth
	if d.AlongK {
		along, across = depth, block
	}
	along /= 4 * f.lines.vectors
	blocks := along * across / f.lines.lines
	for n := range ir.CeilDiv(blocks, size) {
		name := build.Tag(d.Name, n)
		var l load
		number := shader.ThreadID.Plus(n * size)
		if (n+1)*size > blocks {
			l.when = number.Lt(blocks)
			number = number.Min(blocks - 1) // others load the last, and drop it
		}
		l.q, l.u = number.Rem(along), number.Div(along)
		switch per := q.together(f); {
		case d.Turned:
			l.u, l.q = number.Rem(blocks/along), number.Div(blocks/along)
		case per > 0:
			lines := size / per
			each := across / lines
			l.q, l.u = shader.ThreadID.Rem(per).Plus(n/each*per), shader.ThreadID.Div(per).Plus(n%each*lines)
		}
		l.q, l.u = root.Let("q"+name, l.q), root.Let("u"+name, l.u)
		if d.AlongK {
			for s := range f.lines.lines {
				in := root.Beside("_" + build.Tag(name, s))
				at := l.u.Mul(f.lines.lines).Plus(s)
				if f.column != nil {
					at = f.column(at)
				}
				in.EnterValid(build.Span{Axes: d.Axes, Base: begin.Add(at.Convert(begin.Type)), Clamp: q.Clamp(d.N, block)})
				l.scopes = append(l.scopes, in)
			}
		} else {
			for i := range f.lines.vectors {
				in := root.Beside("_" + build.Tag(name, i))
				at := begin.Add(l.q.Mul(4 * f.lines.vectors).Plus(4 * i).Convert(begin.Type))
				in.EnterValid(build.Span{Axes: d.Axes, Base: at, Step: build.Lanes(4), Fours: q.Fours(d.Axes), Clamp: q.Clamp(d.N, block)})
				l.scopes = append(l.scopes, in)
			}
		}
		f.Loads = append(f.Loads, l)
	}
}

// word is the type of words in shared memory.
func (q *Pass) word() shader.Type {
	if q.Tile.Unit.lanes > 1 {
		return shader.U32
	}
	return q.FactorType
}

// A loaded is a tile of each factor in registers: of each block its vectors, line by line.
type loaded [2][][]*shader.Expr

// load loads the tiles of a step into registers.
func (q *Pass) load(sc *build.Scope, step *shader.Expr) (out loaded) {
	for i, f := range []*Factor{&q.M, &q.N} {
		out[i] = q.loadFactor(sc, f, q.depthAt(step))
	}
	return out
}

// loadFactor loads a tile of a factor, from a position of the depth on, into registers.
func (q *Pass) loadFactor(sc *build.Scope, f *Factor, at *shader.Expr) (blocks [][]*shader.Expr) {
	for n, l := range f.Loads {
		blocks = append(blocks, q.loadBlock(sc, f, &l, build.Tag(f.Name, n), at))
	}
	return blocks
}

// loadBlock loads a block, at a position of the depth.
func (q *Pass) loadBlock(sc *build.Scope, f *Factor, l *load, name string, at *shader.Expr) (vectors []*shader.Expr) {
	for line := range f.lines.lines {
		for i := range f.lines.vectors {
			n := i // of the scope
			if f.AlongK {
				n = line
			}
			known := l.scopes[n]
			in := known.On(sc.Block, build.Tag("_", line, i))
			in.EnterValid(q.depthSpan(in, f, at, f.start(l, line, i)))
			v := in.Value(f.Factor)
			list := make(build.Value, 4)
			for lane := range list {
				list[lane] = v.Lane(lane)
				for _, c := range slices.Concat(known.Valid, in.Valid) {
					list[lane] = c.Lane(lane).If(list[lane], build.Number(q.FactorType, 0))
				}
			}
			vectors = append(vectors, sc.Let(build.Tag("l"+name+"_", line, i), shader.Vec(4, list...)))
		}
	}
	return vectors
}

// depthSpan is the span of a vector of a tile: from a number on, of the tile that begins at a position
// of the depth.
func (q *Pass) depthSpan(sc *build.Scope, f *Factor, at, number *shader.Expr) build.Span {
	if len(q.Taps) > 0 {
		return q.tapSpan(sc, at, number)
	}
	w := build.Span{Axes: q.Deep, Clamp: q.Clamp(q.Depth, q.Tile.Depth()*max(1, q.Steps)), Base: at.Add(number.Convert(at.Type))}
	if f.AlongK {
		w.Step, w.Fours = build.Lanes(4), q.Fours(q.Deep)
	}
	return w
}

// start is where, along the depth of a tile, a vector in a line of a block begins.
func (f *Factor) start(l *load, line, vector int) *shader.Expr {
	parts, part, size, at := f.lines.lines, line, 1, l.u
	if f.AlongK {
		parts, part, size, at = f.lines.vectors, vector, 4, l.q
	}
	if f.spread {
		return at.Mul(size).Plus(part * f.depth / parts)
	}
	return at.Mul(size * parts).Plus(size * part)
}

// put moves tiles from registers to a buffer in shared memory.
func (q *Pass) put(sc *build.Scope, x loaded, buffer *shader.Expr) {
	for i, f := range []*Factor{&q.M, &q.N} {
		q.putFactor(sc, f, x[i], buffer.Mul(f.Size(q.Tile)))
	}
}

// Fill moves a tile, from a position of the depth on, from memory to the first buffer.
func (q *Pass) Fill(sc *build.Scope, f *Factor, at *shader.Expr) {
	q.putFactor(sc, f, q.loadFactor(sc, f, at), build.U32(0))
}

// putFactor moves a tile from registers to shared memory, from a vector on.
func (q *Pass) putFactor(sc *build.Scope, f *Factor, blocks [][]*shader.Expr, to *shader.Expr) {
	for n := range f.Loads {
		in := sc.When(f.Loads[n].when)
		q.Tile.Unit.Methods.put(q, in, f, &f.Loads[n], blocks[n], to)
		in.End()
	}
}
