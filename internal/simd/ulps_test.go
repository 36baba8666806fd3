package simd

import (
	"flag"
	"math"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

var stepFlag = flag.Int("step", 4099, "TestUlps tests one float32 of so many; 1 for all 2³²")

// step is the flag, or more in short tests.
func step() int {
	if testing.Short() {
		return 4**stepFlag + 1
	}
	return *stepFlag
}

// ulps are bounds of the errors of functions of float32, in units in the last place of
// the exact result. The comments give the greatest of all 2³² numbers with assembly, measured
// at level avx2; see TestBits. Of one number in 1031, the twins' are at most 0.67.
var ulps = []struct {
	op    ir.Op
	exact func(float64) float64
	most  float64
}{
	{ir.Exp, math.Exp, 1},       // 0.927
	{ir.Expm1, math.Expm1, 1.6}, // 1.439
	{ir.Log, math.Log, 1},       // 0.923
	{ir.Log1p, math.Log1p, 1.6}, // 1.523
	{ir.Log2, log264, 1},        // 0.860 of one number in 1031
	{ir.Sin, math.Sin, 1},       // 0.878
	{ir.Cos, math.Cos, 1},       // 0.884
	{ir.Atan, math.Atan, 1.6},   // 1.346
	{ir.Tanh, math.Tanh, 1},     // 0.949
	{ir.Erf, math.Erf, 1},       // 0.986
	{ir.Erfc, math.Erfc, 4},     // 3.888
}

func TestUlps(t *testing.T) {
	for _, c := range ulps {
		worst, at := worstUlps(Unaries[c.op][ir.Float32], c.exact)
		t.Logf("%v at level %s: %.3f ulp, at %v", c.op, Level, worst, at)
		if worst > c.most {
			t.Errorf("%v of %v at level %s is off by %.3f ulp", c.op, at, Level, worst)
		}
	}
}

// worstUlps returns the greatest error of a function, and where.
func worstUlps(f Unary, exact func(float64) float64) (worst float64, at float32) {
	const block = 1 << 12
	workers, step := runtime.GOMAXPROCS(0), step()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for w := range workers {
		wg.Go(func() {
			x, y := make([]float32, block), make([]float32, block)
			var most float64
			var where float32
			for first := w * block * step; first < 1<<32; first += workers * block * step {
				for i := range x {
					x[i] = math.Float32frombits(uint32(min(first+i*step, math.MaxUint32)))
				}
				f(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), block)
				for i, v := range x {
					if e := ulpsOff(y[i], exact(float64(v))); e > most {
						most, where = e, v
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if most > worst {
				worst, at = most, where
			}
		})
	}
	wg.Wait()
	return worst, at
}

// ulpsOff is the error of a result in units in the last place: infinite for a NaN, an
// infinity or the sign of a zero that is wrong.
func ulpsOff(got float32, want float64) float64 {
	w := float32(want)
	switch {
	case got == w && (w != 0 || math.Signbit(float64(got)) == math.Signbit(want)) && math.IsInf(want, 0), got != got && w != w:
		return 0
	case got != got || w != w || got == 0 && w == 0 && math.Signbit(float64(got)) != math.Signbit(want):
		return math.Inf(1)
	case math.IsInf(float64(got), 0) || math.IsInf(float64(w), 0):
		// Near the largest number rounding decides.
		if got == w {
			return 0
		}
		return math.Inf(1)
	}
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}
