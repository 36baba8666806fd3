package optim

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// align returns the parameters of *model and the gradient of each.
func align(model, grads any) (params []pytree.Leaf[tensor.Tensor], gs []tensor.Tensor, err error) {
	into := reflect.ValueOf(model)
	if into.Kind() != reflect.Pointer {
		return nil, nil, fmt.Errorf("optim: Step of a model of type %T: want a pointer to the model", model)
	}
	if into.IsNil() {
		return nil, nil, fmt.Errorf("optim: Step of a nil %T: want a pointer to the model", model)
	}
	m := into.Elem()
	if m.Kind() == reflect.Interface {
		if m.IsNil() {
			return nil, nil, fmt.Errorf("optim: Step of a nil %v: want a model in it", m.Type())
		}
		m = m.Elem()
	}
	if g := reflect.TypeOf(grads); g != m.Type() {
		return nil, nil, fmt.Errorf("optim: Step of a model of type %v with gradients of type %v: want the same type", m.Type(), g)
	}
	params, err = pytree.Flatten[tensor.Tensor](m.Interface())
	if err != nil {
		return nil, nil, fmt.Errorf("optim: Step: %w", err)
	}
	found, err := pytree.Flatten[tensor.Tensor](grads)
	if err != nil {
		return nil, nil, fmt.Errorf("optim: Step: %w", err)
	}
	gs, lost := match(params, found)
	if lost != nil {
		return nil, nil, fmt.Errorf("optim: Step: there are gradients of %s, which the model of type %v lacks: want the model that they were computed for",
			pytree.Titles(lost), m.Type())
	}
	return params, gs, nil
}

// match returns the gradient of each parameter, and the names of gradients without a
// parameter.
func match(params, grads []pytree.Leaf[tensor.Tensor]) (gs []tensor.Tensor, lost []string) {
	at := make(map[string]int, len(params))
	for i, p := range params {
		if p.Value.IsValid() {
			at[p.Name] = i
		}
	}
	gs = make([]tensor.Tensor, len(params))
	for _, g := range grads {
		if !g.Value.IsValid() {
			continue
		}
		if i, ok := at[g.Name]; ok {
			gs[i] = g.Value
		} else {
			lost = append(lost, g.Name)
		}
	}
	return gs, lost
}

// parameter names a parameter in errors. The name is empty if the model is a tensor.
func parameter(name string) string {
	if name == "" {
		return pytree.Title(name)
	}
	return "parameter " + strconv.Quote(name)
}

// previous returns the tensors of model, in the order of next, the model that loss returned
// for it. It fails if next lacks one.
func previous(model, next any) ([]tensor.Tensor, error) {
	was, err := pytree.Flatten[tensor.Tensor](model)
	if err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	is, err := pytree.Flatten[tensor.Tensor](next)
	if err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	if lost := pytree.Missing(was, is); lost != nil {
		return nil, fmt.Errorf("optim: Loss returned a model without %s: want the model that it was given, with its new state", pytree.Titles(lost))
	}
	was = slices.DeleteFunc(was, func(l pytree.Leaf[tensor.Tensor]) bool { return !l.Value.IsValid() })
	return pytree.Align(is, was)
}

func node(t tensor.Tensor) *graph.Node { return tensor.Internal.Node(graph.Token{}, t) }

// nodesOf returns the nodes of tensors, without absent ones.
func nodesOf(ts []tensor.Tensor) (ns []*graph.Node) {
	for _, t := range ts {
		if n := node(t); n != nil {
			ns = append(ns, n)
		}
	}
	return ns
}

// statesOf returns the nodes of a model's tensors that are not trained.
func statesOf(model any) ([]*graph.Node, error) {
	list, err := pytree.Flatten[tensor.Tensor](model)
	if err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	return nodesOf(valuesOf(slices.DeleteFunc(list, func(l pytree.Leaf[tensor.Tensor]) bool { return !l.State }))), nil
}
