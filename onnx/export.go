package onnx

import (
	"fmt"
	"io"
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
}

// Export writes f as a model in ONNX, of version 21 of the standard's operators. It calls f once, with
// tensors that have the types and shapes of the example's and no values. The tensors of the example are the
// inputs, and the tensors of f's result the outputs, by their names in the trees: "ids" for a field IDs. A
// tensor without a tree is "x" or "y".
//
// All lengths are the example's. Numbers and tensors that f captures are part of the model, as are its
// random draws: the same ones in each run. An operation that the standard lacks is an error with the line of
// its call. A nil o means the defaults.
func Export[P, R any](w io.Writer, f func(P) R, example P, o *ExportOptions) error {
	if o == nil {
		o = &ExportOptions{Name: "main"}
	}
	p, err := exported(f, example, o)
	if err == nil {
		err = proto.Encode(w, p, op.Encode)
	}
	if err != nil {
		return fmt.Errorf("onnx: Export: %w", unprefixed(err))
	}
	return nil
}

// exported traces f.
func exported[P, R any](f func(P) R, example P, o *ExportOptions) (p *proto.Model, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errorOf(r)
		}
	}()
	defer graph.RecordSites()()
	x := &export.Function{Name: o.Name, Params: map[*graph.Node]string{}}
	inputs, err := pytree.Flatten[tensor.Tensor](example)
	if err != nil {
		return nil, err
	}
	if err := nameParams(x, o.Params); err != nil {
		return nil, err
	}
	scope := &graph.Scope{PlaceholdersOf: "onnx.Export"}
	defer scope.Close()
	given := make([]tensor.Tensor, len(inputs))
	for i, l := range inputs {
		if !l.Value.IsValid() {
			continue
		}
		n := tensor.Internal.Node(graph.Token{}, l.Value)
		a := graph.Argument(graph.Leaf(n.DType, n.Shape, i, nil), scope)
		given[i] = tensor.Internal.Tensor(graph.Token{}, a)
		x.Inputs = append(x.Inputs, export.Named{Name: valueName(l.Name, "x"), Node: a})
	}
	arg, err := pytree.Rebuild(example, given)
	if err != nil {
		return nil, err
	}
	results, err := pytree.Flatten[tensor.Tensor](f(arg))
	if err != nil {
		return nil, err
	}
	for _, l := range results {
		if l.Value.IsValid() {
			x.Results = append(x.Results, export.Named{Name: valueName(l.Name, "y"), Node: tensor.Internal.Node(graph.Token{}, l.Value)})
		}
	}
	return x.Model()
}

// nameParams computes the parameters and notes their names.
func nameParams(x *export.Function, params any) error {
	if params == nil {
		return nil
	}
	leaves, err := pytree.Flatten[tensor.Tensor](params)
	if err != nil {
		return err
	}
	if err := tensor.Eval(params); err != nil {
		return err
	}
	for _, l := range leaves {
		if l.Value.IsValid() {
			x.Params[tensor.Internal.Node(graph.Token{}, l.Value)] = valueName(l.Name, "param")
		}
	}
	return nil
}

// valueName is the name of a leaf, after a prefix if it is empty or a number.
func valueName(name, prefix string) string {
	if name == "" || strings.ContainsRune("0123456789", rune(name[0])) {
		return prefix + name
	}
	return name
}
