package cpu

import "github.com/tensorken/tensorken/ir"

// loadsOld reports whether instruction i loads elements that a Store replaces.
func (s *space) loadsOld(i int) bool {
	in := &s.Body[i]
	return in.Op == ir.Load && s.Args[in.Arg].Kind == ir.Out
}

// keepOld makes the ops of a program, whose stores come last, use old elements before new
// ones replace them: an op that would write new ones where they are stored writes them to
// scratch, and a load that would be used in place copies.
func (a *assembler) keepOld() {
	for i := range a.ops {
		if s := &a.ops[i]; s.target != nil && s.size > 0 {
			if last := a.lastUse(s.target.arg); last > i || last == i && !s.inPlace {
				s.target = nil
			}
		}
	}
	for i := range a.ops {
		if s := &a.ops[i]; s.target != nil && s.size == 0 && a.lastUse(s.target.arg) > i {
			for j := range a.ops {
				if l := a.ops[j].load; l != nil && l.arg == s.target.arg {
					l.kept = true
				}
			}
		}
	}
}

// lastUse is the last op that loads old elements of an argument, or reads them where they
// may lie in memory; -1 for none.
func (a *assembler) lastUse(arg int) int {
	last := -1
	a.lastUses()
	for i := range a.ops {
		if s := &a.ops[i]; s.load != nil && s.load.arg == arg {
			last = max(last, a.last[s.dst])
		}
	}
	return last
}
