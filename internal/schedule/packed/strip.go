package packed

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A strip is the vectors of a column that a thread loads at once: one or, where their integers are multiplied and
// each column has an even number of them, two neighbours, which share the scales of their runs.
type strip struct {
	vectors []position
	blocks  []*shader.Expr // of vectors
	runs    []*shader.Expr // see locateRuns
	depth   *shader.Expr   // of the first element
	step    *shader.Expr   // of the threads, which moves blocks: a number of times along strips
}

// perBlock is the number of vectors of a block.
func (s shape) perBlock(f *ir.Format) int { return f.Len / s.elements() }

// apartBlocks reports whether the vectors of a strip are in blocks of their own.
func (x *product) apartBlocks() bool { return x.perBlock(x.format(x.sums[0])) == 1 }

// element is the number of the first element of segment n of vector j of a strip, counted from the strip's first one.
func (x *product) element(j, n int) int {
	if x.apart == segment {
		return (j*x.segments + n) * segment
	}
	return j*segment + n*x.apart
}

// runOf is the run of segment n of vector j of a strip, counted from the strip's first run in the block.
func (x *product) runOf(f *ir.Format, j, n int) int {
	if f.Codes.Run == f.Len {
		return 0
	}
	return x.element(j, n) / f.Codes.Run
}

// neighbours is the number of runs whose scales are read at once: strips begin at multiples of so many.
func (x *product) neighbours(f *ir.Format) int {
	switch wide := x.apart / segment; {
	case x.vectors == 1 || f.Codes.Run == f.Len:
		return 1
	case wide > x.vectors:
		return min(4, max(1, x.vectors*segment/f.Codes.Run))
	}
	return min(4, max(1, x.vectors*x.elements()/f.Codes.Run))
}

// words is the number of words of a strip of each sum: of codes, and of the factors of runs.
func (x *product) words() (n int) {
	for _, s := range x.sums {
		f := x.format(s)
		runs := map[[2]int]bool{}
		for j := range x.vectors {
			for i := range x.segments {
				block := 0
				if x.apartBlocks() {
					block = j
				}
				runs[[2]int{block, x.runOf(f, j, i)}] = true
			}
			for k := range f.Codes.Code.Parts {
				if n++; bytewise(&f.Codes.Code.Parts[k]) {
					n += segment/4 - 1
				}
			}
		}
		if n += len(runs); f.Codes.Offset != nil {
			n += len(runs)
		}
	}
	return n
}

// stepBlocks is the number of blocks between strips so many strips apart.
func (x *product) stepBlocks(f *ir.Format, strips int) int {
	return strips * x.vectors * x.elements() / f.Len
}

// strip locates a strip.
func (x *product) strip(sc *build.Scope, number *shader.Expr) (s strip) {
	f := x.format(x.sums[0])
	per, first := x.perBlock(f), number.Mul(x.vectors)
	for j := range x.vectors {
		vector, next := sc.Let(build.Tag("vector"+sc.Tag, j), first.Plus(j)), 0
		s.blocks = append(s.blocks, sc.Let(build.Tag("block"+sc.Tag, j), build.Shifted(vector, per)))
		at := x.position(sc, build.Tag("element"+sc.Tag, j), vector.And(per-1))
		if j > 0 && !x.apartBlocks() {
			at.number, next = s.vectors[0].number, j
		}
		at.next = next
		s.vectors = append(s.vectors, at)
	}
	s.depth = sc.Let("depth"+sc.Tag, s.blocks[0].Mul(f.Len).Add(s.vectors[0].first))
	return s
}

// locateRuns finds the runs of a strip in a format, by groups of neighbours: the first of each.
func (x *product) locateRuns(sc *build.Scope, f *ir.Format, s strip) (runs []*shader.Expr) {
	base, n := build.Shifted(s.vectors[0].first, f.Codes.Run), x.neighbours(f)
	for j := range x.vectors {
		for i := range x.segments {
			g := x.runOf(f, j, i) / n
			for len(runs) <= g {
				runs = append(runs, nil)
			}
			if runs[g] == nil {
				runs[g] = sc.Let(build.Tag("run"+f.Name+sc.Tag, g), base.Plus(g*n))
			}
		}
	}
	return runs
}

// A column is a strip of a column of a sum: the codes of its vectors, and the scale and offset of each segment of
// each vector.
type column struct {
	codes         []codes
	scale, offset [][]*shader.Expr
}

// load reads a strip of a column.
func (w *worker) load(sc *build.Scope, i, c int, first *shader.Expr, s strip, places build.Places) (v column) {
	arg, f := w.Nest.Body[w.sums[i].right].Arg, w.format(w.sums[i])
	var b build.Block
	var scales, offsets factors
	for j, at := range s.vectors {
		name := build.Tag("q"+sc.Tag, i, c, j)
		if j == 0 || w.apartBlocks() {
			b = sc.BlockAt(arg, sc.Let(name+"b", first.Add(s.blocks[j].Convert(first.Type))))
			b.Ahead(w.stepBlocks(f, w.along)*f.Bytes/4, s.step)
			b.Places = places
			sc.Hold(&b, name+"f")
			scales, offsets = factors{}, factors{}
		}
		v.codes = append(v.codes, w.shape.load(sc, &b, name, at))
		scale, offset := make([]*shader.Expr, w.segments), make([]*shader.Expr, w.segments)
		for n := range w.segments {
			run := w.runOf(f, j, n)
			scale[n] = w.factor(sc, &b, &f.Codes.Scale, scales, name+"s", s, run)
			if o := f.Codes.Offset; o != nil {
				offset[n] = w.factor(sc, &b, o, offsets, name+"o", s, run)
			}
		}
		v.scale, v.offset = append(v.scale, scale), append(v.offset, offset)
	}
	return v
}

// factors are the numbers of runs of a block, by groups of neighbours.
type factors map[int][]*shader.Expr

// factor reads the number of a run with its neighbours, once.
func (w *worker) factor(sc *build.Scope, b *build.Block, f *ir.Factor, known factors, name string, s strip, run int) *shader.Expr {
	n := w.neighbours(b.Format)
	g := run / n
	if known[g] == nil {
		known[g] = sc.Factors(b, f, build.Tag(name, g), s.runs[g], b.Len/b.Codes.Run, n)
	}
	return known[g][run%n]
}
