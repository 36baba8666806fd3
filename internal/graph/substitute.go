package graph

// Substitute returns roots, some of which may be nil, after replacing the keys of the map by
// their values in all that the roots depend on. It makes nodes anew only if an operand changes.
// A changed custom call keeps its derivatives.
func Substitute(roots []*Node, replacements map[*Node]*Node) []*Node {
	s := substitution{given: replacements, made: map[*Node]*Node{}, calls: map[*CustomCall]*CustomCall{}, results: map[*Node]*CustomResult{}}
	s.todo = append(s.todo, roots...)
	for i := 0; i < len(s.todo); i++ { // a walk may append to todo
		Walk(s.todo[i:i+1], s.enter, s.leave)
	}
	for old, call := range s.calls {
		for i, n := range old.Outs {
			if call != nil && call.Outs[i] == nil { // leave made no result: the caller replaces it, or it has a value
				call.Result(i, s.find(n))
			}
		}
	}
	return s.findAll(roots)
}

type substitution struct {
	given   map[*Node]*Node             // the caller's replacements
	made    map[*Node]*Node             // a visited node's replacement: the node itself if it did not change
	calls   map[*CustomCall]*CustomCall // a visited call's replacement, nil so far
	results map[*Node]*CustomResult     // of the visited nodes that are results of custom calls
	todo    []*Node                     // roots, then all results of visited calls
	src     []*Node                     // scratch memory of leave
}

// enter returns the operands to visit before n. It returns false for a node that keeps its
// place or has a replacement.
func (s *substitution) enter(n *Node) (Operands, bool) {
	if n == nil || s.given[n] != nil || s.made[n] != nil {
		return Operands{}, false
	}
	src, r := n.Inputs(), CustomResultOf(n) // before the value: a node drops its operands after it gets one
	if n.Value() != nil {
		return Operands{}, false
	}
	if r != nil {
		s.results[n] = r
		if _, seen := s.calls[r.CustomCall]; !seen {
			s.calls[r.CustomCall] = nil
			s.todo = append(s.todo, r.Outs...)
		}
	}
	return src, true
}

// leave makes the replacement of n, whose operands have theirs.
func (s *substitution) leave(n *Node, operands Operands) {
	if s.made[n] != nil {
		return
	}
	s.src = s.src[:0]
	changed := false
	for _, old := range operands.All() {
		operand := s.find(old)
		changed = changed || operand != old
		s.src = append(s.src, operand)
	}
	r := s.results[n]
	switch {
	case !changed:
		s.made[n] = n
	case r == nil:
		s.made[n] = WithOperands(n, s.src...)
	default:
		call := s.calls[r.CustomCall]
		if call == nil {
			call = &CustomCall{Args: s.findAll(r.Args), Outs: make([]*Node, len(r.Outs)), VJP: r.VJP, JVP: r.JVP, Function: r.Function}
			s.calls[r.CustomCall] = call
		}
		s.made[n] = call.Result(r.Index, s.src[0])
	}
}

// find returns the replacement of n, or n.
func (s *substitution) find(n *Node) *Node {
	if m := s.given[n]; m != nil {
		return m
	}
	if m := s.made[n]; m != nil {
		return m
	}
	return n
}

// findAll is find for each node; nil stays nil.
func (s *substitution) findAll(ns []*Node) []*Node {
	out := make([]*Node, len(ns))
	for i, n := range ns {
		if n != nil {
			out[i] = s.find(n)
		}
	}
	return out
}
