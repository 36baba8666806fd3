package schedule

import (
	le "encoding/binary" // binary is a function here
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// A product by heads and tails is that of floats where these are infinite, no numbers or near
// the greatest, and their products overflow.
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
	for _, tile := range slices.Concat(measuredH200.floats[:1], measuredH200.sharedFloats) {
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
				t.Fatalf("tile %d×%d: (%d, %d) is %g, want %g", tile.m, tile.n, i/n, i%n, x, want)
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

// Products in TF32 have its precision, and are those of numbers that have its bits.
func TestTF32(t *testing.T) {
	for _, tile := range slices.Concat(measuredH200.rounded[:1], measuredH200.sharedRounded[:1]) {
		testTF32(t, tile)
	}
}

func testTF32(t *testing.T, tile tile) {
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

// Each eight threads that follow each other find their vectors in different banks of shared
// memory, of 16 bytes each: those that read a tile of warps, and those that write one, or one in
// lines of 64, in either direction.
func TestBanks(t *testing.T) {
	const threads = 128
	f := &factorTile{side: &side{}, block: 128}
	id := shader.ThreadID
	across := func(alongK bool, n int) *tileLoad { // n blocks in the direction of lines
		f.alongK = alongK
		return &tileLoad{q: id.Rem(n), u: id.Div(n)}
	}
	load := across(true, 4)
	aside := across(false, 32)
	for name, at := range map[string]func() *shader.Expr{
		"readers":                func() *shader.Expr { return vectorOf(f, id.Div(8), id.And(3), id.Div(4).And(1)) },
		"writers, depth":         func() *shader.Expr { return vectorOf(f, load.u, load.q, u32(0)) },
		"writers, side":          func() *shader.Expr { return vectorOf(f, aside.q, aside.u, u32(1)) },
		"writers, lines, depth":  func() *shader.Expr { return lineAt(f, across(true, 8)) },
		"writers, lines, side":   func() *shader.Expr { return lineAt(f, across(false, 16)) },
		"writers, lines, narrow": func() *shader.Expr { return lineAt(f, across(false, 8)) },
		"results":                func() *shader.Expr { return resultAt(id.Div(4), id.And(3), 16) },
		"results, two rows":      func() *shader.Expr { return resultAt(id.Div(4).Mul(2).Plus(1), id.And(3), 16) },
		"results, readers":       func() *shader.Expr { return resultAt(id.Div(16), id.And(15), 16) },
		"halves":                 func() *shader.Expr { return halvesAt(id, u32(3), 8) },
		"halves, readers":        func() *shader.Expr { return halvesAt(id.Div(8), id.And(7), 8) },
		"writers, floats, depth": func() *shader.Expr { return vectorOfFloats(f, across(true, 2), 1) },
		"writers, floats, side":  func() *shader.Expr { return vectorOfFloats(f, across(false, 16), 3) },
	} {
		out := &shader.Buffer{Name: "out", Type: ir.Uint32, Write: true}
		body := &shader.Block{}
		body.Do(&shader.Store{Buffer: out, Index: id, Values: []*shader.Expr{at()}})
		p := &shader.Program{Passes: []*shader.Pass{{Threads: threads, Grid: [3]int{1, 1, 1}, Body: body, Buffers: []*shader.Buffer{out}}}}
		data := make([]byte, 4*threads)
		if err := simt.Compile(p).Run([]simt.Arg{{Data: data}}); err != nil {
			t.Fatal(err)
		}
		for first := 0; first < threads; first += 8 {
			banks := map[uint32]bool{}
			for i := range 8 {
				banks[le.LittleEndian.Uint32(data[4*(first+i):])%8] = true
			}
			if len(banks) != 8 {
				t.Errorf("%s: threads %d to %d meet in %d banks", name, first, first+7, len(banks))
			}
		}
	}
}
