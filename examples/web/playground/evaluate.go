package main

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/token"
	"maps"
	"math"
	"reflect"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// library has the functions of packages that lines may use. Functions with type parameters have
// one type each.
var library = map[string]map[string]any{
	"tensor": {
		"New": tensor.New[float32], "Arange": tensor.Arange[int], "Zeros": tensor.Zeros, "Ones": tensor.Ones, "Full": tensor.Full,
		"Eye": tensor.Eye, "Linspace": tensor.Linspace, "Where": tensor.Where, "Cat": tensor.Cat, "Stack": tensor.Stack,
		"Einsum": tensor.Einsum, "Span": tensor.Span, "All": tensor.All, "End": tensor.End,
		"Bool": tensor.Bool, "Uint8": tensor.Uint8, "Int32": tensor.Int32, "Float16": tensor.Float16, "Float32": tensor.Float32,
	},
	"math": {"Pi": math.Pi, "E": math.E, "Inf": math.Inf, "Sqrt": math.Sqrt},
}

// literals are the types of composite literals.
var literals = map[string]reflect.Type{
	"tensor.ConvOptions": reflect.TypeFor[tensor.ConvOptions](),
	"int":                reflect.TypeFor[int](), "float32": reflect.TypeFor[float32](), "float64": reflect.TypeFor[float64](),
}

// An output is a tensor with a name.
type output struct {
	name string
	tensor.Tensor
}

// outputs runs the lines on a device. It returns the result or, for gradient, the gradient of
// the sum of its elements with respect to each input of floats.
func (s *source) outputs(dev *tensor.Device, gradient bool) (list []output, err error) {
	defer s.locate(&err)
	e := &evaluation{source: s, variables: map[string]reflect.Value{"rng": reflect.ValueOf(tensor.NewRNG(1))}}
	inputs, names, rest, err := e.inputs(dev)
	if err != nil {
		return nil, err
	}
	y, err := e.run(rest, nil)
	if err != nil || !gradient {
		return []output{{"result", y}}, err
	}
	if len(inputs) == 0 {
		return nil, errors.New("there is no variable to differentiate with respect to: want one of floats, as x := rng.Normal(3)")
	}
	_, g := grad.ValueAndGrad(func(in map[string]tensor.Tensor) tensor.Tensor {
		y, _ := e.run(rest, in) // it gave no error before
		return y.Sum()
	})(inputs)
	for _, name := range names {
		list = append(list, output{"gradient of " + name, g[name]})
	}
	return list, nil
}

// An evaluation runs lines.
type evaluation struct {
	*source
	variables map[string]reflect.Value
}

// inputs computes the variables that depend on no others, on a device. It returns the
// floats, their names in order, and the other lines.
func (e *evaluation) inputs(dev *tensor.Device) (floats map[string]tensor.Tensor, names []string, rest []*ast.AssignStmt, err error) {
	floats = map[string]tensor.Tensor{}
	known := map[string]bool{}
	for _, a := range e.assigns {
		if err := e.check(a); err != nil {
			return nil, nil, nil, err
		}
		input := !e.reads(a, known)
		for _, l := range a.Lhs {
			name := l.(*ast.Ident).Name
			known[name] = name != "_"
		}
		if !input {
			rest = append(rest, a)
			continue
		}
		if err := e.assign(a); err != nil {
			return nil, nil, nil, err
		}
		for _, l := range a.Lhs {
			name := l.(*ast.Ident).Name
			if name == "_" {
				continue
			}
			x, ok := e.variables[name].Interface().(tensor.Tensor)
			if !ok {
				continue
			}
			x = x.To(dev)
			if err := tensor.Eval(x); err != nil {
				return nil, nil, nil, err
			}
			e.variables[name] = reflect.ValueOf(x)
			if x.DType() == tensor.Float32 || x.DType() == tensor.Float16 {
				floats[name], names = x, append(names, name)
			}
		}
	}
	return floats, names, rest, nil
}

// check fails unless a line assigns one expression to variables.
func (e *evaluation) check(a *ast.AssignStmt) error {
	if len(a.Rhs) != 1 || a.Tok != token.DEFINE && a.Tok != token.ASSIGN {
		return e.fault(a, "want a line such as x := tensor.Ones(2)")
	}
	for _, l := range a.Lhs {
		if _, ok := l.(*ast.Ident); !ok {
			return e.fault(l, "want a variable")
		}
	}
	return nil
}

// run runs lines, with other values of inputs, and returns the result.
func (e evaluation) run(lines []*ast.AssignStmt, inputs map[string]tensor.Tensor) (y tensor.Tensor, err error) {
	e.variables = maps.Clone(e.variables)
	for name, x := range inputs {
		e.variables[name] = reflect.ValueOf(x)
	}
	for _, a := range lines {
		if err := e.assign(a); err != nil {
			return y, err
		}
	}
	v, err := e.value(e.result, reflect.TypeFor[tensor.Tensor]())
	if err != nil {
		return y, err
	}
	return v.Interface().(tensor.Tensor), nil
}

func (e *evaluation) assign(a *ast.AssignStmt) error {
	values, err := e.values(a.Rhs[0])
	if err != nil {
		return err
	}
	if len(values) != len(a.Lhs) {
		return e.fault(a, "%d variables for %d values", len(a.Lhs), len(values))
	}
	for i, l := range a.Lhs {
		if name := l.(*ast.Ident).Name; name != "_" {
			e.variables[name] = values[i]
		}
	}
	return nil
}

// values returns the results of an expression.
func (e *evaluation) values(x ast.Expr) ([]reflect.Value, error) {
	if c, ok := x.(*ast.CallExpr); ok {
		return e.call(c)
	}
	v, err := e.value(x, reflect.TypeFor[any]())
	return []reflect.Value{v}, err
}

// value returns the value of an expression, as one of a type. Numbers are converted to it.
func (e *evaluation) value(x ast.Expr, want reflect.Type) (v reflect.Value, err error) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.value(x.X, want)
	case *ast.BasicLit, *ast.UnaryExpr, *ast.BinaryExpr:
		if c := number(x); c != nil {
			v = reflect.ValueOf(goNumber(c))
		} else if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
			return e.pointer(u, want)
		} else {
			return v, e.fault(x, "want a number, a variable or a call: operators of tensors are methods, as x.Add(y)")
		}
	case *ast.Ident:
		if v = e.variables[x.Name]; !v.IsValid() {
			return v, e.fault(x, "undefined: %s", x.Name)
		}
	case *ast.SelectorExpr:
		if v, err = e.member(x); err != nil {
			return v, err
		}
	case *ast.CompositeLit:
		v, err = e.literal(x)
	case *ast.CallExpr:
		var list []reflect.Value
		if list, err = e.call(x); err == nil && len(list) != 1 {
			err = e.fault(x, "%d values in the place of one: assign them to variables", len(list))
		} else if err == nil {
			v = list[0]
		}
	default:
		err = e.fault(x, "want a number, a variable or a call")
	}
	if err != nil {
		return v, err
	}
	return e.convert(x, v, want)
}

// convert makes a number a float if that is wanted.
func (e *evaluation) convert(at ast.Node, v reflect.Value, want reflect.Type) (reflect.Value, error) {
	switch {
	case v.Type().AssignableTo(want):
		return v, nil
	case v.CanInt() && want.Kind() >= reflect.Float32 && want.Kind() <= reflect.Float64, v.CanFloat() && want.Kind() == reflect.Float32:
		return v.Convert(want), nil
	}
	return v, e.fault(at, "a value of type %v, want %v", v.Type(), want)
}

// number returns the value of an expression of numbers, nil for others.
func number(x ast.Expr) constant.Value {
	var v constant.Value
	switch x := x.(type) {
	case *ast.ParenExpr:
		return number(x.X)
	case *ast.BasicLit:
		if x.Kind == token.INT || x.Kind == token.FLOAT {
			v = constant.MakeFromLiteral(x.Value, x.Kind, 0)
		}
	case *ast.UnaryExpr:
		if a := number(x.X); a != nil && (x.Op == token.SUB || x.Op == token.ADD) {
			v = constant.UnaryOp(x.Op, a, 0)
		}
	case *ast.BinaryExpr:
		a, b := number(x.X), number(x.Y)
		if a != nil && b != nil && (x.Op == token.ADD || x.Op == token.SUB || x.Op == token.MUL || x.Op == token.QUO && constant.Sign(b) != 0) {
			op := x.Op
			if op == token.QUO && a.Kind() == constant.Int && b.Kind() == constant.Int {
				op = token.QUO_ASSIGN // as in Go, of integers
			}
			v = constant.BinaryOp(a, op, b)
		}
	}
	if v == nil || v.Kind() == constant.Unknown {
		return nil
	}
	return v
}

// goNumber is an int or a float64.
func goNumber(c constant.Value) any {
	if c.Kind() == constant.Int {
		if n, exact := constant.Int64Val(c); exact {
			return int(n)
		}
	}
	f, _ := constant.Float64Val(c)
	return f
}
