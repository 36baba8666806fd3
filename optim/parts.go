package optim

import (
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// With ZeRO 3 the optimizer has this rank's part of each parameter, as of a slot. The model has tensors that are not
// computed: gathers of the parts, which a plan computes where it reads them.

// dividesModel reports whether parameters are parts.
func (o *Optimizer) dividesModel() bool { return o.ZeRO == 3 && o.sharding() != nil }

// isDivided reports whether a tensor of a model is a parameter that is divided.
func isDivided(l pytree.Leaf[tensor.Tensor]) bool {
	return l.Value.IsValid() && !l.State && l.Value.DType().IsFloat()
}

// partOfModel returns a parameter's part that a step has made, or else the parameter.
func (o *Optimizer) partOfModel(t tensor.Tensor) tensor.Tensor {
	if part, ok := o.parts[node(origin(t))]; ok {
		return part
	}
	return t
}

// divide returns parameters with this rank's parts in place of the whole ones. It makes the parts that no step has made.
func (o *Optimizer) divide(params []pytree.Leaf[tensor.Tensor]) ([]pytree.Leaf[tensor.Tensor], error) {
	if !o.dividesModel() {
		return params, nil
	}
	divided := slices.Clone(params)
	for i, l := range params {
		if !isDivided(l) {
			continue
		}
		part := o.partOfModel(l.Value)
		if node(part) == node(l.Value) {
			part = tensor.Internal.Copy(graph.Token{}, partOf(origin(l.Value), o.Parallel))
			if err := tensor.Eval(part); err != nil {
				return nil, err
			}
			tensor.Internal.Replace(graph.Token{}, []tensor.Tensor{part})
			tensor.Internal.Outlive(graph.Token{}, part)
		}
		divided[i].Value = part
	}
	return divided, nil
}

// divideModel replaces the parameters of a model by gathers of parts. It makes the parts that no step has made.
func (o *Optimizer) divideModel(model any) error {
	if !o.dividesModel() {
		return nil
	}
	params, err := pytree.Flatten[tensor.Tensor](model)
	if err != nil {
		return err
	}
	parts, err := o.divide(params)
	if err != nil {
		return err
	}
	return pytree.Update(model, o.gathered(parts, valuesOf(params), 0))
}

// gathered returns the whole tensors of parameters that are parts, in the shapes of others, and notes whose they are.
// Parameters of one element of a list, such as a block, are gathered together, rounded to a type unless that is 0.
func (o *Optimizer) gathered(parts []pytree.Leaf[tensor.Tensor], like []tensor.Tensor, d tensor.DType) []tensor.Tensor {
	whole := valuesOf(parts)
	if !o.dividesModel() {
		return whole
	}
	o.parts = make(map[*graph.Node]tensor.Tensor, len(parts))
	var order []string
	units := map[string][]int{}
	for i, l := range parts {
		if isDivided(l) {
			name := unitOf(l.Name)
			if units[name] == nil {
				order = append(order, name)
			}
			units[name] = append(units[name], i)
		}
	}
	for _, name := range order {
		var list, shapes []tensor.Tensor
		for _, i := range units[name] {
			t := whole[i]
			if d != 0 {
				t = t.Cast(d)
			}
			list, shapes = append(list, t), append(shapes, like[i])
		}
		for k, t := range wholes(list, shapes, o.Parallel) {
			i := units[name][k]
			whole[i] = t.Cast(parts[i].Value.DType())
			o.parts[node(whole[i])] = parts[i].Value
		}
	}
	return whole
}

// unitOf returns the part of a parameter's name up to the first element of a list, or else its first field.
func unitOf(name string) string {
	fields := strings.Split(name, ".")
	for i, f := range fields {
		if strings.Trim(f, "0123456789") == "" {
			return strings.Join(fields[:i+1], ".")
		}
	}
	return fields[0]
}

// valuesOf returns the values of leaves.
func valuesOf(leaves []pytree.Leaf[tensor.Tensor]) []tensor.Tensor {
	list := make([]tensor.Tensor, len(leaves))
	for i, l := range leaves {
		list[i] = l.Value
	}
	return list
}
