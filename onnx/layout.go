package onnx

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// layOutWeights lays out the weights of convolutions, [out in kernel…], in memory as the CPU multiplies by
// them. They are views of that memory, so nothing else changes. Weights keep their order where memory is short.
func (p *program) layOutWeights(g *proto.Graph) {
	if !cpuIsDefault() {
		return
	}
	p.views = map[string]func() tensor.Tensor{}
	weights := p.convWeights()
	for _, t := range g.Initializers {
		v := p.consts[t.Name]
		if !weights[t.Name] || v.Elem != op.Float && v.Elem != op.Double || v.Tensor.Rank() < 3 {
			continue
		}
		if v.Tensor.Shape()[0] < 2 {
			continue
		}
		if view := laidOut(v.Tensor); view != nil {
			v.Tensor = view()
			p.consts[t.Name], t.Decoded, p.views[t.Name] = v, v, view
		}
	}
}

// cpuIsDefault is false if the CPU cannot be made, as its first use says.
func cpuIsDefault() bool {
	defer func() {
		if e := recover(); e != nil {
			if _, ok := e.(*tensor.DeviceError); !ok {
				panic(e)
			}
		}
	}()
	return tensor.Default() == tensor.CPU()
}

// valueOf returns an initializer for callers that may evaluate it: if it is laid out, another view, which leaves
// the model's own a view.
func (p *program) valueOf(name string) op.Value {
	v := p.consts[name]
	if view := p.views[name]; view != nil {
		v.Tensor = view()
	}
	return v
}

// pools has the operators whose results have one position. Weights that multiply a vector are read in the order
// of the file.
var pools = []string{"GlobalAveragePool", "GlobalMaxPool", "ReduceMean"}

// convWeights returns the names that nodes read only as the weights of convolutions of one group, of more than
// one position as far as the operators say.
func (p *program) convWeights() map[string]bool {
	weights, others, pooled := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, name := range p.outputs {
		others[name] = true
	}
	for _, n := range p.nodes {
		isConv := n.Op == "Conv" && n.domain == "" && n.function == nil && !slices.ContainsFunc(n.Attrs, func(a *proto.Attr) bool {
			return a.Name == "group" && a.I != 1
		})
		single := slices.Contains(pools, n.Op)
		if !single && len(n.Inputs) > 0 {
			single = !slices.ContainsFunc(n.Inputs, func(name string) bool {
				_, isConst := p.consts[name]
				return name != "" && !isConst && !pooled[name]
			})
		}
		for _, name := range n.Outputs {
			pooled[name] = single
		}
		for i, name := range n.Inputs {
			if isConv && i == 1 && !single {
				weights[name] = true
			} else {
				others[name] = true
			}
		}
		if n.captures {
			for _, name := range n.reads {
				others[name] = others[name] || !slices.Contains(n.Inputs, name)
			}
		}
	}
	for name, yes := range others {
		if yes {
			delete(weights, name)
		}
	}
	return weights
}

// laidOut returns t, [out …], as a view of a copy that has the outputs of a tile of the product beside each other,
// [out/width … width], or all outputs if they are not whole tiles. It returns nil without memory for the copy.
func laidOut(t tensor.Tensor) (view func() tensor.Tensor) {
	shape, size := t.Shape(), t.DType().Size()
	out, width := shape[0], simd.Products[t.DType()].Cols
	if width == 0 || out%width != 0 {
		width = out
	}
	from, err := t.Bytes()
	if err != nil {
		return nil
	}
	to, err := tensor.Internal.Allocate(graph.Token{}, len(from))
	if err != nil {
		return nil
	}
	depth := t.Len() / out
	transpose := func(tile, first, end int) {
		at := tile * width * depth
		simd.Movers[size](unsafe.Pointer(&to[(at+first*width)*size]), unsafe.Pointer(&from[(at+first)*size]), end-first, width, 1, width, 1, depth)
	}
	const part = 1 << 16 // elements
	n := max(16, part/width&^15)
	parts := ir.CeilDiv(depth, n)
	files.Parallel(out/width*parts, 1, func(i, _ int) error {
		transpose(i/parts, i%parts*n, min((i%parts+1)*n, depth))
		return nil
	})
	y := tensor.FromBytes(t.DType(), slices.Concat([]int{out / width}, shape[1:], []int{width}), to)
	order := []int{0, len(shape)}
	for a := 1; a < len(shape); a++ {
		order = append(order, a)
	}
	return func() tensor.Tensor { return y.Permute(order...).Reshape(shape...) }
}
