package host

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// rowsOf returns the elements of each slice along an axis.
func rowsOf(c *op.Call, x T, axis, n int) [][]float64 {
	d := *c
	v := op.Of(x.Cast(tensor.Float64).To(tensor.CPU()))
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
	all := d.Floats(0)
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = all[i*len(all)/n : (i+1)*len(all)/n]
	}
	return rows
}

// key is a row as a key of a map.
func key(row []float64) string {
	b := make([]byte, 0, 8*len(row))
	for _, x := range row {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x+0)) // -0 is 0
	}
	return string(b)
}

// firsts returns the position of the first of each distinct row, by value or by position.
func firsts(rows [][]float64, sorted bool) []int {
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
