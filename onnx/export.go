package onnx

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/onnx/internal/export"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// ExportOptions are the options of [Export].
type ExportOptions struct {
	// Name is the name of the graph; "main" by default.
	Name string
	// Params is a tree of tensors that f uses besides its argument, such as a model. They become
	// initializers with their names in the tree.
	Params any
	// Dims names axes of inputs, whose lengths may then differ from run to run; "" is an axis of the
	// example's length. Axes of one name have one length in a run. There are at most four names.
	Dims map[string][]string
}

// Export writes f as a model in ONNX, of version 21 of the standard's operators. It calls f with tensors that
// have the types and shapes of the example's and no values. The tensors of the example are the inputs, and
// the tensors of f's result the outputs, by their names in the trees: "ids" for a field IDs. A tensor without
// a tree is "x" or "y". A name that an input and a result share is an error.
//
// All lengths are the example's, but for [ExportOptions.Dims]: then it calls f several times, with lengths of
// these axes from 101 to 409, and must make the same graph for all of them. A branch of f for other lengths is
// not seen, and is not in the model.
//
// Numbers and tensors that f captures are part of the model, as are its random draws: the same ones in each
// run. An operation that the standard lacks is an error with the line of its call. A nil o means the defaults.
func Export[P, R any](w io.Writer, f func(P) R, example P, o *ExportOptions) error {
	if o == nil {
		o = &ExportOptions{}
	}
	if f == nil {
		return errors.New("onnx: Export: the function is nil")
	}
	p, err := exported(f, example, o)
	if err == nil {
		err = checkSize(p)
	}
	if err == nil {
		err = proto.Encode(w, p, op.Encode)
	}
	if err != nil {
		return fmt.Errorf("onnx: Export: %w", unprefixed(err))
	}
	return nil
}

// checkSize returns an error if a model is larger than other readers take.
func checkSize(p *proto.Model) error {
	n := 0
	for _, x := range p.Graph.Initializers {
		t := x.Decoded.(op.Value).Tensor
		n += t.Len() * t.DType().Size()
	}
	if n > math.MaxInt32 {
		return fmt.Errorf("the parameters take %d MiB, and a file in protobuf at most 2048: cast them to a 16-bit type", n>>20)
	}
	return nil
}

// exported returns the model of f.
func exported[P, R any](f func(P) R, example P, o *ExportOptions) (*proto.Model, error) {
	inputs, err := pytree.Flatten[tensor.Tensor](example)
	if err != nil {
		return nil, err
	}
	params, err := nameParams(o.Params)
	if err != nil {
		return nil, err
	}
	dims, err := namedDims(inputs, o.Dims)
	if err != nil {
		return nil, err
	}
	trace := func(lengths []int) (*proto.Model, error) {
		x := &export.Function{Name: cmp.Or(o.Name, "main"), Params: params}
		err := traced(x, f, example, inputs, func(name string, shape []int) []int {
			shape = slices.Clone(shape)
			for a, dim := range o.Dims[name] {
				if i := slices.IndexFunc(dims, func(d export.Dim) bool { return d.Name == dim }); i >= 0 {
					shape[a] = lengths[i]
				}
			}
			return shape
		})
		if err == nil {
			err = checkNames(x)
		}
		if err != nil {
			return nil, err
		}
		return x.Model()
	}
	if len(dims) > 0 {
		return export.Dynamic(dims, trace)
	}
	return trace(nil)
}

// checkNames returns an error unless there is a result, and all inputs and results have names of their own.
func checkNames(x *export.Function) error {
	if len(x.Results) == 0 {
		return fmt.Errorf("the function returns no tensor")
	}
	used := map[string]bool{}
	for _, v := range slices.Concat(x.Inputs, x.Results) {
		if used[v.Name] {
			return fmt.Errorf("two inputs or results are named %q, as in files each has a name of its own: put the result or the input in a struct under another name", v.Name)
		}
		used[v.Name] = true
	}
	return nil
}

// namedDims returns the axes with a name, the first one of each.
func namedDims(inputs []pytree.Leaf[tensor.Tensor], names map[string][]string) (dims []export.Dim, err error) {
	unknown := maps.Clone(names)
	for _, l := range inputs {
		if !l.Value.IsValid() {
			continue
		}
		name := valueName(l.Name, "x")
		delete(unknown, name)
		if axes := names[name]; len(axes) > l.Value.Rank() {
			return nil, fmt.Errorf("option Dims names %d axes of input %q, which has %d", len(axes), name, l.Value.Rank())
		}
		for a, dim := range names[name] {
			if dim != "" && !slices.ContainsFunc(dims, func(d export.Dim) bool { return d.Name == dim }) {
				dims = append(dims, export.Dim{Name: dim, Input: name, Axis: a})
			}
		}
	}
	switch {
	case len(unknown) > 0:
		return nil, fmt.Errorf("option Dims names axes of %q, which is no input", slices.Sorted(maps.Keys(unknown))[0])
	case len(dims) > export.MaxDims:
		return nil, fmt.Errorf("option Dims has %d names, want at most %d", len(dims), export.MaxDims)
	}
	return dims, nil
}

// traced calls f and notes its inputs and results. shapeOf returns the shape of an input.
func traced[P, R any](x *export.Function, f func(P) R, example P, inputs []pytree.Leaf[tensor.Tensor], shapeOf func(name string, shape []int) []int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errorOf(r)
		}
	}()
	defer graph.RecordSites()()
	scope := &graph.Scope{PlaceholdersOf: "onnx.Export"}
	defer scope.Close()
	given := make([]tensor.Tensor, len(inputs))
	for i, l := range inputs {
		if !l.Value.IsValid() {
			continue
		}
		name := valueName(l.Name, "x")
		n := graph.Argument(graph.Leaf(l.Value.DType(), shapeOf(name, l.Value.Shape()), i, nil), scope)
		given[i] = tensor.Internal.Tensor(graph.Token{}, n)
		x.Inputs = append(x.Inputs, export.Named{Name: name, Node: n})
	}
	arg, err := pytree.Rebuild(example, given)
	if err != nil {
		return err
	}
	results, err := pytree.Flatten[tensor.Tensor](f(arg))
	for _, l := range results {
		if l.Value.IsValid() {
			x.Results = append(x.Results, export.Named{Name: valueName(l.Name, "y"), Node: tensor.Internal.Node(graph.Token{}, l.Value)})
		}
	}
	return err
}

// nameParams computes the parameters and returns their names.
func nameParams(params any) (map[*graph.Node]string, error) {
	names := map[*graph.Node]string{}
	if params == nil {
		return names, nil
	}
	leaves, err := pytree.Flatten[tensor.Tensor](params)
	if err == nil {
		err = tensor.Eval(params)
	}
	for _, l := range leaves {
		if l.Value.IsValid() {
			names[tensor.Internal.Node(graph.Token{}, l.Value)] = valueName(l.Name, "param")
		}
	}
	return names, err
}

// valueName is the name of a leaf, after a prefix if it is empty or a number.
func valueName(name, prefix string) string {
	if name == "" || strings.ContainsRune("0123456789", rune(name[0])) {
		return prefix + name
	}
	return name
}
