package graph

import (
	"runtime"
	"sync/atomic"
)

// An IndexSite is a call of the program that uses a tensor of indices. The error for an
// index out of range names it.
type IndexSite struct {
	Op      string // such as "Take" or "nn.CrossEntropy"
	Noun    string // the program's name for an element of the tensor: "index", "label"
	Of      string // the indexed thing, by its length: "an axis of length %d"
	Fault   string // if not empty, the error states this of the noun instead of the index and its range
	Shape   []int  // of the tensor
	FromEnd bool   // negative indices count from the end: the length has been added to them

	// Reported says that somebody has got the error for an index of this call: it
	// is not told again, though several plans may meet it.
	Reported atomic.Bool

	pcs []uintptr // of the call, resolved only for an error
}

// siteDepth is how many calls a site keeps: more than the library nests.
const siteDepth = 24

// NewIndexSite returns the site of the call in progress.
func NewIndexSite(op string, shape []int) *IndexSite {
	var pcs [siteDepth]uintptr
	n := runtime.Callers(2, pcs[:])
	return &IndexSite{Op: op, Noun: "index", Of: "an axis of length %d", Shape: shape, pcs: append([]uintptr(nil), pcs[:n]...)}
}

// Again returns the site for another run of the call, whose errors nobody has got.
func (s *IndexSite) Again() *IndexSite {
	if s == nil {
		return nil
	}
	return &IndexSite{Op: s.Op, Noun: s.Noun, Of: s.Of, Fault: s.Fault, Shape: s.Shape, FromEnd: s.FromEnd, pcs: s.pcs}
}

// At returns n, a new Gather or Scatter, made by a call.
func At(site *IndexSite, n *Node) *Node {
	n.setCall(site)
	return n
}

// Site is the call that made a Gather or Scatter, nil if unknown.
func (n *Node) Site() *IndexSite {
	s, _ := n.Call().(*IndexSite)
	return s
}

// Pos is the file and line of the call, as [Caller] gives it.
func (s *IndexSite) Pos() string { return position(s.pcs) }
