package tiles

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/ir"
)

// CostOf returns the seconds that parts of a schedule of tiles take on a target.
func CostOf(t build.Target) product.Cost {
	if t.Matrices {
		return MeasuredH200.matrixCost
	}
	return MeasuredH200.threadCost
}

// Options lists the tiles for the workgroups, the fastest first.
func Options(x *product.Product) []product.Option[Tile] {
	how := &MeasuredH200
	split, cost := loopnest.SplitAny, CostOf(x.Target) // so that workgroups of threads fill the compute units
	if x.Target.Matrices {
		split = loopnest.Split
	}
	if x.FactorType.IsWide() {
		cost = how.wideCost
	}
	results := x.Target.Machine.MoveTime(2 * x.Results() * x.ResultType.Bytes())
	finish := finishing(x) // seconds
	return product.Options(x, tiles(x, how), func(t Tile) (cut product.Cut, time float64) {
		tiles := x.Batches * perBatch(x, ir.CeilDiv(x.Rows.N, t.M)*ir.CeilDiv(x.Cols.N, t.N))
		steps := max(1, ir.CeilDiv(x.Depth, t.Depth()))
		work, resident := float64(t.M*t.N*t.Depth())/(t.Rate*x.Target.UnitAdds()), resident(x, t) // seconds
		step := func(groups int) float64 { return max(cost.Step, work*t.load(groups, x.Target.Traits().RateThreads)) }
		second := func(parts float64) float64 { return cost.Pass + cost.Moves*parts*results + finish.all }
		cut.Splits, cut.PerSplit, time = split(steps, min(64, steps/4), func(splits, each int) float64 {
			time, last := 0.0, finish.tile(t)
			if splits > 1 { // the second pass finishes
				last = 0
			}
			for left := ir.CeilDiv(tiles*splits, x.Target.Units); left > 0; left -= resident {
				groups, fill := min(left, resident), 0
				if groups == 1 {
					fill = t.Unit.fillSteps
				}
				time += float64(each+fill)*step(groups) + last*float64(groups)
			}
			if splits > 1 {
				time += second(float64(splits))
			}
			return time
		})
		if t.Unit.shares && tiles < resident*x.Target.Units {
			next := float64(t.Unit.Buffers)*step(resident) + float64(resident*t.M*t.N*x.ResultType.Bytes())/x.Target.UnitBandwidth()
			if c, parts, least := shares(x, t, step(resident), next); least+second(parts) < time {
				cut, time = c, least+second(parts)
			}
		}
		return cut, time
	})
}

// resident is the number of workgroups that a compute unit runs at once: fewer than usual if it has less
// shared memory than the GPUs that Tile.resident holds for.
func resident(x *product.Product, t Tile) int {
	if x.Target.TileBytes == 0 {
		return t.resident
	}
	return max(1, min(t.resident, x.Target.TileBytes/t.Bytes(x.ResultType.Bytes())))
}

// A finish has the seconds of the work behind the sums of a product: on a result by a compute unit, and on all results
// by all units.
type finish struct{ result, all float64 }

// finishing estimates the finish of a product. It counts where products are so fast that it matters.
func finishing(x *product.Product) finish {
	if !x.Target.SharedMatrices || Half(x, x.Rows.Factor) == 0 || Half(x, x.Cols.Factor) == 0 {
		return finish{}
	}
	bytes, adds := 0, 0                 // of a result
	also := x.Nest.Stores(0, false)[1:] // rates include one store
	for _, i := range append(reads(x), also...) {
		bytes += x.Nest.Args[x.Nest.Body[i].Arg].DType.Size()
	}
	factors := x.Nest.Needs([]int{x.Sum}, nil)
	for i := range x.Nest.Body {
		if in := &x.Nest.Body[i]; !factors[i] && in.Op.Class() == ir.Elementwise {
			adds += ir.Table[in.Op].Cost
		}
	}
	return finish{
		result: float64(bytes)/x.Target.UnitBandwidth() + float64(adds)/x.Target.UnitAdds(),
		all:    x.Target.Machine.MoveTime(x.Results()*bytes) + x.Target.Machine.AddTime(x.Results()*adds),
	}
}

// tile is the time in which a tile's results are finished.
func (f finish) tile(t Tile) float64 { return f.result * float64(t.M*t.N) }

// reads lists the loads of elements of matrices that a result needs beside its sum.
func reads(x *product.Product) (list []int) {
	over, factors := ir.Axes(slices.Concat(x.Rows.Axes, x.Cols.Axes)...), x.Nest.Loads(x.Rows.Factor, x.Cols.Factor)
	for i := range x.Nest.Body {
		if in := &x.Nest.Body[i]; in.Op == ir.Load && !slices.Contains(factors, i) && in.Positions()&over == over {
			list = append(list, i)
		}
	}
	return list
}
