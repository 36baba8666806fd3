package linalg

// rotations are plane rotations of rows of a matrix, which are recorded while a small
// problem is iterated, and applied many at a time.
type rotations struct {
	rows matrix // those that are rotated; no rows are for values alone
	list []rotation
}

// A rotation replaces rows i and i+1, x and y, by c·x + s·y and c·y - s·x.
type rotation struct {
	i    int
	c, s float64
}

// The sizes of what is applied at a time: a block of columns stays in the cache while all
// recorded rotations pass over its rows.
const (
	maxRotations  = 1 << 15
	rotatedColumn = 64
)

// add records a rotation.
func (r *rotations) add(i int, c, s float64) {
	if r.rows.rows == 0 {
		return
	}
	if len(r.list) == maxRotations {
		r.apply()
	}
	r.list = append(r.list, rotation{i, c, s})
}

// apply applies the recorded rotations.
func (r *rotations) apply() {
	parallel(ceilDiv(r.rows.cols, rotatedColumn), 4*len(r.list)*r.rows.cols, func(block int) {
		from := block * rotatedColumn
		n := min(rotatedColumn, r.rows.cols-from)
		for _, q := range r.list {
			at := q.i*r.rows.stride + from
			x := r.rows.data[at:][:n]
			y := r.rows.data[at+r.rows.stride:][:n]
			for k, a := range x {
				b := y[k]
				x[k], y[k] = q.c*a+q.s*b, q.c*b-q.s*a
			}
		}
	})
	r.list = r.list[:0]
}
