package graph

// Substitute returns roots, some of which may be nil, after replacing the keys of the map by
// their values in all that the roots depend on. It makes nodes anew only if an operand changes.
// A changed custom call keeps its derivatives.
func Substitute(roots []*Node, replacements map[*Node]*Node) []*Node {
	s := substitution{given: replacements, replaced: map[*Node]*Node{}, calls: map[*CustomCall]*CustomCall{}, results: map[*Node]*CustomResult{}}
	s.todo = append(s.todo, roots...)
	for i := 0; i < len(s.todo); i++ { // a walk may append to todo
		Walk(s.todo[i:i+1], s.enter, s.leave)
	}
	// A replaced call needs all its results, also those that leave did not reach because they are in
	// given or have a value.
	for old, call := range s.calls {
		for i, n := range old.Outs {
			if call != nil && call.Outs[i] == nil {
				call.Result(i, s.find(n))
			}
		}
	}
	return s.findAll(roots)
}

type substitution struct {
	given    map[*Node]*Node             // the caller's replacements
	replaced map[*Node]*Node             // a visited node's replacement: the node itself if it did not change
	calls    map[*CustomCall]*CustomCall // maps each visited custom call to its replacement; nil while none of its operands has changed
	results  map[*Node]*CustomResult     // of the visited nodes that are results of custom calls
	todo     []*Node                     // roots, then all results of visited calls
	src      []*Node                     // scratch memory of replaceOperands
}

// enter returns the operands to visit before n, or false if there is nothing to visit: n is nil,
// already has a replacement, or has a value and so needs no operands.
func (s *substitution) enter(n *Node) (Operands, bool) {
	if n == nil || s.given[n] != nil || s.replaced[n] != nil {
		return Operands{}, false
	}
	// Read operands before Value: another goroutine may set the value and then drop them.
	src, r := n.Inputs(), CustomResultOf(n)
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
	if s.replaced[n] != nil {
		return
	}
	src, changed := s.replaceOperands(operands)
	r := s.results[n]
	switch {
	case !changed:
		s.replaced[n] = n
	case r == nil:
		s.replaced[n] = WithOperands(n, src...)
	default:
		call := s.calls[r.CustomCall]
		if call == nil {
			call = &CustomCall{Args: s.findAll(r.Args), Outs: make([]*Node, len(r.Outs)), VJP: r.VJP, JVP: r.JVP, Function: r.Function}
			s.calls[r.CustomCall] = call
		}
		s.replaced[n] = call.Result(r.Index, src[0])
	}
}

// replaceOperands returns the replacements of operands, and whether one differs. They are valid until the
// next call.
func (s *substitution) replaceOperands(operands Operands) (src []*Node, changed bool) {
	s.src = s.src[:0]
	for _, old := range operands.All() {
		operand := s.find(old)
		changed = changed || operand != old
		s.src = append(s.src, operand)
	}
	return s.src, changed
}

// find returns the replacement of n, or n.
func (s *substitution) find(n *Node) *Node {
	if m := s.given[n]; m != nil {
		return m
	}
	if m := s.replaced[n]; m != nil {
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
