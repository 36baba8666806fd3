package onnx

import (
	"context"
	"errors"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/jit"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// A stage is a stretch of the model's nodes that is recorded as one plan for each form of the values
// that it reads. A node that has asked for elements which are not known, or that draws random numbers, is
// between two stages, and is interpreted in each run.
type stage struct {
	m          *Model
	begin, end int
	reads      []string // names from before that it reads
	writes     []string // names that it defines for later nodes and the results
	f          jit.Func[packed, packed]
}

// A packed is a list of values without their tensors, which are in a list of their own: the form in
// which package jit compares arguments and keeps results.
type packed []packedValue

// A packedValue is a value, or the head of a sequence, whose Count elements follow.
type packedValue struct {
	Kind    op.Kind
	Elem    op.Elem
	Known   bool
	Origins uint64
	Inline  bool   // Data has the elements
	Data    string // of a small known tensor, so that it is known in the recording, too
	Shape   []int
	Strings []string
	Count   int
}

// pack appends a value. ok is false for one that cannot be packed.
func pack(list packed, ts []tensor.Tensor, v Value) (packed, []tensor.Tensor, bool) {
	p := packedValue{Kind: v.Kind, Elem: v.Elem, Known: v.IsKnown(), Origins: v.Origins()}
	switch v.Kind {
	case op.TensorKind:
		if p.Known && v.Tensor.Len() <= maxFolded {
			b, err := v.Tensor.Bytes()
			if err != nil {
				return list, ts, false
			}
			p.Inline, p.Data, p.Shape = true, string(b), v.Tensor.Shape()
		} else {
			ts = append(ts, v.Tensor)
		}
	case op.StringKind:
		p.Strings, p.Shape = v.Strings, v.Shape
	case op.MapKind:
		return list, ts, false
	}
	p.Count = len(v.Sequence)
	list = append(list, p)
	for _, x := range v.Sequence {
		var ok bool
		if list, ts, ok = pack(list, ts, x); !ok {
			return list, ts, false
		}
	}
	return list, ts, true
}

// unpack takes the first value from the lists. In a recording a tensor of the list is not known.
func unpack(list packed, ts []tensor.Tensor, recording bool) (Value, packed, []tensor.Tensor) {
	p := list[0]
	v := op.From(Value{Kind: p.Kind, Elem: p.Elem, Strings: p.Strings}, p.Origins)
	list = list[1:]
	switch {
	case p.Kind == op.StringKind:
		v.Shape = p.Shape
	case p.Kind == op.TensorKind && p.Inline:
		v.Tensor = tensor.FromBytes(p.Elem.DType(), p.Shape, []byte(p.Data))
	case p.Kind == op.TensorKind:
		v.Tensor, ts = ts[0], ts[1:]
	}
	for range p.Count {
		var x Value
		x, list, ts = unpack(list, ts, recording)
		v.Sequence = append(v.Sequence, x)
	}
	if p.Known && (p.Inline || !recording) { // other kinds are known by their elements
		v = op.Known(v)
	}
	return v, list, ts
}

// newStage returns the stage from one node up to another.
func newStage(m *Model, begin, end int) *stage {
	s := &stage{m: m, begin: begin, end: end}
	s.f = jit.Func[packed, packed]{Op: "onnx.Run", OnSecondUse: true, F: s.trace}
	defined, later := map[string]bool{}, map[string]bool{}
	for _, n := range m.main.nodes[begin:end] {
		for _, name := range n.reads {
			if !defined[name] && !slices.Contains(s.reads, name) {
				s.reads = append(s.reads, name)
			}
		}
		for _, name := range n.Outputs {
			defined[name] = true
		}
	}
	for _, n := range m.main.nodes[end:] {
		for _, name := range n.reads {
			later[name] = true
		}
	}
	for _, name := range m.main.outputs {
		later[name] = true
	}
	for _, n := range m.main.nodes[begin:end] {
		for _, name := range n.Outputs {
			if name != "" && later[name] {
				s.writes = append(s.writes, name)
			}
		}
	}
	return s
}

// trace interprets the stage on placeholders.
func (s *stage) trace(p packed, ts []tensor.Tensor, _ *jit.Trace) (r packed, lists [][]tensor.Tensor, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = errorOf(e)
		}
	}()
	x := &execution{m: s.m, ctx: context.Background(), recording: true}
	f := &frame{execution: x, of: s.m.main, vars: make(map[string]Value, len(s.reads)+s.end-s.begin)}
	listed := p[0].Data
	p = p[1:]
	for i, name := range s.reads {
		if listed[i] == isListed {
			f.vars[name], p, ts = unpack(p, ts, true)
		}
	}
	for x.at = s.begin; x.at < s.end; x.at++ {
		f.step(s.m.main.nodes[x.at])
	}
	var out []tensor.Tensor
	for _, name := range s.writes {
		var ok bool
		if r, out, ok = pack(r, out, f.vars[name]); !ok {
			return nil, nil, jit.ErrUnrecorded
		}
	}
	return r, [][]tensor.Tensor{out}, nil
}

// isListed marks, in the Data of the head of a stage's list, a name that it reads whose value is in the list. Others are
// initializers that keep their values.
const isListed = '+'

// run computes the values that the stage writes, by a recording. ok is false without one.
func (s *stage) run(f *frame) (ok bool, err error) {
	var ts []tensor.Tensor
	p, listed := make(packed, 1, 8), make([]byte, len(s.reads))
	for i, name := range s.reads {
		v, given := f.vars[name]
		if _, isConst := s.m.main.consts[name]; isConst && !given {
			continue
		}
		listed[i] = isListed
		if !given {
			p = append(p, packedValue{Kind: op.Absent})
		} else if p, ts, ok = pack(p, ts, v); !ok {
			return false, nil
		}
	}
	p[0].Data = string(listed)
	if slices.ContainsFunc(ts, func(t tensor.Tensor) bool { return tensor.Internal.Node(graph.Token{}, t).Traced() }) {
		return false, nil
	}
	r, lists, err := s.f.Call(p, ts, nil)
	switch {
	case errors.Is(err, jit.ErrUnrecorded), errors.Is(err, errAsked):
		return false, nil
	case err != nil:
		return false, err
	}
	var out []tensor.Tensor
	for _, l := range lists {
		out = append(out, l...)
	}
	for _, name := range s.writes {
		f.vars[name], r, out = unpack(r, out, false)
	}
	for _, n := range s.m.main.nodes[s.begin:s.end] {
		for _, name := range n.drops {
			delete(f.vars, name)
		}
	}
	return true, nil
}

// stageAt returns the stage that begins at a node, or nil.
func (m *Model) stageAt(begin int) *stage {
	m.mu.Lock()
	defer m.mu.Unlock()
	end := begin
	for end < len(m.main.nodes) && !m.apart[end] {
		end++
	}
	if end == begin {
		return nil
	}
	s := m.stages[[2]int{begin, end}]
	if s == nil {
		s = newStage(m, begin, end)
		m.stages[[2]int{begin, end}] = s
	}
	return s
}

// runStages interprets the model, and replays the stages that are recorded.
func (f *frame) runStages() ([]Value, error) {
	x := f.execution
	if x.lazy || x.observe != nil {
		return f.run(), nil
	}
	for x.at < len(x.m.main.nodes) {
		if err := x.ctx.Err(); err != nil {
			return nil, err
		}
		if s := x.m.stageAt(x.at); s != nil {
			ok, err := s.run(f)
			if err != nil {
				return nil, err
			}
			if ok {
				x.at = s.end
				continue
			}
			if x.m.stageAt(x.at) != s { // it was found to ask, and is shorter now
				continue
			}
			for x.at < s.end {
				f.step(x.m.main.nodes[x.at])
				x.at++
			}
			continue
		}
		f.step(x.m.main.nodes[x.at])
		x.at++
	}
	return f.results(), nil
}
