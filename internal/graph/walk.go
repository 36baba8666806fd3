package graph

// Sorted returns all nodes that roots depend on and roots themselves, each
// once, operands before what uses them. It does not recurse: graphs may be
// deep.
func Sorted(roots []*Node) []*Node {
	type frame struct {
		n    *Node
		src  []*Node
		next int
	}
	var out []*Node
	seen := make(map[*Node]bool)
	var stack []frame
	push := func(n *Node) {
		if !seen[n] {
			seen[n] = true
			stack = append(stack, frame{n: n, src: n.Src()})
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
			out = append(out, top.n)
			stack = stack[:len(stack)-1]
		}
	}
	return out
}
