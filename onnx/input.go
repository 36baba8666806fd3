package onnx

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// A small input, as a sampling rate or a shape, has few values over all runs if it says what to compute.
// Once a node has asked for elements that depend on such inputs alone, these are known: their values are
// part of the form that a stage is recorded for. An input of many values is as any other from then on.
const (
	maxSmall  = 16 // elements
	maxValues = 8
)

// seen has the values of an input in earlier runs.
type seen struct {
	asked  bool // a node has asked for elements that depend on it
	varies bool // it has more than maxValues values
	values []string
}

// given returns an input as the frame of the model's graph has it. It has an origin of its own if it is small.
func (m *Model) given(name string, v Value) Value {
	v = op.From(op.Given(v), op.Elsewhere)
	i := slices.IndexFunc(m.inputs, func(in Info) bool { return in.Name == name })
	if i < 0 || i > 62 || v.Kind != op.TensorKind || v.Tensor.Rank() > 1 || v.Tensor.Len() > maxSmall {
		return v
	}
	if tensor.Internal.Node(graph.Token{}, v.Tensor).Traced() {
		return v
	}
	m.mu.Lock()
	s := &m.small[i]
	varies, asked := s.varies, s.asked
	m.mu.Unlock()
	switch {
	case varies:
		return v
	case !asked:
		return op.From(v, 1<<i)
	}
	b, err := v.Tensor.Bytes()
	if err != nil || !m.see(s, string(b)) { // the run reports the error
		return v
	}
	return op.Known(v)
}

// see notes a value of an input. It returns false if there are too many.
func (m *Model) see(s *seen, value string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(s.values, value) {
		s.values = append(s.values, value)
	}
	if len(s.values) > maxValues {
		*s = seen{varies: true}
	}
	return !s.varies
}

// asked notes that node i asks for the elements of a value that are not known: either they become known in
// later runs, or stages end before the node and begin after it.
func (m *Model) asked(v Value, i int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if from := v.Origins(); from != 0 && from < op.Elsewhere {
		for k := range m.small {
			m.small[k].asked = m.small[k].asked || from>>k&1 == 1
		}
		return
	}
	if !m.apart[i] {
		m.apart[i] = true
		clear(m.stages)
	}
}
