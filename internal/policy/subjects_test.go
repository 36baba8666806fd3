package policy

import (
	"go/ast"
	"regexp"
	"testing"
)

// TestSubjects fails for an exported function of package tensor, or method of a Tensor, that
// its package comment does not list by subject, and for a name there that does not exist.
func TestSubjects(t *testing.T) {
	listed := map[string]bool{}
	exist := map[string]bool{}
	for _, f := range packages(t)["tensor"] {
		if f.ast.Doc != nil {
			for _, m := range regexp.MustCompile(`\[\*?([\w.]+)\]`).FindAllStringSubmatch(f.ast.Doc.Text(), -1) {
				listed[m[1]] = true
			}
		}
		for _, d := range f.ast.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || !d.Name.IsExported() {
				continue
			}
			switch receiver := receiverOf(d); receiver {
			case "":
				exist[d.Name.Name] = true
			case "Tensor":
				exist["Tensor."+d.Name.Name] = true
			}
		}
	}
	for _, name := range sorted(exist) {
		if !listed[name] {
			t.Errorf("tensor/doc.go does not list %s: add it to its subject", name)
		}
	}
	for name := range listed {
		if regexp.MustCompile(`^Tensor\.`).MatchString(name) && !exist[name] {
			t.Errorf("tensor/doc.go lists %s, which does not exist", name)
		}
	}
}

// receiverOf returns the type of a method's receiver, "" for a function.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	x := d.Recv.List[0].Type
	if p, ok := x.(*ast.StarExpr); ok {
		x = p.X
	}
	if id, ok := x.(*ast.Ident); ok {
		return id.Name
	}
	return "?"
}
