package dist

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// bucketSize is the least number of bytes of a bucket but the last, and the number that a ring sums at a time:
// enough that the latency of a ring does not count, and little beside a model.
var bucketSize = 25 << 20 // tests have less

// pieces returns the ends of pieces of data of a number of bytes.
func pieces(total int) (ends []int) {
	for at := 0; at < total; {
		at = min(at+bucketSize, total)
		ends = append(ends, at)
	}
	return ends
}

// buckets divides tensors of some types and numbers of bytes, in order, into buckets of one type. They are as large as
// the largest tensor: smaller ones would not end sooner, and each takes processors of a GPU from kernels while it
// waits for other ranks.
func buckets(types []tensor.DType, sizes []int) (list [][]int) {
	most := max(bucketSize, slices.Max(sizes))
	open, total := map[tensor.DType]int{}, map[tensor.DType]int{} // of the last bucket of a type: its number and bytes
	for i, d := range types {
		k, ok := open[d]
		if !ok || total[d]+sizes[i] > most {
			k = len(list)
			list, open[d], total[d] = append(list, nil), k, 0
		}
		list[k], total[d] = append(list[k], i), total[d]+sizes[i]
	}
	return list
}

// Mean returns the means of floating-point tensors over the ranks, such as gradients, in their types, equal
// on all ranks. The tensors are averaged in buckets, in their order: where one result is read, all of its bucket are
// computed, so that all ranks read the same ones. A recorded step averages a bucket once its tensors are computed,
// while it computes others. Tensors of 16 bits are averaged in float32. Mean has no derivative.
func (g *Group) Mean(ts ...tensor.Tensor) []tensor.Tensor {
	return g.mean("Group.Mean", ts, func(t tensor.Tensor) tensor.Tensor { return t.Cast(t.DType().ComputeType()) }, func(t tensor.Tensor) tensor.Tensor {
		return t.Div(g.size)
	})
}

// MeanIn is Mean of tensors that are rounded to BFloat16 or Float16, divided by the number of ranks, and sent and
// added in that type.
func (g *Group) MeanIn(d tensor.DType, ts ...tensor.Tensor) []tensor.Tensor {
	if !d.IsHalf() {
		misuse("Group.MeanIn", fmt.Sprintf("the type is %v, want BFloat16 or Float16", d))
	}
	return g.mean("Group.MeanIn", ts, func(t tensor.Tensor) tensor.Tensor { return t.Cast(d).Div(g.size) }, func(t tensor.Tensor) tensor.Tensor { return t })
}

// mean returns the means of tensors: after, of the sums over the ranks of before.
func (g *Group) mean(op string, ts []tensor.Tensor, before, after func(tensor.Tensor) tensor.Tensor) []tensor.Tensor {
	if g.size == 1 {
		return ts
	}
	sent, means := make([]tensor.Tensor, len(ts)), make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		if !t.DType().IsFloat() {
			misuse(op, "the mean of integers: Cast to a floating-point type first", t)
		}
		sent[i] = before(t)
	}
	for i, sum := range (listed{g, driver.AllReduce}).of(sent) {
		means[i] = after(sum.Reshape(ts[i].Shape()...)).Cast(ts[i].DType())
	}
	return means
}

// Barrier returns when all ranks have called it.
func (g *Group) Barrier() error {
	return g.run(&call{text: "Barrier"}, func(r *ring) error {
		if r.size == 1 {
			return nil
		}
		return r.allReduce(make([]byte, 4*r.size), combination{ir.Add, ir.Float32})
	})
}
