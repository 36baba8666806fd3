package loopnest

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// attend is a kernel of attention with one product: of the weights that change makes of the
// scores, by adding instructions. It returns the number of the weights.
func attend(change func(b *body, scores int) (weights int)) *ir.Kernel {
	b := &body{ir.Kernel{Template: ir.Attention, Axes: []ir.Axis{{Len: 3, Role: ir.M}, {Len: 4, Role: ir.N}, {Len: 5, Role: ir.K}, {Len: 6, Role: ir.Width}}}}
	for i, d := range []ir.DType{ir.Float32, ir.Float32, ir.Float32, ir.Float32} {
		kind := ir.In
		if i == 3 {
			kind = ir.Out
		}
		b.Args = append(b.Args, ir.Arg{Kind: kind, DType: d, Len: 18 * (i / 3)})
	}
	load := func(arg int, coef ...int) int {
		return b.add(ir.Instr{Op: ir.Load, Arg: arg, View: &ir.View{Coef: coef}})
	}
	scores := b.add(ir.Instr{Op: ir.Sum, Src: []int{b.op(ir.Mul, load(0, 5, 0, 1, 0), load(1, 0, 5, 1, 0))}, Axes: ir.Axes(2)})
	weights := change(b, scores)
	sum := b.add(ir.Instr{Op: ir.Sum, Src: []int{b.op(ir.Mul, weights, load(2, 0, 6, 0, 1))}, Axes: ir.Axes(1)})
	b.add(ir.Instr{Op: ir.Store, Src: []int{sum}, Arg: 3, View: &ir.View{Coef: []int{6, 0, 0, 1}}})
	return &b.Kernel
}

type body struct{ ir.Kernel }

func (b *body) add(in ir.Instr) int {
	if in.Type == 0 {
		in.Type = ir.Float32
	}
	b.Body = append(b.Body, in)
	last := len(b.Body) - 1
	b.Body[last].Domain = b.Varies(last)
	return last
}

func (b *body) op(op ir.Op, src ...int) int { return b.add(ir.Instr{Op: op, Src: src}) }

func (b *body) along(op ir.Op, x int) int {
	return b.add(ir.Instr{Op: op, Src: []int{x}, Axes: ir.Axes(1)})
}

func (b *body) number(x float64) int {
	return b.add(ir.Instr{Op: ir.Const, Num: ir.Float(ir.Float32, x)})
}

// exponential is e^(x - max x), where a maximum of -Inf counts as 0.
func (b *body) exponential(x int) int {
	m := b.along(ir.ReduceMax, x)
	lowest := b.add(ir.Instr{Op: ir.Eq, Type: ir.Bool, Src: []int{m, b.number(math.Inf(-1))}})
	return b.op(ir.Exp, b.op(ir.Sub, x, b.op(ir.Where, lowest, b.number(0), m)))
}

// One pass is enough for sums of terms that are proportional to an exponential, or depend
// on no reduction.
func TestAttention(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b *body, scores int) int
		ok     bool
		scaled bool
	}{
		{"scores", func(_ *body, s int) int { return s }, true, false},
		{"exponentials", func(b *body, s int) int { return b.exponential(s) }, true, true},
		{"their negatives, divided", func(b *body, s int) int {
			return b.op(ir.Div, b.op(ir.Neg, b.exponential(s)), b.number(3))
		}, true, true},
		{"times scores", func(b *body, s int) int { return b.op(ir.Mul, s, b.exponential(s)) }, true, true},
		{"dropped", func(b *body, s int) int {
			keep := b.add(ir.Instr{Op: ir.Lt, Type: ir.Bool, Src: []int{s, b.number(1)}})
			return b.op(ir.Where, keep, b.exponential(s), b.number(0))
		}, true, true},
		{"of the greatest score", func(b *body, s int) int { return b.op(ir.Exp, b.op(ir.Sub, s, b.along(ir.ReduceMax, s))) }, true, true},
		{"a softmax", func(b *body, s int) int {
			e := b.exponential(s)
			return b.op(ir.Div, e, b.along(ir.Sum, e))
		}, false, false},
		{"plus a number", func(b *body, s int) int { return b.op(ir.Add, b.exponential(s), b.number(1)) }, false, false},
		{"squared", func(b *body, s int) int {
			e := b.exponential(s)
			return b.op(ir.Mul, e, e)
		}, false, false},
		{"of the difference to another value", func(b *body, s int) int {
			return b.op(ir.Exp, b.op(ir.Sub, s, b.op(ir.Neg, b.along(ir.ReduceMax, s))))
		}, false, false},
		{"two maxima", func(b *body, s int) int {
			return b.op(ir.Mul, b.exponential(s), b.op(ir.Exp, b.along(ir.ReduceMax, b.op(ir.Neg, s))))
		}, false, false},
	} {
		k := attend(c.change)
		if err := ir.Verify(k); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		a, ok := NewAttention(k)
		if ok != c.ok {
			t.Errorf("%s: one pass is enough: %v, want %v", c.name, ok, c.ok)
		}
		if ok && (len(a.Scores) != 1 || len(a.Outputs) != 1 || a.Scaled[a.Outputs[0].Sum] != c.scaled) {
			t.Errorf("%s: %d scores, %d products, scaled %v, want 1, 1, %v", c.name, len(a.Scores), len(a.Outputs), a.Scaled, c.scaled)
		}
	}
}

// The template has products of the given axes, and stores rows.
func TestVerifyAttention(t *testing.T) {
	find := func(k *ir.Kernel, op ir.Op, n int) *ir.Instr {
		for i := range k.Body {
			if k.Body[i].Op == op {
				if n--; n < 0 {
					return &k.Body[i]
				}
			}
		}
		t.Fatalf("there is no %v", op)
		return nil
	}
	for _, c := range []struct {
		name   string
		change func(k *ir.Kernel)
	}{
		{"a score along rows", func(k *ir.Kernel) { k.Axes[2].Role = ir.M }},
		{"a maximum of a product over the width", func(k *ir.Kernel) { find(k, ir.Sum, 1).Op = ir.ReduceMax }},
		{"factors that have changed places", func(k *ir.Kernel) { slices.Reverse(find(k, ir.Mul, 1).Src) }},
		{"a width that is a depth", func(k *ir.Kernel) { k.Axes[3].Role = ir.K }},
		{"no such role", func(k *ir.Kernel) { k.Axes[3].Role = ir.Parallel }},
	} {
		k := attend(func(_ *body, s int) int { return s })
		c.change(k)
		if err := ir.Verify(k); err == nil {
			t.Errorf("%s: Verify accepts\n%v", c.name, k)
		}
	}
}
