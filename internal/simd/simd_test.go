package simd

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// Every elementwise operation has a routine for every type in its row of ir.Table.
func TestTables(t *testing.T) {
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		row := ir.Table[op]
		for _, d := range compute {
			want := row.Types.Has(d)
			var got bool
			switch {
			case op == ir.Where:
				m := Wheres[d]
				got = m.VV != nil && m.VS != nil && m.SV != nil && m.SS != nil
			case op == ir.Cast:
				got = true
				for _, to := range compute {
					got = got && Casts[d][to] != nil
				}
			case op == ir.Bitcast:
				got = Copies[d.Size()] != nil
			case op == ir.Threefry:
				got = d == ir.Uint32
			case op == ir.Sum && d.SumType() != d:
				got = Casts[d][d.SumType()] != nil
			case op == ir.ArgMax:
				got = ArgMaxes[d].Along != nil && ArgMaxes[d].Across != nil && ArgMaxes[d].Merge != nil
			case op == ir.Scatter:
				got = true
				for _, kind := range []ir.Op{ir.Add, ir.Mul, ir.Max, ir.Min, ir.Copy} {
					got = got && (Scatterers[kind][d] != nil) == ir.Table[kind].Types.Has(d)
				}
			case row.Class == ir.Reduction:
				got = Reductions[op][d].Along != nil && Reductions[op][d].Across != nil
			case row.Class == ir.Elementwise && row.Arity == 1:
				got = Unaries[op][d] != nil
			case row.Class == ir.Elementwise && row.Arity == 2:
				got = Binaries[op][d].VV != nil
			default:
				continue
			}
			if op == ir.Sum && d != ir.Int8 {
				got = got && (Products[d].Tile != nil) == (d.SumType() == d)
			}
			if got != want {
				t.Errorf("internal/simd/table.go, with functions of floats in internal/simd/math.go: routines for %v of %v: %v, want %v", op, d, got, want)
			}
		}
	}
}

// lengths are those that a routine is tested with.
const lengths = 100

func TestUnary(t *testing.T) {
	for op := range ir.Ops {
		for d, f := range Unaries[op] {
			if f != nil {
				testUnary(t, ir.Op(op), ir.DType(d), f)
			}
		}
	}
}

func testUnary(t *testing.T, op ir.Op, d ir.DType, f Unary) {
	for n := range lengths {
		x := randomVector(d, n)
		for _, inPlace := range []bool{false, true} {
			arg := x.clone()
			dst := arg
			if !inPlace {
				dst = newVector(d, n)
			}
			f(dst.p(), arg.p(), n)
			for i := range n {
				if got, want := dst.get(i), define(op, d, x.get(i)); !same(d, got, want, free[op]) {
					t.Fatalf("%v of %v %s = %s, want %s (element %d of %d)", op, d, x.get(i).Text(d), got.Text(d), want.Text(d), i, n)
				}
			}
			if !dst.intact() || !arg.intact() {
				t.Fatalf("%v of %d %v wrote outside", op, n, d)
			}
		}
	}
}

func TestBinary(t *testing.T) {
	for op := range ir.Ops {
		for d, m := range Binaries[op] {
			for mode, f := range []Binary{m.VV, m.VS, m.SV} {
				if f != nil {
					testBinary(t, ir.Op(op), ir.DType(d), mode, f)
				}
			}
		}
	}
}

func testBinary(t *testing.T, op ir.Op, d ir.DType, mode int, f Binary) {
	to := op.ResultDType(0, d)
	for n := range lengths {
		if testing.Short() && n > 40 && n%13 != 0 {
			continue
		}
		x, y := randomVector(d, n), randomVector(d, n)
		if mode == 1 {
			y = randomVector(d, 1)
		}
		if mode == 2 {
			x = randomVector(d, 1)
		}
		for place := range 3 { // apart, over x, over y
			a, b := x.clone(), y.clone()
			dst := newVector(to, n)
			if to.Size() == d.Size() && place == 1 && mode != 2 {
				dst = a
				dst.typ = to
			}
			if to.Size() == d.Size() && place == 2 && mode != 1 {
				dst = b
				dst.typ = to
			}
			f(dst.p(), a.p(), b.p(), n)
			for i := range n {
				p, q := x.get(i*once(mode != 2)), y.get(i*once(mode != 1))
				if got, want := dst.get(i), define(op, d, p, q); !same(to, got, want, free[op]) {
					t.Fatalf("%v of %v %s, %s = %s, want %s (mode %d, element %d of %d)", op, d, p.Text(d), q.Text(d), got.Text(to), want.Text(to), mode, i, n)
				}
			}
			if !dst.intact() || !a.intact() || !b.intact() {
				t.Fatalf("%v of %d %v wrote outside", op, n, d)
			}
		}
	}
}

// once returns the step of an operand: 1 for vectors, 0 for scalars.
func once(run bool) int { return int(is(run)) }

func TestWhere(t *testing.T) {
	for d, m := range Wheres {
		for mode, f := range []Ternary{m.VV, m.VS, m.SV, m.SS} {
			if f == nil {
				continue
			}
			d := ir.DType(d)
			for n := range lengths {
				c, x, y, dst := randomVector(ir.Bool, n), randomVector(d, n), randomVector(d, n), newVector(d, n)
				if mode&1 == 1 {
					y = randomVector(d, 1)
				}
				if mode&2 == 2 {
					x = randomVector(d, 1)
				}
				f(dst.p(), c.p(), x.p(), y.p(), n)
				for i := range n {
					want := y.get(i * once(mode&1 == 0))
					if c.get(i) != 0 {
						want = x.get(i * once(mode&2 == 0))
					}
					if got := dst.get(i); !same(d, got, want, slack{}) {
						t.Fatalf("Where of %v = %s, want %s (mode %d, element %d of %d)", d, got.Text(d), want.Text(d), mode, i, n)
					}
				}
				if !dst.intact() {
					t.Fatalf("Where of %d %v wrote outside", n, d)
				}
			}
		}
	}
}

func TestCast(t *testing.T) {
	for from := range Casts {
		for to, f := range Casts[from] {
			if f == nil {
				continue
			}
			from, to := ir.DType(from), ir.DType(to)
			for n := range lengths {
				x, dst := randomVector(from, n), newVector(to, n)
				f(dst.p(), x.p(), n)
				for i := range n {
					if got, want := dst.get(i), x.get(i).Convert(from, to); !same(to, got, want, slack{}) {
						t.Fatalf("Cast of %v %s to %v = %s, want %s", from, x.get(i).Text(from), to, got.Text(to), want.Text(to))
					}
				}
				if !dst.intact() {
					t.Fatalf("Cast of %d %v to %v wrote outside", n, from, to)
				}
			}
		}
	}
}

// The known answers of Random123 (kat_vectors, threefry2x32, 20 rounds).
func TestThreefry(t *testing.T) {
	const ones = math.MaxUint32
	known := [][6]uint32{
		{0, 0, 0, 0, 0x6b200159, 0x99ba4efe},
		{ones, ones, ones, ones, 0x1cb996fc, 0xbb002be7},
		{0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3, 0xc4923a9c, 0x483df7a0},
	}
	for n := range lengths {
		var v [5]*vector
		for i := range v {
			v[i] = newVector(ir.Uint32, n)
			for j := range n {
				v[i].set(j, ir.Number(known[j%3][i]))
			}
		}
		Threefry(v[4].p(), v[0].p(), v[1].p(), v[2].p(), v[3].p(), n)
		for j := range n {
			k := known[j%3]
			if got, want := v[4].get(j), ir.Number(k[4]^k[5]); got != want {
				t.Fatalf("Threefry(%#x) = %#x, want %#x", k[:4], got, want)
			}
		}
		if !v[4].intact() {
			t.Fatalf("Threefry of %d wrote outside", n)
		}
	}
}

func TestReductions(t *testing.T) {
	for op := range ir.Ops {
		for d, r := range Reductions[op] {
			if r.Acc == 0 {
				continue
			}
			for n := range lengths {
				testReduction(t, ir.Op(op), ir.DType(d), r, 1+n%5, n)
				testReduction(t, ir.Op(op), ir.DType(d), r, n%23, 3)
			}
			testReduction(t, ir.Op(op), ir.DType(d), r, 2, 1000)
		}
	}
}

func TestWideSums(t *testing.T) {
	for d, r := range WideSums {
		if r.Acc == 0 {
			continue
		}
		for n := range lengths {
			testReduction(t, ir.Sum, ir.DType(d), r, 1+n%5, n)
			testReduction(t, ir.Sum, ir.DType(d), r, n%23, 3)
		}
		testReduction(t, ir.Sum, ir.DType(d), r, 2, 1000)
		const long = 3<<20 + 5
		x, acc := newVector(ir.DType(d), long), newVector(ir.Int64, 1)
		lo, hi := ir.Limits(ir.DType(d))
		for _, v := range []ir.Number{lo, hi, lo + 0xffff, hi - 0xffff} {
			for i := range long {
				x.set(i, v)
			}
			acc.set(0, 7)
			r.Along(acc.p(), x.p(), 1, long)
			if got, want := int64(acc.get(0)), 7+long*int64(v); got != want {
				t.Errorf("7 and %d times %d of %v are %d, want %d", long, int64(v), ir.DType(d), got, want)
			}
		}
	}
}

func testReduction(t *testing.T, op ir.Op, d ir.DType, r Reduction, rows, n int) {
	binary := map[ir.Op]ir.Op{ir.Sum: ir.Add, ir.Prod: ir.Mul, ir.ReduceMax: ir.Max}[op]
	x := newVector(d, rows*n)
	for i := range rows * n {
		x.set(i, ir.Int(d, int64(random.IntN(5)-2)))
		if random.IntN(500) == 0 {
			x.set(i, randomNumber(d))
		}
	}
	for _, along := range []bool{true, false} {
		accs := rows
		if !along {
			accs = n
		}
		acc := newVector(r.Acc, accs)
		want := make([]ir.Number, accs)
		for i := range want {
			want[i] = ir.Identity(op, r.Acc)
			acc.set(i, want[i])
		}
		for i := range rows * n {
			at := i % max(n, 1)
			if along {
				at = i / max(n, 1)
			}
			want[at] = define(binary, r.Acc, want[at], x.get(i).Convert(d, r.Acc))
		}
		if along {
			r.Along(acc.p(), x.p(), rows, n)
		} else {
			r.Across(acc.p(), x.p(), rows, n)
		}
		for i, w := range want {
			got := acc.get(i)
			ok := same(r.Acc, got, w, lastBit)
			if d == ir.Float32 || d == ir.Float64 {
				g, w := got.Float64(r.Acc), w.Float64(r.Acc)
				ok = ok || math.Abs(g-w) <= 1e-6*math.Abs(w)+1e-6 || math.Abs(w) > 1e9 // large numbers cancel
			}
			if !ok {
				t.Fatalf("%v of %d × %d %v (along: %v) = %s, want %s", op, rows, n, d, along, got.Text(r.Acc), w.Text(r.Acc))
			}
		}
		if !acc.intact() {
			t.Fatalf("%v of %d × %d %v wrote outside", op, rows, n, d)
		}
	}
}

func TestArgMax(t *testing.T) {
	for d, r := range ArgMaxes {
		if r.Along == nil {
			continue
		}
		for n := range 40 {
			for rows := range 5 {
				testArgMax(t, ir.DType(d), r, rows, n)
			}
		}
	}
}

// testArgMax accumulates two halves of a matrix, in sequence and merged.
func testArgMax(t *testing.T, d ir.DType, r ArgMax, rows, n int) {
	x := newVector(d, 2*rows*n)
	for i := range x.n {
		x.set(i, ir.Int(d, int64(random.IntN(4)-2)))
		if d.IsFloat() && random.IntN(10) == 0 {
			x.set(i, ir.Float(d, []float64{math.NaN(), math.Inf(-1)}[random.IntN(2)]))
		}
	}
	second := x.at(rows * n)
	for _, along := range []bool{true, false} {
		accs, count := rows, n
		if !along {
			accs, count = n, rows
		}
		start := func() (val, pos *vector) {
			val, pos = newVector(d, accs), newVector(ir.Int32, accs)
			for i := range accs {
				pos.set(i, ir.Int(ir.Int32, -1))
			}
			return val, pos
		}
		f := r.Across
		if along {
			f = r.Along
		}
		val, pos := start()
		f(val.p(), pos.p(), x.p(), rows, n, 0)
		val2, pos2 := val.clone(), pos.clone()
		f(val.p(), pos.p(), second, rows, n, count)
		val3, pos3 := start()
		f(val3.p(), pos3.p(), second, rows, n, count)
		r.Merge(val2.p(), pos2.p(), val3.p(), pos3.p(), accs)
		for a := range accs {
			want := -1
			var best ir.Number
			for i := range 2 * count {
				e := i/max(count, 1)*rows*n + i%count*n + a
				if along {
					e = i/max(count, 1)*rows*n + a*n + i%count
				}
				v := x.get(e)
				if want < 0 || best.Less(d, v) || math.IsNaN(v.Float64(d)) && !math.IsNaN(best.Float64(d)) {
					want, best = i, v
				}
			}
			if p, q := int64(pos.get(a)), int64(pos2.get(a)); p != int64(want) || q != int64(want) {
				t.Fatalf("ArgMax of %v, along %v: %d, merged %d, want %d", d, along, p, q, want)
			}
		}
		if !val.intact() || !pos.intact() || !val2.intact() || !pos2.intact() {
			t.Fatalf("ArgMax of %d × %d %v wrote outside", rows, n, d)
		}
	}
}

func TestMove(t *testing.T) {
	for _, d := range []ir.DType{ir.Uint8, ir.Float16, ir.Int32, ir.Int64} {
		times := 3000
		if testing.Short() {
			times = 1000
		}
		for range times {
			n0, n1 := random.IntN(40), random.IntN(40)
			s0, s1 := random.IntN(9)-4, random.IntN(9)-4
			switch random.IntN(5) {
			case 2:
				s0, s1 = 2*n1-random.IntN(2), 2
			case 0:
				s0, s1 = 1, n0+random.IntN(3)
			case 1:
				s0, s1 = n1, 1
			}
			// Either the inner or the outer loop of dst has the small stride.
			d0, d1 := max(n1, 1)+random.IntN(3), 1
			if random.IntN(3) == 0 {
				d0, d1 = 1+random.IntN(2), 0
				d1 = d0 * max(n0, 1)
			}
			reach := func(n, s int) (lo, hi int) {
				e := max(n-1, 0) * s
				return min(e, 0), max(e, 0)
			}
			lo0, hi0 := reach(n0, s0)
			lo1, hi1 := reach(n1, s1)
			src := randomVector(d, hi0+hi1-lo0-lo1+1)
			dst := newVector(d, max(n0-1, 0)*d0+max(n1-1, 0)*d1+1)
			want := dst.clone()
			for i := range n0 {
				for j := range n1 {
					want.set(i*d0+j*d1, src.get(i*s0+j*s1-lo0-lo1))
				}
			}
			for _, place := range []string{"", " at the end of a page"} {
				if place != "" {
					src, dst, want = onPage(t, src), onPage(t, dst), onPage(t, want)
				}
				Movers[d.Size()](dst.p(), src.at(-lo0-lo1), n0, d0, s0, n1, d1, s1)
				if string(dst.data) != string(want.data) {
					t.Fatalf("move of %v, %d by %d and %d, %d by %d and %d%s, is wrong", d, n0, d0, s0, n1, d1, s1, place)
				}
			}
		}
	}
}

func TestFill(t *testing.T) {
	for n := range lengths {
		v, x := newVector(ir.Int32, n), randomVector(ir.Int32, 1)
		Fill(v.p(), x.p(), 4, n)
		w := newVector(ir.Int32, n)
		Iota(w.p(), -3, n)
		for i := range n {
			if v.get(i) != x.get(0) || int64(w.get(i)) != int64(i-3) {
				t.Fatalf("Fill, Iota of %d: element %d = %d, %d, want %d, %d", n, i, v.get(i), w.get(i), x.get(0), i-3)
			}
		}
		if !v.intact() || !w.intact() {
			t.Fatalf("Fill or Iota of %d wrote outside", n)
		}
	}
}

// indices returns numbers in [0, limit); a few may be out of range.
func indices(n, limit int) *vector {
	v := newVector(ir.Int64, n)
	for i := range n {
		v.set(i, ir.Int(ir.Int64, int64(random.IntN(limit))))
		if random.IntN(100) == 0 {
			v.set(i, ir.Int(ir.Int64, []int64{-1, int64(limit), math.MaxInt64, math.MinInt64}[random.IntN(4)]))
		}
	}
	return v
}

func TestGather(t *testing.T) {
	for _, d := range []ir.DType{ir.Uint8, ir.Float16, ir.Int32, ir.Int64} {
		for n := range lengths {
			const limit, stride = 7, 5
			s, k, step := random.IntN(3), 1+random.IntN(2), 1+random.IntN(2)
			src := randomVector(d, 2+n*s+limit*stride)
			idx := indices(n*k, limit)
			dst := newVector(d, n*step)
			want := dst.clone()
			stop := n
			for i := range n {
				v := int64(idx.get(i * k))
				if v < 0 || v >= limit {
					stop = i
					break
				}
				want.set(i*step, src.get(2+i*s+int(v)*stride))
			}
			got := Gatherers[d.Size()](dst.p(), src.p(), idx.p(), n, step, 2, s, k, stride, limit)
			if got != stop || string(dst.data) != string(want.data) {
				t.Fatalf("gather of %d %v stopped at %d, want %d, or is wrong", n, d, got, stop)
			}
		}
	}
}

func TestScatter(t *testing.T) {
	for op := range ir.Ops {
		for d, f := range Scatterers[op] {
			if f == nil {
				continue
			}
			op, d := ir.Op(op), ir.DType(d)
			r := d.ComputeType()
			for n := range lengths {
				const limit, stride = 7, 5
				s, k := random.IntN(3), random.IntN(2)
				idx := indices(1+n*k, limit)
				x := randomVector(r, n)
				dst := randomVector(d, 2+n*s+limit*stride)
				want := dst.clone()
				stop := n
				for i := range n {
					v := int64(idx.get(i * k))
					if v < 0 || v >= limit {
						stop = i
						break
					}
					at := 2 + i*s + int(v)*stride
					want.set(at, define(op, r, want.get(at).Convert(d, r), x.get(i)).Convert(r, d))
				}
				if got := f(dst.p(), x.p(), idx.p(), n, 2, s, k, stride, limit); got != stop {
					t.Fatalf("scatter of %d %v stopped at %d, want %d", n, d, got, stop)
				}
				for i := range dst.n {
					if got, want := dst.get(i), want.get(i); !same(d, got, want, slack{}) {
						t.Fatalf("scatter by %v of %d %v: element %d = %s, want %s", op, n, d, i, got.Text(d), want.Text(d))
					}
				}
				if !dst.intact() {
					t.Fatalf("scatter of %d %v wrote outside", n, d)
				}
			}
		}
	}
}
