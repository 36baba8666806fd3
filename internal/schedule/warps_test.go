package schedule

import (
	le "encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader/simt"
)

// A product by heads and tails equals the product of floats where these are infinite, NaN or
// near the greatest, and their products overflow.
func TestWarpsRepair(t *testing.T) {
	const m, n, k = 40, 36, 50
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	a, b := make([]float32, m*k), make([]float32, k*n)
	for i := range a {
		a[i] = float32(i%7) - 3
	}
	for i := range b {
		b[i] = float32(i%5) - 2
	}
	a[3*k+4], a[5*k+6], a[7*k], a[9*k+1] = inf, -inf, nan, math.MaxFloat32
	b[1*n+2], b[9*n+3], b[8*n+35] = 1, inf, 2e38
	want := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for l := range k {
				want[i*n+j] += float64(a[i*k+l]) * float64(b[l*n+j])
			}
		}
	}
	for _, tile := range slices.Concat(tiles.MeasuredH200.Floats[:1], tiles.MeasuredH200.SharedFloats) {
		args := []simt.Arg{{Data: floats(a)}, {Data: floats(b)}, {Data: make([]byte, 4*n)}, {Data: make([]byte, 4*m*n)}}
		p := byTile(t, dense(1, m, n, k, f32, false), tile, 1)
		if err := simt.Compile(p).Run(args); err != nil {
			t.Fatal(err)
		}
		for i, want := range want {
			x := math.Float32frombits(le.LittleEndian.Uint32(args[3].Data[4*i:]))
			want = max(want, 0)
			if math.IsNaN(want) != math.IsNaN(float64(x)) || math.Abs(want) <= math.MaxFloat32 && math.Abs(float64(x)-want) > 1e-5*(100+math.Abs(want)) ||
				want > math.MaxFloat32 && !math.IsInf(float64(x), 1) {
				t.Fatalf("tile %d×%d: (%d, %d) is %g, want %g", tile.M, tile.N, i/n, i%n, x, want)
			}
		}
	}
}

// floats is the memory of numbers.
func floats(x []float32) (b []byte) {
	for _, f := range x {
		b = le.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// Products in TF32 have its precision, and are exact for numbers of so few bits.
func TestTF32(t *testing.T) {
	for _, tile := range slices.Concat(tiles.MeasuredH200.Rounded[:1], tiles.MeasuredH200.SharedRounded[:1]) {
		testTF32(t, tile)
	}
}

func testTF32(t *testing.T, tile tiles.Tile) {
	const m, n, k = 70, 40, 90
	p := byTile(t, dense(1, m, n, k, f32, true), tile, 1)
	for _, bits := range []uint32{0x7fc00000, 0x7fffffff, 0xffffffff} { // NaN stays NaN
		a := make([]float32, m*k)
		a[0] = math.Float32frombits(bits)
		args := []simt.Arg{{Data: floats(a)}, {Data: floats(make([]float32, n*k))}, {Data: make([]byte, 4*n)}, {Data: make([]byte, 4*m*n)}}
		if err := simt.Compile(p).Run(args); err != nil {
			t.Fatal(err)
		}
		if x := math.Float32frombits(le.LittleEndian.Uint32(args[3].Data)); x == x {
			t.Errorf("%08x gives %g, want NaN", bits, x)
		}
	}
	for _, step := range []float32{1, 1.0 / 3} {
		a, b := make([]float32, m*k), make([]float32, n*k)
		for i := range a {
			a[i] = step * (float32(i%31) - 15)
		}
		for i := range b {
			b[i] = step * (float32(i%23) - 11)
		}
		args := []simt.Arg{{Data: floats(a)}, {Data: floats(b)}, {Data: make([]byte, 4*n)}, {Data: make([]byte, 4*m*n)}}
		if err := simt.Compile(p).Run(args); err != nil {
			t.Fatal(err)
		}
		exact := true
		for i := range m * n {
			want, size := 0.0, 0.0
			for l := range k {
				x := float64(a[i/n*k+l]) * float64(b[i%n*k+l])
				want, size = want+x, size+math.Abs(x)
			}
			want = max(want, 0)
			got := float64(math.Float32frombits(le.LittleEndian.Uint32(args[3].Data[4*i:])))
			exact = exact && got == want
			if math.Abs(got-want) > size/512 {
				t.Fatalf("(%d, %d) is %g, want %g", i/n, i%n, got, want)
			}
		}
		if exact != (step == 1) {
			t.Errorf("numbers in steps of %g: results are exact: %v", step, exact)
		}
	}
}
