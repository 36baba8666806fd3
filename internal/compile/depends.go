package compile

import "github.com/tensorken/tensorken/ir"

// A Set is a set of small numbers, one bit each. Sets are shared and do not change.
type Set []uint64

// SetOf returns the set of some numbers.
func SetOf(numbers ...int) (s Set) {
	for _, i := range numbers {
		s = append(s, make(Set, max(0, i/64+1-len(s)))...)
		s[i/64] |= 1 << (i % 64)
	}
	return s
}

// Intersects reports whether the sets share a number.
func (s Set) Intersects(t Set) bool {
	for i := range min(len(s), len(t)) {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// Includes reports whether s has all of t.
func (s Set) Includes(t Set) bool {
	for i, w := range t {
		if w != 0 && (i >= len(s) || w&^s[i] != 0) {
			return false
		}
	}
	return true
}

// With returns the union.
func (s Set) With(t Set) Set {
	switch {
	case s.Includes(t):
		return s
	case t.Includes(s):
		return t
	}
	u := append(make(Set, 0, max(len(s), len(t))), s...)
	u = u[:cap(u)]
	for i, w := range t {
		u[i] |= w
	}
	return u
}

// depends returns Depends. A step reports the first bad index only, so all its instructions that
// use an index depend on its one check.
func (p *Plan) depends() []Set {
	buffers := make([]Set, len(p.Buffers))
	var args, values []Set
	for i := range p.Steps {
		s := &p.Steps[i]
		args, values = args[:0], values[:0]
		var check, all Set
		for _, a := range s.Args {
			var of Set
			switch {
			case a.Kind == ir.Status:
				check = SetOf(a.Index)
			case a.Kind == ir.In && a.Leaf:
				of = SetOf(p.Checks + a.Index)
			case a.Kind == ir.In && !a.Report:
				of = buffers[a.Index]
			}
			args, all = append(args, of), all.With(of)
		}
		for k := range s.Kernel.Body {
			in := &s.Kernel.Body[k]
			var of Set
			switch {
			case ir.Routines[in.Op] != nil:
				of = all
			case in.Op == ir.Load:
				of = args[in.Arg]
			}
			if in.UsesIndex() {
				of = of.With(check)
			}
			for _, src := range in.Src {
				of = of.With(values[src])
			}
			values = append(values, of)
			if in.Op.Writes() {
				b := s.Args[in.Arg].Index
				buffers[b] = buffers[b].With(of)
			}
		}
	}
	sets := make([]Set, len(p.Outputs))
	for i, o := range p.Outputs {
		if !o.Leaf {
			sets[i] = buffers[o.Index]
		}
	}
	return sets
}
