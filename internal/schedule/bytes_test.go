package schedule

import (
	le "encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/ptx"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// bytesProduct is a product of matrices of integers of 8 bits, in 32 bits, plus one for each
// column. A side may be transposed.
func bytesProduct(m, n, k int, d, result ir.DType, left, right bool) *ir.Kernel {
	a, b := by(k, 0, 1), by(0, 1, n)
	if left {
		a = by(1, 0, m)
	}
	if right {
		b = by(0, k, 1)
	}
	return kernel(ir.Contraction, []ir.Axis{{Len: m, Role: ir.M}, {Len: n, Role: ir.N}, {Len: k, Role: ir.K}},
		[]ir.Arg{in(d), in(d), in(result), out(result, m*n)},
		load(d, 0, a), load(d, 1, b), alu(ir.Cast, result, 0), alu(ir.Cast, result, 1), alu(ir.Mul, result, 2, 3), reduction(ir.Sum, result, 4, 4),
		load(result, 2, by(0, 1, 0)), alu(ir.Add, result, 5, 6), store(result, 7, 3, by(n, 1, 0)))
}

// Products of bytes by matrix instructions are exact.
func TestBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		m, n, k     int
		d, result   ir.DType
		left, right bool
	}{
		{64, 64, 64, ir.Int8, i32, false, false},
		{130, 70, 50, ir.Int8, i32, true, false},
		{33, 129, 200, ir.Int8, i32, false, true},
		{40, 40, 5000, ir.Int8, i32, true, true},
		{70, 36, 90, ir.Uint8, ir.Uint32, false, true},
		{70, 36, 90, ir.Uint8, i32, true, false},
	} {
		t.Run(fmt.Sprintf("%dx%dx%d %v %v%v", c.m, c.n, c.k, c.d, c.left, c.right), func(t *testing.T) {
			p := compile(t, bytesProduct(c.m, c.n, c.k, c.d, c.result, c.left, c.right), nvidia)
			if text := ptx.Print(p.Passes[0], 80); !strings.Contains(text, "mma.sync.aligned.m16n8k32") {
				t.Fatalf("no product of bytes in\n%s", text)
			}
			a, b, add, got := make([]byte, c.m*c.k), make([]byte, c.k*c.n), make([]byte, 4*c.n), make([]byte, 4*c.m*c.n)
			for _, list := range [][]byte{a, b, add} {
				for i := range list {
					if list[i] = byte(rng.Uint32()); i%3 == 0 {
						list[i] = 0x80
					}
				}
			}
			if err := simt.Compile(p).Run([]simt.Arg{{Data: a}, {Data: b}, {Data: add}, {Data: got}}); err != nil {
				t.Fatal(err)
			}
			number := func(x byte) int32 {
				if c.d == ir.Int8 {
					return int32(int8(x))
				}
				return int32(x)
			}
			for i := range c.m {
				for j := range c.n {
					want := int32(le.LittleEndian.Uint32(add[4*j:]))
					for l := range c.k {
						x, y := a[i*c.k+l], b[l*c.n+j]
						if c.left {
							x = a[l*c.m+i]
						}
						if c.right {
							y = b[j*c.k+l]
						}
						want += number(x) * number(y)
					}
					if at := i*c.n + j; int32(le.LittleEndian.Uint32(got[4*at:])) != want {
						t.Fatalf("element %d %d is %d, want %d", i, j, int32(le.LittleEndian.Uint32(got[4*at:])), want)
					}
				}
			}
		})
	}
}
