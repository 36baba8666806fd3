// Package fuse decides which nodes of a graph share a kernel.
//
// It takes the nodes in order, operands first. An elementwise node that
// depends on nothing but stored tensors floats: it is computed wherever it is
// used. A reduction starts a [Group] or joins that of its operand, and so does
// an elementwise node of its operands'. What a group computes is stored only
// if it is asked for or another group reads it.
//
// The rules of what joins what:
//
//   - a reduction is never computed twice; elementwise work is, where it is
//     cheap;
//   - a group reads only from groups of lower order, so there are no cycles;
//     two groups merge if that keeps to the order;
//   - a node joins the latest group among those of its operands that has a
//     place for it, and loads what the others store.
package fuse

// The limits of the cost rule, in additions an element.
const (
	// dear work is not repeated along axes it does not vary over, nor in two
	// groups.
	dear = 16
	// prologue is the most that a factor of a contraction computes: it is
	// repeated for every pass over the factor.
	prologue = 8
	// maxGathers is how often a contraction may take an element by index.
	maxGathers = 16
	// maxSize is the most nodes of a group.
	maxSize = 256
	// maxNumbers is the most numbers that a group is given, beside those that
	// it starts with: a device has room for few.
	maxNumbers = 48
	// maxMerged is the most buffers of siblings that merge.
	maxMerged = 32
)

// A Fusion is a graph parted into groups.
type Fusion struct {
	Groups []*Group // each reads only from earlier ones
	f      *fuser
}
