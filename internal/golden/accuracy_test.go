package golden

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/tensor"
)

// An accuracyRow is a function, or several of the same arguments, of which docs/accuracy.md
// has the greatest error.
type accuracyRow struct {
	name string
	at   *points
	of   func(x, y tensor.Tensor) tensor.Tensor
	one  bool // errors count as of a result of at least 1
}

// points are arguments.
type points struct {
	text string
	x, y []float32
}

// patterns returns n numbers from lo to hi, equally many in each power of two: their bits
// have equal distances.
func patterns(lo, hi float32, n int) []float32 {
	first, last := order(lo), order(hi)
	x := make([]float32, n)
	for i := range x {
		x[i] = ordered32(first + (last-first)*int64(i)/int64(n-1))
	}
	return x
}

// order numbers float32 in their order; ordered32 is its inverse.
func order(x float32) int64 {
	b := int64(math.Float32bits(x))
	if b>>31 == 1 {
		return 1<<31 - b
	}
	return b
}

func ordered32(i int64) float32 {
	if i < 0 {
		return -math.Float32frombits(uint32(-i))
	}
	return math.Float32frombits(uint32(i))
}

// crossed returns pairs of each number with others.
func crossed(text string, x, y []float32) *points {
	p := &points{text: text}
	for i := range x {
		for k := range y {
			p.x, p.y = append(p.x, x[i]), append(p.y, y[k])
		}
	}
	return p
}

func accuracyRows() []accuracyRow {
	type T = tensor.Tensor
	inf := float32(math.Inf(1))
	const n = 1 << 16
	line := func(text string, lo, hi float32) *points { x := patterns(lo, hi, n); return &points{text, x, x} }
	all, above := line("all", -inf, inf), line("above 0", 0x1p-126, inf)
	unit, from1, gamma := line("-1 to 1", -1, 1), line("above 1", 1, inf), line("0 to 10³⁶", 0x1p-126, 1e36)
	angle := line("-100 to 100", -100, 100)
	some := patterns(-inf, inf, 1<<8+1)
	pairs := crossed("all pairs", some, some)
	powers := crossed("0 to 10 to the -10 to 10", patterns(0x1p-10, 10, 1<<8), patterns(-10, 10, 1<<8))
	// Evenly spread numbers, 2¹⁶ and 2²⁰ of them.
	even, many := fractions(1<<16), fractions(1<<20)
	square := func(x T) T { return x.Reshape(256, 256) }
	f := func(g func(T) T) func(x, y T) T { return func(x, _ T) T { return g(x) } }
	g := func(h func(x T, o tensor.Operand) T) func(x, y T) T { return func(x, y T) T { return h(x, y) } }
	return []accuracyRow{
		{"Exp", all, f(T.Exp), false}, {"Exp2", all, f(T.Exp2), false}, {"Expm1", all, f(T.Expm1), false},
		{"Log", above, f(T.Log), false}, {"Log2", above, f(T.Log2), false}, {"Log10", above, f(T.Log10), false},
		{"Log1p", line("above -1", -1, inf), f(T.Log1p), false},
		{"Sqrt", above, f(T.Sqrt), false}, {"Rsqrt", above, f(T.Rsqrt), false}, {"Reciprocal", all, f(T.Reciprocal), false},
		{"Sin", angle, f(T.Sin), false}, {"Cos", angle, f(T.Cos), false}, {"Tan", angle, f(T.Tan), false},
		{"Asin", unit, f(T.Asin), false}, {"Acos", unit, f(T.Acos), false}, {"Atan", all, f(T.Atan), false},
		{"Sinh", all, f(T.Sinh), false}, {"Cosh", all, f(T.Cosh), false}, {"Tanh", all, f(T.Tanh), false},
		{"Asinh", all, f(T.Asinh), false}, {"Acosh", from1, f(T.Acosh), false}, {"Atanh", unit, f(T.Atanh), false},
		{"Erf", all, f(T.Erf), false}, {"Erfc", all, f(T.Erfc), false}, {"ErfInv", unit, f(T.ErfInv), false},
		{"Lgamma", gamma, f(T.Lgamma), false}, {"Digamma", gamma, f(T.Digamma), true},
		{"Sinc", line("-20 to 20", -20, 20), f(T.Sinc), false}, {"Logit", line("0 to 1", 0x1p-126, 1), f(T.Logit), true},
		{"Sigmoid", all, f(T.Sigmoid), false}, {"LogSigmoid", all, f(T.LogSigmoid), false}, {"Softplus", all, f(T.Softplus), false},
		{"SiLU", line("-80 to 10³⁰", -80, 1e30), f(T.SiLU), false}, {"Mish", line("-80 to 10³⁰", -80, 1e30), f(T.Mish), false},
		{"GELU", line("-10³⁰ to 10³⁰", -1e30, 1e30), f(T.GELU), false}, {"ELU", all, f(func(x T) T { return x.ELU(1) }), false},
		{"Softsign", all, f(T.Softsign), false},
		{"Div", pairs, g(T.Div), false}, {"Rem", pairs, g(T.Rem), false}, {"Atan2", pairs, g(T.Atan2), false},
		{"Hypot", pairs, g(T.Hypot), false}, {"Pow", powers, g(T.Pow), false}, {"LogAddExp", pairs, g(T.LogAddExp), true},
		{"Sum", many, func(x, _ T) T { return x.Sum().Reshape(1) }, false},
		{"SumOfColumns", many, func(x, _ T) T { return x.Reshape(1<<14, 64).Sum(0).Reshape(64) }, false},
		{"Mean", many, func(x, _ T) T { return x.Mean().Reshape(1) }, false},
		{"CumSum", many, func(x, _ T) T { return x.CumSum(0) }, false},
		{"LogSumExp", even, func(x, _ T) T { return square(x).LogSumExp(1).Reshape(256) }, false},
		{"Softmax", even, func(x, _ T) T { return square(x).Softmax(1).Reshape(1 << 16) }, false},
		{"MatMul", even, func(x, y T) T { return square(x).MatMul(square(y).T()).Reshape(1 << 16) }, false},
	}
}

// fractions returns n pairs of numbers between 0 and 1.
func fractions(n int) *points {
	p := &points{text: fmt.Sprintf("%d from 0 to 1", n)}
	for i := range n {
		part := func(step float64) float32 { _, f := math.Modf(float64(i+1) * step); return float32(f) }
		p.x, p.y = append(p.x, part(math.Phi)), append(p.y, part(math.Sqrt2))
	}
	return p
}

// ulps returns the error of a result in units in the last place of the exact one: infinite
// for a NaN, an infinity or a finite number that is wrong. It is 0 for numbers that a GPU
// may take for 0.
func (r *accuracyRow) ulps(got float32, want float64) float64 {
	g, size := float64(got), math.Abs(want)
	if r.one {
		size = max(size, 1)
	}
	switch {
	case g == want || g != g && want != want, size < 0x1p-126 && math.Abs(g) <= 0x1p-126:
		return 0
	case size >= math.MaxFloat32*(1-0x1p-20): // rounding decides
		if g*want > 0 && math.Abs(g) >= math.MaxFloat32*(1-0x1p-18) {
			return 0
		}
		return math.Inf(1)
	case g != g || want != want || math.IsInf(g, 0):
		return math.Inf(1)
	}
	_, e := math.Frexp(size)
	return math.Abs(g-want) / math.Ldexp(1, e-24)
}

const accuracyHead = `# Accuracy

The greatest errors of functions of float32, in units in the last place (ulp) of the exact
result: half a unit is the least that rounding allows. They are those of about 65,000
arguments, as many in each power of two, and of no subnormal numbers. The GPU is one in
software, Mesa's lavapipe; others may add a unit or two. The exact results are those of
float64, which other tests compare with package math. Where the result of a function with a
star is small, as near its zeros, errors are in units of 1. The last rows are sums of positive
numbers: of all, of 64 columns, of all before, of rows of 256, and a product of matrices of 256
rows and columns. Sums add parts first, so that their errors hardly grow with the length; those
of products of matrices grow with the depth.

` + "`go test ./internal/golden -run Accuracy`" + ` fails if a figure gets worse; with -update it
raises those of the device that TENSORKEN_DEVICE names. The CPU's are the greatest of all levels
of instructions, which TENSORKEN_SIMD names.

| function | arguments | CPU | GPU |
|---|---|---|---|
`

var accuracyLine = regexp.MustCompile("(?m)^\\| `(\\w+)`\\*? \\| [^|]* \\| ([0-9.]+|-) \\| ([0-9.]+|-) \\|$")

// TestAccuracy fails for a function with a greater error than docs/accuracy.md says.
func TestAccuracy(t *testing.T) {
	const page = "../../docs/accuracy.md"
	d, _, _ := openDevice(t)
	column := 0
	if d != tensor.CPU() {
		column = 1
		if !strings.Contains(d.String(), "llvmpipe") {
			t.Skipf("the figures are not those of %v", d)
		}
	}
	old := map[string][2]string{}
	for _, m := range accuracyLine.FindAllStringSubmatch(existing(t, page), -1) {
		old[m[1]] = [2]string{m[2], m[3]}
	}
	var text strings.Builder
	text.WriteString(accuracyHead)
	measured := map[string]float64{}
	message := map[string]string{}
	for _, r := range accuracyRows() {
		worst, where := r.measure(t, d)
		measured[r.name] = worst
		message[r.name] = where
		figures, star := old[r.name], ""
		if r.one {
			star = "*"
		}
		if most, err := strconv.ParseFloat(figures[column], 64); err != nil || worst > most {
			figures[column] = strconv.FormatFloat(math.Ceil(10*worst)/10, 'f', 1, 64)
		}
		for i := range figures {
			if figures[i] == "" {
				figures[i] = "-"
			}
		}
		fmt.Fprintf(&text, "| `%s`%s | %s | %s | %s |\n", r.name, star, r.at.text, figures[0], figures[1])
	}
	listed := accuracyLine.FindAllStringSubmatch(goldentext.Read(t, page, text.String()), -1)
	if len(listed) != len(measured) {
		t.Errorf("%s has %d rows, want %d: run the test with -update", page, len(listed), len(measured))
	}
	for _, m := range listed {
		most, err := strconv.ParseFloat(m[2+column], 64)
		if got, ok := measured[m[1]]; err != nil || !ok || !(got <= most) {
			t.Errorf("%s is off by %.3f ulp, %s; %s has %s", m[1], got, message[m[1]], page, m[2+column])
		}
	}
}

// existing returns the text of a file, which -update need not have written yet.
func existing(t *testing.T, name string) string {
	b, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// measure returns the greatest error of a function on a device, and a text that says where.
func (r *accuracyRow) measure(t *testing.T, d *tensor.Device) (worst float64, where string) {
	x, y := tensor.New(r.at.x), tensor.New(r.at.y)
	got, err := tensor.Data[float32](r.of(x.To(d), y.To(d)))
	if err != nil {
		t.Fatal(err)
	}
	want, err := tensor.Data[float64](r.of(x.Cast(tensor.Float64), y.Cast(tensor.Float64)))
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if off := r.ulps(got[i], w); off > worst {
			worst, where = off, fmt.Sprintf("of (%v, %v): %v, want %v", r.at.x[i], r.at.y[i], got[i], w)
		}
	}
	return worst, where
}
