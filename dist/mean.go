package dist

import (
	"fmt"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// bucketSize is the number of bytes that are averaged at a time: enough that the latency of a ring does not
// count, and little beside a model.
const bucketSize = 25 << 20

// buckets returns the ends of buckets of data of a number of bytes.
func buckets(total int) (ends []int) {
	for at := 0; at < total; {
		at = min(at+bucketSize, total)
		ends = append(ends, at)
	}
	return ends
}

// Mean returns the means of floating-point tensors over the ranks, such as gradients, in their types, equal
// on all ranks. The tensors are averaged as one: where one result is read, all are computed. Tensors of 16 bits
// are averaged in float32. Mean has no derivative.
func (g *Group) Mean(ts ...tensor.Tensor) []tensor.Tensor {
	if g.size == 1 {
		return ts
	}
	means := make([]tensor.Tensor, len(ts))
	var token tensor.Tensor
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		var list []tensor.Tensor
		var at []int
		for i, t := range ts {
			if !t.DType().IsFloat() {
				misuse("Group.Mean", "the mean of integers: Cast to a floating-point type first", t)
			}
			if t.DType().ComputeType() == d {
				list, at = append(list, t.Cast(d)), append(at, i)
			}
		}
		if list == nil {
			continue
		}
		flat := g.sums(d, list, token)
		token = flat.Slice(0, 0, min(1, flat.Len()))
		from := 0
		for k, t := range list {
			n := t.Len()
			x := ts[at[k]]
			means[at[k]] = flat.Slice(0, from, from+n).Reshape(t.Shape()...).Div(g.size).Cast(x.DType())
			from += n
		}
	}
	return means
}

// sums returns the sums of tensors over the ranks, one after the other. They are computed after token, so
// that the sums of two types have one order on all ranks.
func (g *Group) sums(d tensor.DType, ts []tensor.Tensor, token tensor.Tensor) tensor.Tensor {
	var src []*graph.Node
	text, total := fmt.Sprint("Mean of ", d), 0
	for _, t := range ts {
		src = append(src, tensor.Internal.Node(graph.Token{}, t))
		text += fmt.Sprint(" ", t.Shape())
		total += t.Len()
	}
	called := &call{text: text, graph: digestOf(src)}
	if token.IsValid() {
		src = append(src, tensor.Internal.Node(graph.Token{}, token))
	}
	f := &graph.HostFunc{Op: "dist.Mean", Key: key{g, text, called.graph}, Run: func(out graph.HostArray, in []graph.HostArray) error {
		rest := out.Data
		for _, a := range in[:len(ts)] {
			rest = rest[copy(rest, a.Data):]
		}
		g.steps.Add(1)
		return g.run(called, func(r *ring) error {
			from := 0
			for _, to := range buckets(len(out.Data)) {
				if err := r.allReduce(out.Data[from:to], combination{ir.Add, d}); err != nil {
					return err
				}
				from = to
			}
			return nil
		})
	}}
	f.Collective = &deviceCall{g: g, c: called, calls: func(out graph.DeviceArray, in []graph.DeviceArray) (calls []driver.CollectiveCall) {
		g.steps.Add(1)
		at := 0
		for _, a := range in[:len(ts)] {
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
