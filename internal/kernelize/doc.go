// Package kernelize lowers a simplified graph to kernels. It decides which nodes
// share a kernel, and makes that decision by building the kernel.
//
// A group is a kernel being built: axes, and instructions over them. The nodes that
// it computes are its members; each has a layout, which says what axes of the group
// its own axes are. The placer takes the nodes of the graph in order, operands
// first:
//
//   - An elementwise node tries to join the groups of its operands, the latest
//     first. What joins extends the group. If several groups fit, they merge.
//   - A node that depends on stored tensors alone stays inline: it has no group, and
//     every group that reads it computes it. Expensive nodes with several uses, large
//     expressions and roots are materialized: they start a pointwise group.
//   - A Sum of a product of two factors with axes of their own starts a contraction.
//     Any other reduction merges with the reduction that it reads, joins the group of
//     its operand, or starts a reduce group.
//   - A product of a region starts a kernel of attention, or extends one. What only such kernels
//     read is in none else: each computes it again.
//   - A Scatter starts a routine. The operands of a Cat are stored side by side.
//   - Movements have no instructions: what they move is read at other coordinates.
//
// To join a group is to append instructions to it. The trial asks for the value of
// a node at coordinates: affine expressions over the group's axes. It pushes them
// through movements ([shape.Movements]), which may split an axis or add guards, down
// to what is stored, and appends loads there and operations on the way back. It
// fails, and the group is rolled back, where a member would be needed elsewhere than
// at its point, or a node from a later group. A group that is just being made has
// no member yet and cannot fail so; what it needs stored first is stored, and it is
// begun again. Nothing is decided a second time: the kernel is what was appended.
//
// Three rules hold throughout:
//
//   - A reduction is never computed twice, but in attention; elementwise work is, where it is cheap.
//   - A group loads only what groups of lower order store, so there are no cycles,
//     and two groups merge only if that keeps the order.
//   - A group stores a member only if it is a root or another group loads it.
//
// Which members the others load is chosen after a first placement, by the bytes moved and the
// work repeated: of several cheap functions of one value only the value is stored, and the
// groups that read them compute them again. Then the graph is placed with these choices.
//
// At the end, groups over the same space that read the same, or are pointwise, merge.
// Where a group has more buffers than a device can bind, the graph is placed again, and
// some of the group's nodes end a group: nothing joins it after them. Then
// each group becomes an [ir.Kernel]: the instructions that its stores need, equal ones
// once, over axes in the order of the template, neighbours made one where all views
// allow.
package kernelize

// The limits of the cost rule, in additions an element.
const (
	// expensive work is not repeated along axes it does not vary over, nor in two
	// groups.
	expensive = 16
	// prologue is the most that a factor of a contraction computes: it is
	// repeated for every pass over the factor.
	prologue = 8
	// maxGathers is how often a contraction may take an element by index.
	maxGathers = 16
	// maxSize is the most members of a group.
	maxSize = 256
	// maxScalars is the most scalar arguments that a group gets from nodes that
	// join it: a device has room for few.
	maxScalars = 48
	// maxScores is the most scores that a kernel of attention computes for one product.
	maxScores = 8
	// leastRows is the least number of rows of scores that are worth a loop.
	leastRows = 16
	// maxMerged is the most buffers of siblings that merge.
	maxMerged = 32
)
