package graph

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// lines is whether nodes keep the line of the program that made them, for
// errors that come up when they are computed: TENSORKEN_DEBUG=lines.
var lines = slices.Contains(strings.Split(os.Getenv("TENSORKEN_DEBUG"), ","), "lines")

// module is the path that this module's packages begin with.
const module = "github.com/tensorken/tensorken/"

// Caller is the file and line of the innermost call that is not the
// library's own. Tests, commands and examples of this module are callers.
func Caller() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if f.File != "" && !ours(f) {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

func ours(f runtime.Frame) bool {
	for _, std := range []string{"runtime.", "reflect.", "iter.", "slices.", "maps.", "sync."} {
		if strings.HasPrefix(f.Function, std) {
			return true
		}
	}
	path, ok := strings.CutPrefix(f.Function, module)
	return ok && !strings.HasSuffix(f.File, "_test.go") &&
		!strings.HasPrefix(path, "examples/") && !strings.HasPrefix(path, "cmd/")
}
