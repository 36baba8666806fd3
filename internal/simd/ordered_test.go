package simd

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

func TestScanners(t *testing.T) {
	for op := range ir.Ops {
		for d, f := range Scanners[op] {
			if f == nil {
				continue
			}
			for _, n := range []int{0, 1, 2, 3, 4*scanRun - 1, 4 * scanRun, 8*scanRun + 5} {
				testScanner(t, ir.Op(op), ir.DType(d), f, 1+n%3, n)
			}
		}
	}
}

func testScanner(t *testing.T, op ir.Op, d ir.DType, f Scanner, rows, n int) {
	x, acc, dst := newVector(d, rows*n), newVector(d, rows), newVector(d, rows*n)
	for i := range rows * n {
		v := int64(random.IntN(5) - 2)
		if op == ir.Mul {
			v = int64(random.IntN(2)*2 - 1)
		}
		x.set(i, ir.Int(d, v))
	}
	want := make([]ir.Number, rows)
	for r := range want {
		want[r] = ir.Identity(op, d)
		acc.set(r, want[r])
	}
	f(dst.p(), acc.p(), x.p(), rows, n)
	for r := range rows {
		for i := range n {
			want[r] = define(op, d, want[r], x.get(r*n+i))
			if got := dst.get(r*n + i); !same(d, got, want[r], lastBit) {
				t.Fatalf("Scan by %v of %v: element %d of row %d, of %d, is %s, want %s", op, d, i, r, n, got.Text(d), want[r].Text(d))
			}
		}
		if got := acc.get(r); !same(d, got, want[r], lastBit) {
			t.Fatalf("Scan by %v of %v: %s is left of a row of %d, want %s", op, d, got.Text(d), n, want[r].Text(d))
		}
	}
	if !dst.intact() || !acc.intact() || !x.intact() {
		t.Fatalf("Scan by %v of %v of %d wrote outside", op, d, n)
	}
}

// Every type that Scan and Sort take has routines.
func TestOrderedTables(t *testing.T) {
	for _, d := range compute {
		for _, op := range []ir.Op{ir.Add, ir.Mul, ir.Max, ir.Min} {
			if got, want := Scanners[op][d] != nil, ir.Table[ir.Scan].Types.Has(d); got != want {
				t.Errorf("internal/simd/table.go: a routine for %v of %v: %v, want %v", op, d, got, want)
			}
		}
		if got, want := Keys[d] != nil, ir.Table[ir.Sort].Types.Has(d); got != want {
			t.Errorf("internal/simd/table.go: keys of %v: %v, want %v", d, got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	for d, key := range Keys {
		if key == nil {
			continue
		}
		d := ir.DType(d)
		x := randomVector(d, 200)
		low, high := make([]uint64, 200), make([]uint64, 200)
		key(low, x.p(), 7)
		if KeysHigh[d] != nil {
			KeysHigh[d](high, x.p(), 7)
		}
		for i := range low {
			if uint32(low[i]) != uint32(7+i) {
				t.Fatalf("%v: pair %d has position %d", d, i, uint32(low[i]))
			}
			for j := range i {
				want := int(define(ir.Lt, d, x.get(j), x.get(i))) - int(define(ir.Lt, d, x.get(i), x.get(j)))
				got := cmp.Or(cmp.Compare(high[i]>>32, high[j]>>32), cmp.Compare(low[i]>>32, low[j]>>32))
				if got != want {
					t.Fatalf("the keys of %v %s and %s compare as %d, want %d", d, x.get(i).Text(d), x.get(j).Text(d), got, want)
				}
			}
		}
	}
}

func TestSortPairs(t *testing.T) {
	for _, most := range []int64{3, 1000, math.MaxUint32} {
		for _, n := range []int{0, 1, 2, shortRow, shortRow + 1, 5000} {
			pairs := make([]uint64, n)
			for i := range pairs {
				pairs[i] = uint64(random.Int64N(most))<<32 | uint64(i)
			}
			want := slices.Sorted(slices.Values(pairs))
			for _, k := range []int{0, 1, 10, n} {
				k = min(k, n)
				least := Least(make([]uint64, 0, k), pairs)
				slices.Sort(least)
				if !slices.Equal(least, want[:k]) {
					t.Fatalf("the least %d of %d: %v, want %v", k, n, least, want[:k])
				}
			}
			if got := SortPairs(pairs, make([]uint64, n)); !slices.Equal(got, want) {
				t.Fatalf("%d pairs are not sorted", n)
			}
		}
	}
}

func TestBuckets(t *testing.T) {
	for _, most := range []int64{1, 3, 1000, math.MaxUint32} {
		pairs := make([]uint64, 5000)
		for i := range pairs {
			pairs[i] = uint64(random.Int64N(most))<<32 | uint64(i)
		}
		// The range covers a part of the pairs: others are beyond its ends.
		b := NewBuckets(slices.Min(pairs[:100]), slices.Max(pairs[:100]))
		var next [BucketCount]int
		b.Count(&next, pairs)
		at := 0
		starts := make([]int, 0, BucketCount+1)
		for i, c := range next {
			starts = append(starts, at)
			next[i] = at
			at += c
		}
		moved := make([]uint64, len(pairs))
		b.Move(moved, pairs, &next)
		for i, from := range starts {
			bucket := moved[from:next[i]]
			if !slices.IsSortedFunc(bucket, func(p, q uint64) int { return cmp.Compare(uint32(p), uint32(q)) }) {
				t.Fatalf("keys up to %d: bucket %d is not in the order of positions", most, i)
			}
			slices.Sort(bucket)
		}
		if !slices.Equal(moved, slices.Sorted(slices.Values(pairs))) {
			t.Errorf("keys up to %d: sorted buckets are not in order", most)
		}
	}
}

func TestFalsePositions(t *testing.T) {
	for n := range lengths {
		for _, dense := range []bool{true, false} {
			x := randomVector(ir.Bool, n)
			var want []int32
			for i := range n {
				if !dense && i%19 != 0 {
					x.set(i, 1)
				}
				if x.get(i) == 0 {
					want = append(want, int32(5+i))
				}
			}
			dst := make([]int32, n+1)
			if got := dst[:FalsePositions(dst, x.p(), n, 5)]; !slices.Equal(got, want) {
				t.Fatalf("positions %v, want %v", got, want)
			}
			if got := CountFalse(x.p(), n); got != len(want) {
				t.Fatalf("%d false elements, want %d", got, len(want))
			}
		}
	}
}
