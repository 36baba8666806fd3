package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// A source is lines of Go: variables, and an expression at the end.
type source struct {
	files   *token.FileSet
	assigns []*ast.AssignStmt
	result  ast.Expr
	at      ast.Node // the last call
}

// before turns lines into a Go file; it adds no line.
const before = "package p; func f() {"

func parse(text string) (*source, error) {
	s := &source{files: token.NewFileSet()}
	f, err := parser.ParseFile(s.files, "", before+text+"\n}", parser.SkipObjectResolution)
	if list := (scanner.ErrorList)(nil); asErrors(err, &list) {
		line, message := list[0].Pos.Line, list[0].Msg
		last := strings.Count(text, "\n") + 1
		switch {
		case strings.HasPrefix(message, "expected declaration"): // after the end of the function
			message = "there is a '}' too many, here or above"
		case line > last: // at the brace that ends the function
			message = "the line is incomplete"
		}
		return nil, fmt.Errorf("line %d: %s", min(line, last), message)
	}
	if len(f.Decls) != 1 {
		return nil, fmt.Errorf("want lines of a function, without declarations of others")
	}
	for _, statement := range f.Decls[0].(*ast.FuncDecl).Body.List {
		if s.result != nil {
			return nil, s.fault(statement, "the expression must be the last line")
		}
		switch x := statement.(type) {
		case *ast.AssignStmt:
			s.assigns = append(s.assigns, x)
		case *ast.ExprStmt:
			s.result = x.X
		default:
			return nil, s.fault(statement, "want variables, as x := tensor.Ones(2), and then an expression")
		}
	}
	if s.result == nil {
		return nil, fmt.Errorf("want an expression as the last line, such as x.Sum()")
	}
	return s, nil
}

func asErrors(err error, list *scanner.ErrorList) bool {
	l, ok := err.(scanner.ErrorList)
	*list = l
	return ok && len(l) > 0
}

// fault returns an error at a node.
func (s *source) fault(n ast.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", s.files.Position(n.Pos()).Line, fmt.Sprintf(format, args...))
}

// reads reports whether a line reads or changes some of the variables.
func (s *source) reads(line *ast.AssignStmt, variables map[string]bool) (some bool) {
	ast.Inspect(line, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && variables[id.Name] {
			some = true
		}
		return true
	})
	return some
}
