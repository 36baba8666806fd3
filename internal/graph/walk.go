package graph

// A Walker walks graphs in depth-first order. Between walks it keeps its memory but no nodes.
type Walker struct{ stack []frame }

// A frame is a node whose operands are being visited.
type frame struct {
	n    *Node
	src  Operands
	next int // the index of the next operand
}

// Walk visits the nodes that roots depend on, operands first, in the order of the
// operands. It does not recurse: graphs may be deep.
//
// For each root, and each operand of a visited node, enter returns the node's
// operands, or false to skip the node, for example because it was visited before.
// Walk calls leave for a node after leave of its operands.
func (w *Walker) Walk(roots []*Node, enter func(*Node) (src Operands, ok bool), leave func(n *Node, src Operands)) {
	for _, r := range roots {
		w.push(r, enter)
		for len(w.stack) > 0 {
			last := len(w.stack) - 1
			top := &w.stack[last]
			if top.next < top.src.Len() {
				top.next++
				w.push(top.src.At(top.next-1), enter)
				continue
			}
			leave(top.n, top.src)
			*top = frame{}
			w.stack = w.stack[:last]
		}
	}
}

func (w *Walker) push(n *Node, enter func(*Node) (src Operands, ok bool)) {
	if src, ok := enter(n); ok {
		w.stack = append(w.stack, frame{n: n, src: src})
	}
}

// Walk is [Walker.Walk] with a new Walker.
func Walk(roots []*Node, enter func(*Node) (src Operands, ok bool), leave func(n *Node, src Operands)) {
	new(Walker).Walk(roots, enter, leave)
}

// Sorted returns all nodes that roots depend on and roots themselves, each once, operands
// before their uses.
func Sorted(roots []*Node) []*Node {
	out, _ := Numbered(roots)
	return out
}

// Numbered returns the nodes that Sorted returns, and their indices.
func Numbered(roots []*Node) (out []*Node, number Numbers) {
	Walk(roots, func(n *Node) (Operands, bool) {
		_, seen := number.Get(n)
		return n.Src(), !seen
	}, func(n *Node, _ Operands) {
		number.Set(n, len(out))
		out = append(out, n)
	})
	return out, number
}
