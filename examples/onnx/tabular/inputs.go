package main

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// types has the types of tensors for inputs of numbers.
var types = map[string]tensor.DType{"float": tensor.Float32, "double": tensor.Float64, "int64": tensor.Int64, "int32": tensor.Int32, "bool": tensor.Bool}

// read returns the columns as the model wants them: one input of all of them, or an input for each, of its
// name.
func read(f *table.Frame, infos []onnx.Info) (map[string]onnx.Value, error) {
	names := map[string][]string{}
	for _, in := range infos {
		names[in.Name] = []string{in.Name}
	}
	if len(infos) == 1 {
		names[infos[0].Name] = chosen(f)
	} else if *columns != "" {
		return nil, fmt.Errorf("the model has an input for each column, %v: leave out -columns", infos)
	}
	values := map[string]onnx.Value{}
	for _, in := range infos {
		list := names[in.Name]
		if n := len(in.Dims); n != 2 || in.Dims[1].Len >= 0 && in.Dims[1].Len != len(list) {
			return nil, fmt.Errorf("the model's input is %v, and %s has %d columns for it, %q: choose them by -columns", in, *file, len(list), list)
		}
		if in.Type == "string" {
			v, err := strs(f, list)
			if err != nil {
				return nil, err
			}
			values[in.Name] = v
			continue
		}
		d, ok := types[in.Type]
		if !ok {
			return nil, fmt.Errorf("the model's input is %v: want numbers or strings", in)
		}
		t, err := f.Tensor(d, list...)
		if err != nil {
			return nil, err
		}
		values[in.Name] = onnx.Value{Kind: onnx.TensorKind, Elem: onnx.ElemOf(d), Tensor: t}
	}
	return values, nil
}

// chosen returns the names of the columns of a model with one input.
func chosen(f *table.Frame) (names []string) {
	if *columns != "" {
		return strings.Split(*columns, ",")
	}
	for _, c := range f.Columns() {
		if c.Name != *target {
			names = append(names, c.Name)
		}
	}
	return names
}

// stringElem is the number of strings among the standard's types of elements.
const stringElem onnx.Elem = 8

// strs returns columns of text.
func strs(f *table.Frame, names []string) (onnx.Value, error) {
	v := onnx.Value{Kind: onnx.StringKind, Elem: stringElem, Strings: make([]string, f.Len()*len(names)), Shape: []int{f.Len(), len(names)}}
	for i, name := range names {
		column, err := table.Column[string](f, name)
		if err != nil {
			return v, err
		}
		for row, s := range column {
			v.Strings[row*len(names)+i] = s
		}
	}
	return v, nil
}
