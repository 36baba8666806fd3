package tensor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/internal/mapped"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// An Error is a misuse of the library: shapes, types or axes that do not fit.
// Operations panic with an *Error, so that they can be chained; [Catch] and
// [Try] turn it into an error.
type Error struct {
	Op  string // the operation, such as "MatMul"
	Pos string // the caller's file and line, such as "main.go:12"
	Msg string // the operation, its operands, the fault, and a hint
	Err error  // of a function on the host, such as a collective of package dist; else nil
}

// Error returns the position and the message.
func (e *Error) Error() string {
	if e.Pos == "" {
		return e.Msg
	}
	return e.Pos + ": " + e.Msg
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// A DeviceError is a failure of a device: out of memory, a lost GPU, an
// element type it lacks.
type DeviceError struct {
	Device string // the device's name
	Op     string // the failed call, such as "Data"
	Err    error
}

// Error returns the device, the failed call and the cause.
func (e *DeviceError) Error() string {
	if e.Err == nil {
		return e.Device + ": " + e.Op + " failed"
	}
	cause := strings.TrimPrefix(e.Err.Error(), e.Device+": ")
	return e.Device + ": " + e.Op + ": " + cause
}

// Unwrap returns the cause.
func (e *DeviceError) Unwrap() error { return e.Err }

// Catch, deferred by a function with a named error result, turns a panic with an
// [*Error] or a [*DeviceError] into that error. Other panics continue.
//
//	func predict(x tensor.Tensor) (y tensor.Tensor, err error) {
//		defer tensor.Catch(&err)
//		return x.MatMul(weights), nil
//	}
func Catch(err *error) {
	switch e := recover().(type) {
	case nil:
	case *Error:
		*err = e
	case *DeviceError:
		*err = e
	default:
		panic(e)
	}
}

// Try calls f and returns the [*Error] or [*DeviceError] that it panics with,
// or nil.
func Try(f func()) (err error) {
	defer Catch(&err)
	checkFunc("Try", f)
	f()
	return nil
}

// checkFunc panics on behalf of op if f is nil.
func checkFunc(op string, f func()) {
	if f == nil {
		fail(op, "the function is nil")
	}
}

// checkNumber panics on behalf of op on x unless v is within the limits.
func checkNumber(op, name string, v float64, l limits.Limits, x *graph.Node) {
	if err := l.Check(name, v); err != nil {
		fail(op, err.Error(), x)
	}
}

// fail panics with an *Error about an operation on operands, each a *graph.Node or
// another argument.
func fail(op, reason string, operands ...any) {
	panic(misuse(op, reason, operands...))
}

// misuse returns the *Error that fail panics with.
func misuse(op, reason string, operands ...any) *Error {
	var text strings.Builder
	text.WriteString(op)
	typed := false // whether an operand's type is not float32, and types are printed
	for _, o := range operands {
		n, ok := o.(*graph.Node)
		typed = typed || ok && n.DType != ir.Float32
	}
	for i, o := range operands {
		text.WriteString([]string{" of ", " and "}[min(i, 1)])
		n, ok := o.(*graph.Node)
		switch {
		case ok && typed:
			fmt.Fprint(&text, n.DType, " ", n.Shape)
		case ok:
			fmt.Fprint(&text, n.Shape)
		default:
			fmt.Fprint(&text, o)
		}
	}
	return &Error{Op: op, Pos: graph.Caller(), Msg: text.String() + ": " + reason}
}

// failure converts an error of package exec or storage to an *Error or a *DeviceError.
func failure(op string, d graph.Device, err error) error {
	if err == nil {
		return nil
	}
	var index *storage.IndexError
	if errors.As(err, &index) {
		if s := index.Site; s != nil {
			return &Error{Op: s.Op, Pos: s.Pos(), Msg: index.Error()}
		}
		return &Error{Op: op, Pos: graph.Caller(), Msg: op + ": " + index.Error()}
	}
	var host *exec.HostError
	if errors.As(err, &host) {
		return &Error{Op: host.Func.Op, Pos: host.Func.Pos(), Msg: host.Error(), Err: host.Err}
	}
	var gone *storage.GoneError
	if errors.As(err, &gone) {
		return &Error{Op: op, Pos: graph.Caller(), Msg: op + ": " + gone.Error()}
	}
	var file *mapped.Error
	if errors.As(err, &file) {
		return &Error{Op: op, Pos: graph.Caller(), Msg: op + ": " + file.Error(), Err: file}
	}
	var e *DeviceError
	if errors.As(err, &e) {
		return err
	}
	var f *storage.Failure
	if errors.As(err, &f) {
		d, err = f.Device, f.Err
	}
	return &DeviceError{Device: d.String(), Op: op, Err: err}
}
