package graph

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// module is the start of the import paths of this module's packages, root the start of
// their files' names.
var (
	module = strings.TrimSuffix(reflect.TypeFor[Node]().PkgPath(), "internal/graph")
	root   = sync.OnceValue(func() string {
		_, file, _, _ := runtime.Caller(0)
		return strings.TrimSuffix(file, "internal/graph/line.go")
	})
)

// modules is the paths of the modules in the program, as far as they are known.
var modules = sync.OnceValue(func() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	paths := []string{info.Main.Path}
	for _, m := range info.Deps {
		paths = append(paths, m.Path)
	}
	return paths
})

// Caller is the file and line of the innermost call that is neither the
// library's own nor the standard library's. Tests, commands and examples of
// this module are callers.
func Caller() string {
	var pcs [64]uintptr
	return position(pcs[:runtime.Callers(2, pcs[:])])
}

// position is the file and line that [Caller] gives for a stack of calls.
func position(pcs []uintptr) string {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if isCaller(f) {
			return lineOf(f)
		}
		if !more {
			return ""
		}
	}
}

// isCaller reports whether a call is neither the library's own nor the standard
// library's.
func isCaller(f runtime.Frame) bool { return f.File != "" && !ours(f.Function, f.File, modules) }

func lineOf(f runtime.Frame) string { return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line) }

// ours reports whether a function is the library's or the standard library's. It is the
// library's by its file or its name: a closure that is inlined is named after the function
// around it.
func ours(function, file string, modules func() []string) bool {
	if strings.HasSuffix(file, "_test.go") {
		return false
	}
	path := packageOf(function)
	rest, ok := strings.CutPrefix(file, root())
	if !ok {
		rest, ok = strings.CutPrefix(path, module)
	}
	if ok {
		folder, _, _ := strings.Cut(rest, "/")
		return folder != "examples" && folder != "cmd" && folder != "hack" // hack has the programs of docs/hacking.md
	}
	// The paths of the standard library have no dot in their first element, but a program's
	// paths may have none either.
	first, _, _ := strings.Cut(path, "/")
	return path != "main" && !strings.Contains(first, ".") &&
		!slices.ContainsFunc(modules(), func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
}

// packageOf is the import path in a function's full name, where the dots of its
// last element are escaped.
func packageOf(function string) string {
	last := strings.LastIndex(function, "/") + 1
	name, _, _ := strings.Cut(function[last:], ".")
	return function[:last] + strings.ReplaceAll(name, "%2e", ".")
}
