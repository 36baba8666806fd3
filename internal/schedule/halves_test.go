package schedule

import (
	le "encoding/binary" // binary is a function here
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// A halfProduct multiplies matrices of halves. Flipped factors lie along the other axis.
type halfProduct struct {
	m, n, k                   int
	leftFlipped, rightFlipped bool
	half, out                 ir.DType
	bias                      bool // it adds a row of zeros and drops what is negative
}

func (x halfProduct) kernel() *ir.Kernel {
	a, b := by(x.k, 0, 1), by(0, 1, x.n)
	if x.leftFlipped {
		a = by(1, 0, x.m)
	}
	if x.rightFlipped {
		b = by(0, x.k, 1)
	}
	body := []ir.Instr{load(f32, 0, a), load(f32, 1, b), alu(ir.Mul, f32, 0, 1), reduce(ir.Sum, f32, 2, 4)}
	if x.bias {
		body = append(body, load(f32, 2, by(0, 1, 0)), alu(ir.Add, f32, 3, 4), literal(f32, 0), alu(ir.Max, f32, 5, 6))
	}
	body = append(body, store(f32, len(body)-1, 3, by(x.n, 1, 0)))
	return kernel(ir.Contraction, []ir.Axis{{Len: x.m, Role: ir.M}, {Len: x.n, Role: ir.N}, {Len: x.k, Role: ir.K}},
		[]ir.Arg{in(x.half), in(x.half), in(x.half), out(x.out, x.m*x.n)}, body...)
}

// Products of halves that are copied to shared memory, over several steps and past the ends of
// tiles, are right by each tile in all layouts of the factors, and whether they are stored as they are
// or not, as halves of either type or as floats.
func TestCopies(t *testing.T) {
	left, right := func(i, l int) float32 { return float32((3*i+l)%7 - 3) }, func(l, j int) float32 { return float32((5*l+2*j)%5 - 2) }
	for i, size := range [][3]int{{130, 264, 200}, {128, 256, 192}, {64, 60, 72}} {
		for flips := range 4 {
			x := halfProduct{m: size[0], n: size[1], k: size[2], leftFlipped: flips&1 != 0, rightFlipped: flips&2 != 0}
			x.half = []ir.DType{ir.Float16, ir.BFloat16}[(i+flips)%2]
			a, b := make([]byte, 2*x.m*x.k), make([]byte, 2*x.n*x.k)
			want := make([]float32, x.m*x.n)
			for l := range x.k {
				for i := range x.m {
					at := i*x.k + l
					if x.leftFlipped {
						at = l*x.m + i
					}
					le.LittleEndian.PutUint16(a[2*at:], toHalf(x.half, left(i, l)))
				}
				for j := range x.n {
					at := l*x.n + j
					if x.rightFlipped {
						at = j*x.k + l
					}
					le.LittleEndian.PutUint16(b[2*at:], toHalf(x.half, right(l, j)))
				}
			}
			for i := range want {
				for l := range x.k {
					want[i] += left(i/x.n, l) * right(l, i%x.n)
				}
			}
			for n, tile := range measuredH200.sharedHalves[x.half] {
				x.out = []ir.DType{ir.Float16, ir.BFloat16, f32}[(i+flips+n)%3]
				x.bias = (flips+n)%4 == 3
				args := []simt.Arg{{Data: a}, {Data: b}, {Data: make([]byte, 2*x.n)}, {Data: make([]byte, x.out.Size()*len(want))}}
				if err := simt.Compile(byTile(t, x.kernel(), tile, 1)).Run(args); err != nil {
					t.Fatalf("%+v by %d×%d: %v", x, tile.m, tile.n, err)
				}
				if err := x.check(args[3].Data, want); err != nil {
					t.Fatalf("%+v by %d×%d: %v", x, tile.m, tile.n, err)
				}
			}
		}
	}
}

// toHalf is the bits of a number as a half.
func toHalf(d ir.DType, x float32) uint16 {
	if d == ir.Float16 {
		return uint16(ir.ToF16(x))
	}
	return uint16(ir.ToBF16(x))
}

// check compares results with those that are wanted, rounded.
func (x halfProduct) check(data []byte, want []float32) error {
	for i, want := range want {
		if x.bias {
			want = max(want, 0)
		}
		bits, size := uint32(math.Float32bits(want)), x.out.Size()
		if size == 2 {
			bits = uint32(toHalf(x.out, want))
		}
		got := append(slices.Clone(data[size*i:size*(i+1)]), 0, 0)
		if bits != le.LittleEndian.Uint32(got) {
			return fmt.Errorf("(%d, %d) is %x, want %g, %x", i/x.n, i%x.n, le.LittleEndian.Uint32(got), want, bits)
		}
	}
	return nil
}
