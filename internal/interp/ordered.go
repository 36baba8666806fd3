package interp

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// scan and sort define the ordered operations for nodes, runScan and runSort for
// kernels.

func scan(n *graph.Node, src []*Array, out []ir.Number) error {
	for _, row := range rows(n.Shape, n.Ints[0]) {
		for i, p := range row {
			out[p] = src[0].Elems[p]
			if i > 0 {
				out[p] = Apply(n.Kind, n.DType, n.DType, out[row[i-1]], out[p])
			}
		}
	}
	return nil
}

func sort(n *graph.Node, src []*Array, out []ir.Number) error {
	x := src[0]
	to := rows(n.Shape, n.Ints[0])
	for i, row := range rows(x.Shape, n.Ints[0]) {
		if len(to) == 0 {
			break
		}
		order := sorted(x.DType, row, func(p int) ir.Number { return x.Elems[p] })
		for v, p := range to[i] {
			out[p] = ir.Int(ir.Int32, int64(order[v]))
		}
	}
	return nil
}

// rows lists the row-major numbers of the elements of each row along an axis.
func rows(dims []int, axis int) [][]int {
	var list [][]int
	index := map[int]int{}
	for i, pos := range shape.Positions(dims) {
		pos = slices.Clone(pos)
		pos[axis] = 0
		first := shape.Rank(dims, pos)
		if _, ok := index[first]; !ok {
			index[first] = len(list)
			list = append(list, nil)
		}
		list[index[first]] = append(list[index[first]], i)
	}
	return list
}

// sorted returns the positions of the elements of a row in ascending order.
func sorted(d ir.DType, row []int, at func(p int) ir.Number) []int {
	order := shape.All(len(row))
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := at(row[a]), at(row[b])
		switch {
		case x.Less(d, y):
			return -1
		case y.Less(d, x):
			return 1
		}
		return 0
	})
	return order
}

// runScan scans each row of a kernel.
func (r *run) runScan() error {
	i := len(r.kernel.Body) - 1
	in := &r.kernel.Body[i]
	return r.eachRow(in, func(points [][]int, x []ir.Number) error {
		for n, point := range points {
			if n > 0 {
				x[n] = Apply(in.Kind, in.Type, in.Type, x[n-1], x[n])
			}
			e, err := r.element(i, point, nil)
			if err != nil {
				return err
			}
			if err := e.write(x[n].Convert(in.Type, r.kernel.Args[in.Arg].DType)); err != nil {
				return err
			}
		}
		return nil
	})
}

// runSort sorts each row of a kernel.
func (r *run) runSort() error {
	i := len(r.kernel.Body) - 1
	in := &r.kernel.Body[i]
	return r.eachRow(in, func(points [][]int, x []ir.Number) error {
		order := sorted(r.kernel.Body[in.Src[0]].Type, shape.All(len(x)), func(p int) ir.Number { return x[p] })
		for v := range in.View.Len {
			e, err := r.locate(in.Arg, linear(in.View.Off, in.View.Coef, points[0])+v*in.View.Stride)
			if err != nil {
				return err
			}
			if err := e.write(ir.Int(ir.Int32, int64(order[v]))); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachRow calls f for each row along the reduced axes, with its points and the values
// of the operand there.
func (r *run) eachRow(in *ir.Instr, f func(points [][]int, x []ir.Number) error) error {
	for _, first := range shape.Positions(r.shape(r.kernel.Roles(ir.Parallel))) {
		var points [][]int
		var x []ir.Number
		for _, along := range shape.Positions(r.shape(r.kernel.Roles(ir.Reduced))) {
			point := make([]int, len(first))
			for a := range point {
				point[a] = first[a] + along[a]
			}
			points = append(points, point)
			x = append(x, r.results[in.Src[0]].at(point))
		}
		if len(points) == 0 {
			continue
		}
		if err := f(points, x); err != nil {
			return err
		}
	}
	return nil
}
