package blockwise

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// rows has, for each axis of a kernel, the number of rows of the matrices from one position
// to the next: 0 for axes that do not run over rows.
type rows struct {
	stride []int // by axis
	inner  int   // the axis of stride 1
}

// rowsOf finds the axes of a kernel that run over count rows, in row-major order, from its
// accesses to buffers of length[arg] elements a row; it ignores arguments of length 0. It
// reports false if the kernel does not compute row by row: if an access has no such axes,
// or other axes than the rest, or if a guard depends on them.
func rowsOf(k *ir.Kernel, count int, length []int) (r rows, ok bool) {
	for i := range k.Body {
		in := &k.Body[i]
		if in.Op != ir.Load && in.Op != ir.Store || length[in.Arg] == 0 {
			continue
		}
		stride, ok := rowStrides(k, in.View, length[in.Arg])
		if !ok || r.stride != nil && !slices.Equal(r.stride, stride) {
			return r, false
		}
		r.stride = stride
	}
	if r.stride == nil {
		return r, false
	}
	var order []int
	for a, s := range r.stride {
		if s > 0 {
			order = append(order, a)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return r.stride[a] - r.stride[b] })
	n := 1
	for _, a := range order {
		if r.stride[a] != n {
			return r, false
		}
		n *= k.Axes[a].Len
	}
	if n != count || count == 1 {
		return r, false
	}
	r.inner = order[0]
	return r, r.movable(k)
}

// rowStrides returns the number of rows from one position to the next along each axis, in a
// view of rows of n elements.
func rowStrides(k *ir.Kernel, v *ir.View, n int) (stride []int, ok bool) {
	if len(v.Guards) > 0 || v.Off < 0 {
		return nil, false
	}
	stride = make([]int, len(k.Axes))
	column := v.Off // the last one that is reached
	for a, c := range v.Coef {
		switch l := k.Axes[a].Len; {
		case l == 1 || c == 0:
		case c < 0 || c >= n && c%n != 0:
			return nil, false
		case c >= n:
			stride[a] = c / n
		default:
			column += c * (l - 1)
		}
	}
	return stride, column < n
}

// movable reports whether all blocks of rows are one program with different offsets.
func (r *rows) movable(k *ir.Kernel) bool {
	for i := range k.Body {
		in := &k.Body[i]
		if in.View == nil {
			continue
		}
		for _, g := range in.View.Guards {
			for a, c := range g.Coef {
				if c != 0 && r.stride[a] > 0 {
					return false
				}
			}
		}
		for a, c := range in.View.Coef {
			if c < 0 && r.stride[a] > 0 { // the offset of a block would be before the buffer
				return false
			}
		}
	}
	return true
}

// matrix is the number of rows that the innermost of the axes runs over.
func (r *rows) matrix(k *ir.Kernel) int { return k.Axes[r.inner].Len }

// length is the number of positions along an axis over rows that a block of n rows has, 0
// if it is at one position.
func (r *rows) length(k *ir.Kernel, a, n int) int {
	if r.stride[a] >= n {
		return 0
	}
	return min(k.Axes[a].Len, n/r.stride[a])
}

// whole reports whether each block of n rows has all positions along an axis over rows.
func (r *rows) whole(k *ir.Kernel, a, n int) bool { return r.stride[a]*k.Axes[a].Len <= n }

// divides reports whether blocks of n rows, whole matrices, have as many positions along
// each axis over rows.
func (r *rows) divides(k *ir.Kernel, n int) bool {
	for a, s := range r.stride {
		if all := s * k.Axes[a].Len; s > 0 && all%n != 0 && n%all != 0 {
			return false
		}
	}
	return true
}
