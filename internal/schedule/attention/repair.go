package attention

import (
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// weighs reports whether a kernel has products by weights, so that rows may need repair.
func (a *attention) weighs() bool {
	return slices.ContainsFunc(a.Nest.Body, func(in ir.Instr) bool { return build.ByWeight(&in) })
}

// repair computes a row's results of the thread again, with selects for its products by weights, if one of
// them is not finite. A thread computes the scores of its rows alone, column by column.
func (a *attention) repair(row *row, first, end *shader.Expr) {
	if !a.weighs() {
		return
	}
	root := a.p.Root
	var list []*shader.Expr
	for _, x := range row.sums {
		list = append(list, x.Acc.Ref())
	}
	for _, q := range a.outputs {
		for h := range q.Tile.Wide {
			list = append(list, q.Results(row.squareNumber, row.number, h)...)
		}
	}
	again := root.When(build.AnyInfinite(root, "worst"+row.Tag, list))
	for _, x := range row.sums {
		again.Set(x.Acc, x.Start)
	}
	row.eachResult(a.outputs, func(_ *tiles.Pass, _, _ int, acc *shader.Var, i int) {
		again.SetAt(acc, i, build.Number(shader.F32, 0))
	})
	for _, q := range a.outputs {
		if v := row.common[q]; v != nil { // the left factors have it
			again.Set(v, build.Number(shader.F32, 1))
		}
	}
	finite := a.p.Finite
	a.p.Finite = 0
	loop, n := again.Loop("n"+row.Tag, first, end, 1)
	a.repairColumn(loop, row, n)
	loop.End()
	a.p.Finite = finite
	again.End()
}

// eachResult visits the thread's results in a row: number j of four in square h of an output.
func (r *row) eachResult(outputs []*tiles.Pass, visit func(q *tiles.Pass, h, j int, acc *shader.Var, component int)) {
	for _, q := range outputs {
		for h := range q.Tile.Wide {
			for j := range 4 {
				acc, i := q.Result(r.squareNumber, r.number, h, j)
				visit(q, h, j, acc, i)
			}
		}
	}
}

// repairColumn adds column n to a row's sums and outputs.
func (a *attention) repairColumn(loop *build.Scope, row *row, n *shader.Expr) {
	point := row.On(loop.Block, "_again")
	point.Enter(build.Span{Axes: a.n, Base: n})
	if row.max != nil {
		most := row.max.Acc.Ref()
		point.Values[a.Max] = build.Value{build.IsLowest(most).If(build.Number(shader.F32, 0), most)}
	}
	for i, q := range a.scores {
		sum := loop.Var(build.Tag("score", i)+row.Tag, build.Number(shader.F32, 0))
		deep, k := loop.Loop(build.Tag("k", i)+row.Tag, build.U32(0), build.U32(q.Depth), 1)
		at := point.On(deep.Block, build.Tag("_k", i))
		at.Enter(build.Span{Axes: q.Deep, Base: k})
		x, y := at.Value(q.Rows.Factor).Lane(0), at.Value(q.Cols.Factor).Lane(0)
		deep.Set(sum, q.AddProduct(sum.Ref(), x, y))
		deep.End()
		point.Values[q.Sum] = build.Value{sum.Ref()}
	}
	a.exponentials(point, true)
	for _, x := range row.sums {
		x.Add(loop.Block, point.Value(a.Nest.Body[x.Instr].Src[0]).Lane(0))
	}
	columns := map[*tiles.Pass][]build.Value{}
	for i, q := range a.outputs {
		for h := range q.Tile.Wide {
			sc := point.Beside(build.Tag("_w", i, h))
			sc.EnterValid(a.unit.outputColumns(q, sc, h))
			columns[q] = append(columns[q], sc.Value(q.Cols.Factor))
		}
	}
	row.eachResult(a.outputs, func(q *tiles.Pass, h, j int, acc *shader.Var, i int) {
		loop.SetAt(acc, i, q.AddProduct(acc.Ref().At(i), point.Value(q.Rows.Factor).Lane(0), columns[q][h].Lane(j)))
	})
}
