package optim

import (
	"reflect"
	"slices"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// The formulas of a recorded step are the Updates of its rules. The graph of a formula has
// numbers in it that depend on the learning rate and on the number of steps done. Later
// steps need those numbers but not the graphs of all parameters: parameters of one rule and
// one form share a formula, and so do parameters of several shapes if the rule is one of this
// package. [formulas.values] makes each formula once, of tensors without elements.
type formulas struct {
	list    []*formula
	of      []int         // the formula of each update
	scalars []*graph.Node // of all updates
	unlike  bool          // updates that should share a formula do not
}

// A formula is an Update of parameters of one form.
type formula struct {
	rule Rule
	x    update // of tensors without elements
	form exec.Formula
}

// note adds an update.
func (f *formulas) note(rule Rule, x update) {
	placeholders := update{p: placeholder(x.p), g: placeholder(x.g)}
	for _, s := range x.slots {
		placeholders.slots = append(placeholders.slots, placeholder(s))
	}
	given := map[*graph.Node]*graph.Value{}
	for k, t := range placeholders.operands() {
		given[node(x.operands()[k])] = node(t).Value()
	}
	form := exec.FormulaOf(x.results(), given)
	i := slices.IndexFunc(f.list, func(o *formula) bool { return o.isOf(rule, x) })
	if i < 0 {
		i = len(f.list)
		f.list = append(f.list, &formula{rule, placeholders, form})
	}
	f.unlike = f.unlike || !slices.Equal(scalarsOf(form), scalarsOf(f.list[i].form))
	f.of = append(f.of, i)
	f.scalars = append(f.scalars, form.Scalars...)
}

// isOf reports whether an update has the formula's rule and form.
func (f *formula) isOf(rule Rule, x update) bool {
	v := reflect.ValueOf(rule)
	if !v.Comparable() || !v.Equal(reflect.ValueOf(f.rule)) {
		return false
	}
	same := sameForm
	if s, ok := rule.(scaled); ok {
		rule = s.Rule
	}
	if _, muon := rule.(Muon); !muon {
		if _, ours := rule.(zeroStart); ours { // the numbers of its formula are those of all shapes
			same = func(a, b tensor.Tensor) bool { return a.DType() == b.DType() }
		}
	}
	return slices.EqualFunc(x.operands(), f.x.operands(), same)
}

// scalarsOf returns the values of a formula's scalars.
func scalarsOf(f exec.Formula) []ir.Number {
	values := make([]ir.Number, len(f.Scalars))
	for i, n := range f.Scalars {
		values[i] = n.Num
	}
	return values
}

// operands are the parameter, the gradient and the slots.
func (x *update) operands() []tensor.Tensor { return append([]tensor.Tensor{x.p, x.g}, x.slots...) }

// results are the nodes of the new parameter and slots.
func (x *update) results() []*graph.Node {
	ns := []*graph.Node{node(x.next)}
	for _, t := range x.kept {
		ns = append(ns, node(t))
	}
	return ns
}

// placeholder returns a tensor of the form of t without elements.
func placeholder(t tensor.Tensor) tensor.Tensor {
	n := node(t)
	l := exec.Layout{DType: n.DType, Shape: n.Shape, Strides: shape.RowMajor(n.Shape)}
	return tensor.Internal.Tensor(graph.Token{}, l.Placeholder())
}

// values returns the values of all scalars at a learning rate, after a number of steps. It
// reports false if another graph belongs to those.
func (f *formulas) values(lr float64, step int) ([]ir.Number, bool, error) {
	each := make([][]ir.Number, len(f.list))
	for i, o := range f.list {
		x := o.x
		if err := x.apply(o.rule, lr, step); err != nil {
			return nil, false, err
		}
		form := exec.FormulaOf(x.results(), nil)
		if !form.Equal(o.form) {
			return nil, false, nil
		}
		each[i] = scalarsOf(form)
	}
	values := make([]ir.Number, 0, len(f.scalars))
	for _, i := range f.of {
		values = append(values, each[i]...)
	}
	return values, true, nil
}
