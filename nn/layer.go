package nn

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// A Layer computes a tensor from a tensor.
type Layer interface {
	// Apply returns the layer's result at inference.
	Apply(x tensor.Tensor) tensor.Tensor
}

// A Stateful layer differs between training and inference, or carries statistics
// from step to step.
type Stateful interface {
	Layer
	// Train returns the layer's result in training, and the layer with its new
	// statistics, of the layer's type or, if that is a pointer, its element's. The
	// function [Train] calls Apply instead if rng is nil.
	Train(x tensor.Tensor, rng *tensor.RNG) (y tensor.Tensor, next Layer)
}

// Train applies l to x in training and returns the result and l with its new
// statistics, behind a new pointer if l is a pointer. If l is not Stateful or rng is
// nil, it returns l.Apply(x) and l.
func Train[L Layer](l L, x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, L) {
	if what := nilLayer(l); what != "" {
		fail("Train", "the layer is %s: want a layer", what)
	}
	s, ok := any(l).(Stateful)
	if !ok || rng == nil {
		return l.Apply(x), l
	}
	y, next := s.Train(x, rng)
	return y, retyped(s, next).(L)
}

// retyped converts next, which l.Train returned, to the type of l. A pointer to a
// layer has the layer's methods, which return values and not pointers.
func retyped(l, next Layer) Layer {
	want, got := reflect.TypeOf(l), reflect.TypeOf(next)
	if got != nil && want == reflect.PointerTo(got) {
		p := reflect.New(got)
		p.Elem().Set(reflect.ValueOf(next))
		return p.Interface().(Layer)
	}
	if got != want {
		fail("Train", "the Train method of a %v returned a %v, want the same type", want, got)
	}
	return next
}

// A Sequential applies its layers one after the other. Their parameters are
// named by position: "0.weight".
type Sequential []Layer

// Apply applies every layer.
func (l Sequential) Apply(x tensor.Tensor) tensor.Tensor {
	l.check()
	for _, layer := range l {
		x = layer.Apply(x)
	}
	return x
}

// Train trains every layer. A pointer that occurs twice stays one layer.
func (l Sequential) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	l.check()
	next := slices.Clone(l)
	for i, layer := range next {
		x, next[i] = Train(layer, x, rng)
		if reflect.TypeOf(layer).Kind() != reflect.Pointer {
			continue
		}
		for j := range next {
			if next[j] == layer {
				next[j] = next[i]
			}
		}
	}
	return x, next
}

// check panics if a layer is nil.
func (l Sequential) check() {
	for i, layer := range l {
		if what := nilLayer(layer); what != "" {
			fail("Sequential", "layer %d is %s: set it to a layer, or leave it out", i, what)
		}
	}
}

// nilLayer describes a layer whose methods cannot be called: nil, a nil Func, or a
// nil pointer to a type with value methods. For other layers it returns "".
func nilLayer(l Layer) string {
	f, isFunc := l.(Func)
	v := reflect.ValueOf(l)
	switch {
	case l == nil:
		return "nil"
	case isFunc && f == nil,
		v.Kind() == reflect.Pointer && v.IsNil() && v.Type().Elem().Implements(reflect.TypeFor[Layer]()):
		return fmt.Sprintf("a nil %T", l)
	}
	return ""
}

// A Func is a function as a layer: nn.Func(tensor.Tensor.ReLU). Tensors that it
// captures are not trained and not saved.
type Func func(tensor.Tensor) tensor.Tensor

// Apply calls the function.
func (f Func) Apply(x tensor.Tensor) tensor.Tensor {
	if f == nil {
		fail("Func", "the function is nil: want one, such as tensor.Tensor.ReLU")
	}
	return f(x)
}

// fail panics with a *tensor.Error that points at the user's call.
func fail(op, format string, args ...any) {
	tensor.Internal.Misuse(graph.Token{}, "nn."+op, fmt.Sprintf(format, args...))
}

// named, deferred by a layer, makes errors of the operations in it name the layer.
func named(layer string) {
	switch e := recover().(type) {
	case nil:
	case *tensor.Error:
		if !strings.HasPrefix(e.Op, "nn.") {
			of := layer + ": " + e.Msg
			if e.Op == layer {
				of = e.Msg // "MaxPool of [2 3]: …"
			}
			e = &tensor.Error{Op: "nn." + layer, Pos: e.Pos, Msg: "nn." + of}
		}
		panic(e)
	default:
		panic(e)
	}
}

// checkPresent panics if a field is absent: the layer was neither made by its
// constructor nor loaded.
func checkPresent(layer, field string, t tensor.Tensor) {
	if !t.IsValid() {
		fail(layer, "%s is absent: make the layer with nn.New%s, or load it", field, layer)
	}
}

// checkBias panics unless a bias is absent or has one element for each output.
func checkBias(layer string, bias tensor.Tensor, outputs int) {
	if bias.IsValid() && (bias.Rank() != 1 || bias.Len() != outputs) {
		fail(layer, "Bias is %v, want [%d]: one for each output", bias.Shape(), outputs)
	}
}

// checkIndices panics unless t has a type of indices.
func checkIndices(op, what string, t tensor.Tensor) {
	if d := t.DType(); !d.IsInt() || d == tensor.Uint64 {
		fail(op, "%s are %v, want integers other than uint64: Cast(tensor.Int32)", what, d)
	}
}
