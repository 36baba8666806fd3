package simd

import (
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// TestTwins compares the routines in assembly with those in Go, for lengths of up to four
// registers and one element, before pages that may not be touched.
func TestTwins(t *testing.T) {
	if Level != "go" {
		t.Skip("the tables have no Go routines") // TestLevels runs this test at level go
	}
	unaries, binaries, wheres, casts, reductions := Unaries, Binaries, Wheres, Casts, Reductions
	argMaxes, random, set, products, dots, tiles := ArgMaxes, Threefry, fills, Products, Dots, DotTiles
	rows, blocks, prefetch := moveRows, transposers, Prefetch
	defer func() {
		Unaries, Binaries, Wheres, Casts, Reductions = unaries, binaries, wheres, casts, reductions
		ArgMaxes, Threefry, fills, Products, Dots, DotTiles = argMaxes, random, set, products, dots, tiles
		moveRows, transposers, Prefetch = rows, blocks, prefetch
		Level = "go"
	}()
	for _, level := range Levels()[:len(Levels())-1] {
		use(level)
		for op := range Unaries {
			for d, f := range Unaries[op] {
				compareUnary(t, ir.Op(op), ir.DType(d), ir.DType(d), f, unaries[op][d])
			}
		}
		for from := range Casts {
			for to, f := range Casts[from] {
				compareUnary(t, ir.Cast, ir.DType(from), ir.DType(to), f, casts[from][to])
			}
		}
		for op := range Binaries {
			for d, m := range Binaries[op] {
				twin := binaries[op][d]
				for mode, f := range [][2]Binary{{m.VV, twin.VV}, {m.VS, twin.VS}, {m.SV, twin.SV}} {
					compareBinary(t, ir.Op(op), ir.DType(d), mode, f[0], f[1])
				}
			}
		}
		for d, m := range Wheres {
			twin := wheres[d]
			for mode, f := range [][2]Ternary{{m.VV, twin.VV}, {m.VS, twin.VS}, {m.SV, twin.SV}, {m.SS, twin.SS}} {
				compareWhere(t, ir.DType(d), mode, f[0], f[1])
			}
		}
		for op := range Reductions {
			for d, r := range Reductions[op] {
				compareReduction(t, ir.Op(op), ir.DType(d), r, reductions[op][d])
			}
		}
		compareThreefry(t)
	}
}

// twinLengths is one more than the greatest length that routines of a type are tested with.
func twinLengths(d ir.DType) int { return 4*64/d.Size() + 2 }

func compareUnary(t *testing.T, op ir.Op, from, to ir.DType, f, twin Unary) {
	if f == nil {
		return
	}
	for n := range twinLengths(from) {
		x := randomVector(from, n)
		want := newVector(to, n)
		twin(want.p(), x.p(), n)
		dst := pageVector(t, to, n)
		f(dst.p(), onPage(t, x).p(), n)
		compareVectors(t, op, dst, want, x)
		if from == to { // in place
			x = onPage(t, x)
			f(x.p(), x.p(), n)
			compareVectors(t, op, x, want)
		}
	}
}

func compareBinary(t *testing.T, op ir.Op, d ir.DType, mode int, f, twin Binary) {
	if f == nil || twin == nil {
		return
	}
	to := op.ResultDType(0, d)
	for n := range twinLengths(d) {
		lens := [3][2]int{{n, n}, {n, 1}, {1, n}}[mode]
		x, y := randomVector(d, lens[0]), randomVector(d, lens[1])
		want := newVector(to, n)
		twin(want.p(), x.p(), y.p(), n)
		dst := pageVector(t, to, n)
		f(dst.p(), onPage(t, x).p(), onPage(t, y).p(), n)
		compareVectors(t, op, dst, want, x, y)
	}
}

func compareWhere(t *testing.T, d ir.DType, mode int, f, twin Ternary) {
	if f == nil {
		return
	}
	for n := range twinLengths(d) {
		lens := [4][2]int{{n, n}, {n, 1}, {1, n}, {1, 1}}[mode]
		c, x, y := randomVector(ir.Bool, n), randomVector(d, lens[0]), randomVector(d, lens[1])
		want := newVector(d, n)
		twin(want.p(), c.p(), x.p(), y.p(), n)
		dst := pageVector(t, d, n)
		f(dst.p(), onPage(t, c).p(), onPage(t, x).p(), onPage(t, y).p(), n)
		compareVectors(t, ir.Where, dst, want, c, x, y)
	}
}

// compareReduction reduces one row of many elements, two rows, and many rows.
func compareReduction(t *testing.T, op ir.Op, d ir.DType, r, twin Reduction) {
	if r.Acc == 0 {
		return
	}
	sets := [][2]int{{2, 1000}, {1, 5000}, {1000, 3}, {23, 100}}
	for n := range twinLengths(d) {
		sets = append(sets, [2]int{1, n}, [2]int{2, n}, [2]int{n % 19, n})
	}
	for _, set := range sets {
		rows, n := set[0], set[1]
		x := newVector(d, rows*n)
		for i := range x.n {
			x.set(i, ir.Int(d, int64(random.IntN(9)-4)))
			if random.IntN(100) == 0 && op == ir.ReduceMax {
				x.set(i, randomNumber(d))
			}
		}
		for accs, f := range map[int][2]func(acc, x unsafe.Pointer, rows, n int){rows: {r.Along, twin.Along}, n: {r.Across, twin.Across}} {
			want := newVector(r.Acc, accs)
			for i := range accs {
				want.set(i, ir.Identity(op, r.Acc))
			}
			got := onPage(t, want)
			f[0](got.p(), onPage(t, x).p(), rows, n)
			f[1](want.p(), x.p(), rows, n)
			compareVectors(t, op, got, want)
		}
	}
}

func compareThreefry(t *testing.T) {
	for n := range twinLengths(ir.Uint32) {
		var x, p [4]*vector
		for i := range x {
			x[i] = randomVector(ir.Uint32, n)
			p[i] = onPage(t, x[i])
		}
		want := newVector(ir.Uint32, n)
		threefry(want.p(), x[0].p(), x[1].p(), x[2].p(), x[3].p(), n)
		Threefry(p[3].p(), p[0].p(), p[1].p(), p[2].p(), p[3].p(), n)
		compareVectors(t, ir.Threefry, p[3], want)
	}
}

func compareVectors(t *testing.T, op ir.Op, got, want *vector, args ...*vector) {
	t.Helper()
	for i := range want.n {
		if g, w := got.get(i), want.get(i); !same(want.typ, g, w, free[op]) {
			var texts []string
			for _, a := range args {
				texts = append(texts, a.get(min(i, a.n-1)).Text(a.typ))
			}
			t.Fatalf("%v %v of %v gives %s, want %s (element %d of %d)", op, want.typ, texts, g.Text(want.typ), w.Text(want.typ), i, want.n)
		}
	}
	for i, b := range unsafe.Slice(&got.data[0], guard) {
		if b != guardByte {
			t.Fatalf("%v of %d %v wrote %d bytes before", op, want.n, want.typ, guard-i)
		}
	}
}
