package graph

import (
	"runtime"
	"sync/atomic"

	"github.com/tensorken/tensorken/ir"
)

// A CallSite is the call of the program that made a node. Nodes have one if they are made
// while [RecordSites] is on.
type CallSite struct {
	pc   uintptr // 0 if unknown
	made uint64  // the number of the site: those made later have higher ones
	by   *Attribution
}

var (
	recorders atomic.Int32           // how many want sites to be recorded
	sites     atomic.Uint64          // that were made
	callers   [1 << 12]atomic.Uint64 // the last pc with a hash, doubled, plus 1 if isCaller reports it
)

// RecordSites makes new nodes record their call sites until stop is called.
func RecordSites() (stop func()) {
	recorders.Add(1)
	return func() { recorders.Add(-1) }
}

// recordSite sets the call site of n, a new node on operands src, if sites are recorded.
func (n *Node) recordSite(src []*Node) {
	if recorders.Load() == 0 {
		return
	}
	if stackers.Load() > 0 {
		n.recordStack()
	}
	for _, s := range src {
		if c, ok := s.Call().(*CallSite); ok && c.by.isOpen() {
			n.setSite(CallSite{c.pc, sites.Add(1), c.by})
			return
		}
	}
	if !isView(n.Op) {
		n.setSite(CallSite{pc: callerPC(3), made: sites.Add(1)})
	}
}

// isView reports whether a node goes without a call site, as a kernel hardly ever computes
// it alone: another name or shape of its operand, or a number. Such nodes are half of all,
// and finding a caller takes longer than making a node.
func isView(op ir.Op) bool {
	return op.Class() == ir.Alias || op == ir.Reshape || op == ir.Expand || op == ir.Const || op == ir.Scalar
}

// NewCallSite returns the call in progress.
func NewCallSite() *CallSite { return &CallSite{pc: callerPC(2)} }

// callerPC is the innermost call that [isCaller] reports, without the first skip ones.
func callerPC(skip int) uintptr {
	var pcs [8]uintptr // as deep as most calls of the library are
	for {
		n := runtime.Callers(skip, pcs[:])
		if pc := firstCaller(pcs[:n]); pc != 0 || n < len(pcs) {
			return pc
		}
		skip += n
	}
}

// firstCaller is the first of pcs that [isCaller] reports, or 0.
func firstCaller(pcs []uintptr) uintptr {
	for _, pc := range pcs {
		known := &callers[(pc^pc>>12)%uintptr(len(callers))]
		x := known.Load()
		if x>>1 != uint64(pc) {
			x = uint64(pc) << 1
			if isCaller(frameOf(pc)) {
				x++
			}
			known.Store(x)
		}
		if x&1 != 0 {
			return pc
		}
	}
	return 0
}

// frameOf is the frame of one of the calls that [runtime.Callers] gives.
func frameOf(pc uintptr) runtime.Frame {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return f
}

// CallSite is the call of the program that made n, or the operand that n is a view of; nil
// if it was not recorded.
func (n *Node) CallSite() *CallSite {
	for isView(n.Op) {
		if s, ok := n.Call().(*CallSite); ok {
			return s
		}
		src := n.Src()
		if src.Len() == 0 {
			return nil
		}
		n = src.At(0)
	}
	switch s := n.Call().(type) {
	case *CallSite:
		return s
	case *HostFunc:
		return s.site
	case *IndexSite:
		if s != nil {
			return &CallSite{pc: firstCaller(s.pcs)}
		}
	}
	return nil
}

// DirectSite is the call of the function that calls DirectSite, whoever makes it.
func DirectSite() CallSite {
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	return CallSite{pc: pc[0]}
}

// Pos is the file and line of the call, as [Caller] gives it; "" if unknown.
func (s *CallSite) Pos() string {
	if s == nil || s.pc == 0 {
		return ""
	}
	return lineOf(frameOf(s.pc))
}

// An Attribution gives call sites to the nodes that a loop of the library makes, because
// finding the caller of each takes longer than making it. Until End, a node made of a node
// of the attribution is of it too, and has its operand's site. Nil if no sites are
// recorded; the methods then do nothing.
type Attribution struct {
	closed atomic.Bool
	pc     uintptr // of the call in which it was made
}

// NewAttribution returns an attribution without nodes.
func NewAttribution() *Attribution {
	if recorders.Load() == 0 {
		return nil
	}
	return &Attribution{pc: callerPC(2)}
}

func (a *Attribution) isOpen() bool { return a != nil && !a.closed.Load() }

// End ends the attribution, or has nodes find their callers until Resume.
func (a *Attribution) End() {
	if a != nil {
		a.closed.Store(true)
	}
}

// Resume continues after End.
func (a *Attribution) Resume() {
	if a != nil {
		a.closed.Store(false)
	}
}

// Name returns another name of x, of the attribution. Its site is the call in which the
// attribution was made.
func (a *Attribution) Name(x *Node) *Node {
	if a == nil {
		return x
	}
	n := CoOutput(x, nil)
	n.setSite(CallSite{pc: a.pc, by: a})
	return n
}

// LastSite is the number of the call site that was made last.
func (a *Attribution) LastSite() uint64 {
	if a == nil {
		return 0
	}
	return sites.Load()
}

// Attribute sets the call site of n on made and its operands, as far as they are newer than
// last, which LastSite returned before they were made. The site is marked with the
// attribution. Where n only reshapes its operand, they keep the site of their own operand,
// the cotangent.
func (a *Attribution) Attribute(made, n *Node, last uint64) {
	if a == nil || made == nil || isView(n.Op) {
		return
	}
	if of := n.CallSite(); of != nil {
		attribute(made, &CallSite{pc: of.pc, by: a}, last)
	}
}

func attribute(n *Node, to *CallSite, last uint64) {
	switch s, ok := n.Call().(*CallSite); {
	case ok && s.made > last:
		n.setCall(to)
	case ok || !isView(n.Op):
		return
	}
	for _, s := range n.Src().All() {
		attribute(s, to, last)
	}
}
