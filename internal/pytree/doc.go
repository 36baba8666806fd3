// Package pytree finds, names and replaces the leaves of a tree: any Go value
// made of values of one leaf type, which for Tensorken is tensor.Tensor.
//
// A tree is a leaf, or a struct, slice, array, map, pointer or interface of
// trees. Exported fields are walked in order, elements by index, map values
// by sorted key; pointers and interfaces add nothing to a name. A name joins
// the fields in snake case, indices and keys by dots: blocks.3.attn.q.weight.
// An embedded struct adds no name. A field's tag changes that:
//
//	W Tensor `tensor:"weight"`    // named weight
//	M Tensor `tensor:",state"`    // leaves in it are marked State
//	B Tensor `tensor:",optional"` // Fill may lack it
//	C Cache  `tensor:"-"`         // left out, shared with results
//	L []Cell `tensor:"*_l#"`      // element 0 has weight_l0, bias_l0
//
// In the last, * is the name of a leaf in an element, a struct of leaves, and # the index. A
// tag may have * and # only so.
//
// A pointer met twice is one subtree: its leaves are found and named once,
// and a result shares it in the same places. An unexported field that holds
// leaves is an error unless it is tagged "-".
//
// A result is a new tree: it shares no slice, map or pointer with its argument, but for
// pointers to values without leaves that have unexported fields, such as a *sync.Mutex or a
// *os.File, and for funcs and channels.
//
// The fields and names of a type are found once and cached.
package pytree
