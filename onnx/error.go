package onnx

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// An Error is a fault of a node of a model.
type Error struct {
	Node   string // its name, or its first result if it has none
	Op     string // the operator, with its domain unless that is the standard's
	Opset  int    // the version of the operators
	Inputs string // types and shapes of the inputs; empty before the model runs
	Reason string
	Err    error // the cause, such as a *tensor.Error; may be nil
}

// Error returns all fields.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "onnx: node %q, %s of opset %d", e.Node, e.Op, e.Opset)
	if e.Inputs != "" {
		fmt.Fprintf(&b, ", of %s", e.Inputs)
	}
	b.WriteString(": " + e.Reason)
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// nodeName names a node in errors.
func nodeName(n *proto.Node) string {
	if n.Name != "" || len(n.Outputs) == 0 {
		return n.Name
	}
	return n.Outputs[0]
}

// qualified is the name of an operator with its domain.
func qualified(domain, name string) string {
	if domain == "" {
		return name
	}
	return domain + "." + name
}

// fault returns an error about a node.
func (n *node) fault(format string, args ...any) *Error {
	return &Error{Node: nodeName(n.Node), Op: qualified(n.domain, n.Op), Opset: n.opset, Reason: fmt.Sprintf(format, args...)}
}

// failed returns the error of a panic in a node's operator, nil if the panic is no fault of the model.
func (n *node) failed(r any, in []op.Value) *Error {
	var e *Error
	switch r := r.(type) {
	case *op.Failure:
		e = n.fault("%s", r.Reason)
	case *tensor.Error:
		e = n.fault("%s", r.Msg)
		e.Err = r
	case *tensor.DeviceError:
		e = n.fault("%v", r)
		e.Err = r
	case *Error, stopped:
		return nil
	default: // a fault of this library must not end a program that reads a stranger's file
		e = n.fault("internal error, please report it: %v", r)
	}
	var list []string
	for _, v := range in {
		list = append(list, v.String())
	}
	e.Inputs = strings.Join(list, ", ")
	return e
}

// errorOf returns the error that a panic of the interpreter stands for, or panics again.
func errorOf(r any) error {
	switch r := r.(type) {
	case *Error:
		return r
	case stopped:
		return r.error
	case *tensor.Error:
		return r
	case *tensor.DeviceError:
		return r
	}
	panic(r)
}

// stopped is a panic that ends the interpretation, with an error that is no node's.
type stopped struct{ error }

// errAsked ends a recording: an operator asks for elements that are not known.
var errAsked = errors.New("onnx: elements are needed to go on")
