package graph

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// lines is whether nodes keep the line of the program that made them, for
// errors that come up when they are computed: TENSORKEN_DEBUG=lines.
var lines = slices.Contains(strings.Split(os.Getenv("TENSORKEN_DEBUG"), ","), "lines")

// root is the folder of this module's sources, as frames name files, and std
// that of the standard library; each ends in a slash, or is empty if it is
// not known.
var root, std = folders()

func folders() (root, std string) {
	_, file, _, _ := runtime.Caller(0)
	root = strings.TrimSuffix(file, "internal/graph/line.go")
	file, _ = runtime.FuncForPC(reflect.ValueOf(strings.TrimSuffix).Pointer()).FileLine(0)
	return root, strings.TrimSuffix(file, "strings/strings.go")
}

// Caller is the file and line of the innermost call that is neither the
// library's own nor the standard library's. Tests, commands and examples of
// this module are callers.
func Caller() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if f.File != "" && !ours(f.File) {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// ours reports whether a source file is the library's or of the standard
// library. A build with -trimpath names the latter by import path, without a
// dot in its first part.
func ours(file string) bool {
	if path, ok := strings.CutPrefix(file, root); ok {
		return !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, "examples/") && !strings.HasPrefix(path, "cmd/")
	}
	if std != "" {
		return strings.HasPrefix(file, std)
	}
	first, _, _ := strings.Cut(file, "/")
	return !filepath.IsAbs(file) && !strings.ContainsAny(first, ".@")
}
