package optim

import (
	"reflect"
	"slices"

	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// The stepScalars of a recorded step are the Scalars in the graphs of its Updates, whose
// values depend on the learning rate and on the number of steps done. A replay needs the
// values but not the graphs of all parameters: [stepScalars.valuesAt] calls Update once for all
// parameters of one rule and form, and for all shapes if the rule [isShapeFree], on
// placeholders.
type stepScalars struct {
	abstract []*abstractUpdate
	of       []int         // the abstract update of each update
	nodes    []*graph.Node // of all updates
	values   []ir.Number   // of the abstract updates, in memory of earlier ones
	ends     []int         // by abstract update, in values
	all      []ir.Number   // of all updates, in memory of earlier ones
	conflict bool          // updates that share an abstract one have other values
}

// An abstractUpdate is an Update of placeholders.
type abstractUpdate struct {
	rule      Rule
	x         update
	structure capture.Structure
}

// note adds an update.
func (s *stepScalars) note(rule Rule, x update) {
	placeholders := update{p: placeholder(x.p), g: placeholder(x.g)}
	if x.master.IsValid() {
		placeholders.master = placeholder(x.master)
	}
	for _, t := range x.slots {
		placeholders.slots = append(placeholders.slots, placeholder(t))
	}
	given := map[*graph.Node]*graph.Value{}
	for k, t := range placeholders.operands() {
		given[node(x.operands()[k])] = node(t).Value()
	}
	structure := capture.StructureOf(x.results(), given)
	i := slices.IndexFunc(s.abstract, func(a *abstractUpdate) bool { return a.isOf(rule, x) })
	if i < 0 {
		i = len(s.abstract)
		s.abstract = append(s.abstract, &abstractUpdate{rule, placeholders, structure})
	}
	s.conflict = s.conflict || !slices.Equal(structure.Values, s.abstract[i].structure.Values)
	s.of = append(s.of, i)
	s.nodes = append(s.nodes, structure.Scalars...)
}

// isOf reports whether an abstract update has the scalars of an update.
func (a *abstractUpdate) isOf(rule Rule, x update) bool {
	v := reflect.ValueOf(rule)
	if !v.Comparable() || !v.Equal(reflect.ValueOf(a.rule)) {
		return false
	}
	same := sameForm
	if isShapeFree(rule) {
		same = func(a, b tensor.Tensor) bool { return a.DType() == b.DType() }
	}
	return slices.EqualFunc(x.operands(), a.x.operands(), same)
}

// isShapeFree reports whether the scalars of a rule are the same for parameters of all shapes.
// It lists types, since types that embed a rule would inherit a method.
func isShapeFree(rule Rule) bool {
	switch unscaled(rule).(type) {
	case SGD, Adam, AdamW, Adamax, NAdam, RAdam, LAMB, RMSprop, Adagrad, Adadelta, ASGD, Lion, Rprop:
		return true
	}
	return false
}

// operands are the parameter, also in float32 if it is kept so, the gradient and the slots.
func (x *update) operands() []tensor.Tensor {
	list := []tensor.Tensor{x.p, x.g}
	if x.master.IsValid() {
		list = append(list, x.master)
	}
	return append(list, x.slots...)
}

// results are the nodes of the new parameter and slots.
func (x *update) results() []*graph.Node {
	ns := []*graph.Node{node(x.next), node(x.exact)}
	for _, t := range x.kept {
		ns = append(ns, node(t))
	}
	return ns
}

// placeholder returns a tensor of the form of t without elements.
func placeholder(t tensor.Tensor) tensor.Tensor {
	n := node(t)
	l := capture.Layout{DType: n.DType, Shape: n.Shape, Strides: shape.RowMajor(n.Shape), Untyped: n.IsUntyped()}
	return tensor.Internal.Tensor(graph.Token{}, l.Placeholder())
}

// valuesAt returns the values of all scalars at a learning rate, after a number of steps, until it is
// called again. It reports false if an Update makes another graph for those.
func (s *stepScalars) valuesAt(lr float64, step int) ([]ir.Number, bool, error) {
	s.values, s.ends = s.values[:0], s.ends[:0]
	for _, a := range s.abstract {
		var ok bool
		var err error
		graph.Throwaway(func() {
			if err = a.x.apply(a.rule, lr, step); err == nil {
				s.values, ok = a.structure.AppendValues(s.values, a.x.results())
			}
			a.x.next, a.x.exact, a.x.kept = tensor.Tensor{}, tensor.Tensor{}, nil
		})
		if err != nil || !ok {
			return nil, false, err
		}
		s.ends = append(s.ends, len(s.values))
	}
	s.all = s.all[:0]
	for _, i := range s.of {
		s.all = append(s.all, s.values[s.ends[i]-len(s.abstract[i].structure.Values):s.ends[i]]...)
	}
	return s.all, true, nil
}
