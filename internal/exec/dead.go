package exec

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// findDead finds the values that nothing reads after a step: results, which are numbered from first on, and arguments
// that are given away, which stay until no step may fail.
func (b *builder) findDead(first int) {
	p := b.program
	p.dead = make([][]int, len(p.steps))
	failing := 0
	for i, s := range p.steps {
		if mayFail(s) {
			failing = i
		}
	}
	for k, step := range b.lastUse {
		switch {
		case k < first && (k >= len(p.givenAway) || p.givenAway[k] == nil):
			continue
		case k < first:
			step = max(step, failing)
		}
		if step >= 0 && step < len(p.steps) {
			p.dead[step] = append(p.dead[step], k)
		}
	}
}

// mayFail reports whether a step may fail because of the elements of its operands, and not of the device or another rank.
func mayFail(s step) bool {
	switch s := s.(type) {
	case *planStep:
		return s.plan.checks.Len > 0
	case *overlapStep:
		return s.plan.checks.Len > 0
	case *collectiveStep:
		return false
	case *hostStep:
		return s.Node.Op != ir.Cast && hostFunc(s.Node).Collective == nil
	}
	return true
}

// errDropped is the error of reads of a step's result after the last step that reads it.
var errDropped = &storage.GoneError{Op: "a recorded program", Help: "no later step of it reads the result"}

// drop frees the memory of values that nothing reads any more, unless it is another value's too.
func (p *program) drop(values []*graph.Node, dead []int) {
	if len(dead) == 0 {
		return
	}
	freed := make([]*storage.Storage, len(dead))
	for i, k := range dead {
		if values[k] != nil {
			freed[i] = storage.Of(values[k].Value())
		}
		values[k] = nil
	}
	used := make(map[*storage.Storage]bool, len(values))
	for _, n := range values {
		if n != nil {
			used[storage.Of(n.Value())] = true
		}
	}
	for i, s := range freed {
		if s == nil || s.Home() == nil || used[s] {
			continue
		}
		if k := dead[i]; k >= len(p.givenAway) {
			s.Free(errDropped)
		} else if s.OfStep {
			s.Free(p.givenAway[k])
		}
	}
}

// noteReplacing notes results that a transaction has made outside of its plans, as collectives do: the next one
// may have their memory.
func (p *program) noteReplacing(args, results []*graph.Node) {
	given := map[*storage.Storage]bool{}
	for _, n := range results[:p.replacing] {
		s := storage.Of(n.Value())
		if s == nil || s.OfStep {
			continue
		}
		if len(given) == 0 {
			for _, a := range args {
				if a != nil {
					given[storage.Of(a.Value())] = true
				}
			}
		}
		s.OfStep = !given[s]
	}
}
