package attention

import (
	"maps"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A common has factors of the left factor of an output that are the same for all columns of a row: the row's sums
// are multiplied by them once. Fields are instructions.
type common struct {
	factors []int
	without map[int]int // the operand that a product on the way to the left factor is without such a factor
}

// takeOut takes factors of rows out of a sum of products of bfloat16. The left factor without them is rounded to as
// many digits; float16 has too few exponents.
func (a *attention) takeOut(q *tiles.Pass) {
	if tiles.Half(q.Product, q.Cols.Factor) != ir.BFloat16 {
		return
	}
	c := &common{without: map[int]int{}}
	masked := false // then a factor that is not finite would be multiplied by 0
	for i := q.Rows.Factor; i >= 0 && a.usesOf(i) == 1; {
		in, next := &a.Nest.Body[i], -1
		switch {
		case in.Op == ir.Where && loopnest.IsNumber(a.Nest.Kernel, in.Src[2], 0):
			masked, next = true, in.Src[1]
		case in.Op == ir.Mul:
			next = in.Src[0]
			for n, factor := range in.Src {
				if !a.varies(factor) && !build.ByWeight(in) && (!masked || a.isFinite(factor)) {
					next = in.Src[1-n]
					c.factors, c.without[i] = append(c.factors, factor), next
					break
				}
			}
		}
		i = next
	}
	if len(c.factors) > 0 {
		a.common[q] = c
	}
}

// varies reports whether a value differs between columns.
func (a *attention) varies(i int) bool { return a.Nest.Body[i].Domain&a.Nest.Roles(ir.N) != 0 }

// isFinite reports whether a value is a finite constant.
func (a *attention) isFinite(i int) bool {
	in := &a.Nest.Body[i]
	return in.Op == ir.Const && math.Abs(in.Num.Float64(in.Type)) <= math.MaxFloat32
}

// leaveOut gives a scope the values of an output's left factor without common factors.
func (a *attention) leaveOut(q *tiles.Pass, sc *build.Scope) {
	if c := a.common[q]; c != nil {
		for _, i := range slices.Sorted(maps.Keys(c.without)) {
			sc.Values[i] = sc.Value(c.without[i])
		}
	}
}

// startCommon declares the products of a row's common factors.
func (a *attention) startCommon(r *row) {
	r.common = map[*tiles.Pass]*shader.Var{}
	for n, q := range a.outputs {
		if c := a.common[q]; c != nil {
			x := r.Value(c.factors[0]).Lane(0)
			for _, f := range c.factors[1:] {
				x = x.Mul(r.Value(f).Lane(0))
			}
			r.common[q] = a.p.Root.Var(build.Tag("common", n)+r.Tag, x)
		}
	}
}

// results are the thread's results of a row in square h of an output.
func (r *row) results(q *tiles.Pass, h int) build.Value {
	list := q.Results(r.squareNumber, r.number, h)
	if v := r.common[q]; v != nil {
		for i, x := range list {
			list[i] = x.Mul(v.Ref())
		}
	}
	return list
}

// A quotient is a result over a value of its row that only stores of halves use. It is a product by a reciprocal, whose rounding
// is far below a half's: a division takes a dozen instructions and a branch.
type quotient struct {
	instr             int
	power, reciprocal *shader.Expr // of the row's value times the power of two, by which it is a normal number
}

// quotients finds the quotients of a row.
func (a *attention) quotients(row *build.Scope) (list []quotient) {
	number := func(x float64) *shader.Expr { return shader.Number(shader.F32, x) }
	for i := range a.Nest.Body {
		in := &a.Nest.Body[i]
		if in.Op != ir.Div || in.Type != ir.Float32 || !a.ofWidth(in.Src[0]) || a.ofWidth(in.Src[1]) || a.usesOf(i) != a.halvesOf(i) {
			continue
		}
		d := row.Value(in.Src[1]).Lane(0)
		name := build.Tag("_divisor", i) + row.Tag
		power := row.Let("power"+name, d.Abs().Lt(0x1p-100).If(number(0x1p64), d.Abs().Gt(0x1p100).If(number(0x1p-64), number(1))))
		list = append(list, quotient{i, power, row.Let("reciprocal"+name, shader.Function("div_f32").Call(number(1), d.Mul(power)))})
	}
	return list
}

// enter gives a scope the quotient.
func (q *quotient) enter(sc *build.Scope) {
	list := slices.Clone(sc.Value(sc.Pass.Nest.Body[q.instr].Src[0]))
	for l, x := range list {
		list[l] = x.Mul(q.power).Mul(q.reciprocal)
	}
	sc.Values[q.instr] = sc.Define(q.instr, list...)
}

// ofWidth reports whether a value differs between columns of an output.
func (a *attention) ofWidth(i int) bool { return a.Nest.Body[i].Domain&a.Nest.Roles(ir.Width) != 0 }

// halvesOf counts the stores of a value as halves.
func (a *attention) halvesOf(i int) (n int) {
	for _, in := range a.Nest.Body {
		if in.Op == ir.Store && in.Src[0] == i && a.Nest.Args[in.Arg].DType.IsHalf() {
			n++
		}
	}
	return n
}
