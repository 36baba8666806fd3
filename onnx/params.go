package onnx

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// Params returns the parameters of the model by name, a tree to train: the floating-point initializers
// that have an axis. Scalars are settings of the graph, such as the scale of scores.
func (m *Model) Params() map[string]tensor.Tensor {
	params := map[string]tensor.Tensor{}
	for name, v := range m.main.consts {
		if v.Kind == op.TensorKind && !v.Elem.Narrow() && v.Tensor.DType().IsFloat() && v.Tensor.Rank() > 0 {
			params[name] = m.main.valueOf(name).Tensor
		}
	}
	return params
}

// Apply is [Model.Run] with other parameters, which are lazy, as the results are: a function for
// package grad. Initializers that params lacks stay as they are. It panics with a *tensor.Error.
//
// In a function that is recorded, as by grad.Jit, tensors have no elements, so shapes cannot depend on
// them.
func (m *Model) Apply(params, inputs map[string]tensor.Tensor) map[string]tensor.Tensor {
	out, err := m.apply(params, inputs)
	if err != nil {
		panic(&tensor.Error{Op: "onnx.Apply", Msg: err.Error()})
	}
	return out
}

func (m *Model) apply(params, inputs map[string]tensor.Tensor) (map[string]tensor.Tensor, error) {
	values, err := m.valuesOf(inputs)
	if err != nil {
		return nil, err
	}
	if err := m.checkInputs(values); err != nil {
		return nil, err
	}
	if err := m.checkParams(params); err != nil {
		return nil, err
	}
	for name, t := range params {
		values[name] = op.Of(t)
	}
	out, err := m.interpret(&execution{m: m, ctx: context.Background(), rng: m.rng(), lazy: true}, values)
	if err != nil {
		return nil, err
	}
	return m.tensorsOf(out)
}

// checkParams returns an error unless params have the names, types and shapes of initializers.
func (m *Model) checkParams(params map[string]tensor.Tensor) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		old, ok := m.main.consts[name]
		t := params[name]
		switch {
		case !ok:
			return fmt.Errorf("onnx: there is no parameter %q", name)
		case !t.IsValid():
			return fmt.Errorf("onnx: parameter %q is absent", name)
		case op.ElemOf(t.DType()) != old.Elem || !slices.Equal(t.Shape(), old.Dims()):
			return fmt.Errorf("onnx: parameter %q is %v, want %v", name, op.Of(t), old)
		}
	}
	return nil
}

// With returns the model with other parameters. Initializers that params lacks stay as they are.
func (m *Model) With(params map[string]tensor.Tensor) (*Model, error) {
	if err := m.checkParams(params); err != nil {
		return nil, err
	}
	var list []tensor.Tensor
	consts, views := maps.Clone(m.main.consts), maps.Clone(m.main.views)
	for name, t := range params {
		consts[name] = op.Known(op.Of(t))
		delete(views, name)
		list = append(list, t)
	}
	if err := tensor.Eval(list); err != nil {
		return nil, err
	}
	main := *m.main
	main.consts, main.views = consts, views
	return m.with(&main), nil
}

// Save writes the model into a file, with the parameters that it has. Elements that were in other files
// are in the file itself.
func (m *Model) Save(path string) error {
	if err := files.Replace(path, func(w *bufio.Writer) error { return m.Write(w) }); err != nil {
		return fmt.Errorf("onnx: %s: %w", files.Name(path), unprefixed(err))
	}
	return nil
}

// Write is Save to a writer.
func (m *Model) Write(w io.Writer) error {
	p := *m.proto
	g := *p.Graph
	g.Sparse = nil
	g.Initializers = nil
	for _, name := range slices.Sorted(maps.Keys(m.main.consts)) {
		g.Initializers = append(g.Initializers, &proto.Tensor{Name: name, Decoded: m.main.valueOf(name)})
	}
	p.Graph = &g
	if err := proto.Encode(w, &p, op.Encode); err != nil {
		return fmt.Errorf("onnx: %w", err)
	}
	return nil
}
