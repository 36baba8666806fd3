package policy

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A call is a call of a function in a file.
type call struct {
	file *file
	name string // as pkg.Func or x.Method
	expr *ast.CallExpr
}

// methodCalls returns the calls of functions with one of these names, in all packages.
func methodCalls(t *testing.T, names ...string) (calls []call) {
	t.Helper()
	for _, f := range sources(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			s, ok := c.Fun.(*ast.SelectorExpr)
			if ok && slices.Contains(names, s.Sel.Name) {
				name := s.Sel.Name
				if x, ok := s.X.(*ast.Ident); ok {
					name = x.Name + "." + name
				}
				calls = append(calls, call{f, name, c})
			}
			return true
		})
	}
	return calls
}

// Only internal/dynlib loads libraries, and only two packages load any by a bare name, libraries of
// the system. kernel32.dll is in each process of Windows from the start.
func TestLibraries(t *testing.T) {
	loaders := methodCalls(t, "Dlopen", "LoadLibrary", "LoadLibraryEx", "LoadDLL", "MustLoadDLL", "NewLazyDLL", "NewLazySystemDLL", "OpenSystem")
	if len(loaders) < 5 {
		t.Errorf("found %d calls that load a library, fewer than there are", len(loaders))
	}
	for _, c := range loaders {
		literal := ""
		if lit, ok := c.expr.Args[0].(*ast.BasicLit); ok {
			literal = lit.Value
		}
		switch {
		case literal == `"kernel32.dll"`:
		case c.file.dir == "internal/dynlib" && c.name != "dynlib.OpenSystem" && !strings.HasSuffix(c.name, "LazyDLL"):
		case c.name == "dynlib.OpenSystem" && c.file.dir == "internal/cuda":
		default:
			t.Errorf("%s calls %s: load libraries by dynlib.Open, which takes absolute paths", fset.Position(c.expr.Pos()), c.name)
		}
	}
	for _, f := range sources(t) { // wgpu picks one of the two by its path
		if strings.Contains(f.src, "dynlib.OpenSystem") && f.dir != "internal/policy" && f.dir != "internal/cuda" && f.name != "internal/wgpu/native_call.go" {
			t.Errorf("%s loads a library by a bare name: use dynlib.Open", f.name)
		}
	}
}

// folderModes lists the packages, not tests, that make folders which others may read, with the mode.
var folderModes = map[string]string{
	"examples/web":  "0o755", // a site to be served
	"examples/gpt2": "0o777", // where the user asks for a model, as umask has it
}

// Folders are private, unless the user names them.
func TestFolderModes(t *testing.T) {
	made := 0
	for _, c := range methodCalls(t, "MkdirAll", "Mkdir") {
		if c.file.isTest() || strings.HasSuffix(c.file.dir, "test") {
			continue
		}
		made++
		lit, ok := c.expr.Args[1].(*ast.BasicLit)
		if !ok || lit.Value != "0o700" && lit.Value != folderModes[c.file.dir] {
			t.Errorf("%s: %s with a mode other than 0o700", fset.Position(c.expr.Pos()), c.name)
		}
	}
	if made < 3 {
		t.Errorf("found %d folders that are made, fewer than there are", made)
	}
	for _, c := range methodCalls(t, "UserCacheDir") {
		if !c.file.isTest() && c.file.dir != "internal/cachedir" {
			t.Errorf("%s: use cachedir.Path and cachedir.Make", fset.Position(c.expr.Pos()))
		}
	}
}

// Programs save their work at all signals at which the system lets them.
func TestSignals(t *testing.T) {
	for _, c := range methodCalls(t, "Notify", "NotifyContext") {
		if strings.HasPrefix(c.name, "signal.") && c.file.dir != "internal/interrupt" {
			t.Errorf("%s calls %s: use interrupt.Context", fset.Position(c.expr.Pos()), c.name)
		}
	}
}

// Servers end requests of clients that do not send or do not read.
func TestServersHaveTimeouts(t *testing.T) {
	found := 0
	for _, f := range sources(t) {
		if f.isTest() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if s, ok := n.Type.(*ast.SelectorExpr); !ok || s.Sel.Name != "Server" || !strings.Contains(f.src, `"net/http"`) {
					return true
				}
				found++
				var set []string
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						set = append(set, kv.Key.(*ast.Ident).Name)
					}
				}
				for _, want := range []string{"ReadTimeout", "WriteTimeout", "IdleTimeout"} {
					if !slices.Contains(set, want) {
						t.Errorf("%s: a server without %s", fset.Position(n.Pos()), want)
					}
				}
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"ListenAndServe", "ListenAndServeTLS", "Serve"}, s.Sel.Name) {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "http" {
						t.Errorf("%s: http.%s has no timeouts: make an http.Server", fset.Position(n.Pos()), s.Sel.Name)
					}
				}
			}
			return true
		})
	}
	if found < 2 {
		t.Errorf("found %d servers, fewer than there are", found)
	}
}

// Continuous integration runs no scripts of packages, and takes none without a checksum.
func TestPackagesOfCI(t *testing.T) {
	bad := regexp.MustCompile(`\bnpm (install|i|ci|exec)\b|\bnpx\b|\bpip3? install\b|(curl|wget)\b[^\n|]*\| *(sudo +)?(ba)?sh\b`)
	entries, err := os.ReadDir(filepath.Join(root, ".ci"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		script := text(t, ".ci/"+e.Name())
		if m := bad.FindString(script); m != "" {
			t.Errorf(".ci/%s has %q: take a package by npm pack and its sha512, as .ci/node does", e.Name(), m)
		}
		if strings.Contains(script, "npm pack") && !strings.Contains(script, "sha512sum --check --strict") && !strings.Contains(script, "gpu install --from") {
			t.Errorf(".ci/%s takes a package of npm without a checksum", e.Name())
		}
	}
}

// What this library does not guard against is said where a program chooses it.
func TestWarnings(t *testing.T) {
	for file, want := range map[string]string{
		"webgpu/webgpu.go":      "A server that runs strangers' computations may want both guards.",
		"data/images/folder.go": "Of an archive from a stranger, remove links before: they can lead out of root.",
		"SECURITY.md":           "Memory of a GPU is not cleared, and WebGPU's own checks are off without `Options.Validate`",
	} {
		words := strings.Join(strings.Fields(strings.ReplaceAll(text(t, file), "\n\t//", " ")), " ")
		if !strings.Contains(strings.ReplaceAll(words, " // ", " "), want) {
			t.Errorf("%s does not say: %s", file, want)
		}
	}
}
