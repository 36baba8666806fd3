package llamacpp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// An Importance collects, for the matrices of a model, the mean squares of the inputs of their columns, as llama.cpp's
// imatrix does.
type Importance struct {
	names  map[*graph.Node]string // of weights, in GGUF
	index  map[*graph.Node]int    // in a stack, -1: none
	sums   map[string]map[int][]float64
	chunks int
}

// NewImportance returns an empty one for a model that package models has loaded.
func NewImportance(model any) *Importance {
	m := &Importance{names: map[*graph.Node]string{}, index: map[*graph.Node]int{}, sums: map[string]map[int][]float64{}}
	for name, t := range tree.All(model) {
		if to, index, ok := ggufName(name); ok && t.Rank() == 2 {
			n := tensor.Internal.Node(graph.Token{}, t)
			m.names[n], m.index[n] = to, index
		}
	}
	return m
}

// ggufName returns the name of a matrix of a layer, and its number in a stack.
func ggufName(name string) (to string, index int, ok bool) {
	inner := strings.NewReplacer(".block_sparse_moe.shared_expert", ".mlp.shared_expert").Replace(name)
	for _, a := range architectures {
		for _, n := range []string{name, inner} {
			l, numbers, end, ok := find(a.lines(), n)
			if !ok || end != "weight" || l.gguf[0] != "blk" {
				continue
			}
			if index = -1; l.stacked() {
				index = numbers[len(numbers)-1]
			}
			return fill(l.gguf, numbers, end), index, true
		}
	}
	return "", 0, false
}

// Add adds a text, of which result is computed: nothing of it may be computed before.
func (m *Importance) Add(result tensor.Tensor) (err error) {
	defer tensor.Catch(&err)
	type found struct {
		weight *graph.Node
		mean   tensor.Tensor
	}
	var all []found
	seen, next := map[*graph.Node]bool{}, []*graph.Node{tensor.Internal.Node(graph.Token{}, result)}
	for len(next) > 0 {
		n := next[len(next)-1]
		if next = next[:len(next)-1]; seen[n] {
			continue
		}
		seen[n] = true
		in := n.Inputs()
		for i := range in.Len() {
			next = append(next, in.At(i))
		}
		if weight, x := m.product(n); weight != nil {
			t := tensor.Internal.Tensor(graph.Token{}, x).Cast(tensor.Float32)
			axes := []int{}
			for i := range x.Shape {
				if !slices.Contains(n.Ints, i) {
					axes = append(axes, i)
				}
			}
			all = append(all, found{weight, t.Square().Mean(axes...).Reshape(-1)})
		}
	}
	for _, f := range all {
		values, err := tensor.Data[float32](f.mean)
		if err != nil {
			return err
		}
		name, index := m.names[f.weight], m.index[f.weight]
		if m.sums[name] == nil {
			m.sums[name] = map[int][]float64{}
		}
		sums := m.sums[name][index]
		if sums == nil {
			sums = make([]float64, len(values)+1) // the last counts
			m.sums[name][index] = sums
		}
		for i, v := range values {
			sums[i] += float64(v)
		}
		sums[len(values)]++
	}
	m.chunks++
	return nil
}

// product returns the weight and the input of a sum of their products, or nil.
func (m *Importance) product(sum *graph.Node) (weight, input *graph.Node) {
	if sum.Op != ir.Sum || sum.Inputs().Len() == 0 {
		return nil, nil
	}
	mul := sum.Inputs().At(0)
	if mul.Op == ir.Cast {
		mul = mul.Inputs().At(0)
	}
	if mul.Op != ir.Mul {
		return nil, nil
	}
	in := mul.Inputs()
	for i := range 2 {
		n, known := in.At(i), false
		for _, known = m.names[n]; !known && slices.Contains(views, n.Op) && n.Inputs().Len() > 0; _, known = m.names[n] {
			n = n.Inputs().At(0)
		}
		if known {
			return n, in.At(1 - i)
		}
	}
	return nil, nil
}

// views are the operations between a weight and its product.
var views = []ir.Op{ir.Cast, ir.Reshape, ir.Permute, ir.Expand, ir.Crop}

// Weights returns the means by name, as ReadImportance does.
func (m *Importance) Weights() (map[string][]float32, error) {
	all := map[string][]float32{}
	for name, parts := range m.sums {
		for i, index := range slices.Sorted(maps.Keys(parts)) {
			if index >= 0 && index != i {
				return nil, fmt.Errorf("%s has no matrix %d", name, i)
			}
			sums := parts[index]
			for _, v := range sums[:len(sums)-1] {
				all[name] = append(all[name], float32(v/sums[len(sums)-1]))
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the model has no matrices of layers with known names")
	}
	return all, nil
}

// Save writes a file of llama.cpp's imatrix.
func (m *Importance) Save(path, text string, chunk int) error {
	weights, err := m.Weights()
	if err != nil {
		return err
	}
	var sources []gguf.Source
	add := func(name string, values []float32, shape ...int) {
		sources = append(sources, gguf.Source{Name: name, Type: gguf.F32, Shape: shape, Tensor: func() (tensor.Tensor, error) { return tensor.New(values, shape...), nil }})
	}
	rows := float32(m.chunks * chunk)
	for _, name := range slices.SortedFunc(maps.Keys(weights), compareNames) {
		n := len(m.sums[name])
		sums := slices.Clone(weights[name])
		for i := range sums {
			sums[i] *= rows
		}
		add(name+".in_sum2", sums, n, len(sums)/n)
		add(name+".counts", slices.Repeat([]float32{rows}, n), n, 1)
	}
	meta := gguf.Meta{{Key: "general.type", Value: "imatrix"}, {Key: "imatrix.datasets", Value: []string{text}},
		{Key: "imatrix.chunk_count", Value: uint32(m.chunks)}, {Key: "imatrix.chunk_size", Value: uint32(chunk)}}
	return gguf.Write(path, meta, sources)
}
