package schedule

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule/attention"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/contraction"
	"github.com/tensorken/tensorken/internal/schedule/pointwise"
	"github.com/tensorken/tensorken/internal/schedule/reduce"
	"github.com/tensorken/tensorken/internal/schedule/routines"
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
func compileBy(k *ir.Kernel, t Target, template func(c *build.Builder)) (*shader.Program, error) {
	c, err := newChecked(k, t)
	if err != nil {
		return nil, err
	}
	isPacked := func() bool { return build.Packed != nil && build.Packed.Compile(c) }
	if !isEmpty(c.Nest.Kernel) && !isPacked() && !contraction.CompileSiblings(c) {
		template(c)
	}
	if c.Err != nil {
		return nil, c.Err
	}
	return c.Program, nil
}

var templates = [...]func(*build.Builder){
	ir.Pointwise:   pointwise.Compile,
	ir.Reduce:      reduce.Compile,
	ir.Contraction: contraction.Compile,
	ir.Routine:     routines.Compile,
	ir.Attention:   attention.Compile,
}

// newChecked returns the builder of a program for a kernel that the target can run.
func newChecked(k *ir.Kernel, t Target) (*build.Builder, error) {
	t = t.WithDefaults()
	if err := checkSizes(k, &t); err != nil {
		return nil, err
	}
	if err := checkTypes(k, &t); err != nil {
		return nil, err
	}
	return build.New(k, t, &shader.Program{}), nil
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

func checkTypes(k *ir.Kernel, t *Target) error {
	types := t.Types()
	check := func(d ir.DType) error {
		if !slices.Contains(types, d) {
			return fmt.Errorf("schedule: %v: %w", d, driver.ErrType)
		}
		return nil
	}
	for _, a := range k.Args {
		if f := a.DType.Format(); f != nil && f.Codes != nil {
			continue
		}
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
