package graph

// Substitute returns roots, which may be nil, with other nodes in place of some that they
// depend on. Custom calls keep their rules.
func Substitute(roots []*Node, of map[*Node]*Node) []*Node {
	s := substitution{of: of, done: map[*Node]*Node{}, customs: map[*CustomCall]*CustomCall{}, results: map[*Node]*CustomResult{}}
	s.todo = append(s.todo, roots...)
	for i := 0; i < len(s.todo); i++ { // walks add to it
		Walk(s.todo[i:i+1], s.enter, s.leave)
	}
	for old, k := range s.customs {
		for i, n := range old.Outs {
			if k != nil && k.Outs[i] == nil { // another node is in its place
				k.Result(i, s.find(n))
			}
		}
	}
	return s.all(roots)
}

type substitution struct {
	of, done map[*Node]*Node
	customs  map[*CustomCall]*CustomCall
	results  map[*Node]*CustomResult
	todo     []*Node
	src      []*Node
}

func (s *substitution) enter(n *Node) (Operands, bool) {
	if n == nil || s.of[n] != nil || s.done[n] != nil {
		return Operands{}, false
	}
	src, r := n.Inputs(), CustomResultOf(n) // before the value: a node drops its operands after it gets one
	if n.Value() != nil {
		return Operands{}, false
	}
	if r != nil {
		s.results[n] = r
		if _, seen := s.customs[r.CustomCall]; !seen {
			s.customs[r.CustomCall] = nil
			s.todo = append(s.todo, r.Outs...)
		}
	}
	return src, true
}

func (s *substitution) leave(n *Node, operands Operands) {
	if s.done[n] != nil {
		return
	}
	s.src = s.src[:0]
	changed := false
	for _, x := range operands.All() {
		y := s.find(x)
		changed = changed || y != x
		s.src = append(s.src, y)
	}
	r := s.results[n]
	switch {
	case !changed:
		s.done[n] = n
	case r == nil:
		s.done[n] = WithOperands(n, s.src...)
	default:
		k := s.customs[r.CustomCall]
		if k == nil {
			k = &CustomCall{Args: s.all(r.Args), Outs: make([]*Node, len(r.Outs)), VJP: r.VJP, JVP: r.JVP, Function: r.Function}
			s.customs[r.CustomCall] = k
		}
		s.done[n] = k.Result(r.Index, s.src[0])
	}
}

func (s *substitution) find(n *Node) *Node {
	if m := s.of[n]; m != nil {
		return m
	}
	if m := s.done[n]; m != nil {
		return m
	}
	return n
}

func (s *substitution) all(ns []*Node) []*Node {
	out := make([]*Node, len(ns))
	for i, n := range ns {
		if n != nil {
			out[i] = s.find(n)
		}
	}
	return out
}
