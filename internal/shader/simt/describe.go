package simt

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/internal/shader"
)

// Describe prints a statement without the blocks in it.
func Describe(s shader.Stmt) string {
	switch s := s.(type) {
	case *shader.Declare:
		return s.Var.Name + " := " + s.Value.String()
	case *shader.Assign:
		name := s.Var.Name
		if s.Component >= 0 {
			name += fmt.Sprintf("[%d]", s.Component)
		}
		return name + " = " + s.Value.String()
	case *shader.Load:
		names := make([]string, len(s.Dst))
		for i, v := range s.Dst {
			names[i] = v.Name
		}
		return fmt.Sprintf("%s = %s[%v]", strings.Join(names, ", "), s.Buffer.Name, s.Index)
	case *shader.Store:
		return fmt.Sprintf("%s[%v] = %s", s.Buffer.Name, s.Index, join(s.Values))
	case *shader.StoreWords:
		return fmt.Sprintf("words %s[%v] = %v", s.Buffer.Name, s.Index, s.Value)
	case *shader.StoreShared:
		element := fmt.Sprintf("%s[%v]", s.Shared.Name, s.Index)
		if s.Component != nil {
			element += fmt.Sprintf("[%v]", s.Component)
		}
		return element + " = " + s.Value.String()
	case *shader.Atomic:
		op := [...]string{shader.AtomicStore: "store", shader.AtomicMin: "min"}[s.Op]
		return fmt.Sprintf("atomic %s(%s[%v], %v)", op, s.Buffer.Name, s.Index, s.Value)
	case *shader.CopyAsync:
		return fmt.Sprintf("copy %s[%v] = %s[%v]", s.Shared.Name, s.To, s.Buffer.Name, s.Index)
	case *shader.CopyCommit:
		return "commit copies"
	case *shader.CopyWait:
		return fmt.Sprintf("wait for all copies but %d groups", s.Pending)
	case *shader.Multiply:
		return fmt.Sprintf("%s += matrix(%s) * matrix(%s)", s.Acc.Name, join(s.A[:]), join(s.B[:]))
	case *shader.LoadMatrices:
		return fmt.Sprintf("%s = matrices of %s[%v]", s.To.Name, s.Shared.Name, s.From)
	case *shader.MultiplyGroup:
		return fmt.Sprintf("%d products in shared memory, %d pending", len(s.Products), s.Pending)
	case *shader.If:
		return "if " + s.Cond.String()
	case *shader.For:
		if s.Var == nil {
			return "for " + s.Cond.String()
		}
		return fmt.Sprintf("for %s; %v; %s = %v", s.Var.Name, s.Cond, s.Var.Name, s.Next)
	case *shader.Return:
		return "return " + s.Value.String()
	case *shader.Barrier:
		return "barrier"
	case *shader.Fence:
		return "fence"
	case *shader.AwaitOthers:
		return "await other kernels"
	case *shader.TakeTurn:
		return "take a turn"
	case *shader.PassTurn:
		return "pass a turn"
	}
	return "block"
}

func join(list []*shader.Expr) string {
	text := make([]string, len(list))
	for i, x := range list {
		text[i] = x.String()
	}
	return strings.Join(text, ", ")
}
