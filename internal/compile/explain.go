package compile

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// String returns the plan as text: a line for the whole and one for each
// kernel, with the bytes it reads and writes at least, each element once, and
// the floating-point and integer operations it does.
func (p *Plan) String() string {
	var b strings.Builder
	var bytes, flops int
	for _, s := range p.Steps {
		c := costOf(s.Kernel)
		bytes += c.Read + c.Written
		flops += c.FLOPs
	}
	fmt.Fprintf(&b, "%s, %s moved, %s\n", count(len(p.Steps), "kernel"), hostmem.Size(bytes), operations(flops))
	for i, s := range p.Steps {
		c := costOf(s.Kernel)
		fmt.Fprintf(&b, "%3d %-11s %-24s reads %s, writes %s, %s: %s\n", i+1, kind(s.Kernel), space(s.Kernel),
			hostmem.Size(c.Read), hostmem.Size(c.Written), operations(c.FLOPs), strings.Join(work(s.Kernel), " "))
	}
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// operations is a number of operations in the unit that suits it.
func operations(n int) string {
	units, u, x := []string{"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"}, 0, float64(n)
	for ; x >= 1000 && u < len(units)-1; u++ {
		x /= 1000
	}
	return fmt.Sprintf("%.4g %s", x, units[u])
}

func kind(k *ir.Kernel) string {
	if op := k.Routine(); op != 0 {
		return strings.ToLower(op.String())
	}
	return k.Template.String()
}

// space is the lengths of the axes, with the reduced ones after a bar.
func space(k *ir.Kernel) string {
	var others, reduced []string
	for _, a := range k.Axes {
		if a.Role == ir.Reduced || a.Role == ir.K {
			reduced = append(reduced, fmt.Sprint(a.Len))
		} else {
			others = append(others, fmt.Sprint(a.Len))
		}
	}
	s := strings.Join(others, "×")
	if len(reduced) > 0 {
		s += " | " + strings.Join(reduced, "×")
	}
	return "[" + s + "]"
}

// work lists the operations of the body, without loads, stores and positions.
func work(k *ir.Kernel) []string {
	var out []string
	for _, in := range k.Body {
		switch in.Op {
		case ir.Load, ir.Store, ir.Const, ir.Scalar, ir.Index, ir.InBounds:
		default:
			out = append(out, in.Op.String())
		}
	}
	return out
}

// A cost is the bytes that a kernel reads and writes, and its operations.
type cost struct{ Read, Written, FLOPs int }

// costOf estimates a kernel's cost.
func costOf(k *ir.Kernel) (c cost) {
	points := func(s ir.AxisSet) int { return points(k, s) }
	for _, in := range k.Body {
		switch class := in.Op.Class(); {
		case in.Op == ir.Load:
			c.Read += points(in.Domain) * k.Args[in.Arg].DType.Size()
		case in.Op == ir.Store:
			c.Written += points(in.Domain) * k.Args[in.Arg].DType.Size()
		case in.Op == ir.Scatter:
			c.Written += points(in.Domain) * k.Args[in.Arg].DType.Size()
			c.FLOPs += points(in.Domain)
		case class == ir.Elementwise:
			c.FLOPs += points(in.Domain)
		case class == ir.Reduction:
			c.FLOPs += points(in.Domain | in.Axes)
		}
	}
	return c
}

// points is the number of points along axes of a kernel.
func points(k *ir.Kernel, s ir.AxisSet) int { return int(loopnest.Points(k.Axes, s)) }
