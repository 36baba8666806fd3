// Package pytree finds, names and replaces the leaves of a tree: any Go value made of values of
// one leaf type, which for Tensorken is tensor.Tensor. Package tree describes trees, names and
// tags. Read pytree.go first, then layout.go.
//
// A name joins the fields in snake case, indices and keys by dots: blocks.3.attn.q.weight. One
// more tag is for this module only:
//
//	L []Cell `tensor:"*_l#"` // element 0 has weight_l0, bias_l0
//
// where * is the name of a leaf in an element, a struct of leaves, and # the index.
//
// A pointer met twice is one subtree: its leaves are found and named once, and a result shares
// it in the same places. An unexported field that holds leaves is an error unless it is tagged
// "-". The fields and names of a type are found once and cached.
package pytree
