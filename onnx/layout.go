package onnx

import (
	"runtime"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// layOutWeights lays out the weights of convolutions, [out in kernel…], and of matrix products, [in out], in memory as
// the default device multiplies by them. They are views of that memory, so nothing else changes. Weights keep their order
// where memory is short.
func (p *program) layOutWeights(g *proto.Graph) {
	layOut := layoutOf(defaultDevice())
	if layOut == nil {
		return
	}
	p.views = map[string]func() tensor.Tensor{}
	size := func(t tensor.Tensor) int { return t.Len() * t.DType().Size() }
	weights, all, left := p.productWeights(), 0, 0 // bytes of the weights, and of those laid out that no collection has freed
	for _, t := range g.Initializers {
		if v := p.consts[t.Name]; weights[t.Name] != "" && v.Kind == op.TensorKind {
			all += size(v.Tensor)
		}
	}
	for _, t := range g.Initializers {
		v := p.consts[t.Name]
		if weights[t.Name] == "" || v.Elem != op.Float && v.Elem != op.Double {
			continue
		}
		view := layOut(v.Tensor, weights[t.Name] == "Conv")
		if view == nil {
			continue
		}
		left += size(v.Tensor)
		v.Tensor = view()
		p.consts[t.Name], t.Decoded, p.views[t.Name] = v, v, view
		if left > max(leastGarbage, all/garbage) {
			hostmem.Collect()
			left = 0
		}
	}
}

// Weights are laid out in the memory that others had: else all would be there twice, until Go's collector runs.
const (
	garbage      = 32      // a collection is due at this part of the weights
	leastGarbage = 8 << 20 // and at so many bytes
)

// defaultDevice is nil if it is the CPU and cannot be made, as its first use says.
func defaultDevice() *tensor.Device {
	defer func() {
		if e := recover(); e != nil {
			if _, ok := e.(*tensor.DeviceError); !ok {
				panic(e)
			}
		}
	}()
	return tensor.Default()
}

// layoutOf returns the function that lays out weights for a device, or nil.
func layoutOf(d *tensor.Device) func(t tensor.Tensor, outFirst bool) (view func() tensor.Tensor) {
	switch {
	case d == nil:
		return nil
	case d == tensor.CPU():
		return laidOut
	case runtime.GOOS != "js" && tensor.Internal.Machine(graph.Token{}, d).DeepTiles: // no browser has such a device: less is linked
		return innermost
	}
	return nil
}

// spaceFor returns the elements of t, and memory for as many, which is nil without either.
func spaceFor(t tensor.Tensor) (from, to []byte) {
	from, err := t.Bytes()
	if err != nil {
		return nil, nil
	}
	if to, err = tensor.Internal.Allocate(graph.Token{}, len(from)); err != nil {
		return nil, nil
	}
	return from, to
}

// innermost returns t, [out in kernel…], as a view of a copy in which the inputs are innermost. It returns nil for weights that
// lie so, and without memory for the copy.
func innermost(t tensor.Tensor, outFirst bool) (view func() tensor.Tensor) {
	shape, size := t.Shape(), t.DType().Size()
	if !outFirst || len(shape) < 3 || t.Len() == 0 {
		return nil
	}
	out, in := shape[0], shape[1]
	each := t.Len() / out
	taps := each / in
	if taps == 1 || in == 1 {
		return nil
	}
	from, to := spaceFor(t)
	if to == nil {
		return nil
	}
	files.Parallel(out, 1, func(i, _ int) error {
		at := i * each * size
		simd.Movers[size](unsafe.Pointer(&to[at]), unsafe.Pointer(&from[at]), taps, in, 1, in, 1, taps)
		return nil
	})
	y := tensor.FromBytes(t.DType(), slices.Concat([]int{out}, shape[2:], []int{in}), to)
	order := []int{0, len(shape) - 1}
	for a := 2; a < len(shape); a++ {
		order = append(order, a-1)
	}
	return func() tensor.Tensor { return y.Permute(order...) }
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

// productWeights returns the names that nodes read only as the weights of one operator, and its name: of convolutions of
// one group, of more than one position as far as the operators say, or of products by matrices.
func (p *program) productWeights() map[string]string {
	weights, others, pooled := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, name := range p.outputs {
		others[name] = true
	}
	for _, n := range p.nodes {
		plain := n.domain == "" && n.function == nil && !slices.ContainsFunc(n.Attrs, func(a *proto.Attr) bool {
			return a.Name == "group" && a.I != 1 || (a.Name == "transA" || a.Name == "transB") && a.I != 0
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
			fits := n.Op == "Conv" && !single || n.Op == "MatMul" || n.Op == "Gemm"
			if old := weights[name]; plain && fits && i == 1 && (old == "" || old == n.Op) {
				weights[name] = n.Op
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

// laidOut returns t, [out …] or a matrix [in out], as a view of a copy that has the outputs of a tile of the product beside
// each other, [out/width … width], or all outputs if they are not whole tiles. It returns nil for weights that lie so, and
// without memory for the copy.
func laidOut(t tensor.Tensor, outFirst bool) (view func() tensor.Tensor) {
	shape, size := t.Shape(), t.DType().Size()
	if outFirst && (len(shape) < 3 || shape[0] < 2) || !outFirst && len(shape) != 2 {
		return nil
	}
	inner, out := shape[1:], shape[0]
	if !outFirst {
		inner, out = shape[:1], shape[1]
	}
	width := simd.Products[t.DType()].Cols
	if width == 0 || out%width != 0 {
		width = out
	}
	if !outFirst && width == out || t.Len() == 0 {
		return nil
	}
	from, to := spaceFor(t)
	if to == nil {
		return nil
	}
	depth := t.Len() / out
	deep, across := 1, depth // strides
	if !outFirst {
		deep, across = out, 1
	}
	copyRows := func(tile, first, end int) {
		at := (tile*depth + first) * width
		simd.Movers[size](unsafe.Pointer(&to[at*size]), unsafe.Pointer(&from[(tile*width*across+first*deep)*size]), end-first, width, deep, width, 1, across)
	}
	const part = 1 << 16 // elements
	n := max(16, part/width&^15)
	parts := ir.CeilDiv(depth, n)
	files.Parallel(out/width*parts, 1, func(i, _ int) error {
		copyRows(i/parts, i%parts*n, min((i%parts+1)*n, depth))
		return nil
	})
	y := tensor.FromBytes(t.DType(), slices.Concat([]int{out / width}, inner, []int{width}), to)
	order := []int{0, len(shape)}
	for a := 1; a < len(shape); a++ {
		order = append(order, a)
	}
	if !outFirst {
		order = []int{1, 0, 2}
	}
	return func() tensor.Tensor { return y.Permute(order...).Reshape(shape...) }
}
