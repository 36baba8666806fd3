package policy

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// receivers has the types of the variables in the tables of docs/from-*.md.
var receivers = map[string]string{"t": "Tensor", "u": "Tensor", "rng": "RNG"}

var called = regexp.MustCompile(`\b(\w+)\.([A-Z]\w*)`)

// TestPortingTables fails for a name in the right columns of docs/from-*.md that no package
// exports, and for a table without names.
func TestPortingTables(t *testing.T) {
	exported := exportedNames(t)
	for _, page := range []string{"docs/from-pytorch.md", "docs/from-numpy.md"} {
		names := 0
		for _, line := range strings.Split(text(t, page), "\n") {
			columns := strings.Split(strings.ReplaceAll(line, `\|`, " "), "|")
			if len(columns) != 4 {
				if strings.HasPrefix(line, "|") {
					t.Errorf("%s: %d columns, want 2: %s", page, len(columns)-2, line)
				}
				continue
			}
			for _, m := range called.FindAllStringSubmatch(columns[2], -1) {
				names++
				name := m[1] + "." + m[2]
				if r, ok := receivers[m[1]]; ok {
					name = "tensor." + r + "." + m[2]
				}
				if !exported[name] {
					t.Errorf("%s: there is no %s: %s", page, name, line)
				}
			}
		}
		if names < 100 {
			t.Errorf("%s has %d names", page, names)
		}
	}
}

// exportedNames has the names of all packages, as nn.Linear, and of methods, as
// tensor.Tensor.Add.
func exportedNames(t *testing.T) map[string]bool {
	names := map[string]bool{}
	for dir, files := range packages(t) {
		if !isPublic(dir) {
			continue
		}
		for _, f := range files {
			pkg := f.ast.Name.Name + "."
			for _, d := range f.ast.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if r := receiverOf(d); r != "" {
						names[pkg+r+"."+d.Name.Name] = true
					} else {
						names[pkg+d.Name.Name] = true
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							names[pkg+s.Name.Name] = true
						case *ast.ValueSpec:
							for _, id := range s.Names {
								names[pkg+id.Name] = true
							}
						}
					}
				}
			}
		}
	}
	return names
}
