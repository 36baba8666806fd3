package schedule

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Compile schedules a kernel, which passes ir.Verify, for a target. It fails
// with an error that wraps driver.ErrType for element types that the target
// lacks, and for kernels with more positions or points than the target counts.
func Compile(k *ir.Kernel, t Target) (*shader.Program, error) {
	return compileBy(k, t, templates[k.Template])
}

// compileBy is Compile by a function that adds the passes.
func compileBy(k *ir.Kernel, t Target, template func(c *compiler)) (*shader.Program, error) {
	c, err := newChecked(k, t)
	if err != nil {
		return nil, err
	}
	if !isEmpty(c.k.Kernel) {
		template(c)
	}
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

// newChecked returns the compiler of a program, for a kernel that the target can run.
func newChecked(k *ir.Kernel, t Target) (*compiler, error) {
	t = t.withDefaults()
	if err := checkSizes(k, &t); err != nil {
		return nil, err
	}
	if err := checkTypes(k, &t); err != nil {
		return nil, err
	}
	return newCompiler(k, t, &shader.Program{}), nil
}

func newCompiler(k *ir.Kernel, t Target, p *shader.Program) *compiler {
	status := slices.IndexFunc(k.Args, func(a ir.Arg) bool { return a.Kind == ir.Status })
	return &compiler{k: loopnest.Canonical(k), t: t, program: p, status: status}
}

// isEmpty reports whether nothing is stored: an axis that is not reduced has length
// 0. A scatter still copies its base.
func isEmpty(k *ir.Kernel) bool {
	if k.Template == ir.Routine {
		return (k.Args[0].Len == 0 || k.Args[0].Kept) && k.Points() == 0
	}
	for _, a := range k.Axes {
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

func abs(x int) int { return max(x, -x) }

func floorPow2(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

func ceilPow2(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }
