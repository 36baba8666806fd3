package policy

import (
	"go/ast"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// TestOpsAreOffered fails for an elementwise op or a reduction that package tensor
// does not name, as ir.Exp or graph.Cast.
func TestOpsAreOffered(t *testing.T) {
	used := map[string]bool{"Bitcast": true} // only grad uses it
	for _, f := range packages(t)["tensor"] {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := s.X.(*ast.Ident); ok && (pkg.Name == "ir" || pkg.Name == "graph") {
					used[s.Sel.Name] = true
				}
			}
			return true
		})
	}
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		if c := op.Class(); (c == ir.Elementwise || c == ir.Reduction) && !used[op.String()] {
			t.Errorf("no method makes %v: add one to tensor/elementwise.go, or to tensor/reduce.go", op)
		}
	}
}
