package wgsl

import "github.com/tensorken/tensorken/internal/shader"

func (p *printer) block(b *shader.Block) {
	for _, s := range b.Stmts {
		p.stmt(s)
	}
}

// braces prints a block after its head.
func (p *printer) braces(b *shader.Block) {
	p.add("{\n")
	p.depth++
	p.block(b)
	p.depth--
	p.begin("}")
}

func (p *printer) stmt(s shader.Stmt) {
	switch s := s.(type) {
	case *shader.Declare:
		p.begin(keyword(s.Var), s.Var.Name, " = ")
		p.end(s.Value)
	case *shader.Assign:
		p.begin(s.Var.Name)
		if s.Component >= 0 {
			p.add(component(s.Var.Type, uint64(s.Component)))
		}
		p.add(" = ")
		p.end(s.Value)
	case *shader.Load:
		p.load(s)
	case *shader.Store:
		p.store(s)
	case *shader.StoreShared:
		p.begin(s.Shared.Name)
		p.index(s.Index)
		if s.Component != nil {
			p.index(s.Component)
		}
		p.add(" = ")
		p.end(s.Value)
	case *shader.Atomic:
		p.begin(atomics[s.Op], "(&", s.Buffer.Name)
		p.index(s.Index)
		p.add(", ")
		p.expr(s.Value, lowest)
		p.add(");\n")
	case *shader.If:
		p.begin("if (")
		p.expr(s.Cond, lowest)
		p.add(") ")
		p.braces(s.Then)
		if s.Else != nil {
			p.add(" else ")
			p.braces(s.Else)
		}
		p.add("\n")
	case *shader.For:
		p.loop(s)
	case *shader.Nested:
		p.begin()
		p.braces(s.Body)
		p.add("\n")
	case *shader.Barrier:
		p.begin("workgroupBarrier();\n")
	case *shader.Return:
		p.begin("return ")
		p.end(s.Value)
	}
}

var atomics = [...]string{shader.AtomicStore: "atomicStore", shader.AtomicMin: "atomicMin"}

// end prints the last expression of a statement.
func (p *printer) end(e *shader.Expr) {
	p.expr(e, lowest)
	p.add(";\n")
}

func (p *printer) index(e *shader.Expr) {
	p.add("[")
	p.expr(e, lowest)
	p.add("]")
}

func (p *printer) loop(s *shader.For) {
	p.begin("for (")
	if s.Init != nil {
		p.add("var ", s.Var.Name, " = ")
		p.expr(s.Init, lowest)
	}
	p.add("; ")
	p.expr(s.Cond, lowest)
	p.add("; ")
	if s.Var != nil {
		p.add(s.Var.Name, " = ")
		p.expr(s.Next, lowest)
	}
	p.add(") ")
	p.braces(s.Body)
	p.add("\n")
}

func keyword(v *shader.Var) string {
	if v.Mutable {
		return "var "
	}
	return "let "
}
