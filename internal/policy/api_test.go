package policy

import (
	"bytes"

	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
)

// TestAPI compares the exported API with testdata/api.txt, so that every change of it is
// deliberate. A commit that changes the file gives the reason.
func TestAPI(t *testing.T) {
	const golden = "testdata/api.txt"
	pkgs := packages(t)
	var got strings.Builder
	for _, dir := range sorted(pkgs) {
		if isPublic(dir) {
			fmt.Fprintf(&got, "package %s\n%s\n", dir, api(t, dir, pkgs[dir]))
		}
	}
	goldentext.Check(t, golden, got.String())
}

// systems are the systems whose API is compared.
var systems = []build.Context{
	{GOOS: "linux", GOARCH: "amd64", Compiler: "gc"},
	{GOOS: "js", GOARCH: "wasm", Compiler: "gc"},
}

// api returns the exported declarations of a package on all systems, without
// comments: each type followed by its constants, variables, functions and methods.
func api(t *testing.T, dir string, files []*file) string {
	var decls, before []string
	for _, system := range systems {
		var chosen []*file
		var names []string
		for _, f := range files {
			match, err := system.MatchFile(root, f.name)
			if err != nil {
				t.Fatal(err)
			}
			if match {
				chosen, names = append(chosen, f), append(names, f.name)
			}
		}
		if slices.Equal(names, before) {
			continue
		}
		before = names
		parsed := make([]*ast.File, len(chosen))
		for i, f := range chosen {
			var err error
			// go/doc changes its argument, so parse again, without comments.
			if parsed[i], err = parser.ParseFile(fset, f.name, f.src, parser.SkipObjectResolution); err != nil {
				t.Fatal(err)
			}
		}
		p, err := doc.NewFromFiles(fset, parsed, module+"/"+dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range declarations(p) {
			if !slices.Contains(decls, d) {
				decls = append(decls, d)
			}
		}
	}
	return strings.Join(decls, "")
}

// declarations prints the exported declarations of a package, in the order of
// its documentation.
func declarations(p *doc.Package) []string {
	var list []string
	add := func(d ast.Decl) {
		ast.Inspect(d, trim)
		var b bytes.Buffer
		config := printer.Config{Mode: printer.UseSpaces, Tabwidth: 4, Indent: 1}
		// With an empty file set the printer leaves no blank lines for comments.
		if err := config.Fprint(&b, token.NewFileSet(), d); err != nil {
			panic(err) // a parsed declaration can be printed
		}
		list = append(list, b.String()+"\n")
	}
	values := func(vs []*doc.Value) {
		for _, v := range vs {
			add(v.Decl)
		}
	}
	funcs := func(fs []*doc.Func) {
		for _, f := range fs {
			f.Decl.Body = nil
			add(f.Decl)
		}
	}
	values(p.Consts)
	values(p.Vars)
	funcs(p.Funcs)
	for _, t := range p.Types {
		add(t.Decl)
		values(t.Consts)
		values(t.Vars)
		funcs(t.Funcs)
		funcs(t.Methods)
	}
	return list
}

// trim removes the elements of literals, which are not part of the API, and the notes
// about unexported fields.
func trim(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CompositeLit:
		n.Elts = nil
	case *ast.StructType:
		n.Incomplete = false
	}
	return true
}
