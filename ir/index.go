package ir

// A kernel checks the indices that it reads from tensors and reports the first
// bad one: at the least position, and of several instructions there the first.
// The position is counted over the axes that decide which indices are bad, not
// over all of the kernel's: these may have more points than an int32 counts.

// StatusLen is the number of int32 in a Status argument: three 64-bit integers,
// low word first.
const StatusLen = 6

// UsesIndex reports whether the element that an instruction reads or writes
// depends on a value, its first operand.
func (in *Instr) UsesIndex() bool {
	return len(in.Src) > 0 && (in.Op == Load || Routines[in.Op] != nil && Routines[in.Op].Indexed)
}

// IndexDomain is the axes that decide whether instruction i of body, which uses
// an index, meets a bad one: those that the index and the view's guards vary
// over.
func IndexDomain(body []Instr, i int) AxisSet {
	in := &body[i]
	return body[in.Src[0]].Domain | in.View.guardAxes()
}

// CheckDomain is the union of the domains of all indices.
func (k *Kernel) CheckDomain() AxisSet {
	var s AxisSet
	for i := range k.Body {
		if k.Body[i].UsesIndex() {
			s |= IndexDomain(k.Body, i)
		}
	}
	return s
}

// CheckStrides has the distances by which a step along each axis moves the position at which a
// bad index is reported: the row-major order of CheckDomain, 0 elsewhere.
func (k *Kernel) CheckStrides() []int { return DenseStrides(k.Axes, k.CheckDomain()) }

// CheckPoint returns the positions along the axes of CheckDomain, 0 along
// others, of the point with a reported position.
func (k *Kernel) CheckPoint(position int) []int {
	point := make([]int, len(k.Axes))
	for a, s := range k.CheckStrides() {
		if s > 0 {
			point[a] = position / s % k.Axes[a].Len
		}
	}
	return point
}
