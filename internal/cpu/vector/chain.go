package vector

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A link is a step of a chain with the registers of its operands.
type link struct {
	op   simd.LinkOp
	y, z int
}

// linkable are the ops that simd.Chain computes of float32: with a run and with one element.
var linkable = map[ir.Op][2]simd.LinkOp{ir.Add: {simd.AddV, simd.AddS}, ir.Mul: {simd.MulV, simd.MulS}, ir.Max: {-1, simd.MaxS}}

// linkOf returns op s as a link whose x is register x. ok is false for another op.
func (a *Assembler) linkOf(s *Op, x int) (l link, ok bool) {
	if s.linked == nil || a.regs[s.Dst].lanes != a.regs[x].lanes {
		return l, false
	}
	l = link{s.linked[0], s.Src[1], s.Src[2]}
	switch {
	case s.ternary != nil: // a clamp
		return l, s.Src[0] == x && a.regs[l.y].lanes == 0 && a.regs[l.z].lanes == 0
	case s.Src[1] == x && s.Src[0] != x:
		l.y = s.Src[0]
	case s.Src[0] != x || l.y == x:
		return l, false
	}
	if a.regs[l.y].lanes == 0 {
		l.op = s.linked[1]
	}
	return l, l.op >= 0 && (a.regs[l.y].lanes == 0 || a.regs[l.y].lanes == a.regs[x].lanes)
}

// chain makes one op of ops of which each reads the result of the one before, and that nothing else reads.
func (a *Assembler) chain() {
	if simd.Chain == nil {
		return
	}
	readers := make([][]int, len(a.regs))
	for i := range a.Ops {
		for _, r := range a.Ops[i].Src {
			if r >= 0 {
				readers[r] = append(readers[r], i)
			}
		}
	}
	if a.Value {
		readers[a.Root] = append(readers[a.Root], len(a.Ops))
	}
	gone := make([]bool, len(a.Ops))
	for i := range a.Ops {
		if gone[i] || a.Ops[i].linked == nil {
			continue
		}
		s := &a.Ops[i]
		x := s.Src[0]
		if a.regs[x].lanes != a.regs[s.Dst].lanes {
			x = s.Src[1]
		}
		first, ok := a.linkOf(s, x)
		if !ok {
			continue
		}
		links, members := []link{first}, []int{i}
		for last := s; ; {
			all := readers[last.Dst]
			if len(all) == 0 || all[0] == len(a.Ops) {
				break
			}
			next := &a.Ops[all[0]]
			l, ok := a.linkOf(next, last.Dst)
			if !ok || next.domain != last.domain {
				break
			}
			if len(all) == 1 {
				links, members, last = append(links, l), append(members, all[0]), next
				continue
			}
			// Ops that lead to a product with this result.
			middle, ends := a.untilProduct(readers, last.Dst, all)
			if middle == nil {
				break
			}
			links = append(append(append(links, link{op: simd.Save, y: -1, z: -1}), middle...), link{op: simd.MulSaved, y: -1, z: -1})
			members, last = append(members, ends...), &a.Ops[ends[len(ends)-1]]
		}
		if len(members) < 2 {
			continue
		}
		for _, m := range members[:len(members)-1] {
			gone[m], a.Ops[m].linked = true, nil
		}
		end := &a.Ops[members[len(members)-1]]
		*end = Op{Do: doChain, links: links, Src: [4]int{x, -1, -1, -1}, inPlace: true, domain: end.domain, Set: end.Set, Dst: end.Dst, Size: end.Size, target: end.target}
	}
	ops := a.Ops[:0]
	for i, s := range a.Ops {
		if !gone[i] {
			ops = append(ops, s)
		}
	}
	a.Ops = ops
}

// untilProduct returns the links from register x to a product of x and their result, and the ops of all, or nil.
func (a *Assembler) untilProduct(readers [][]int, x int, all []int) (links []link, members []int) {
	if len(all) != 2 || all[1] == len(a.Ops) {
		return nil, nil
	}
	domain := a.Ops[all[0]].domain
	for at, r := all[0], x; ; {
		s := &a.Ops[at]
		if at == all[1] {
			if s.linked == nil || s.linked[0] != simd.MulV || s.domain != domain || len(links) == 0 || (s.Src[0] != r || s.Src[1] != x) && (s.Src[1] != r || s.Src[0] != x) {
				return nil, nil
			}
			return links, append(members, at)
		}
		l, ok := a.linkOf(s, r)
		if !ok || s.domain != domain || l.y == x || len(readers[s.Dst]) != 1 || readers[s.Dst][0] == len(a.Ops) {
			return nil, nil
		}
		links, members = append(links, l), append(members, at)
		at, r = readers[s.Dst][0], s.Dst
	}
}

func doChain(f *Activation, s *Op) {
	f.links = f.links[:0]
	for _, l := range s.links {
		k := simd.Link{Op: l.op}
		if l.y >= 0 {
			k.Y = f.Reg[l.y]
		}
		if l.z >= 0 {
			k.Z = f.Reg[l.z]
		}
		f.links = append(f.links, k)
	}
	simd.Chain(f.Out(s), f.Reg[s.Src[0]], unsafe.Pointer(&f.links[0]), len(f.links), f.Count[s.Set])
}
