//go:build (linux || darwin || windows) && (amd64 || arm64)

// Package dynlib loads C libraries and calls their functions, without cgo.
package dynlib

import (
	"reflect"

	"github.com/ebitengine/purego"
)

// Find sets the fields of a struct of uintptrs to the addresses of functions: that of field X
// to prefix+X. It returns the name of one that is missing, "" if none is.
func Find(library uintptr, prefix string, functions any) (missing string) {
	for field, v := range reflect.ValueOf(functions).Elem().Fields() {
		name := prefix + field.Name
		if v.SetUint(uint64(Symbol(library, name))); v.IsZero() {
			return name
		}
	}
	return ""
}

// Call calls a C function. Convert pointers to uintptr in the argument list: the pragma
// then keeps their targets alive and in place until the call returns.
//
//go:uintptrescapes
func Call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}
