package vector

import "github.com/tensorken/tensorken/ir"

// loadsOld reports whether instruction i loads elements that a Store replaces.
func (s *Space) loadsOld(i int) bool {
	in := &s.Body[i]
	return in.Op == ir.Load && s.Args[in.Arg].Kind == ir.Out
}

// keepOld makes the ops of a program, whose stores come last, use old elements before new
// ones replace them: an op that would write new ones where they are stored writes them to
// scratch, and a load that would be used in place copies.
func (a *Assembler) keepOld() {
	for i := range a.Ops {
		if s := &a.Ops[i]; s.target != nil && s.Size > 0 {
			if last := a.lastUse(s.target.arg); last > i || last == i && !s.inPlace {
				s.target = nil
			}
		}
	}
	for i := range a.Ops {
		if s := &a.Ops[i]; s.target != nil && s.Size == 0 && a.lastUse(s.target.arg) > i {
			for j := range a.Ops {
				if l := a.Ops[j].load; l != nil && l.arg == s.target.arg {
					l.kept = true
				}
			}
		}
	}
}

// lastUse is the last op that loads old elements of an argument, or reads them where they
// may lie in memory; -1 for none.
func (a *Assembler) lastUse(arg int) int {
	last := -1
	a.lastUses()
	for i := range a.Ops {
		if s := &a.Ops[i]; s.load != nil && s.load.arg == arg {
			last = max(last, a.last[s.Dst])
		}
	}
	return last
}
