package graph

// Walk visits the nodes that roots depend on, operands first, in the order of the
// operands. It does not recurse: graphs may be deep.
//
// For each root, and each operand of a node that is walked, enter gives the
// operands to walk, or false for a node that is not to be visited, such as one
// that was. leave visits the node once its operands are left.
func Walk(roots []*Node, enter func(*Node) (src []*Node, ok bool), leave func(n *Node, src []*Node)) {
	type frame struct {
		n    *Node
		src  []*Node
		next int // the operand to enter
	}
	var stack []frame
	push := func(n *Node) {
		if src, ok := enter(n); ok {
			stack = append(stack, frame{n: n, src: src})
		}
	}
	for _, r := range roots {
		push(r)
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next < len(top.src) {
				top.next++
				push(top.src[top.next-1])
				continue
			}
			leave(top.n, top.src)
			stack = stack[:len(stack)-1]
		}
	}
}

// Sorted returns all nodes that roots depend on and roots themselves, each
// once, operands before what uses them.
func Sorted(roots []*Node) []*Node {
	var out []*Node
	seen := make(map[*Node]bool)
	Walk(roots, func(n *Node) ([]*Node, bool) {
		if seen[n] {
			return nil, false
		}
		seen[n] = true
		return n.Src(), true
	}, func(n *Node, _ []*Node) { out = append(out, n) })
	return out
}
