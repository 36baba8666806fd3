package dist

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A Reduction says how [AllReduce] and [ReduceScatter] combine the ranks' elements.
type Reduction int

// The reductions.
const (
	Sum  Reduction = iota
	Max            // the greatest; NaN if one is
	Mean           // the sum divided by the number of ranks
)

// String is the name.
func (r Reduction) String() string {
	if r < Sum || r > Mean {
		return fmt.Sprintf("Reduction(%d)", int(r))
	}
	return [...]string{"Sum", "Max", "Mean"}[r]
}

// AllReduce returns the element by element sum, maximum or mean of x over all ranks, equal on all of them.
// Numbers of 16 bits are combined in float32, integers below 32 bits in int32. The derivative of a loss that
// each rank computes of the result is of the sum of these losses.
func AllReduce(g *Group, x tensor.Tensor, r Reduction) tensor.Tensor {
	const op = "AllReduce"
	checkCall(op, g, x, r)
	if r == Mean {
		return AllReduce(g, x, Sum).Div(g.size)
	}
	return wide(op, x, func(x tensor.Tensor) tensor.Tensor {
		c := &collective{g: g, name: op + " " + r.String(), length: 1, of: x, device: driver.CollectiveCall{Op: driver.AllReduce, Combine: combines[r]}, run: func(ring *ring, out []byte) error {
			return ring.allReduce(out, combination{combines[r], x.DType()})
		}}
		if r == Max {
			return c.differentiable(nil, func(x, y, ct tensor.Tensor) tensor.Tensor {
				is := x.Eq(y).Cast(x.DType())
				return is.Mul(AllReduce(g, ct, Sum)).Div(AllReduce(g, is, Sum))
			})
		}
		sum := func(v tensor.Tensor) tensor.Tensor { return AllReduce(g, v, Sum) }
		return c.differentiable(sum, func(_, _, ct tensor.Tensor) tensor.Tensor { return sum(ct) })
	})
}

// combines has the operations of reductions.
var combines = [...]ir.Op{Sum: ir.Add, Max: ir.Max}

// AllGather returns the ranks' tensors x, of one shape, one after the other along axis 0, by rank. A scalar
// counts as one element.
func AllGather(g *Group, x tensor.Tensor) tensor.Tensor {
	const op = "AllGather"
	checkCall(op, g, x, Sum)
	shape := append([]int{g.size}, x.Shape()...)
	if x.Rank() > 0 {
		shape = append([]int{g.size * x.Dim(0)}, x.Shape()[1:]...)
	}
	c := &collective{g: g, name: op, of: x, length: g.size, device: driver.CollectiveCall{Op: driver.AllGather}, run: func(r *ring, out []byte) error {
		return r.allGather(out, max(len(out)/r.size, 1))
	}}
	gather := func(v tensor.Tensor) tensor.Tensor { return AllGather(g, v) }
	return c.differentiable(gather, func(x, _, ct tensor.Tensor) tensor.Tensor {
		return ReduceScatter(g, ct, Sum).Reshape(x.Shape()...)
	}).Reshape(shape...)
}

// ReduceScatter combines x over all ranks and returns this rank's part of the result: the axis 0, whose
// length is a multiple of the number of ranks, is divided by rank.
func ReduceScatter(g *Group, x tensor.Tensor, r Reduction) tensor.Tensor {
	const op = "ReduceScatter"
	checkCall(op, g, x, r)
	if x.Rank() == 0 || x.Dim(0)%g.size != 0 {
		misuse(op, fmt.Sprintf("axis 0 is not a multiple of %d ranks", g.size), x)
	}
	switch r {
	case Mean:
		return ReduceScatter(g, x, Sum).Div(g.size)
	case Max: // the derivative is AllReduce's
		n := x.Dim(0) / g.size
		return AllReduce(g, x, Max).Slice(0, g.rank*n, (g.rank+1)*n)
	}
	shape := append([]int{x.Dim(0) / g.size}, x.Shape()[1:]...)
	return wide(op, x, func(x tensor.Tensor) tensor.Tensor {
		c := &collective{g: g, name: op, of: x, parts: g.size, device: driver.CollectiveCall{Op: driver.ReduceScatter, Combine: ir.Add}, run: func(r *ring, data []byte) error {
			return r.reduceScatter(data, combination{ir.Add, x.DType()})
		}}
		scatter := func(v tensor.Tensor) tensor.Tensor { return ReduceScatter(g, v, Sum) }
		return c.differentiable(scatter, func(x, _, ct tensor.Tensor) tensor.Tensor {
			return AllGather(g, ct.Reshape(shape...)).Reshape(x.Shape()...)
		}).Reshape(shape...)
	})
}

// Broadcast returns x of the root on all ranks.
func Broadcast(g *Group, x tensor.Tensor, root int) tensor.Tensor {
	const op = "Broadcast"
	checkCall(op, g, x, Sum)
	if root < 0 || root >= g.size {
		misuse(op, fmt.Sprintf("the root is %d, want a rank below %d", root, g.size), x)
	}
	c := &collective{g: g, name: fmt.Sprint(op, " from ", root), of: x, length: 1, device: driver.CollectiveCall{Op: driver.Broadcast, Root: root}, run: func(r *ring, out []byte) error {
		return r.broadcast(out, root)
	}}
	from := func(v tensor.Tensor) tensor.Tensor { return Broadcast(g, v, root) }
	return c.differentiable(from, func(_, _, ct tensor.Tensor) tensor.Tensor { return reduceTo(g, ct, root) })
}

// reduceTo returns the sum of x over all ranks on the root, and zeros elsewhere: the transpose of Broadcast.
func reduceTo(g *Group, x tensor.Tensor, root int) tensor.Tensor {
	return wide("Broadcast", x, func(x tensor.Tensor) tensor.Tensor {
		zeros := func(d driver.Collective, out graph.DeviceArray) error {
			if g.rank == root {
				return nil
			}
			return d.Upload(out.Buffer, 0, make([]byte, graph.Len(out.Shape)*out.DType.Size()))
		}
		c := &collective{g: g, name: fmt.Sprint("Reduce to ", root), of: x, length: 1, device: driver.CollectiveCall{Op: driver.AllReduce, Combine: ir.Add}, after: zeros, run: func(r *ring, out []byte) error {
			err := r.allReduce(out, combination{ir.Add, x.DType()})
			if r.rank != root {
				clear(out)
			}
			return err
		}}
		to := func(v tensor.Tensor) tensor.Tensor { return reduceTo(g, v, root) }
		return c.differentiable(to, func(_, _, ct tensor.Tensor) tensor.Tensor { return Broadcast(g, ct, root) })
	})
}

// wide applies f, of a collective, in a type that rings combine.
func wide(op string, x tensor.Tensor, f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	d := x.DType()
	switch {
	case d.IsHalf():
		return f(x.Cast(tensor.Float32)).Cast(d)
	case d == tensor.Bool:
		misuse(op, "bools have no sum: Cast to an integer first", x)
	case d.Size() < 4:
		return f(x.Cast(tensor.Int32)).Cast(d)
	}
	return f(x)
}

func checkCall(op string, g *Group, x tensor.Tensor, r Reduction) {
	if g == nil || g.size == 0 {
		misuse(op, "the Group is nil or empty: make one with dist.Init")
	}
	if r < Sum || r > Mean {
		misuse(op, fmt.Sprintf("the Reduction is %d, want dist.Sum, dist.Max or dist.Mean", int(r)))
	}
	if r == Mean && !x.DType().IsFloat() {
		misuse(op, "the Mean of integers: Cast to a floating-point type first", x)
	}
}

func misuse(op, reason string, operands ...any) {
	tensor.Internal.Misuse(graph.Token{}, "dist."+op, reason, operands...)
}

// A collective is an operation on one tensor.
type collective struct {
	g      *Group
	name   string
	of     tensor.Tensor
	length int // the result's elements for each element of the operand; 0 if it has fewer
	parts  int // into which the operand is divided, if the result is one of them
	run    func(r *ring, data []byte) error
	device driver.CollectiveCall                                  // without type, length and buffers
	after  func(d driver.Collective, out graph.DeviceArray) error // see deviceCall
}

// A key identifies equal calls of recorded functions.
type key struct {
	g    *Group
	call string
	d    digest
}

// node returns the operation of x, flat.
func (c *collective) node(x tensor.Tensor) tensor.Tensor {
	flat := x.Reshape(-1)
	n := tensor.Internal.Node(graph.Token{}, flat)
	called := &call{text: fmt.Sprint(c.name, " of ", x.DType(), " ", x.Shape()), graph: digestOf([]*graph.Node{n})}
	length := flat.Len() * c.length
	if c.length == 0 {
		length = flat.Len() / c.parts
	}
	f := &graph.HostFunc{Op: "dist." + c.name, Key: key{c.g, called.text, called.graph}, Run: func(out graph.HostArray, in []graph.HostArray) error {
		return c.perExample(called, out, in[0])
	}, Collective: c.onDevice(called, n.DType)}
	return tensor.Internal.Tensor(graph.Token{}, graph.KernelCall(f, n.DType, []int{length}, n))
}

// perExample runs the collective for each example of a batch that Vmap made.
func (c *collective) perExample(called *call, out, in graph.HostArray) error {
	examples := graph.Len(in.Shape[:len(in.Shape)-1])
	to, from := len(out.Data)/max(examples, 1), len(in.Data)/max(examples, 1)
	for i := range examples {
		if err := c.one(called, out.Data[i*to:][:to], in.Data[i*from:][:from]); err != nil {
			return err
		}
	}
	return nil
}

// one runs the collective.
func (c *collective) one(called *call, out, in []byte) error {
	return c.g.run(called, func(r *ring) error {
		if c.parts > 0 {
			data := slices.Clone(in)
			err := c.run(r, data)
			copy(out, data[len(out)*r.rank:])
			return err
		}
		copy(out[len(in)*(c.g.rank*min(c.length-1, 1)):], in)
		if r.size == 1 {
			return nil
		}
		return c.run(r, out)
	})
}

// differentiable returns the operation with its rules: of tangents, or nil, and of cotangents.
func (c *collective) differentiable(jvp func(v tensor.Tensor) tensor.Tensor, vjp func(x, y, ct tensor.Tensor) tensor.Tensor) tensor.Tensor {
	op := "dist." + c.name
	if !c.of.DType().IsFloat() {
		return c.shaped(c.of)
	}
	return grad.Internal.Custom(graph.Token{}, op, func(args []tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{c.shaped(args[0])}
	}, func(args, outs, ts []tensor.Tensor) []tensor.Tensor {
		if jvp == nil {
			misuse("AllReduce", "Max has no derivative in forward mode", args[0])
		}
		return each(ts, func(v tensor.Tensor) tensor.Tensor { return jvp(v).Reshape(outs[0].Shape()...) })
	}, func(args, outs, ts []tensor.Tensor) []tensor.Tensor {
		return each(ts, func(ct tensor.Tensor) tensor.Tensor { return vjp(args[0], outs[0], ct) })
	}, c.of)[0]
}

// shaped returns the operation of x: in its shape if it has as many elements.
func (c *collective) shaped(x tensor.Tensor) tensor.Tensor {
	y := c.node(x)
	if y.Len() == x.Len() {
		return y.Reshape(x.Shape()...)
	}
	return y
}

// each applies f to a present tensor.
func each(ts []tensor.Tensor, f func(tensor.Tensor) tensor.Tensor) []tensor.Tensor {
	if !ts[0].IsValid() {
		return ts
	}
	return []tensor.Tensor{f(ts[0])}
}
