//go:build (linux || darwin || windows) && (amd64 || arm64)

// Package dynlib loads C libraries and calls their functions, without cgo.
//
// It never searches the current folder, which may be anyone's: Open takes an absolute path, and
// OpenSystem a name for which it searches only the folders of the system.
package dynlib

import (
	"reflect"
	"runtime"

	"github.com/ebitengine/purego"
)

// Open loads the library at an absolute path.
func Open(path string) (uintptr, error) {
	r, err := fileRequest(runtime.GOOS, path)
	if err != nil {
		return 0, err
	}
	return r.open()
}

// OpenSystem loads a library of the system by its file name.
func OpenSystem(name string) (uintptr, error) {
	r, err := systemRequest(runtime.GOOS, name)
	if err != nil {
		return 0, err
	}
	return r.open()
}

// Find sets the fields of a struct of uintptrs to the addresses of functions: field X to the
// function prefix+X. It returns the name of a missing function, or "".
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
