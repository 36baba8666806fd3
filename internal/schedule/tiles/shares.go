package tiles

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/pointwise"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Fewer tiles than compute units hold leave some idle, unless the depth of tiles is cut so that all units have the same
// work (as by stream-K). Of each tile the units compute as many whole parts as there is room for: part by part, as
// tiles read the same factors at the same steps. The other units share the rest of all tiles: a unit computes the
// end of one tile's rest, then the next ones. The sums of all parts go to scratch, and a second pass adds them.

// shares returns the cut of a product into shares of least time, and how many parts a tile has on average, by the
// seconds of a step and those in which a workgroup ends a part and begins another.
func shares(x *product.Product, t Tile, step, next float64) (cut product.Cut, parts, least float64) {
	tiles, steps := tilesOf(x, t)
	groups := resident(x, t) * x.Target.Units
	least = math.Inf(1)
	for each := ir.CeilDiv(tiles*steps, groups); each <= steps; each++ {
		whole, rest := steps/each, steps%each
		free := groups - whole*tiles
		if rest == 0 || free <= 0 {
			continue
		}
		share := ir.CeilDiv(tiles*rest, free)
		time := max(float64(each)*step, float64(share)*(step+next/float64(rest)))
		if time < least {
			cut, least = SharesOf(x, t, each, ir.CeilDiv(tiles*rest, share)), time
			parts = float64(whole+1) + float64(cut.Shares)/float64(tiles)
		}
	}
	return cut, parts, least
}

// SharesOf cuts the depth into whole parts of some steps and shares of the rest.
func SharesOf(x *product.Product, t Tile, each, shares int) product.Cut {
	tiles, steps := tilesOf(x, t)
	c := product.Cut{PerSplit: each, Shares: shares}
	rest, share := steps%each, ir.CeilDiv(tiles*(steps%each), shares)
	c.Splits = steps/each + (rest+share-2)/share + 1
	return c
}

// tilesOf counts the tiles of a product, and their steps along the depth.
func tilesOf(x *product.Product, t Tile) (tiles, steps int) {
	return x.Batches * ir.CeilDiv(x.Rows.N, t.M) * ir.CeilDiv(x.Cols.N, t.N), max(1, ir.CeilDiv(x.Depth, t.Depth()))
}

// A rest is the steps of tiles behind their whole parts.
type rest struct {
	tiles, whole int // whole parts of a tile
	steps, share int // of a tile, and of a workgroup
}

func restOf(x *product.Product, t Tile) rest {
	tiles, steps := tilesOf(x, t)
	r := rest{tiles: tiles, whole: steps / x.PerSplit, steps: steps % x.PerSplit}
	r.share = ir.CeilDiv(tiles*r.steps, x.Shares)
	return r
}

// inShares wraps the following statements in a loop over the tiles of the workgroup's share, or over one, and finds
// its steps of each. It returns the number of the loop's tile in its batch.
func (q *Pass) inShares(tiles int) (tile *shader.Expr, end func()) {
	root, r := q.P.Root, restOf(q.Product, q.Tile)
	wholes := r.whole * r.tiles
	q.P.Workgroups = wholes + q.Shares
	job := q.P.Job()
	has := root.Let("shares", job.Ge(wholes))
	part := root.Let("part", has.If(job.Sub(wholes), job.Div(r.tiles)))
	from := root.Let("first_step", has.If(part.Mul(r.share), job.Rem(r.tiles).Mul(r.steps)))
	until := root.Let("last_step", has.If(from.Add(r.share).Min(r.tiles*r.steps), from.Add(1)))
	at := &shader.Var{Name: "at", Type: shader.U32, Mutable: true}
	loop := root.Later(func(b *shader.Block) shader.Stmt {
		return &shader.For{Var: at, Init: from, Cond: at.Ref().Lt(until), Next: at.Ref().Div(r.steps).Add(1).Mul(r.steps), Body: b}
	})
	number := root.Let("number", at.Ref().Div(r.steps))
	start := root.Let("start", number.Mul(r.steps))
	ahead := r.whole * q.PerSplit
	q.First = root.Let("begin", has.If(at.Ref().Sub(start).Add(ahead), part.Mul(q.PerSplit)))
	q.Last = root.Let("end", has.If(until.Sub(start).Min(r.steps).Add(ahead), q.First.Add(q.PerSplit)))
	q.At.Batch = root.Let("batch", number.Div(tiles))
	q.At.Split = root.Let("split", has.If(part.Sub(start.Div(r.share)).Add(r.whole), part))
	return root.Let("tile", number.Rem(tiles)), func() {
		root.Barrier() // all have read the tiles in shared memory
		loop()
	}
}

// addParts adds the pass that adds the parts of each result, in their order, and stores it.
func addParts(x *product.Product, t Tile) {
	stores := x.Nest.Stores(0, false)
	every := slices.Concat(x.Batch, x.Rows.Axes, x.Cols.Axes)
	group := x.TogetherInParts() // they have the same parts
	pointwise.Points(x.Builder, every, stores, func(sc *build.Scope, i int) {
		owner := sc.Owner(ir.Axes(every...))
		rank := owner.Rank(every)
		v := make(build.Value, len(rank))
		group := min(group, len(v))
		for l := 0; l < len(v); l += group {
			sums := make([]*shader.Var, group)
			for j := range sums {
				sums[j] = owner.Var(owner.NameOf(i, l+j, len(v)), build.Number(x.ResultType, 0))
				v[l+j] = sums[j].Ref()
			}
			addPartsTo(x, owner, sums, rank.Lane(l), l, partsOf(x, t, owner, l))
		}
		owner.Values[i] = v
	})
}

// partsOf counts the parts of the tile of a lane.
func partsOf(x *product.Product, t Tile, sc *build.Scope, lane int) *shader.Expr {
	high, wide, r := ir.CeilDiv(x.Rows.N, t.M), ir.CeilDiv(x.Cols.N, t.N), restOf(x, t)
	at := func(axes []int, size int) *shader.Expr { return sc.Rank(axes).Lane(lane).Div(size).Convert(shader.U32) }
	let := func(name string, e *shader.Expr) *shader.Expr { return sc.Let(build.Tag(name, lane), e) }
	down, across := let("down", at(x.Rows.Axes, t.M)), let("across", at(x.Cols.Axes, t.N))
	first := let("band", down.Div(band).Mul(band)) // see locate
	tile := first.Mul(wide).Add(across.Mul(build.U32(high).Sub(first).Min(band))).Add(down.Sub(first))
	start := let("start", at(x.Batch, 1).Mul(high*wide).Add(tile).Mul(r.steps))
	return let("parts", start.Add(r.steps-1).Div(r.share).Sub(start.Div(r.share)).Add(1+r.whole))
}

// addPartsTo adds parts of neighbouring results, of which the first has a number, to sums.
func addPartsTo(x *product.Product, sc *build.Scope, sums []*shader.Var, rank *shader.Expr, lane int, parts *shader.Expr) {
	ahead, typ := min(x.Splits, product.LoadsAhead/len(sums)), x.PositionType(x.Splits*x.Results())
	loop, n := sc.Loop(build.Tag("n", lane), build.U32(0), parts, ahead)
	var list []*shader.Var
	for k := range ahead {
		load := &shader.Load{Buffer: x.Parts(sc.Pass, false), Index: n.Plus(k).Convert(typ).Mul(x.Results()).Add(rank.Convert(typ))}
		for j := range sums {
			load.Dst = append(load.Dst, loop.Var(build.Tag("part", k, j), build.Number(x.ResultType, 0)))
		}
		one := loop.When(n.Plus(k).Lt(parts))
		one.Do(load)
		one.End()
		list = append(list, load.Dst...)
	}
	for k, part := range list {
		sum := sums[k%len(sums)]
		loop.Set(sum, sum.Ref().Add(part.Ref()))
	}
	loop.End()
}
