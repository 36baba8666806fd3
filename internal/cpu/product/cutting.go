package product

import (
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// mostRounds is the greatest number of tiles that divide tries for each worker.
const mostRounds = 4

// A cutting is how the work of a product is split. The result is cut into strips of rows by columns, the depth
// into blocks. A tile has strips one below the other; a part has blocks of the depth (split-K), and a
// tile of its own.
type cutting struct {
	rows, cols    *vector.Tiling
	strips        vector.Tilings // of the batch, the columns and the rows
	span          int            // strips in a tile
	whole         bool           // a tile has all rows, so that the parts share the right factor
	depth         *vector.Tiling // of the axes that are summed over
	parts         int
	blocksPerPart int
	across        bool // tasks go along the columns before they go down the rows
}

// newCutting chooses the tiles: as large as the caches allow, or smaller if that gives too few
// for many cores.
func newCutting(s *vector.Space, p *simd.Product, rows, cols []int, work, unit int, windows bool) *cutting {
	t, c := s.Tune, &cutting{}
	depth := s.List(ir.K)
	batch := vector.NewTiling(s, s.List(ir.Batch), 1, 1)
	deep := t.Depth
	if p.Packing != nil {
		deep = deep * p.Packing.Group / p.Packing.Elements
	}
	if unit > 1 && s.Size(rows) <= s.Tune.FewRows {
		deep *= fewDepth
	}
	if c.depth = vector.NewTiling(s, depth, deep/2, deep); unit > 1 {
		c.depth = vector.NewTilingOf(s, depth, deep, unit)
	}
	height, width, minPart := t.Rows, t.Cols, t.MinPart
	if windows {
		// Strips are high, because the blocks of neighbouring strips have elements in
		// common. For more tasks the depth is split and not the strips.
		rows, minPart = orderRows(s, rows), max(1, t.MinPart/4)
		height = min(t.Span, t.Rows*t.Cols/max(1, min(t.Cols, s.Size(cols))))
	}
	most := max(1, s.Size(depth)/minPart)
	for least := height / 8; ; {
		c.rows = vector.NewTilingBy(s, rows, height/2, height, p.Rows)
		c.cols = vector.NewTilingBy(s, cols, width/2, width, p.Cols)
		c.strips = vector.Tilings{batch, c.cols, c.rows}
		n := c.strips.Count()
		if 2*n >= t.MinTiles || work/max(n, 1) < 8*t.ParallelThreshold || windows && most > 1 {
			break
		}
		// Each strip reads the right factor, so few rows stay one strip, and strips that are
		// far wider than high are cut along the columns.
		few := s.Size(rows) <= s.Tune.FewRows
		wide := min(width, s.Size(cols)) >= 4*min(height, s.Size(rows))
		if (few || wide) && width > t.Cols/8 {
			width /= 2
		} else if !few && height > least {
			height /= 2
		} else {
			break
		}
	}
	n := c.strips.Count()
	switch {
	case n == 0 || n >= t.MinTiles:
		most = 1
	case !windows || most == 1:
		most = min(2*t.MinTiles/n, most)
	default:
		c.whole = true
		most = min(t.MinTiles*c.rows.Count/n, most)
	}
	c.parts, c.blocksPerPart = vector.Split(c.depth, most)
	return c
}

// narrow cuts the columns so that a panel of the right factor, with elements of size bytes, fits in the cache,
// and groups the strips into tiles. It comes after all choices that change a result, of the parts and of
// which side is the rows, because results must not depend on the size of the cache.
func (c *cutting) narrow(s *vector.Space, p *simd.Product, size int) {
	t := s.Tune
	fits := max(t.Panel/max(1, p.Depth(c.depth.MaxPoints())*size), p.Cols)
	if c.cols.MaxPoints() > fits && (s.Size(c.rows.Axes) > s.Tune.FewRows || p.Packing != nil) {
		c.cols = vector.NewTilingBy(s, c.cols.Axes, fits/2, fits, p.Cols)
		c.strips[1] = c.cols
	}
	if c.span = c.rows.Count; !c.whole {
		n := c.strips.Count()
		c.span = min(max(1, n/t.MinTiles), c.rows.Count, max(1, mostRows(s, p)/max(1, c.rows.MaxPoints())))
	}
}

// mostRows is the most rows of a tile, whose sums stay in the cache.
func mostRows(s *vector.Space, p *simd.Product) int {
	if p.Packing != nil { // to pack a panel takes longer
		return 2 * s.Tune.Span
	}
	return s.Tune.Span
}

// divide cuts tiles so that several threads end at about the same time, with as few copies of the factors as that
// allows. Results do not depend on it.
func (c *cutting) divide(s *vector.Space, p *simd.Product, threads int) {
	if c.tasks() == 0 {
		return
	}
	if threads < 2 { // a tile reads its columns of the right factor once
		if !c.whole {
			c.span = min(c.rows.Count, max(c.span, mostRows(s, p)/max(1, c.rows.MaxPoints())))
		}
		return
	}
	rows, cols := s.Size(c.rows.Axes), s.Size(c.cols.Axes)
	// A thread has consecutive tasks. Its share has whole rows where there are many: much of them is in its caches, because
	// it has computed the same rows in the kernel before, and few threads read all columns as fast as other cores' rows.
	batch := c.strips[0].Count * c.parts
	apart := rows*s.Tune.RemoteCost > cols*threads
	c.across = rows > cols || apart
	best, least := *c, c.time(s, p, threads)
	for i := 1; i <= min(ir.CeilDiv(cols, p.Cols), mostRounds*threads); i++ {
		x := *c
		if width := ir.CeilDiv(cols, i); width < c.cols.MaxPoints() {
			x.cols = vector.NewTilingBy(s, c.cols.Axes, width/2, width, p.Cols)
		}
		for rounds := 1; rounds <= mostRounds; rounds++ {
			if !c.whole {
				n := max(1, rounds*threads/(batch*x.cols.Count))
				if apart { // as many tiles for each thread
					each := ir.CeilDiv(threads, batch)
					n = ir.CeilDiv(max(n, ir.CeilDiv(rows, mostRows(s, p))), each) * each
				}
				tile := min(ir.CeilDiv(rows, n), mostRows(s, p))
				if rows <= s.Tune.FewRows {
					tile = rows
				}
				x.span = ir.CeilDiv(tile, s.Tune.Rows)
				strip := ir.CeilDiv(tile, x.span)
				x.rows = vector.NewTilingBy(s, c.rows.Axes, strip/2, strip, 1)
			}
			x.strips = vector.Tilings{c.strips[0], x.cols, x.rows}
			if t := x.time(s, p, threads); t < least {
				best, least = x, t
			}
		}
	}
	*c = best
}

// time estimates how long some threads take, in multiplications of a register.
func (c *cutting) time(s *vector.Space, p *simd.Product, threads int) float64 {
	rows, cols := min(c.span, c.rows.Count)*c.rows.MaxPoints(), c.cols.MaxPoints()
	depth := min(c.blocksPerPart*c.depth.MaxPoints(), c.depth.Count*c.depth.MaxPoints())
	tile := float64(depth)*(float64(rows)*registers(cols, p)+s.Tune.CopyCost*float64(rows+cols)) + s.Tune.TaskCost
	return tile * (float64(ir.CeilDiv(c.tasks()*c.parts, threads)) + s.Tune.LateShare)
}

// tasks is the number of tiles: spans of strips one below the other.
func (c *cutting) tasks() int {
	if c.strips.Count() == 0 {
		return 0
	}
	return c.strips.Count() / c.rows.Count * ir.CeilDiv(c.rows.Count, c.span)
}

// stripsOf returns the strips of tile i, from first to the one before end.
func (c *cutting) stripsOf(i int) (first, end int) {
	n := ir.CeilDiv(c.rows.Count, c.span)
	if c.across {
		m := c.cols.Count
		i = i/(n*m)*n*m + i%m*n + i/m%n
	}
	first = i % n * c.span
	above := i / n * c.rows.Count
	return above + first, above + min(first+c.span, c.rows.Count)
}

// cost estimates the work of a product whose left factor is instruction x and whose right one is y, in
// multiplications of a register. It depends on shapes and strides only.
func (c *cutting) cost(s *vector.Space, p *simd.Product, x, y int) float64 {
	rows, cols, depth := s.Size(c.rows.Axes), s.Size(c.cols.Axes), s.Size(c.depth.Axes)
	sum := float64(rows) * registers(cols, p) * float64(depth)
	if !leftInPlace(s, x, c.rows, c.depth, p) {
		sum += copied(s, x, c.depth) * float64(c.cols.Count)
	}
	if !inPlace(s, y, c.depth, c.cols, p) {
		sum += copied(s, y, c.cols)
	}
	if axes := c.cols.LongAxes(); len(axes) > 0 && s.Body[s.Stores(0, false)[0]].View.Coef[axes[len(axes)-1]] != 1 {
		sum += float64(rows) * float64(cols) * s.Tune.AcrossCost
	}
	return sum * float64(s.Size(s.List(ir.Batch)))
}

// registers is how many registers of a row take as long as some columns. A tile has two registers of each row.
// Tiles with one multiply two thirds as fast.
func registers(cols int, p *simd.Product) float64 {
	n := float64(cols / p.Cols * 2)
	switch rest := cols % p.Cols; {
	case rest > p.Cols/2:
		n += 2
	case rest > 0:
		n += 1.5
	}
	return n
}

// copied estimates the work of copying instruction i, a factor, into rows along some axes.
func copied(s *vector.Space, i int, along *vector.Tiling) float64 {
	n := loopnest.Points(s.Axes, s.Body[i].Domain) / float64(s.Size(s.List(ir.Batch)))
	axes := along.LongAxes()
	if len(axes) > 0 && s.Body[i].View.Coef[axes[len(axes)-1]] != 1 {
		return n * s.Tune.TransposeCost
	}
	return n * s.Tune.CopyCost
}
