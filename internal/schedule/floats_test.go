package schedule

import (
	le "encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// Each tile of floats that are multiplied in shared memory gives the product, in each layout of
// the factors, of whole tiles and past their ends, in batches and splits.
func TestSharedFloats(t *testing.T) {
	for i, tile := range slices.Concat(tiles.MeasuredH200.SharedFloats, tiles.MeasuredH200.SharedRounded) {
		sizes := []matrixProduct{
			{batches: 1, m: tile.M, n: tile.N, depth: 160, splits: 1},
			{batches: 2, m: tile.M + 6, n: tile.N + 4, depth: 70, splits: 1},
			{batches: 1, m: tile.M - 3, n: tile.N - 31, depth: 131, splits: 2},
		}
		for layout := range 4 {
			if testing.Short() && (i+layout)%3 != 0 {
				continue
			}
			x := sizes[(i+layout)%len(sizes)]
			x.leftFlipped, x.rightFlipped = layout&1 > 0, layout&2 > 0
			p := byTile(t, matmul(x), tile, x.splits)
			// Products of small numbers are exact. Thirds have tails.
			check := func(step float32, tolerance float64) {
				if err := x.check(p, step, tolerance); err != nil {
					t.Errorf("tile %d×%d, split %v, %+v, steps of %g: %v", tile.M, tile.N, tile.Unit.Split, x, step, err)
				}
			}
			check(1, 0)
			switch {
			case layout > 0:
			case tile.Unit.Split:
				check(1.0/3, 1.0/(1<<21))
			default:
				check(1.0/3, 1.0/512)
			}
		}
	}
}

// A matrixProduct is of batches of matrices, each stored by rows or, if flipped, by columns.
type matrixProduct struct {
	batches, m, n, depth, splits int
	leftFlipped, rightFlipped    bool
	wide                         bool // of float64
}

func (x matrixProduct) elem() ir.DType {
	if x.wide {
		return ir.Float64
	}
	return f32
}

// encode returns numbers as elements of the product's type, and decode the element at an index.
func (x matrixProduct) encode(list []float32) (data []byte) {
	for _, v := range list {
		if x.wide {
			data = le.LittleEndian.AppendUint64(data, math.Float64bits(float64(v)))
		} else {
			data = le.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
	}
	return data
}

func (x matrixProduct) decode(data []byte, i int) float64 {
	if x.wide {
		return math.Float64frombits(le.LittleEndian.Uint64(data[8*i:]))
	}
	return float64(math.Float32frombits(le.LittleEndian.Uint32(data[4*i:])))
}

func matmul(x matrixProduct) *ir.Kernel {
	d := x.elem()
	left, right := by(x.m*x.depth, x.depth, 0, 1), by(x.depth*x.n, 0, 1, x.n)
	if x.leftFlipped {
		left = by(x.m*x.depth, 1, 0, x.m)
	}
	if x.rightFlipped {
		right = by(x.depth*x.n, 0, x.depth, 1)
	}
	return kernel(ir.Contraction, []ir.Axis{{Len: x.batches, Role: ir.Batch}, {Len: x.m, Role: ir.M}, {Len: x.n, Role: ir.N}, {Len: x.depth, Role: ir.K}},
		[]ir.Arg{in(d), in(d), out(d, x.batches*x.m*x.n)},
		load(d, 0, left), load(d, 1, right), alu(ir.Mul, d, 0, 1), reduction(ir.Sum, d, 2, 8), store(d, 3, 2, by(x.m*x.n, x.n, 1, 0)))
}

// byTile compiles a product by a tile.
func byTile(t *testing.T, k *ir.Kernel, l tiles.Tile, splits int) *shader.Program {
	t.Helper()
	return byTileOn(t, k, hopper, l, splits)
}

// byTileOn does so for a target. Below 0, splits are the steps of whole parts, and five workgroups share the rest.
func byTileOn(t *testing.T, k *ir.Kernel, target Target, l tiles.Tile, splits int) *shader.Program {
	t.Helper()
	depth := k.Axes[len(k.Axes)-1].Len
	o := product.Option[tiles.Tile]{Layout: l}
	if steps := ir.CeilDiv(depth, l.Depth()); splits > 0 {
		o.Cut = product.Cut{Splits: splits, PerSplit: ir.CeilDiv(steps, splits)}
	} else {
		o.Cut = tiles.SharesOf(productOf(k, target), l, -splits, 5)
	}
	p, err := CompileChoice(k, target, Choice{Option: o})
	if err == nil {
		err = simt.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// check runs a program on matrices of multiples of a number. A result may be off by a tolerance
// for each product's size.
func (x matrixProduct) check(p *shader.Program, step float32, tolerance float64) error {
	a, b := make([]float32, x.batches*x.m*x.depth), make([]float32, x.batches*x.depth*x.n)
	left := func(at, i, k int) *float32 {
		if x.leftFlipped {
			return &a[(at*x.depth+k)*x.m+i]
		}
		return &a[(at*x.m+i)*x.depth+k]
	}
	right := func(at, k, j int) *float32 {
		if x.rightFlipped {
			return &b[(at*x.n+j)*x.depth+k]
		}
		return &b[(at*x.depth+k)*x.n+j]
	}
	for at := range x.batches {
		for k := range x.depth {
			for i := range x.m {
				*left(at, i, k) = step * float32((at+3*i+k*(i%5))%15-7)
			}
			for j := range x.n {
				*right(at, k, j) = step * float32((at+5*j+k*(j%7))%13-6)
			}
		}
	}
	args := []simt.Arg{{Data: x.encode(a)}, {Data: x.encode(b)}, {Data: x.encode(make([]float32, x.batches*x.m*x.n))}}
	if err := simt.Compile(p).Run(args); err != nil {
		return err
	}
	for r := range x.batches * x.m * x.n {
		at, i, j := r/x.n/x.m, r/x.n%x.m, r%x.n
		want, size := 0.0, 0.0
		for k := range x.depth {
			y := float64(*left(at, i, k)) * float64(*right(at, k, j))
			want, size = want+y, size+math.Abs(y)
		}
		got := x.decode(args[2].Data, r)
		if !(math.Abs(got-want) <= tolerance*size) {
			return fmt.Errorf("(%d, %d, %d) is %g, want %g", at, i, j, got, want)
		}
	}
	return nil
}
