package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/tensorken/tensorken"
)

// A file is a Go file of the module, for any system.
type file struct {
	name string // relative to the root, with slashes
	dir  string // its package's path in the module
	src  string
	ast  *ast.File
}

func (f *file) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

var fset = token.NewFileSet()

// load parses every Go file of the module once.
var load = sync.OnceValues(func() ([]*file, error) {
	var files []*file
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && skipped(path, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		parsed, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, &file{name, filepath.ToSlash(filepath.Dir(rel)), string(src), parsed})
		return nil
	})
	return files, err
})

// skipped reports whether the go command ignores a folder, or it is another module.
func skipped(path, name string) bool {
	if name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func sources(t *testing.T) []*file {
	t.Helper()
	files, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// packages groups the files that are not tests by package path.
func packages(t *testing.T) map[string][]*file {
	t.Helper()
	pkgs := map[string][]*file{}
	for _, f := range sources(t) {
		if !f.isTest() {
			pkgs[f.dir] = append(pkgs[f.dir], f)
		}
	}
	return pkgs
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// isProgram reports whether a path is in the folder of commands or of examples.
func isProgram(dir string) bool {
	return strings.HasPrefix(dir, "cmd/") || strings.HasPrefix(dir, "examples/")
}

// isPublic reports whether programs outside the module may import a package.
func isPublic(dir string) bool {
	return !isProgram(dir) && !strings.Contains("/"+dir+"/", "/internal/")
}
