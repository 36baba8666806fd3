package simd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// reach64 is the greatest number whose sine and cosine assembly computes.
const reach64 = 1 << 30

// ulps64 are bounds of the errors of functions of float64 in assembly, in units in the last
// place of the exact result. The comments give the greatest of a million numbers: a third each
// in the range, about 0, and of random bits, measured at level avx2; see TestBits.
var ulps64 = []struct {
	op     ir.Op
	exact  func(*big.Float) *big.Float
	plain  func(float64) float64 // special values
	most   float64
	lo, hi float64
}{
	{ir.Exp, bigExp, exp64, 1.1, -745, 709},        // 1.000
	{ir.Expm1, bigExpm1, math.Expm1, 1.6, -40, 40}, // 1.487
	{ir.Log, bigLog, math.Log, 1, 0, 10},           // 0.794
	{ir.Log1p, bigLog1p, math.Log1p, 1.1, -1, 10},  // 0.978
	{ir.Log2, bigLog2, log264, 1, 0, 10},           // 0.671 of 100,000
	{ir.Sin, bigSin, math.Sin, 1, -1e6, 1e6},       // 0.822
	{ir.Cos, bigCos, math.Cos, 1, -1e6, 1e6},       // 0.857
	{ir.Tanh, bigTanh, math.Tanh, 1.6, -20, 20},    // 1.470
	{ir.Erf, bigErf, math.Erf, 1.3, -6, 6},         // 1.176
	{ir.Erfc, bigErfc, math.Erfc, 4, -6, 27.3},     // 3.669
}

func TestUlps64(t *testing.T) {
	if Level == "go" {
		t.Skip("the twins are functions of package math")
	}
	circular := func(op ir.Op) bool { return op == ir.Sin || op == ir.Cos }
	n := max(200, 100_000/step())
	r := rand.New(rand.NewPCG(5, 6))
	special := []float64{0, 1, 0.5, 2, 6, 20, 26.5, 27.2, 27.3, 40, 0x1p-54, 0x1p-55, 0x1p-1022, 0x1p-1060, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(1), math.NaN(),
		math.Ln2 / 2, math.Ln2, math.Sqrt2, math.Sqrt2 / 2, 709.78, 709.782712893384, 709.79, 708.4, 745.13, 745.14,
		math.Pi / 4, math.Pi / 2, math.Pi, 1e6, reach64, math.Nextafter(reach64, 1e10), 1e10, 1e300}
	for _, c := range ulps64 {
		f := Unaries[c.op][ir.Float64]
		var x []float64
		for _, v := range special {
			if !circular(c.op) || v < 1e18 {
				x = append(x, v, -v)
			}
		}
		for range n {
			bits := r.Uint64()
			if circular(c.op) {
				bits &^= 1 << 62 // no large numbers, which the Go twin computes
			}
			x = append(x, c.lo+(c.hi-c.lo)*r.Float64(), r.NormFloat64(), math.Float64frombits(bits))
		}
		y := make([]float64, len(x))
		f(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), len(x))
		var worst, at float64
		for i, v := range x {
			if e := ulps64Off(y[i], v, c.exact, c.plain); e > worst {
				worst, at = e, v
			}
		}
		t.Logf("%v of float64 at level %s: %.3f ulp, at %v", c.op, Level, worst, at)
		if worst > c.most {
			t.Errorf("%v of float64 %v at level %s is off by %.3f ulp", c.op, at, Level, worst)
		}
	}
}

// ulps64Off is the error of a result in units in the last place: infinite for a NaN, an
// infinity or the sign of a zero that is wrong.
func ulps64Off(got, x float64, exact func(*big.Float) *big.Float, plain func(float64) float64) float64 {
	want := plain(x)
	if want != want || want == 0 || math.IsInf(want, 0) || math.Abs(want) == 1 || want == 2 {
		if got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want {
			return 0
		}
		if want != want || got != got || math.IsInf(x, 0) || math.IsInf(want, 0) && math.Abs(x) <= 1 {
			return math.Inf(1)
		}
	}
	e := exact(new(big.Float).SetPrec(bigBits).SetFloat64(x))
	d, _ := new(big.Float).Sub(e, big.NewFloat(got)).Float64()
	return math.Abs(d) / math.Ldexp(1, max(e.MantExp(nil)-53, -1074))
}

// TestPow64Ulps: powers of float64 in assembly are off by at most 1.000 ulp in a sample of
// 300,000, at level avx2; powers of special values are as in C99.
func TestPow64Ulps(t *testing.T) {
	if testing.Short() {
		t.Skip("compares with big numbers")
	}
	if Level == "go" {
		t.Skip("the twin is math.Pow")
	}
	special := []float64{0, 0.5, 1, 1.5, 2, 3, 1e-310, 1e300, 1<<53 - 1, 1 << 53, 0x1p-1022, math.SmallestNonzeroFloat64, math.Nextafter(1, 0), math.Nextafter(1, 2), math.MaxFloat64, math.Inf(1), math.NaN()}
	var xs, ys []float64
	for _, x := range special {
		for _, y := range special {
			xs, ys = append(xs, x, -x, x, -x), append(ys, y, y, -y, -y)
		}
	}
	r := rand.New(rand.NewPCG(7, 8))
	for range max(300, 100_000/step()) {
		x, y := math.Float64frombits(r.Uint64()&^(1<<63)), r.NormFloat64()
		xs, ys = append(xs, r.Float64()*10, x, 1+r.NormFloat64()/1e3), append(ys, r.Float64()*600-300, y, r.NormFloat64()*1e5)
	}
	got := make([]float64, len(xs))
	Binaries[ir.Pow][ir.Float64].VV(unsafe.Pointer(&got[0]), unsafe.Pointer(&xs[0]), unsafe.Pointer(&ys[0]), len(xs))
	var worst float64
	for i, v := range got {
		x, y, want := xs[i], ys[i], math.Pow(xs[i], ys[i])
		if want != want || want == 0 || math.IsInf(want, 0) || math.Abs(x) == 1 || y == 0 {
			near := want == 0 && math.Abs(v) == math.SmallestNonzeroFloat64 || math.IsInf(want, 0) && math.Abs(v) == math.MaxFloat64
			if !near && (v != want && (v == v || want == want) || math.Signbit(v) != math.Signbit(want) && v == v) {
				t.Errorf("level %s: pow(%v, %v) = %v, want %v", Level, x, y, v, want)
			}
			continue
		}
		e := bigExp(bigMul(new(big.Float).SetPrec(bigBits).SetFloat64(y), bigLog(new(big.Float).SetPrec(bigBits).SetFloat64(math.Abs(x)))))
		if want < 0 {
			e.Neg(e)
		}
		d, _ := bigSub(e, new(big.Float).SetPrec(bigBits).SetFloat64(v)).Float64()
		off := math.Abs(d) / math.Ldexp(1, max(e.MantExp(nil)-53, -1074))
		if worst = max(worst, off); !(off <= 1.1) {
			t.Errorf("level %s: pow(%v, %v) = %v is off by %.3f ulp", Level, x, y, v, off)
		}
	}
	t.Logf("Pow of float64 at level %s: %.3f ulp", Level, worst)
}
