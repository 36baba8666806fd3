package simd_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/internal/blocks"
	"github.com/tensorken/tensorken/internal/simd"
)

// fix returns numbers in fixed point.
func fix(a []float32) []byte {
	y := make([]byte, simd.FixedBytes(len(a))+64)
	simd.Fix(unsafe.Pointer(unsafe.SliceData(y)), unsafe.Pointer(unsafe.SliceData(a)), len(a)/32)
	return y
}

// TestFixed compares products of rows in fixed point with sums in float64, within the errors that Fix
// allows.
func TestFixed(t *testing.T) {
	if simd.Fix == nil {
		t.Skip("the level has none")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for name, f := range blocks.Formats {
		dot := simd.BlocksOf(f.DType().Format()).Fixed
		for n := 0; dot != nil && n < 20; n++ {
			testFixed(t, r, name, f, dot, n%6, r.IntN(6), n)
		}
		for rows := 1; dot != nil && rows < 18; rows++ {
			testFixed(t, r, name, f, dot, rows, rows*7%36, 3+r.IntN(8))
		}
	}
}

func testFixed(t *testing.T, r *rand.Rand, name string, f *blocks.Format, dot func(c, a, b, scratch unsafe.Pointer, rows, columns, n, ldc, lda, ldb int), rows, columns, n int) {
	t.Helper()
	const gap = 3
	ldb, lda, ldc := n*f.Bytes+gap, simd.FixedBytes(n*f.Len)+64, columns+2
	a, x := make([]float32, rows*n*f.Len), make([]byte, rows*lda+64)
	b, c := make([]byte, max(0, columns*ldb-gap)), make([]float32, rows*ldc+1)
	for i := range a {
		a[i] = float32(r.NormFloat64() * math.Exp(float64(r.IntN(9))))
	}
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for j := range columns {
		for i := range n {
			boundScales(name, b[j*ldb+i*f.Bytes:][:f.Bytes])
		}
	}
	for i := range c {
		c[i] = 7
	}
	for i := range rows {
		copy(x[i*lda:], fix(a[i*n*f.Len:][:n*f.Len]))
	}
	dot(unsafe.Pointer(&c[0]), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(b)), unsafe.Pointer(unsafe.SliceData(make([]byte, simd.FixedScratch))), rows, columns, n, 4*ldc, lda, ldb)
	y := make([]float32, n*f.Len)
	for j := range columns {
		f.Decode(y, b[j*ldb:][:n*f.Bytes])
		for i := range rows {
			row := a[i*n*f.Len:][:n*f.Len]
			want, bound := 0.0, 1e-30
			for k, w := range y {
				top := float32(0)
				for _, v := range row[k/32*32:][:32] {
					top = max(top, float32(math.Abs(float64(v))))
				}
				want += float64(w) * float64(row[k])
				bound += math.Abs(float64(w))*float64(top)*0x1p-16*1.01 + 4e-6*math.Abs(float64(w)*float64(row[k]))
			}
			if d := math.Abs(float64(c[i*ldc+j]) - want); !(d <= bound) {
				t.Fatalf("%s, row %d of %d, column %d of %d, %d blocks: %v, want %v within %v", name, i, rows, j, columns, n, c[i*ldc+j], want, bound)
			}
		}
	}
	for i, v := range c {
		if (i/ldc >= rows || i%ldc >= columns) && v != 7 {
			t.Fatalf("%s, %d rows, %d columns: writes beyond them", name, rows, columns)
		}
	}
}

// boundScales makes the halves of a block that are scales less than 1.
func boundScales(name string, b []byte) {
	at := map[string][]int{"Q4_1": {0, 2}, "Q5_1": {0, 2}, "Q4_K": {0, 2}, "Q5_K": {0, 2}, "Q6_K": {208}}[name]
	if at == nil {
		at = []int{0}
	}
	for _, i := range at {
		if i+1 < len(b) {
			b[i+1] = b[i+1]&0x83 | 0x30
		}
	}
}

// TestFix compares numbers in fixed point with the numbers.
func TestFix(t *testing.T) {
	if simd.Fix == nil {
		t.Skip("the level has none")
	}
	const n = 5
	a := make([]float32, 32*n)
	for i := range a {
		a[i] = float32(math.Sin(float64(i))) * float32(math.Pow(10, float64(i/32)*15-38))
	}
	clear(a[32:64])
	for _, bad := range []float32{0, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		if bad != 0 {
			a[3*32+17] = bad
		}
		y := fix(a)
		f := unsafe.Slice((*float32)(unsafe.Pointer(&y[(n+1)/2*128])), 4*n)
		for run := range n {
			if run == 3 && bad != 0 {
				if s := float64(f[run]); !math.IsNaN(s) && !math.IsInf(s, 0) {
					t.Errorf("a run with %v has scale %v", bad, s)
				}
				continue
			}
			top, sum := 0.0, [2]float64{}
			for i, v := range a[32*run:][:32] {
				top, sum[i/16] = max(top, math.Abs(float64(v))), sum[i/16]+float64(v)
			}
			for i, v := range a[32*run:][:32] {
				at := run/2*128 + run%2*32 + i
				q := 256*int(int8(y[at])) + int(int8(y[at+64]))
				if d := math.Abs(float64(q)*float64(f[run]) - float64(v)); d > max(1.01*0x1p-16*top, 0x1p-116) {
					t.Fatalf("number %d of run %d, %v, differs by %v; the largest is %v", i, run, v, d, top)
				}
			}
			for i, want := range []float64{sum[0] + sum[1], sum[0], sum[1]} {
				got := f[n+run]
				if i > 0 {
					got = f[2*n+2*run+i-1]
				}
				if d := math.Abs(float64(got) - want); d > max(40*0x1p-16*top, 0x1p-110) {
					t.Fatalf("sum %d of run %d is %v, want %v", i, run, got, want)
				}
			}
		}
	}
}

func BenchmarkFixed(b *testing.B) {
	for _, name := range []string{"Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K"} {
		b.Run(name, func(b *testing.B) {
			f := blocks.Formats[name]
			const columns, depth = 16, 4096
			a, data, c := make([]float32, depth), make([]byte, columns*f.DType().Bytes(depth)), make([]float32, columns)
			x := fix(a)
			dot := simd.BlocksOf(f.DType().Format()).Fixed
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				dot(unsafe.Pointer(&c[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&data[0]), nil, 1, columns, depth/f.Len, 0, 0, len(data)/columns)
			}
		})
	}
	b.Run("Fix", func(b *testing.B) {
		a := make([]float32, 4096)
		b.SetBytes(4 * 4096)
		for b.Loop() {
			fix(a)
		}
	})
	for _, name := range []string{"Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K"} {
		b.Run(name+"float", func(b *testing.B) {
			f := blocks.Formats[name]
			const columns, depth = 16, 4096
			a, data, c := make([]float32, depth), make([]byte, columns*f.DType().Bytes(depth)), make([]float32, columns)
			dot := simd.BlocksOf(f.DType().Format()).Dot
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				dot(unsafe.Pointer(&c[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&data[0]), columns, depth/f.Len, len(data)/columns, 0)
			}
		})
	}
}

// TestFixedProduct compares products of matrices in fixed point with sums in float64, within the errors that
// FixedProduct allows, for tiles of every height and of several widths.
func TestFixedProduct(t *testing.T) {
	p := simd.FixedProduct
	if p.Tile == nil {
		t.Skip("the level has none")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for name, f := range blocks.Formats {
		routines := simd.BlocksOf(f.DType().Format())
		for m := 1; m <= p.Rows && routines.Codes != nil; m++ {
			for _, n := range []int{1, 7, 16, 17, p.Cols, p.Cols + 9} {
				testFixedProduct(t, r, name, f, &routines, m, n, 1+r.IntN(3), r.IntN(2))
			}
		}
	}
}

func testFixedProduct(t *testing.T, r *rand.Rand, name string, f *blocks.Format, routines *simd.Blocks, m, n, runs, add int) {
	t.Helper()
	p := simd.FixedProduct
	k := runs * f.Len
	a, b, c := make([]float32, m*k), make([]byte, n*runs*f.Bytes), make([]float32, m*n)
	for i := range a {
		a[i] = float32(r.NormFloat64() * math.Exp(float64(r.IntN(9))))
	}
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for i := range n * runs {
		boundScales(name, b[i*f.Bytes:][:f.Bytes])
	}
	for i := range c {
		c[i] = r.Float32()
	}
	was := append([]float32(nil), c...)
	left := make([]byte, p.Packing.Bytes(k, m))
	lda := p.Packing.Left(unsafe.Pointer(&left[0]), unsafe.Pointer(&a[0]), m, k, k)
	bytes, scratch := simd.FixedBytesOf(n, k)
	right := make([]byte, bytes+scratch)
	ldb := routines.PackFixed(unsafe.Pointer(&right[0]), unsafe.Pointer(&right[bytes]), n, k, f.Len, runs*f.Bytes, func(j int) unsafe.Pointer {
		return unsafe.Pointer(&b[j*runs*f.Bytes])
	})
	depth := p.Depth(k)
	for j := 0; j < n; j += p.Cols {
		sums := unsafe.Pointer(&c[j])
		if add == 0 {
			sums = nil
		}
		p.Tile(unsafe.Pointer(&c[j]), unsafe.Pointer(&left[0]), unsafe.Pointer(&right[j*depth*4]), m, min(p.Cols, n-j), depth, n, lda, 1, ldb, sums, n*4, 0, 0)
	}
	y := make([]float32, k)
	for j := range n {
		f.Decode(y, b[j*runs*f.Bytes:][:runs*f.Bytes])
		for i := range m {
			want, bound := float64(add)*float64(was[i*n+j]), 1e-6
			for d, w := range y {
				top := float32(0)
				for _, v := range a[i*k+d/32*32:][:32] {
					top = max(top, float32(math.Abs(float64(v))))
				}
				want += float64(w) * float64(a[i*k+d])
				bound += math.Abs(float64(w))*float64(top)*0x1p-16*1.01 + 4e-6*math.Abs(float64(w)*float64(a[i*k+d]))
			}
			if d := math.Abs(float64(c[i*n+j]) - want); !(d <= bound) {
				t.Fatalf("%s, %d rows by %d columns, %d blocks: element %d,%d is %v, want %v within %v", name, m, n, runs, i, j, c[i*n+j], want, bound)
			}
		}
	}
}

func BenchmarkFixedProduct(b *testing.B) {
	p, f := simd.FixedProduct, blocks.Formats["Q8_0"]
	const m, n, k = 126, 128, 448
	routines := simd.BlocksOf(f.DType().Format())
	a, data, c := make([]float32, m*k), make([]byte, n*f.DType().Bytes(k)), make([]float32, m*n)
	left := make([]byte, p.Packing.Bytes(k, m))
	bytes, scratch := simd.FixedBytesOf(n, k)
	right := make([]byte, bytes+scratch)
	lda := p.Packing.Left(unsafe.Pointer(&left[0]), unsafe.Pointer(&a[0]), m, k, k)
	pack := func() {
		routines.PackFixed(unsafe.Pointer(&right[0]), unsafe.Pointer(&right[bytes]), n, k, f.Len, len(data)/n, func(j int) unsafe.Pointer {
			return unsafe.Pointer(&data[j*len(data)/n])
		})
	}
	pack()
	rate := func(b *testing.B, flops float64) {
		b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	}
	b.Run("tile", func(b *testing.B) {
		depth := p.Depth(k)
		for b.Loop() {
			for i := 0; i < m; i += p.Rows {
				for j := 0; j < n; j += p.Cols {
					p.Tile(unsafe.Pointer(&c[i*n+j]), unsafe.Pointer(&left[i*lda*4]), unsafe.Pointer(&right[j*depth*4]), p.Rows, p.Cols, depth, n, lda, 1, 0, nil, 0, 0, 0)
				}
			}
		}
		rate(b, 2*m*n*k)
	})
	b.Run("left", func(b *testing.B) {
		for b.Loop() {
			p.Packing.Left(unsafe.Pointer(&left[0]), unsafe.Pointer(&a[0]), m, k, k)
		}
		rate(b, m*k)
	})
	b.Run("right", func(b *testing.B) {
		for b.Loop() {
			pack()
		}
		rate(b, n*k)
	})
}
