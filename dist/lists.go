package dist

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// ReduceScatter returns this rank's parts of the means of floating-point tensors over the ranks, in their types,
// as the function [ReduceScatter] does for one: of MeanIn in type d, or of Mean if d is 0. As there, buckets of tensors
// are reduced while others are computed.
func (g *Group) ReduceScatter(d tensor.DType, ts ...tensor.Tensor) []tensor.Tensor {
	if d != 0 && !d.IsHalf() {
		misuse("Group.ReduceScatter", fmt.Sprintf("the type is %v, want BFloat16, Float16 or 0", d))
	}
	if g.size == 1 {
		return ts
	}
	sent := make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		switch {
		case !t.DType().IsFloat():
			misuse("Group.ReduceScatter", "the mean of integers: Cast to a floating-point type first", t)
		case t.Rank() == 0 || t.Dim(0)%g.size != 0:
			misuse("Group.ReduceScatter", fmt.Sprintf("axis 0 is not a multiple of %d ranks", g.size), t)
		}
		if sent[i] = t.Cast(t.DType().ComputeType()); d != 0 {
			sent[i] = t.Cast(d).Div(g.size)
		}
	}
	parts := listed{g, driver.ReduceScatter}.of(sent)
	for i, t := range ts {
		part := parts[i].Reshape(append([]int{t.Dim(0) / g.size}, t.Shape()[1:]...)...)
		if d == 0 {
			part = part.Div(g.size)
		}
		parts[i] = part.Cast(t.DType())
	}
	return parts
}

// AllGather returns for each tensor the ranks' ones, of the same shape, one after the other along axis 0, as the
// function [AllGather] does, in buckets. It has no derivative.
func (g *Group) AllGather(parts ...tensor.Tensor) []tensor.Tensor {
	if g.size == 1 {
		return parts
	}
	for _, t := range parts {
		if t.Rank() == 0 {
			misuse("Group.AllGather", "a scalar has no axis 0", t)
		}
	}
	whole := listed{g, driver.AllGather}.of(parts)
	for i, t := range parts {
		whole[i] = whole[i].Reshape(append([]int{t.Dim(0) * g.size}, t.Shape()[1:]...)...)
	}
	return whole
}

// A listed is a collective of a list of tensors: an AllReduce, which adds and counts as a step, a ReduceScatter or an
// AllGather.
type listed struct {
	g  *Group
	op driver.CollectiveOp
}

// of returns the flat results.
func (c listed) of(ts []tensor.Tensor) []tensor.Tensor {
	if len(ts) == 0 {
		return nil
	}
	results, nodes := make([]tensor.Tensor, len(ts)), make([]*graph.Node, len(ts))
	types, sizes := make([]tensor.DType, len(ts)), make([]int, len(ts))
	for i, t := range ts {
		nodes[i] = tensor.Internal.Node(graph.Token{}, t)
		types[i], sizes[i] = t.DType(), t.Len()*t.DType().Size()
	}
	before := digestOf(nodes)
	for k, bucket := range buckets(types, sizes) {
		var list []*graph.Node
		for _, i := range bucket {
			list = append(list, nodes[i])
		}
		flat, from := c.bucket(list, before, k == 0), 0
		for _, i := range bucket {
			to := from + c.length(ts[i].Len())
			results[i] = flat.Slice(0, from, to)
			from = to
		}
	}
	return results
}

// length is the number of elements of the result of a number of elements.
func (c listed) length(n int) int {
	switch c.op {
	case driver.AllGather:
		return n * c.g.size
	case driver.ReduceScatter:
		return n / c.g.size
	}
	return n
}

// bucket returns the results of tensors of one type, one after the other.
func (c listed) bucket(src []*graph.Node, before digest, first bool) tensor.Tensor {
	g, d, total, steps := c.g, src[0].DType, 0, int64(0)
	if first && c.op == driver.AllReduce {
		steps = 1
	}
	var text strings.Builder
	fmt.Fprint(&text, c.op, " of ", d)
	for _, n := range src {
		fmt.Fprint(&text, " ", n.Shape)
		total += c.length(n.Len())
	}
	called := &call{text: text.String(), graph: before}
	f := &graph.HostFunc{Op: fmt.Sprint("dist.", c.op), Key: key{g, called.text, before}, Again: c.op == driver.AllGather, Run: func(out graph.HostArray, in []graph.HostArray) error {
		g.steps.Add(steps)
		return g.run(called, func(r *ring) error { return c.onHost(r, d, out.Data, in) })
	}}
	f.Collective = &deviceCall{g: g, c: called, calls: func(out graph.DeviceArray, in []graph.DeviceArray) (calls []driver.CollectiveCall) {
		g.steps.Add(steps)
		at := 0
		for _, a := range in {
			if n := graph.Len(a.Shape); n > 0 {
				to := driver.Arg{Buffer: out.Buffer, Offset: at}
				calls = append(calls, driver.CollectiveCall{Op: c.op, Combine: ir.Add, DType: d, Len: min(n, c.length(n)), From: a.Arg, To: to})
				at += c.length(n)
			}
		}
		return calls
	}}
	return tensor.Internal.Tensor(graph.Token{}, graph.KernelCall(f, d, []int{total}, src...))
}

// onHost computes a bucket in pieces of memory that have the first rank's parts of all tensors, then the second's.
func (c listed) onHost(r *ring, d ir.DType, out []byte, in []graph.HostArray) error {
	if c.op == driver.AllReduce {
		return c.addOnHost(r, d, out, in)
	}
	x, rest := packing{size: r.size}, out
	for _, a := range in {
		w := a.Data
		if c.op == driver.AllGather {
			n := len(a.Data) * r.size
			w, rest = rest[:n], rest[n:]
		}
		x.wholes = append(x.wholes, w)
		x.stride += len(w) / r.size
	}
	if c.op == driver.AllGather {
		for k, a := range in {
			copy(x.wholes[k][len(a.Data)*r.rank:], a.Data)
		}
	}
	most := bucketSize / r.size &^ 7 // whole elements
	if n := min(most, x.stride) * r.size; len(r.packed) < n {
		r.packed = make([]byte, n)
	}
	for x.from = 0; x.from < x.stride; x.from = x.to {
		x.to = min(x.from+most, x.stride)
		n := x.to - x.from
		data := r.packed[:n*r.size]
		x.each(data, func(part, packed []byte) { copy(packed, part) })
		var err error
		if c.op == driver.ReduceScatter {
			err = r.reduceScatter(data, combination{ir.Add, d})
			copy(out[x.from:x.to], data[n*r.rank:])
		} else if err = r.allGather(data, n); err == nil {
			x.each(data, func(part, packed []byte) { copy(part, packed) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addOnHost adds the ranks' tensors in place, in pieces.
func (c listed) addOnHost(r *ring, d ir.DType, out []byte, in []graph.HostArray) error {
	rest := out
	for _, a := range in {
		rest = rest[copy(rest, a.Data):]
	}
	from := 0
	for _, to := range pieces(len(out)) {
		if err := r.allReduce(out[from:to], combination{ir.Add, d}); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// A packing is a piece of all ranks' parts of tensors: some bytes of the stride of a rank.
type packing struct {
	wholes           [][]byte // of the tensors
	size             int
	stride, from, to int
}

// each calls f with the pieces of the parts, and their places in packed data.
func (x *packing) each(data []byte, f func(part, packed []byte)) {
	for rank := range x.size {
		at := 0 // of a tensor in the stride
		for _, w := range x.wholes {
			n := len(w) / x.size
			if from, to := max(x.from-at, 0), min(x.to-at, n); from < to {
				f(w[n*rank+from:n*rank+to], data[:to-from])
				data = data[to-from:]
			}
			at += n
		}
	}
}
