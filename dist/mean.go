package dist

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
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
	if g.size == 1 || len(ts) == 0 {
		return ts
	}
	types, sizes := make([]tensor.DType, len(ts)), make([]int, len(ts))
	parts, nodes := make([]tensor.Tensor, len(ts)), make([]*graph.Node, len(ts))
	for i, t := range ts {
		if !t.DType().IsFloat() {
			misuse(op, "the mean of integers: Cast to a floating-point type first", t)
		}
		parts[i] = before(t)
		types[i], sizes[i], nodes[i] = parts[i].DType(), parts[i].Len()*parts[i].DType().Size(), tensor.Internal.Node(graph.Token{}, parts[i])
	}
	means, of := make([]tensor.Tensor, len(ts)), digestOf(nodes)
	for k, bucket := range buckets(types, sizes) {
		var list []*graph.Node
		for _, i := range bucket {
			list = append(list, nodes[i])
		}
		flat, from := g.sum(list, of, k == 0), 0
		for _, i := range bucket {
			n := parts[i].Len()
			means[i] = after(flat.Slice(0, from, from+n).Reshape(ts[i].Shape()...)).Cast(ts[i].DType())
			from += n
		}
	}
	return means
}

// sum returns the sums of tensors of one type over the ranks, one after the other. The first of a mean counts as a
// step.
func (g *Group) sum(src []*graph.Node, of digest, first bool) tensor.Tensor {
	d := src[0].DType
	text, total := fmt.Sprint("Mean of ", d), 0
	for _, n := range src {
		text += fmt.Sprint(" ", n.Shape)
		total += n.Len()
	}
	called := &call{text: text, graph: of}
	steps := int64(0)
	if first {
		steps = 1
	}
	f := &graph.HostFunc{Op: "dist.Mean", Key: key{g, text, of}, Run: func(out graph.HostArray, in []graph.HostArray) error {
		rest := out.Data
		for _, a := range in {
			rest = rest[copy(rest, a.Data):]
		}
		g.steps.Add(steps)
		return g.run(called, func(r *ring) error {
			from := 0
			for _, to := range pieces(len(out.Data)) {
				if err := r.allReduce(out.Data[from:to], combination{ir.Add, d}); err != nil {
					return err
				}
				from = to
			}
			return nil
		})
	}}
	f.Collective = &deviceCall{g: g, c: called, calls: func(out graph.DeviceArray, in []graph.DeviceArray) (calls []driver.CollectiveCall) {
		g.steps.Add(steps)
		at := 0
		for _, a := range in {
			if n := graph.Len(a.Shape); n > 0 {
				to := driver.Arg{Buffer: out.Buffer, Offset: at}
				calls = append(calls, driver.CollectiveCall{Op: driver.AllReduce, Combine: ir.Add, DType: d, Len: n, From: a.Arg, To: to})
				at += n
			}
		}
		return calls
	}}
	return tensor.Internal.Tensor(graph.Token{}, graph.KernelCall(f, d, []int{total}, src...))
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
