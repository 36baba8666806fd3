package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// A Value is an input or result that may be other than a tensor of numbers: strings, a sequence, an
// absent optional.
type Value = op.Value

// An Elem is a type of elements, by its number in the standard.
type Elem = op.Elem

// The kinds of values.
const (
	Absent       = op.Absent
	TensorKind   = op.TensorKind
	StringKind   = op.StringKind
	SequenceKind = op.SequenceKind
	MapKind      = op.MapKind
)

// ElemOf returns the type of the elements of a tensor.
func ElemOf(d tensor.DType) Elem { return op.ElemOf(d) }

// Run computes the results of inputs, each by name, on the default device. The results are computed when
// it returns. A model of types that the device lacks, as GPUs lack float64, runs on the CPU.
func (m *Model) Run(ctx context.Context, inputs map[string]tensor.Tensor) (map[string]tensor.Tensor, error) {
	values, err := m.valuesOf(inputs)
	if err != nil {
		return nil, err
	}
	out, err := m.runValues(ctx, values)
	if err != nil {
		return nil, err
	}
	return m.tensorsOf(out)
}

// valuesOf returns tensors as values. An input of a narrow type takes a tensor of the type that holds it.
func (m *Model) valuesOf(inputs map[string]tensor.Tensor) (map[string]Value, error) {
	values := make(map[string]Value, len(inputs))
	for name, t := range inputs {
		if !t.IsValid() {
			return nil, fmt.Errorf("onnx: input %q is absent", name)
		}
		values[name] = op.Of(t)
	}
	for _, in := range m.inputs {
		if in.typ == nil {
			continue
		}
		if v, e := values[in.Name], op.Elem(in.typ.Elem); e.Narrow() && v.Kind == op.TensorKind && e.DType() == v.Tensor.DType() {
			values[in.Name] = op.As(e, v.Tensor)
		}
	}
	return values, nil
}

// tensorsOf returns results by name, in the order of m.outputs.
func (m *Model) tensorsOf(out []Value) (map[string]tensor.Tensor, error) {
	results := make(map[string]tensor.Tensor, len(out))
	for i, v := range out {
		if v.Kind != op.TensorKind {
			return nil, fmt.Errorf("onnx: result %q is %v, no tensor: use RunValues", m.outputs[i].Name, v)
		}
		results[m.outputs[i].Name] = v.Tensor
	}
	return results, nil
}

// RunValues is [Model.Run] of values of all kinds.
func (m *Model) RunValues(ctx context.Context, inputs map[string]Value) (map[string]Value, error) {
	out, err := m.runValues(ctx, inputs)
	if err != nil {
		return nil, err
	}
	results := make(map[string]Value, len(out))
	for i, v := range out {
		results[m.outputs[i].Name] = v
	}
	return results, nil
}

func (m *Model) runValues(ctx context.Context, inputs map[string]Value) ([]Value, error) {
	if err := m.checkInputs(inputs); err != nil {
		return nil, err
	}
	if m.wide.Load() {
		return m.evaluate(ctx, onCPU(inputs))
	}
	out, err := m.evaluate(ctx, inputs)
	if errors.Is(err, driver.ErrType) && tensor.Default() != tensor.CPU() {
		m.wide.Store(true)
		return m.evaluate(ctx, onCPU(inputs))
	}
	return out, err
}

// onCPU returns inputs on the CPU, which computes the types that a GPU lacks.
func onCPU(inputs map[string]Value) map[string]Value {
	moved := make(map[string]Value, len(inputs))
	for name, v := range inputs {
		moved[name] = toCPU(v)
	}
	return moved
}

func toCPU(v Value) Value {
	if v.Kind == op.TensorKind {
		v.Tensor = v.Tensor.To(tensor.CPU())
	}
	v.Sequence = slices.Clone(v.Sequence)
	for i, x := range v.Sequence {
		v.Sequence[i] = toCPU(x)
	}
	return v
}

// evaluate interprets the model and computes the results.
func (m *Model) evaluate(ctx context.Context, inputs map[string]Value) ([]Value, error) {
	out, err := m.interpret(&execution{m: m, ctx: ctx, rng: m.rng()}, inputs)
	if err != nil {
		return nil, err
	}
	var pending []tensor.Tensor
	for _, v := range out {
		pending = appendTensors(pending, v)
	}
	return out, tensor.Eval(pending)
}

// appendTensors appends the tensors of a value.
func appendTensors(list []tensor.Tensor, v Value) []tensor.Tensor {
	if v.Kind == op.TensorKind {
		list = append(list, v.Tensor)
	}
	for _, x := range v.Sequence {
		list = appendTensors(list, x)
	}
	return list
}

// checkInputs returns an error unless there is each input, and it fits.
func (m *Model) checkInputs(inputs map[string]Value) error {
	if m.lacks != nil {
		return m.lacks
	}
	sizes := map[string]int{}
	for _, in := range m.inputs {
		v, ok := inputs[in.Name]
		if !ok {
			return fmt.Errorf("onnx: input %q is missing: the model wants %v", in.Name, m.inputs)
		}
		if err := in.check(v, sizes); err != nil {
			return err
		}
	}
	for name := range inputs {
		if _, ok := m.main.consts[name]; !ok && !m.hasInput(name) {
			return fmt.Errorf("onnx: there is no input %q: the model wants %v", name, m.inputs)
		}
	}
	return nil
}

func (m *Model) hasInput(name string) bool {
	for _, in := range m.inputs {
		if in.Name == name {
			return true
		}
	}
	return false
}

// interpret computes the results of inputs, in the order of m.outputs.
func (m *Model) interpret(x *execution, inputs map[string]Value) (out []Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errorOf(r)
		}
	}()
	f := &frame{execution: x, of: m.main, vars: make(map[string]Value, len(inputs))}
	for name, v := range inputs {
		f.vars[name] = m.given(name, v)
	}
	return f.runStages()
}
