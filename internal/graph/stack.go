package graph

import (
	"runtime"
	"slices"
	"sync/atomic"
)

var stackers atomic.Int32 // the number of RecordStacks that are not stopped

// RecordStacks makes new nodes, including views, record the calls that made them, until stop is
// called.
func RecordStacks() (stop func()) {
	stackers.Add(1)
	recorders.Add(1)
	return func() {
		recorders.Add(-1)
		stackers.Add(-1)
	}
}

// recordStack notes the calls in progress.
func (n *Node) recordStack() {
	var pcs [256]uintptr
	calls := pcs[:runtime.Callers(4, pcs[:])]
	if i := slices.Index(calls, firstCaller(calls)); i >= 0 {
		d := n.detail()
		d.stack, d.program = slices.Clone(calls), i+1
	}
}

// Stack returns the calls in which n was made, from the innermost to the program's; nil if they
// were not recorded.
func (n *Node) Stack() []uintptr {
	if d := n.details.Load(); d != nil {
		return d.stack[:d.program]
	}
	return nil
}

// FullStack is Stack followed by the calls around the program's.
func (n *Node) FullStack() []uintptr {
	if d := n.details.Load(); d != nil {
		return d.stack
	}
	return nil
}

// FunctionAt is the full name of the function that makes a call in a stack.
func FunctionAt(pc uintptr) string { return frameOf(pc).Function }
