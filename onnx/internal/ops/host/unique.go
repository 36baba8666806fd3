package host

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// rowsOf returns codes of the elements of each slice along an axis, which are ordered as the elements are;
// NaNs come last.
func rowsOf(c *op.Call, x T, axis, n int) [][]uint64 {
	d := *c
	to := tensor.Int64 // which has the bits of a uint64, too
	if x.DType().IsFloat() {
		to = tensor.Float64
	}
	v := op.Of(x.To(tensor.CPU()).Cast(to))
	if c.In[0].IsKnown() {
		v = op.Known(v)
	}
	order := []int{axis}
	for a := range x.Rank() {
		if a != axis {
			order = append(order, a)
		}
	}
	v.Tensor = v.Tensor.Permute(order...)
	d.In = []op.Value{v}
	all := make([]uint64, x.Len())
	switch {
	case to == tensor.Float64:
		for i, f := range d.Floats(0) {
			all[i] = floatCode(f)
		}
	default:
		sign := uint64(1) << 63
		if x.DType() == tensor.Uint64 {
			sign = 0
		}
		for i, v := range d.Int64s(0) {
			all[i] = uint64(v) ^ sign
		}
	}
	rows := make([][]uint64, n)
	for i := range rows {
		rows[i] = all[i*len(all)/n : (i+1)*len(all)/n]
	}
	return rows
}

// floatCode is the code of a float: one of all NaNs, and one of both zeros.
func floatCode(f float64) uint64 {
	switch bits := math.Float64bits(f); {
	case f != f:
		return math.MaxUint64
	case f == 0:
		return 1 << 63
	case f < 0:
		return ^bits
	default:
		return bits | 1<<63
	}
}

// key is a row as a key of a map.
func key(row []uint64) string {
	b := make([]byte, 0, 8*len(row))
	for _, x := range row {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return string(b)
}

// firsts returns the position of the first of each distinct row, by value or by position.
func firsts(rows [][]uint64, sorted bool) []int {
	var list []int
	seen := map[string]bool{}
	for i, r := range rows {
		if k := key(r); !seen[k] {
			seen[k] = true
			list = append(list, i)
		}
	}
	if sorted {
		slices.SortFunc(list, func(a, b int) int { return slices.Compare(rows[a], rows[b]) })
	}
	return list
}
