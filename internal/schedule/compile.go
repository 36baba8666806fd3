package schedule

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Compile schedules a kernel, which passes ir.Verify, for a target. It fails
// with an error that wraps driver.ErrType for element types that the target
// lacks, and for kernels whose positions or points need more than 31 bits.
func Compile(k *ir.Kernel, t Target) (*shader.Program, error) {
	if err := checkTypes(k, &t); err != nil {
		return nil, err
	}
	if err := checkSizes(k); err != nil {
		return nil, err
	}
	c := newCompiler(k, t.withDefaults(), &shader.Program{})
	if c.empty() {
		return c.program, nil
	}
	templates[k.Template](c)
	if c.err != nil {
		return nil, c.err
	}
	return c.program, nil
}

var templates = [...]func(*compiler){
	ir.Pointwise:   (*compiler).pointwise,
	ir.Reduce:      (*compiler).reduce,
	ir.Contraction: (*compiler).contraction,
	ir.Routine:     (*compiler).routine,
	ir.Attention:   (*compiler).attention,
}

var routines = [ir.Ops]func(*compiler){
	ir.Scatter: (*compiler).scatter,
	ir.Scan:    (*compiler).scan,
	ir.Sort:    (*compiler).sort,
}

func (c *compiler) routine() { routines[c.k.Routine()](c) }

// A compiler makes a kernel into a program, pass by pass.
type compiler struct {
	k       *loopnest.Nest
	t       Target
	program *shader.Program
	status  int // the status argument, or -1
	err     error
}

func newCompiler(k *ir.Kernel, t Target, p *shader.Program) *compiler {
	status := slices.IndexFunc(k.Args, func(a ir.Arg) bool { return a.Kind == ir.Status })
	return &compiler{k: loopnest.Canonical(k), t: t, program: p, status: status}
}

// empty reports whether nothing is stored: an axis that is not reduced has length
// 0. A scatter still copies its base.
func (c *compiler) empty() bool {
	if c.k.Template == ir.Routine {
		return c.k.Args[0].Len == 0 && c.k.Points() == 0
	}
	for _, a := range c.k.Axes {
		if a.Len == 0 && a.Role != ir.Reduced && a.Role != ir.K {
			return true
		}
	}
	return false
}

// scratch adds a buffer of n registers of a type that passes share.
func (c *compiler) scratch(n int, t shader.Type) int {
	c.program.Scratch = append(c.program.Scratch, max(16, (t.Bytes()*n+15)&^15))
	return len(c.program.Scratch) - 1
}

func (c *compiler) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("schedule: "+format, args...)
	}
}

func checkTypes(k *ir.Kernel, t *Target) error {
	types := t.Types()
	check := func(d ir.DType) error {
		if !slices.Contains(types, d) {
			return fmt.Errorf("schedule: %v: %w", d, driver.ErrType)
		}
		return nil
	}
	for _, a := range k.Args {
		if err := check(a.DType); err != nil {
			return err
		}
	}
	for i := range k.Body {
		if err := check(k.Body[i].Type); err != nil {
			return err
		}
	}
	return nil
}

// remedy ends errors on sizes that do not fit in an i32.
const remedy = "and a GPU counts to 2^31-1: split the tensors it is computed from into smaller ones, or compute it on the CPU"

// checkSizes checks that positions, numbers of points and the intermediate results
// of computing them fit in an i32.
func checkSizes(k *ir.Kernel) error {
	for _, a := range k.Args {
		if a.Len > math.MaxInt32 {
			return fmt.Errorf("schedule: a result has %d elements of %v, %s", a.Len, a.DType, remedy)
		}
	}
	all := k.Roles(ir.Batch, ir.M, ir.N, ir.Parallel, ir.Reduced)
	if k.Template == ir.Attention { // it numbers rows and columns
		all = k.Roles(ir.Batch, ir.M)
	}
	n := 1.0
	for a, axis := range k.Axes {
		if all.Has(a) {
			n *= float64(axis.Len)
		}
	}
	if n > math.MaxInt32 {
		return fmt.Errorf("schedule: a step goes over %.0f points, %v, %s", n, lengths(k, all), remedy)
	}
	for i := range k.Body {
		v := k.Body[i].View
		if v == nil {
			continue
		}
		reach := abs(v.Off) + abs(v.Stride)*v.Len + reachOf(k, v.Coef)
		for _, g := range v.Guards {
			reach += abs(g.Stride) * g.Len
			if n := abs(g.Off) + reachOf(k, g.Coef); n > math.MaxInt32 {
				return fmt.Errorf("schedule: a tensor is padded to %d elements along an axis, %s", n, remedy)
			}
		}
		if reach > math.MaxInt32 {
			return fmt.Errorf("schedule: a step over %v reads a tensor's element %d, %s", lengths(k, k.Body[i].Domain), reach, remedy)
		}
	}
	return nil
}

// reachOf is the greatest distance of two positions.
func reachOf(k *ir.Kernel, coef []int) int {
	n := 0
	for a, c := range coef {
		n += abs(c) * max(k.Axes[a].Len-1, 0)
	}
	return n
}

// lengths lists the lengths of some axes.
func lengths(k *ir.Kernel, axes ir.AxisSet) []int {
	var list []int
	for a, axis := range k.Axes {
		if axes.Has(a) {
			list = append(list, axis.Len)
		}
	}
	return list
}

func abs(x int) int { return max(x, -x) }

func floorPow2(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

func ceilPow2(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }
