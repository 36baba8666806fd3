package build

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
)

// LoadsAlone leaves out the declarations since a number of statements that no load needs, and returns the variables that
// are loaded.
func (sc *Scope) LoadsAlone(since int) (loaded []*shader.Var) {
	needed := map[*shader.Var]bool{}
	var list []shader.Stmt
	for _, s := range slices.Backward(sc.Stmts[since:]) {
		switch s := s.(type) {
		case *shader.Load:
			need(s.Index, needed)
			loaded = slices.Concat(s.Dst, loaded)
		case *shader.Declare:
			if !needed[s.Var] {
				continue
			}
			need(s.Value, needed)
		}
		list = append(list, s)
	}
	slices.Reverse(list)
	sc.Stmts = append(sc.Stmts[:since:since], list...)
	return loaded
}

// LoadsDone puts values in the place of loads since a number of statements.
func (sc *Scope) LoadsDone(since int, values []*shader.Var) {
	var list []shader.Stmt
	for _, s := range sc.Stmts[since:] {
		l, ok := s.(*shader.Load)
		if !ok {
			list = append(list, s)
			continue
		}
		for _, v := range l.Dst {
			list, values = append(list, &shader.Declare{Var: v, Value: values[0].Ref()}), values[1:]
		}
	}
	sc.Stmts = append(sc.Stmts[:since:since], list...)
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
