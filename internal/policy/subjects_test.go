package policy

import (
	"go/ast"
	"regexp"
	"testing"
)

// subjects are the packages whose comments list names by subject: types too, except names that
// match found, which a reader finds by others.
var subjects = map[string]struct {
	types bool
	found *regexp.Regexp
}{
	"tensor": {false, regexp.MustCompile(`^$`)},
	"nn":     {true, regexp.MustCompile(`^New|Options$|^(Cell|LayerReport|StepReport|Report|Transformer\w+Layer|\w+Scaling)$`)},
	"optim":  {true, regexp.MustCompile(`^New.|State$`)},
}

var docLink = regexp.MustCompile(`\[\*?(Tensor\.\w+|\w+)\]`)

// TestSubjects fails for an exported function or type, or a method of tensor.Tensor, that its
// package comment does not list by subject, and for a name there that does not exist.
func TestSubjects(t *testing.T) {
	for _, dir := range sorted(subjects) {
		listed, exist := map[string]bool{}, map[string]bool{}
		for _, f := range packages(t)[dir] {
			if f.ast.Doc != nil {
				for _, m := range docLink.FindAllStringSubmatch(f.ast.Doc.Text(), -1) {
					listed[m[1]] = true
				}
			}
			for _, d := range f.ast.Decls {
				addNames(exist, d, subjects[dir].types)
			}
		}
		for _, name := range sorted(exist) {
			if exist[name] && !listed[name] && !subjects[dir].found.MatchString(name) {
				t.Errorf("%s/doc.go does not list %s: add it to its subject", dir, name)
			}
		}
		for _, name := range sorted(listed) {
			if _, ok := exist[name]; !ok {
				t.Errorf("%s/doc.go lists %s, which does not exist", dir, name)
			}
		}
	}
}

// addNames adds the names that a declaration makes, with whether a subject must list them:
// exported functions, methods of Tensor and, if types says so, exported types.
func addNames(names map[string]bool, d ast.Decl, types bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		switch receiver := receiverOf(d); receiver {
		case "":
			names[d.Name.Name] = d.Name.IsExported()
		case "Tensor":
			names["Tensor."+d.Name.Name] = d.Name.IsExported()
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names[s.Name.Name] = types && s.Name.IsExported()
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names[n.Name] = false
				}
			}
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
