package policy

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// receivers has the types of the variables in the tables of docs/from-*.md.
var receivers = map[string]string{"t": "tensor.Tensor", "u": "tensor.Tensor", "rng": "tensor.RNG", "m": "onnx.Model"}

var called = regexp.MustCompile(`\b(\w+)\.([A-Z]\w*)`)

// TestPortingTables fails for a name in the right columns of docs/from-*.md that no package
// exports, and for a table without names.
func TestPortingTables(t *testing.T) {
	exported := exportedNames(t)
	for page, least := range map[string]int{"docs/from-pytorch.md": 100, "docs/from-numpy.md": 100, "docs/from-onnxruntime.md": 30} {
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
				if name := ported(m); !exported[name] {
					t.Errorf("%s: there is no %s: %s", page, name, line)
				}
			}
		}
		if names < least {
			t.Errorf("%s has %d names", page, names)
		}
	}
}

// unported lists functions that NumPy and PyTorch have no name for.
var unported = []string{
	"grad.CustomJVP", "grad.Diff", "nn.Hinge", "optim.New",
	"tensor.Catch", "tensor.Try", "tensor.Eval", "tensor.NewCPU", "tensor.NewDevice",
	"tensor.RNG.Keys", "tensor.KeyRNG", "tensor.ToBF16", "tensor.ToF16",
	"tensor.Tensor.Format", "tensor.Tensor.String", "tensor.Tensor.MarshalJSON", "tensor.Tensor.UnmarshalJSON",
	"tensor.Tensor.IsValid", "tensor.Tensor.Keep", "tensor.Tensor.Rows",
	"plot.CheckName", "plot.Color", "plot.Metrics", "plot.Watch", "plot.WatchFiles",
	"tensor.Tensor.VIndex", "tensor.Tensor.GatherND", "tensor.Tensor.ScatterND", // of NEP 21 and TensorFlow
}

// portedPackages are those whose functions NumPy, SciPy, PyTorch or their companions have too.
var portedPackages = []string{"tensor", "grad", "nn", "optim", "linalg", "solve", "fft", "npy", "imageio", "wav", "plot", "draw"}

// TestPortingTablesComplete fails for a function of packages that PyTorch has too, or a
// method of Tensor and RNG, that neither page names. Names without a namesake are in
// unported.
func TestPortingTablesComplete(t *testing.T) {
	known := map[string]bool{}
	for _, m := range called.FindAllStringSubmatch(text(t, "docs/from-pytorch.md")+text(t, "docs/from-numpy.md"), -1) {
		known[ported(m)] = true
	}
	exported := exportedNames(t)
	for _, name := range unported {
		if known[name] || !exported[name] {
			t.Errorf("the list unported needs no entry for %s, which has a row or does not exist", name)
		}
		known[name] = true
	}
	for dir, files := range packages(t) {
		if !slices.Contains(portedPackages, dir) {
			continue
		}
		for _, f := range files {
			for _, d := range f.ast.Decls {
				d, ok := d.(*ast.FuncDecl)
				if !ok || !d.Name.IsExported() {
					continue
				}
				name := dir + "." + d.Name.Name
				switch r := receiverOf(d); r {
				case "":
				case "Tensor", "RNG":
					name = dir + "." + r + "." + d.Name.Name
				default:
					continue
				}
				if !known[name] {
					t.Errorf("neither docs/from-pytorch.md nor docs/from-numpy.md has a row with %s: add it, or to the list unported", name)
				}
			}
		}
	}
}

// ported returns the name of a match of called, as exportedNames has it.
func ported(m []string) string {
	if r, ok := receivers[m[1]]; ok {
		return r + "." + m[2]
	}
	return m[1] + "." + m[2]
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
