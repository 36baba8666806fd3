// Package build has the parts that all schedules are made of: a Builder adds passes to a
// program, a Pass has a tree of Scopes, and a Scope computes the instructions of a kernel at
// the positions that it knows. The packages of the templates decide how to combine them, for
// a Target. Read builder.go first, then pass.go and scope.go.
package build

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A Builder makes a kernel into a program, pass by pass.
type Builder struct {
	Nest    *loopnest.Nest
	Target  Target
	Program *shader.Program
	status  int             // the status argument, or -1
	decoded map[int]decoded // by argument
	Err     error
}

// New returns the builder of a program for a kernel, and a target with defaults.
func New(k *ir.Kernel, t Target, p *shader.Program) *Builder {
	status := slices.IndexFunc(k.Args, func(a ir.Arg) bool { return a.Kind == ir.Status })
	return &Builder{Nest: loopnest.Canonical(k), Target: t, Program: p, status: status}
}

// Scratch adds a buffer of n registers of a type that passes share.
func (c *Builder) Scratch(n int, t shader.Type) int {
	c.Program.Scratch = append(c.Program.Scratch, max(16, (t.Bytes()*n+15)&^15))
	return len(c.Program.Scratch) - 1
}

// Fail keeps the first error.
func (c *Builder) Fail(format string, args ...any) {
	if c.Err == nil {
		c.Err = fmt.Errorf("schedule: "+format, args...)
	}
}

// Abs is the absolute value.
func Abs(x int) int { return max(x, -x) }

// FloorPow2 is the greatest power of two up to n.
func FloorPow2(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// CeilPow2 is the least power of two from n on.
func CeilPow2(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }
