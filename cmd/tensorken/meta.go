package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A description is the metadata of a model's file.
type description struct {
	Model      string
	InputShape []int // of one example
	Scaling    scaling
	Classes    []float64
	Data       string // name of the training data
	Seed       uint64
}

// fields returns the keys of the metadata and pointers to their values, which are JSON.
func (d *description) fields() map[string]any {
	return map[string]any{
		"model": &d.Model, "input_shape": &d.InputShape,
		"offset": &d.Scaling.Offset, "scale": &d.Scaling.Scale,
		"classes": &d.Classes, "data": &d.Data, "seed": &d.Seed,
	}
}

// width returns the number of inputs of an example.
func (d description) width() int { return graph.Len(d.InputShape) }

// meta returns the description as metadata of a file.
func (d description) meta() (map[string]string, error) {
	m := map[string]string{}
	for key, value := range d.fields() {
		b, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		m[key] = string(b)
	}
	m["model"], m["data"] = d.Model, d.Data
	return m, nil
}

// parseMeta reads a description from a file's metadata.
func parseMeta(m map[string]string) (d description, err error) {
	for key, into := range d.fields() {
		text, ok := m[key]
		if !ok {
			return d, fmt.Errorf("no %q in the metadata: was it written by tensorken train?", key)
		}
		if s, ok := into.(*string); ok {
			*s = text
		} else if err := files.JSON([]byte(text), into); err != nil {
			return d, fmt.Errorf("%q in the metadata: %w", key, err)
		}
	}
	o, s := len(d.Scaling.Offset), len(d.Scaling.Scale)
	if d.width() < 1 || len(d.Classes) < 1 || o != s || o != 1 && o != d.width() {
		return d, fmt.Errorf("the metadata is inconsistent: input_shape %v, %d offsets, %d scales, %d classes",
			d.InputShape, o, s, len(d.Classes))
	}
	if i := slices.Index(d.Scaling.Scale, 0); i >= 0 {
		return d, fmt.Errorf(`"scale" in the metadata is 0 for column %d: want another number`, i+1)
	}
	return d, nil
}

// save writes a model and its description to a file.
func (d description) save(path string, net nn.Sequential) error {
	m, err := d.meta()
	if err != nil {
		return err
	}
	return safetensors.SaveMeta(path, net, m)
}

// open reads a model and its description from a file.
func open(path string) (d description, net nn.Sequential, err error) {
	defer tensor.Catch(&err)
	f, err := safetensors.Open(path)
	if err != nil {
		return d, nil, err
	}
	defer f.Close()
	if d, err = parseMeta(f.Meta); err != nil {
		return d, nil, fmt.Errorf("%s: %w", path, err)
	}
	arch, err := findArchitecture(d.Model)
	if err != nil {
		return d, nil, fmt.Errorf("%s: %w", path, err)
	}
	if shape, err := arch.shape(d.width()); err != nil || !slices.Equal(shape, d.InputShape) {
		return d, nil, fmt.Errorf("%s: the metadata is inconsistent: a %s has no input_shape %v", path, d.Model, d.InputShape)
	}
	net = arch.build(tensor.NewRNG(0), d.InputShape, len(d.Classes))
	if err := f.Load(&net, nil); err != nil {
		return d, nil, fmt.Errorf("%s: %w", path, err)
	}
	names := f.Names()
	for name := range tree.All(net) { // Load would leave it random
		if !slices.Contains(names, name) {
			return d, nil, fmt.Errorf("%s: it lacks %q of a %s", path, name, d.Model)
		}
	}
	if err := checkFinite(net); err != nil {
		return d, nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, net, nil
}

// checkFinite returns an error for a number of a model that is NaN or infinite.
func checkFinite(net nn.Sequential) error {
	for name, w := range tree.All(net) {
		if w.DType() != tensor.Float32 {
			continue
		}
		values, err := tensor.Data[float32](w)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(values, notFinite); i >= 0 {
			return fmt.Errorf("%q holds %v: the file is damaged, or the training failed", name, values[i])
		}
	}
	return nil
}

// notFinite reports whether x is NaN or infinite; then x-x is NaN.
func notFinite(x float32) bool { return x-x != 0 }
