package wgsl

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// A Target is what a device can take; zero fields mean WebGPU's defaults.
type Target struct {
	MaxInvocations int  // threads of a workgroup (256)
	WorkgroupBytes int  // memory that a workgroup shares (16384)
	MaxGroups      int  // workgroups in one dimension (65535)
	SubgroupMin    int  // least size of a subgroup; 0: the device has none
	SubgroupMax    int  // greatest size of a subgroup
	Units          int  // rough number of compute units; 0: unknown
	Software       bool // shaders run on a CPU: no barriers where they can be avoided
}

// A Program is a kernel as shaders, which run in order.
type Program struct {
	Passes  []Pass
	Scratch []int // sizes in bytes of buffers that passes share
}

// A Pass is one shader and how to run it.
type Pass struct {
	Source   string    // one entry point, main
	Bindings []Binding // @group(0) @binding(i)
	Groups   [3]int    // workgroups, none over MaxGroups
	// Params are the words of the block @group(1) @binding(0) var<uniform>,
	// which lies at a dynamic offset. Without any there is no such group.
	Params []Param
}

// A Binding is a buffer of a pass: that of an argument, or if Arg is -1 one of
// the program's own.
type Binding struct {
	Arg, Scratch int
	Write        bool
}

// A Param is a word of a pass's parameters: the offset of an argument in
// elements, or the bits of its number, which for a bool are 0 or 1.
type Param struct {
	Arg    int
	Offset bool
}

// maxParams is the number of words in a slot of parameters.
const maxParams = 64

func (t Target) withDefaults() Target {
	for _, f := range []struct {
		field *int
		value int
	}{{&t.MaxInvocations, 256}, {&t.WorkgroupBytes, 16384}, {&t.MaxGroups, 65535}, {&t.Units, 16}} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return t
}

// subgroup is the size of subgroups: none fits in a workgroup if the device
// has none, or of no one size.
func (t Target) subgroup() int {
	if t.SubgroupMin != t.SubgroupMax || t.SubgroupMin < 4 || t.Software {
		return math.MaxInt32
	}
	return t.SubgroupMin
}

// threads is the usual size of a workgroup.
func (t Target) threads() int {
	if t.Software {
		return min(64, t.MaxInvocations)
	}
	return floorPow2(min(256, t.MaxInvocations))
}

// busy is a number of threads that occupies the device.
func (t Target) busy() int {
	if t.Software {
		return 128
	}
	return t.Units * 1024
}

// Compile prints a kernel, which passes ir.Verify, for a target. It fails
// with an error that wraps driver.ErrType for element types that WGSL lacks,
// and for kernels whose positions or points need more than 31 bits.
func Compile(k *ir.Kernel, t Target) (*Program, error) {
	if err := checkTypes(k); err != nil {
		return nil, err
	}
	if err := checkSizes(k); err != nil {
		return nil, err
	}
	c := &compiler{k: k, t: t.withDefaults(), program: &Program{}}
	if c.empty() {
		return c.program, nil
	}
	c.findStatus()
	templates[k.Template](c)
	if c.err != nil {
		return nil, c.err
	}
	return c.program, nil
}

var templates = [...]func(*compiler){
	ir.Pointwise:   (*compiler).mapKernel,
	ir.Reduce:      (*compiler).rowKernel,
	ir.Contraction: (*compiler).contractKernel,
	ir.Routine:     (*compiler).scatterKernel, // the one routine there is
}

func checkTypes(k *ir.Kernel) error {
	for _, a := range k.Args {
		if storages[a.DType].size == 0 {
			return fmt.Errorf("wgsl: %v: %w", a.DType, driver.ErrType)
		}
	}
	for i := range k.Body {
		if d := k.Body[i].Type; storages[d].size == 0 {
			return fmt.Errorf("wgsl: %v: %w", d, driver.ErrType)
		}
	}
	return nil
}

// limit is what is told of what does not fit in an i32.
const limit = "and a GPU counts to 2^31-1: split the tensors it is computed from into smaller ones, or compute it on the CPU"

// checkSizes sees to it that positions and numbers of points fit in an i32,
// and so does all that they are computed from.
func checkSizes(k *ir.Kernel) error {
	for _, a := range k.Args {
		if a.Len > math.MaxInt32 {
			return fmt.Errorf("wgsl: a result has %d elements of %v, %s", a.Len, a.DType, limit)
		}
	}
	all := k.Roles(ir.Batch, ir.M, ir.N, ir.Parallel, ir.Reduced)
	n := 1.0
	for a, axis := range k.Axes {
		if all.Has(a) {
			n *= float64(axis.Len)
		}
	}
	if n > math.MaxInt32 {
		return fmt.Errorf("wgsl: a step goes over %.0f points, %v, %s", n, lengths(k, all), limit)
	}
	for i := range k.Body {
		v := k.Body[i].View
		if v == nil {
			continue
		}
		reach := abs(v.Off) + abs(v.Stride)*v.Len + span(k, v.Coef)
		for _, g := range v.Guards {
			reach += abs(g.Stride) * g.Len
			if form := abs(g.Off) + span(k, g.Coef); form > math.MaxInt32 {
				return fmt.Errorf("wgsl: a tensor is padded to %d elements along an axis, %s", form, limit)
			}
		}
		if reach > math.MaxInt32 {
			return fmt.Errorf("wgsl: a step over %v reads a tensor's element %d, %s", lengths(k, k.Body[i].Domain), reach, limit)
		}
	}
	return nil
}

// span is how far a position moves along all axes.
func span(k *ir.Kernel, coef []int) int {
	n := 0
	for a, c := range coef {
		n += abs(c) * max(k.Axes[a].Len-1, 0)
	}
	return n
}

// lengths lists those of some axes.
func lengths(k *ir.Kernel, axes ir.AxisSet) []int {
	var list []int
	for a, axis := range k.Axes {
		if axes.Has(a) {
			list = append(list, axis.Len)
		}
	}
	return list
}

// A compiler makes a kernel into a program, pass by pass.
type compiler struct {
	k       *ir.Kernel
	t       Target
	program *Program
	status  int // the status argument, or -1
	err     error
}

// empty reports whether nothing is stored: there is no point of the axes that
// are not reduced. A scatter still copies its base.
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

// scratch adds a buffer of n elements of size bytes that passes share.
func (c *compiler) scratch(n, size int) int {
	c.program.Scratch = append(c.program.Scratch, max(16, (n*size+15)&^15))
	return len(c.program.Scratch) - 1
}

// fold gives n workgroups as a grid, and the width of its rows. The grid may
// have a few more than n.
func (c *compiler) fold(n int) (grid [3]int, width int) {
	y := (n + c.t.MaxGroups - 1) / c.t.MaxGroups
	if y > c.t.MaxGroups {
		c.fail("%d workgroups, more than a grid of %d rows holds", n, c.t.MaxGroups)
	}
	x := (n + y - 1) / max(y, 1)
	return [3]int{x, y, 1}, x
}

func (c *compiler) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("wgsl: "+format, args...)
	}
}

func abs(x int) int { return max(x, -x) }

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func floorPow2(n int) int {
	p := 1
	for 2*p <= n {
		p *= 2
	}
	return p
}

func ceilPow2(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}
