package schedule

import (
	le "encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// matmul is the product of batches of matrices, each stored by rows or transposed.
func matmul(batches, m, n, k int, leftFlipped, rightFlipped bool) *ir.Kernel {
	left, right := by(m*k, k, 0, 1), by(k*n, 0, 1, n)
	if leftFlipped {
		left = by(m*k, 1, 0, m)
	}
	if rightFlipped {
		right = by(k*n, 0, k, 1)
	}
	return kernel(ir.Contraction, []ir.Axis{{Len: batches, Role: ir.Batch}, {Len: m, Role: ir.M}, {Len: n, Role: ir.N}, {Len: k, Role: ir.K}},
		[]ir.Arg{in(f32), in(f32), out(f32, batches*m*n)},
		load(f32, 0, left), load(f32, 1, right), alu(ir.Mul, f32, 0, 1), reduce(ir.Sum, f32, 2, 8), store(f32, 3, 2, by(m*n, n, 1, 0)))
}

// byTile compiles a product by one tile.
func byTile(t *testing.T, k *ir.Kernel, tile tile, splits int) *shader.Program {
	t.Helper()
	c := newCompiler(k, hopper.withDefaults(), &shader.Program{})
	x := newContraction(c)
	x.splits, x.perSplit = splits, ir.CeilDiv(ir.CeilDiv(x.depth, tile.depth()), splits)
	x.tiled(tile)
	if err := simt.Verify(c.program); err != nil || c.err != nil {
		t.Fatal(err, c.err)
	}
	return c.program
}

// Each tile of floats that are multiplied in shared memory gives the product, in each layout of
// the factors, of whole tiles and past their ends, in batches and splits.
func TestSharedFloats(t *testing.T) {
	for _, tile := range append(measuredH200.sharedFloats[:len(measuredH200.sharedFloats):len(measuredH200.sharedFloats)], measuredH200.sharedRounded...) {
		for _, size := range [][5]int{{1, tile.m, tile.n, 96, 1}, {2, tile.m + 6, tile.n + 4, 70, 1}, {1, tile.m - 3, tile.n - 31, 131, 2}} {
			for layout := range 4 {
				batches, m, n, depth, splits := size[0], size[1], size[2], size[3], size[4]
				leftFlipped, rightFlipped := layout&1 > 0, layout&2 > 0
				name := fmt.Sprintf("%d×%d split %v: %v of %d, flipped %v %v", tile.m, tile.n, tile.unit.split, size[:4], splits, leftFlipped, rightFlipped)
				p := byTile(t, matmul(batches, m, n, depth, leftFlipped, rightFlipped), tile, splits)
				// Small numbers have no tail; a step of 1/3 has one.
				for _, step := range []float32{1, 1.0 / 3} {
					if step < 1 && layout > 0 {
						continue
					}
					checkProduct(t, name, p, batches, m, n, depth, leftFlipped, rightFlipped, step, tile.unit.split)
				}
			}
		}
	}
}

func checkProduct(t *testing.T, name string, p *shader.Program, batches, m, n, depth int, leftFlipped, rightFlipped bool, step float32, split bool) {
	t.Helper()
	a, b := make([]float32, batches*m*depth), make([]float32, batches*depth*n)
	left := func(at, i, k int) *float32 {
		if leftFlipped {
			return &a[(at*depth+k)*m+i]
		}
		return &a[(at*m+i)*depth+k]
	}
	right := func(at, k, j int) *float32 {
		if rightFlipped {
			return &b[(at*n+j)*depth+k]
		}
		return &b[(at*depth+k)*n+j]
	}
	for at := range batches {
		for k := range depth {
			for i := range m {
				*left(at, i, k) = step * float32((at+3*i+k*(i%5))%15-7)
			}
			for j := range n {
				*right(at, k, j) = step * float32((at+5*j+k*(j%7))%13-6)
			}
		}
	}
	args := []simt.Arg{{Data: floats(a)}, {Data: floats(b)}, {Data: make([]byte, 4*batches*m*n)}}
	for _, bytes := range p.Scratch {
		args = append(args, simt.Arg{Data: make([]byte, bytes)})
	}
	if err := simt.Compile(p).Run(args[:3]); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	error := 0.0 // of a product
	switch {
	case step < 1 && split:
		error = 1.0 / (1 << 21)
	case step < 1:
		error = 1.0 / 512
	}
	for at := range batches {
		for i := range m {
			for j := range n {
				want, size := 0.0, 0.0
				for k := range depth {
					x := float64(*left(at, i, k)) * float64(*right(at, k, j))
					want, size = want+x, size+math.Abs(x)
				}
				got := float64(math.Float32frombits(le.LittleEndian.Uint32(args[2].Data[4*((at*m+i)*n+j):])))
				if !(math.Abs(got-want) <= error*size) {
					t.Fatalf("%s, step %g: (%d, %d, %d) is %g, want %g", name, step, at, i, j, got, want)
				}
			}
		}
	}
}
