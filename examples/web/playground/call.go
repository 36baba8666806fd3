package main

import (
	"go/ast"
	"reflect"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/tensor"
)

// member returns a name of a package, or a method of a value.
func (e *evaluation) member(x *ast.SelectorExpr) (v reflect.Value, err error) {
	if id, ok := x.X.(*ast.Ident); ok && !e.variables[id.Name].IsValid() {
		known, ok := library[id.Name]
		if !ok {
			return v, e.fault(x, "undefined: %s", id.Name)
		}
		if known[x.Sel.Name] == nil {
			return v, e.fault(x, "%s.%s is not known here", id.Name, x.Sel.Name)
		}
		return reflect.ValueOf(known[x.Sel.Name]), nil
	}
	if v, err = e.value(x.X, reflect.TypeFor[any]()); err != nil {
		return v, err
	}
	m := v.MethodByName(x.Sel.Name)
	if !m.IsValid() {
		return m, e.fault(x.Sel, "a value of type %v has no method %s", v.Type(), x.Sel.Name)
	}
	return m, nil
}

// nilable are the kinds of types that have a value nil.
var nilable = []reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Interface, reflect.Func, reflect.Map}

// call calls a function or a method. A last result that is an error is the call's.
func (e *evaluation) call(c *ast.CallExpr) ([]reflect.Value, error) {
	f, err := e.value(c.Fun, reflect.TypeFor[any]())
	if err != nil {
		return nil, err
	}
	t := f.Type()
	if t.Kind() != reflect.Func {
		return nil, e.fault(c, "a value of type %v is called", t)
	}
	fixed := t.NumIn()
	if t.IsVariadic() {
		fixed--
	}
	if len(c.Args) < fixed || len(c.Args) > fixed && !t.IsVariadic() || c.Ellipsis.IsValid() && (!t.IsVariadic() || len(c.Args) != fixed+1) {
		return nil, e.fault(c, "%d arguments, want %d: %v", len(c.Args), fixed, t)
	}
	args := make([]reflect.Value, len(c.Args))
	for i, a := range c.Args {
		var want reflect.Type
		switch {
		case i < fixed:
			want = t.In(i)
		case c.Ellipsis.IsValid():
			want = t.In(fixed)
		default:
			want = t.In(fixed).Elem()
		}
		if id, ok := a.(*ast.Ident); ok && id.Name == "nil" {
			if !slices.Contains(nilable, want.Kind()) {
				return nil, e.fault(a, "nil, want a value of type %v", want)
			}
			args[i] = reflect.Zero(want)
		} else if args[i], err = e.value(a, want); err != nil {
			return nil, err
		}
	}
	e.source.at = c
	call := f.Call
	if t.IsVariadic() && len(args) == fixed { // Call would make an empty slice, Go makes none
		args, call = append(args, reflect.Zero(t.In(fixed))), f.CallSlice
	} else if c.Ellipsis.IsValid() {
		call = f.CallSlice
	}
	results := call(args)
	if n := len(results); n > 0 && results[n-1].Type() == reflect.TypeFor[error]() {
		if err, _ := results[n-1].Interface().(error); err != nil {
			return nil, e.fault(c, "%v", err)
		}
		results = results[:n-1]
	}
	return results, nil
}

// literal returns a slice or a struct of a type in literals.
func (e *evaluation) literal(x *ast.CompositeLit) (v reflect.Value, err error) {
	list, isList := x.Type.(*ast.ArrayType)
	of := x.Type
	if isList {
		of = list.Elt
	}
	t := literals[typeName(of)]
	if t == nil || isList != (t.Kind() != reflect.Struct) {
		return v, e.fault(x, "literals are []int, []float32, []float64 and tensor.ConvOptions")
	}
	if isList {
		v = reflect.MakeSlice(reflect.SliceOf(t), len(x.Elts), len(x.Elts))
	} else {
		v = reflect.New(t).Elem()
	}
	for i, element := range x.Elts {
		field := v
		if isList {
			field = v.Index(i)
		} else {
			kv, ok := element.(*ast.KeyValueExpr)
			if ok {
				field = v.FieldByName(typeName(kv.Key))
			}
			if !ok || !field.IsValid() {
				return v, e.fault(element, "want a field of %v with its value", t)
			}
			element = kv.Value
		}
		value, err := e.value(element, field.Type())
		if err != nil {
			return v, err
		}
		field.Set(value)
	}
	return v, nil
}

// pointer returns the address of a literal.
func (e *evaluation) pointer(x *ast.UnaryExpr, want reflect.Type) (p reflect.Value, err error) {
	l, ok := x.X.(*ast.CompositeLit)
	if !ok {
		return p, e.fault(x, "want a literal after &")
	}
	v, err := e.literal(l)
	if err != nil {
		return p, err
	}
	p = reflect.New(v.Type())
	p.Elem().Set(v)
	return e.convert(x, p, want)
}

// typeName is an identifier, or one of a package.
func typeName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return typeName(x.X) + "." + x.Sel.Name
	}
	return ""
}

// locate turns misuse, which tensors panic with, into an error at the line of the last call.
func (s *source) locate(err *error) {
	switch x := recover().(type) {
	case nil:
	case *tensor.Error:
		*err = s.fault(s.at, "%s", x.Msg)
	case *tensor.DeviceError:
		*err = x
	case error:
		*err = s.fault(s.at, "%v", x)
	default:
		*err = s.fault(s.at, "%s", strings.TrimSpace(reflect.ValueOf(x).String()))
	}
}
