package build

import (
	"math"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Products by weights, see [ir.Mul], differ from ordinary ones where a weight of 0 meets NaN or Inf. Work on
// memory selects. Contractions and attention, whose units multiply without a select, look for a result that
// is not finite, and compute such results again: 0 times NaN or Inf is NaN, which reaches them.

// ByWeight reports whether an instruction is a product by a weight, its first operand.
func ByWeight(in *ir.Instr) bool { return in.Op == ir.Mul && in.Kind == ir.Where }

// IfWeighs is x where a weight is not 0, else y.
func IfWeighs(weight, x, y *shader.Expr) *shader.Expr {
	return magnitude(weight).Eq(Number(weight.Type.Unsigned(), 0)).If(y, x)
}

// magnitude is the bits of |x|. Compilers may take floats themselves to be finite.
func magnitude(x *shader.Expr) *shader.Expr {
	t := x.Type.Unsigned()
	return x.Bitcast(t).And(shader.FromBits(t, 1<<(8*t.Bytes()-1)-1))
}

// AnyInfinite reports whether one of some floats is infinite or NaN.
func AnyInfinite(sc *Scope, name string, list []*shader.Expr) *shader.Expr {
	t := list[0].Type.Unsigned()
	infinity := shader.NumberBits(list[0].Type, math.Inf(1))
	worst := sc.Var(name, Number(t, 0))
	for _, x := range list {
		sc.Set(worst, worst.Ref().Max(magnitude(x)))
	}
	return worst.Ref().Ge(shader.FromBits(t, infinity))
}
