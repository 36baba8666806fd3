package policy

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The greatest lengths of files. Tests may be longer, because they are tables.
const (
	maxLines     = 400
	maxTestLines = 600
)

// long lists the files that may be longer, each with the reason. Remove an entry when
// its file is gone or short enough.
var long = map[string]string{}

func TestFileLength(t *testing.T) {
	unused := maps.Clone(long)
	for _, f := range sources(t) {
		lines, limit := strings.Count(f.src, "\n"), maxLines
		if f.isTest() {
			limit = maxTestLines
		}
		if lines <= limit || ast.IsGenerated(f.ast) {
			continue
		}
		if long[f.name] == "" {
			t.Errorf("%s has %d lines, want at most %d: split it, or give the reason in the list long", f.name, lines, limit)
		}
		delete(unused, f.name)
	}
	for _, name := range sorted(unused) {
		t.Errorf("the list long needs no entry for %s, which is short enough or does not exist", name)
	}
}

// maxFunction is the most lines of a function.
const maxFunction = 80

// longFunctions lists the functions that may be longer, each with the reason.
var longFunctions = map[string]string{
	"internal/shader.trigonometry": "a table of polynomials",
}

func TestFunctionLength(t *testing.T) {
	unused := maps.Clone(longFunctions)
	for _, f := range sources(t) {
		if f.isTest() || ast.IsGenerated(f.ast) {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name, lines := f.dir+"."+fn.Name.Name, fset.Position(fn.End()).Line-fset.Position(fn.Pos()).Line+1
			if lines <= maxFunction {
				continue
			}
			if longFunctions[name] == "" {
				t.Errorf("%s: %s has %d lines, want at most %d: split it, or give the reason in the list longFunctions", fset.Position(fn.Pos()), name, lines, maxFunction)
			}
			delete(unused, name)
		}
	}
	for _, name := range sorted(unused) {
		t.Errorf("the list longFunctions needs no entry for %s", name)
	}
}

// The greatest size of a package, without tests and generated files.
const (
	maxPackageLines = 4000
	maxPackageFiles = 25
)

// large lists the packages that may be larger, each with the reason.
var large = map[string]string{
	"tensor":            "what a user types about tensors has one name",
	"nn":                "so have layers and losses",
	"driver/drivertest": "it has all that a device must do",
}

func TestPackageSize(t *testing.T) {
	unused := maps.Clone(large)
	pkgs := packages(t)
	for _, dir := range sorted(pkgs) {
		lines, files := 0, 0
		for _, f := range pkgs[dir] {
			if !f.isTest() && !ast.IsGenerated(f.ast) {
				lines += strings.Count(f.src, "\n")
				files++
			}
		}
		if lines <= maxPackageLines && files <= maxPackageFiles {
			continue
		}
		if large[dir] == "" {
			t.Errorf("%s has %d lines in %d files, want at most %d in %d: split it, or give the reason in the list large", dir, lines, files, maxPackageLines, maxPackageFiles)
		}
		delete(unused, dir)
	}
	for _, dir := range sorted(unused) {
		t.Errorf("the list large needs no entry for %s, which is small enough or does not exist", dir)
	}
}

// maxIntro is the most lines of a package comment: the purpose, the input, the output
// and the file to read first, which a package of more than fewFiles files names.
const (
	maxIntro = 15
	fewFiles = 5
)

var firstFile = regexp.MustCompile(`\b\w+\.go\b`)

func TestPackageDocs(t *testing.T) {
	pkgs := packages(t)
	for _, dir := range sorted(pkgs) {
		files := pkgs[dir]
		docs := 0
		for _, f := range files {
			if f.ast.Doc == nil {
				continue
			}
			docs++
			want := "Package " + f.ast.Name.Name + " "
			text := f.ast.Doc.Text()
			if f.ast.Name.Name != "main" && !strings.HasPrefix(text, want) {
				t.Errorf("%s: the package comment starts %q, want %q", f.name, firstWords(text, 3), want)
			}
			intro := text
			if isPublic(dir) {
				intro, _, _ = strings.Cut(text, "\n# ")
			}
			if n := strings.Count(strings.TrimSpace(intro), "\n") + 1; n > maxIntro {
				t.Errorf("%s: the package comment has %d lines, want at most %d: a public package may have sections with headings after them", f.name, n, maxIntro)
			}
			if first := firstFile.FindString(text); !isProgram(dir) && len(files) > fewFiles && !exists(files, path.Join(dir, first)) {
				t.Errorf("%s: the package comment names no file to read first", f.name)
			}
		}
		if docs != 1 {
			t.Errorf("package %s has %d package comments, want 1", dir, docs)
		}
	}
}

func exists(files []*file, name string) bool {
	return slices.ContainsFunc(files, func(f *file) bool { return f.name == name })
}

func firstWords(s string, n int) string {
	return strings.Join(strings.Fields(s)[:min(n, len(strings.Fields(s)))], " ")
}

// TestDocs fails for an exported name without a comment. A group of constants or
// variables may share one.
func TestDocs(t *testing.T) {
	for _, f := range sources(t) {
		if f.isTest() || !isPublic(f.dir) {
			continue
		}
		missing := func(n ast.Node, name string) {
			t.Errorf("%s: %s has no comment", fset.Position(n.Pos()), name)
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
					missing(d, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if name := undocumented(d, s); name != "" {
						missing(s, name)
					}
				}
			}
		}
	}
}

// undocumented returns the exported name that a spec declares without a comment on it or
// its group, or "".
func undocumented(d *ast.GenDecl, s ast.Spec) string {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
			return s.Name.Name
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
				return n.Name
			}
		}
	}
	return ""
}

// exportedReceiver reports whether a function is not a method, or a method of an exported
// type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

// TestNoInit keeps imports free of side effects. Only internal/simd selects its routines
// when the program starts.
func TestNoInit(t *testing.T) {
	for _, f := range sources(t) {
		if f.dir == "internal/simd" {
			continue
		}
		for _, d := range f.ast.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" {
				t.Errorf("%s: only internal/simd may have an init function", fset.Position(d.Pos()))
			}
		}
	}
}

var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b|"[^"\n]*[Nn]ot (yet )?implemented`)

func TestNothingUnfinished(t *testing.T) {
	for _, f := range sources(t) {
		has := func(word string) bool { return strings.Contains(f.src, word) } // quicker than the expression
		if f.dir == "internal/policy" || !slices.ContainsFunc([]string{"TODO", "FIXME", "XXX", "implemented"}, has) {
			continue
		}
		for _, at := range unfinished.FindAllStringIndex(f.src, -1) {
			t.Errorf("%s:%d: %s", f.name, 1+strings.Count(f.src[:at[0]], "\n"), f.src[at[0]:at[1]])
		}
	}
}
