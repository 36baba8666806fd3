package nn

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// A part is a layer of a model, or the model: a struct with tensors in it, or a value with a
// method Apply.
type part struct {
	name, typ string
	parent    int // -1 of the model
	depth     int
	applies   bool
	leaf      bool            // has no parts
	params    []tensor.Tensor // in it
}

// partsOf returns the parts of a model in order, the model first.
func partsOf(model any) ([]part, error) {
	leaves, err := pytree.Flatten[tensor.Tensor](model)
	if err != nil {
		return nil, err
	}
	all := []part{newPart(nil, "", reflect.TypeOf(model))}
	err = pytree.Inner[tensor.Tensor](model, func(name string, v reflect.Value) {
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			return
		}
		p := newPart(all, name, v.Type())
		if all[p.parent].name != name && (p.applies || v.Kind() == reflect.Struct) {
			all = append(all, p)
		}
	})
	for _, l := range leaves {
		if l.Value.IsValid() {
			for i := partOf(all, l.Name); i >= 0; i = all[i].parent {
				all[i].params = append(all[i].params, l.Value)
			}
		}
	}
	// Structs that are neither layers nor hold tensors are settings.
	index := make([]int, len(all))
	var parts []part
	for i, p := range all {
		if i > 0 {
			if !p.applies && len(p.params) == 0 {
				continue
			}
			p.parent = index[p.parent]
			parts[p.parent].leaf = false
		}
		index[i] = len(parts)
		parts = append(parts, p)
	}
	return parts, err
}

func newPart(parts []part, name string, t reflect.Type) part {
	p := part{name: name, parent: partOf(parts, name), leaf: true}
	if p.parent >= 0 {
		p.depth = parts[p.parent].depth + 1
	}
	if t == nil {
		return p
	}
	_, p.applies = t.MethodByName("Apply")
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if p.typ = t.String(); t.Name() == "" {
		p.typ = t.Kind().String()
	}
	return p
}

// partOf returns the last part that contains a name, or -1.
func partOf(parts []part, name string) int {
	for i := len(parts) - 1; i >= 0; i-- {
		if in(name, parts[i].name) {
			return i
		}
	}
	return -1
}

// in reports whether a name is the part of or inside of it.
func in(name, of string) bool {
	return of == "" || name == of || strings.HasPrefix(name, of+".")
}

// A probe is a layer of a Sequential that records its input and output.
type probe struct {
	Layer Layer // exported, since a function may take the model for a tree
	name  string
	runs  *[]probed
}

// A probed is a call of a layer.
type probed struct {
	name string
	x, y *graph.Node
}

func (p probe) Apply(x tensor.Tensor) tensor.Tensor {
	y := p.Layer.Apply(x)
	p.note(x, y)
	return y
}

func (p probe) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	y, next := Train(p.Layer, x, rng)
	p.note(x, y)
	return y, probe{next, p.name, p.runs}
}

func (p probe) note(x, y tensor.Tensor) {
	if x.IsValid() && y.IsValid() {
		*p.runs = append(*p.runs, probed{p.name, nodeOf(x), nodeOf(y)})
	}
}

// insertProbes puts probes in the place of the layers of each Sequential in a model, which
// shares no slice with others.
func insertProbes(model any, runs *[]probed) error {
	var found []func()
	err := pytree.Inner[tensor.Tensor](model, func(name string, v reflect.Value) {
		if !v.CanInterface() {
			return
		}
		s, ok := v.Interface().(Sequential)
		if !ok {
			return
		}
		for i, l := range s {
			if nilLayer(l) == "" {
				at := fmt.Sprint(i)
				if name != "" {
					at = name + "." + at
				}
				found = append(found, func() { s[i] = probe{l, at, runs} })
			}
		}
	})
	for _, f := range found {
		f()
	}
	return err
}

func nodeOf(t tensor.Tensor) *graph.Node { return tensor.Internal.Node(graph.Token{}, t) }

func tensorOf(n *graph.Node) tensor.Tensor { return tensor.Internal.Tensor(graph.Token{}, n) }
