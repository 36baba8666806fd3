// Package kernelize lowers a simplified graph to kernels. It decides which nodes share a kernel,
// and makes that decision by building the kernel. Read place.go first, then group.go and emit.go.
//
// A group is a kernel being built: axes, and instructions over them. The nodes that it computes
// are its members; each has a layout, which maps its axes to the group's. Three rules hold:
//
//   - A reduction is never computed twice, but in attention; elementwise work is, where it is
//     cheap.
//   - A group loads only stores of groups of lower order, so there are no cycles, and two groups
//     merge only if that keeps the order.
//   - A group stores a member only if it is a root or another group loads it.
//
// At the end each group becomes an [ir.Kernel] (kernel.go): the instructions that its stores
// need, equal ones once, over axes in the order of the template.
package kernelize

import "github.com/tensorken/tensorken/internal/loopnest"

// Limits of groups.
const (
	// prologue is the most additions of a factor of a contraction, which are repeated in every pass over the
	// factor: beside a pass's multiplications by an element, at least as many as a tile has rows, they are few.
	prologue = loopnest.LeastRows / 4
	// maxSize is the most members of a group.
	maxSize = 256
	// maxScalars is the most scalar arguments that a group gets from nodes that
	// join it: a device has room for few.
	maxScalars = 48
	// leastRows is the least number of rows of scores that are worth a loop.
	leastRows = 16
	// maxMerged is the most buffers of siblings that merge.
	maxMerged = 32
)
