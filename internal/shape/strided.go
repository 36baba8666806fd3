package shape

// RowMajor returns the strides of elements in row-major order.
func RowMajor(dims []int) []int {
	strides := make([]int, len(dims))
	step := 1
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = step
		step *= dims[i]
	}
	return strides
}

// IsRowMajor reports whether strides are in row-major order, along the axes where that
// matters.
func IsRowMajor(dims, strides []int) bool {
	step := 1
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] != 1 && strides[i] != step {
			return false
		}
		step *= dims[i]
	}
	return true
}

// A Strided is a view of stored elements that needs no guards: an offset and a
// stride for each axis, in elements.
type Strided struct {
	Offset  int
	Strides []int
}

// View returns the result of m on the view v, if that is a view too. No axis is
// empty. The strides lie in buf, an empty slice, if it has room for them.
func (m Move) View(v Strided, buf []int) (Strided, bool) {
	if row := Movements[m.Op]; row != nil && row.View != nil {
		return row.View(m, v, buf)
	}
	return v, false
}

func viewCopy(_ Move, v Strided, _ []int) (Strided, bool) { return v, true }

// viewReshape is a view if the axes of each group are one run: each stride is the
// next one's times its length.
func viewReshape(m Move, v Strided, buf []int) (Strided, bool) {
	out := append(buf, m.To...)
	for g := range Groups(m.From, m.To) {
		step, last := 0, -1
		for i := g.From[1] - 1; i >= g.From[0]; i-- {
			if m.From[i] == 1 {
				continue
			}
			if last >= 0 && v.Strides[i] != v.Strides[last]*m.From[last] {
				return v, false
			}
			if last < 0 {
				step = v.Strides[i]
			}
			last = i
		}
		for j := g.To[1] - 1; j >= g.To[0]; j-- {
			out[j] = step
			step *= m.To[j]
		}
	}
	return Strided{v.Offset, out}, true
}

func viewPermute(m Move, v Strided, buf []int) (Strided, bool) {
	for _, a := range m.Ints {
		buf = append(buf, v.Strides[a])
	}
	return Strided{v.Offset, buf}, true
}

func viewExpand(m Move, v Strided, buf []int) (Strided, bool) {
	v.Strides = append(buf, v.Strides...)
	for i := range v.Strides {
		if m.From[i] == 1 && m.To[i] != 1 {
			v.Strides[i] = 0
		}
	}
	return v, true
}

func viewCrop(m Move, v Strided, buf []int) (Strided, bool) {
	v.Strides = append(buf, v.Strides...)
	for i, s := range v.Strides {
		v.Offset += s * m.Ints[2*i]
		v.Strides[i] = s * m.Ints[2*i+1]
	}
	return v, true
}

func viewFlip(m Move, v Strided, buf []int) (Strided, bool) {
	v.Strides = append(buf, v.Strides...)
	for _, a := range m.Ints {
		v.Offset += v.Strides[a] * (m.From[a] - 1)
		v.Strides[a] = -v.Strides[a]
	}
	return v, true
}

func viewWindow(m Move, v Strided, buf []int) (Strided, bool) {
	i, k, s, d := m.Ints[0], m.Ints[1], m.Ints[2], m.Ints[3]
	v.Strides = append(buf, v.Strides...)
	v.Strides[k] += v.Strides[i] * d
	v.Strides[i] *= s
	return v, true
}
