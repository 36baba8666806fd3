package build

import "github.com/tensorken/tensorken/internal/shader"

// LoadsFirst takes the declarations since a number of statements that no load needs out of the block, and returns
// them: so loads are under way before their results are used.
func (sc *Scope) LoadsFirst(since int) (rest []shader.Stmt) {
	list := sc.Stmts[since:]
	needed := map[*shader.Var]bool{}
	first := make([]shader.Stmt, 0, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		switch s := list[i].(type) {
		case *shader.Load:
			need(s.Index, needed)
		case *shader.Declare:
			if !needed[s.Var] {
				continue
			}
			need(s.Value, needed)
		}
	}
	for _, s := range list {
		if d, ok := s.(*shader.Declare); ok && !needed[d.Var] {
			rest = append(rest, s)
		} else {
			first = append(first, s)
		}
	}
	sc.Stmts = append(sc.Stmts[:since:since], first...)
	return rest
}

// need notes the variables of an expression.
func need(x *shader.Expr, vars map[*shader.Var]bool) {
	if x.Op == shader.Ref {
		vars[x.Var] = true
	}
	for _, a := range x.Args {
		need(a, vars)
	}
}
