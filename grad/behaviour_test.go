package grad_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// The values in this file come from the original Tensorken, where it is right. It
// differentiates functions of any number of elements, which means a cotangent, or a
// tangent, of ones.

type function = func(tensor.Tensor) tensor.Tensor

// pullOnes is the function that pulls ones back through f.
func pullOnes(f function) function {
	return func(x tensor.Tensor) tensor.Tensor {
		y, pull := grad.VJP(f, x)
		return pull(tensor.OnesLike(y))
	}
}

// pushOnes is the function that pushes ones through f.
func pushOnes(f function) function {
	return func(x tensor.Tensor) tensor.Tensor {
		_, d := grad.JVP(f, x, tensor.OnesLike(x))
		return d
	}
}

// upTo is the numbers from 1 in a matrix.
func upTo(rows, columns int) tensor.Tensor {
	return tensor.Arange(rows*columns).Add(1).Cast(tensor.Float64).Reshape(rows, columns)
}

// checkShaped is check of a tensor with a shape.
func checkShaped(t *testing.T, call string, got tensor.Tensor, shape []int, want ...float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), shape) {
		t.Errorf("%s has shape %v, want %v", call, got.Shape(), shape)
		return
	}
	check(t, call, got, want...)
}

func repeated(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

func mapped(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

func TestElementwiseOfOne(t *testing.T) {
	for _, tt := range []struct {
		name          string
		f             function
		first, second func(x float64) float64
	}{
		{"a constant", func(x tensor.Tensor) tensor.Tensor { return tensor.OnesLike(x) },
			func(x float64) float64 { return 0 }, func(x float64) float64 { return 0 }},
		{"x", func(x tensor.Tensor) tensor.Tensor { return x },
			func(x float64) float64 { return 1 }, func(x float64) float64 { return 0 }},
		{"x+x", func(x tensor.Tensor) tensor.Tensor { return x.Add(x) },
			func(x float64) float64 { return 2 }, func(x float64) float64 { return 0 }},
		{"x·x", func(x tensor.Tensor) tensor.Tensor { return x.Mul(x) },
			func(x float64) float64 { return 2 * x }, func(x float64) float64 { return 2 }},
		{"x-x", func(x tensor.Tensor) tensor.Tensor { return x.Sub(x) },
			func(x float64) float64 { return 0 }, func(x float64) float64 { return 0 }},
		{"x/x", func(x tensor.Tensor) tensor.Tensor { return x.Div(x) },
			func(x float64) float64 { return 0 }, func(x float64) float64 { return 0 }},
		{"x^x", func(x tensor.Tensor) tensor.Tensor { return x.Pow(x) },
			func(x float64) float64 { return math.Pow(x, x) * (1 + math.Log(x)) },
			func(x float64) float64 { return math.Pow(x, x) * (math.Pow(1+math.Log(x), 2) + 1/x) }},
		{"log x", tensor.Tensor.Log,
			func(x float64) float64 { return 1 / x }, func(x float64) float64 { return -1 / (x * x) }},
		{"exp x", tensor.Tensor.Exp, math.Exp, math.Exp},
	} {
		x := upTo(2, 4)
		want := mapped(data(t, x), tt.first)
		checkClose(t, tt.name+", reverse", pullOnes(tt.f)(x), want)
		checkClose(t, tt.name+", forward", pushOnes(tt.f)(x), want)
		x = upTo(2, 2)
		want = mapped(data(t, x), tt.second)
		checkClose(t, tt.name+", twice reverse", pullOnes(pullOnes(tt.f))(x), want)
		checkClose(t, tt.name+", twice forward", pushOnes(pushOnes(tt.f))(x), want)
		checkClose(t, tt.name+", forward over reverse", pushOnes(pullOnes(tt.f))(x), want)
		checkClose(t, tt.name+", reverse over forward", pullOnes(pushOnes(tt.f))(x), want)
	}
}

// checkClose is check of numbers that cancel.
func checkClose(t *testing.T, call string, got tensor.Tensor, want []float64) {
	t.Helper()
	if diff, ok := near(t, got.Reshape(-1), f64(want...)); !ok {
		t.Errorf("%s: got %s", call, diff)
	}
}

func TestReductionsAndMovement(t *testing.T) {
	for _, tt := range []struct {
		name    string
		f       function
		shape   []int // of the result for 1 to 8 in 2 rows
		forward []float64
		reverse []float64
		square  []float64 // second derivative of f(x²) for x from 1 to 4 in 2 rows
	}{
		{"Sum", func(x tensor.Tensor) tensor.Tensor { return x.Sum(0) },
			[]int{1, 4}, repeated(2, 4), repeated(1, 8), repeated(2, 4)},
		{"Sum of all", func(x tensor.Tensor) tensor.Tensor { return x.Sum() },
			[]int{}, repeated(8, 1), repeated(1, 8), repeated(2, 4)},
		{"Max", func(x tensor.Tensor) tensor.Tensor { return x.Max(1) },
			[]int{2, 1}, repeated(1, 2), []float64{0, 0, 0, 1, 0, 0, 0, 1}, []float64{0, 2, 0, 2}},
		{"Reshape", func(x tensor.Tensor) tensor.Tensor { return x.Reshape(-1) },
			[]int{8}, repeated(1, 8), repeated(1, 8), repeated(2, 4)},
		{"Permute", func(x tensor.Tensor) tensor.Tensor { return x.Permute(1, 0) },
			[]int{4, 2}, repeated(1, 8), repeated(1, 8), repeated(2, 4)},
		{"Expand", func(x tensor.Tensor) tensor.Tensor { return x.Unsqueeze(0).Expand(3, x.Dim(0), x.Dim(1)) },
			[]int{3, 2, 4}, repeated(1, 24), repeated(3, 8), repeated(6, 4)},
		{"a crop", func(x tensor.Tensor) tensor.Tensor { return x.Slice(0, 1, tensor.End).Slice(1, 0, 2) },
			[]int{1, 2}, repeated(1, 2), []float64{0, 0, 0, 0, 1, 1, 0, 0}, []float64{0, 0, 2, 2}},
		{"Pad", func(x tensor.Tensor) tensor.Tensor { return x.Pad(1, 1, 0).Pad(0, 0, 1) },
			[]int{3, 5}, []float64{0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0}, repeated(1, 8), repeated(2, 4)},
		{"Flip", func(x tensor.Tensor) tensor.Tensor { return x.Flip(0, 1) },
			[]int{2, 4}, repeated(1, 8), repeated(1, 8), repeated(2, 4)},
	} {
		x := upTo(2, 4)
		checkShaped(t, tt.name+", forward", pushOnes(tt.f)(x), tt.shape, tt.forward...)
		checkShaped(t, tt.name+", reverse", pullOnes(tt.f)(x), []int{2, 4}, tt.reverse...)
		x = upTo(2, 2)
		square := func(x tensor.Tensor) tensor.Tensor { return tt.f(x.Square()) }
		checkShaped(t, tt.name+" twice, reverse", pullOnes(pullOnes(tt.f))(x), []int{2, 2}, repeated(0, 4)...)
		checkShaped(t, tt.name+" twice, of squares, reverse", pullOnes(pullOnes(square))(x), []int{2, 2}, tt.square...)
		checkShaped(t, tt.name+" twice, of squares, forward over reverse", pushOnes(pullOnes(square))(x), []int{2, 2}, tt.square...)
		checkShaped(t, tt.name+" twice, of squares, reverse over forward", pullOnes(pushOnes(square))(x), []int{2, 2}, tt.square...)
		twice := pushOnes(pushOnes(square))(x)
		check(t, tt.name+" twice, of squares, forward", twice, data(t, tt.f(tensor.Full(2, 2, 2).Cast(tensor.Float64)))...)
	}
}

func TestElementwiseOfTwo(t *testing.T) {
	type number = func(a, b float64) float64
	constant := func(v float64) number { return func(a, b float64) float64 { return v } }
	at := [2]tensor.Tensor{f64(1, 2, 3, 4, -3, -2).Reshape(2, 3), f64(4, 5, 6, 7, -6, -5).Reshape(2, 3)}
	for _, tt := range []struct {
		name   string
		f      func(a, b tensor.Tensor) tensor.Tensor
		first  [2]number
		second [2][2]number
	}{
		{"a+b", func(a, b tensor.Tensor) tensor.Tensor { return a.Add(b) },
			[2]number{constant(1), constant(1)},
			[2][2]number{{constant(0), constant(0)}, {constant(0), constant(0)}}},
		{"a-b", func(a, b tensor.Tensor) tensor.Tensor { return a.Sub(b) },
			[2]number{constant(1), constant(-1)},
			[2][2]number{{constant(0), constant(0)}, {constant(0), constant(0)}}},
		{"a·b", func(a, b tensor.Tensor) tensor.Tensor { return a.Mul(b) },
			[2]number{func(a, b float64) float64 { return b }, func(a, b float64) float64 { return a }},
			[2][2]number{{constant(0), constant(1)}, {constant(1), constant(0)}}},
		{"a/b", func(a, b tensor.Tensor) tensor.Tensor { return a.Div(b) },
			[2]number{func(a, b float64) float64 { return 1 / b }, func(a, b float64) float64 { return -a / (b * b) }},
			[2][2]number{
				{constant(0), func(a, b float64) float64 { return -1 / (b * b) }},
				{func(a, b float64) float64 { return -1 / (b * b) }, func(a, b float64) float64 { return 2 * a / (b * b * b) }}}},
		// The exponent's derivative has the logarithm of a negative base.
		{"a^b", func(a, b tensor.Tensor) tensor.Tensor { return a.Pow(b) },
			[2]number{func(a, b float64) float64 { return b * math.Pow(a, b-1) }, func(a, b float64) float64 { return math.Pow(a, b) * math.Log(a) }},
			[2][2]number{
				{func(a, b float64) float64 { return b * (b - 1) * math.Pow(a, b-2) }, func(a, b float64) float64 { return math.Pow(a, b-1) * (1 + b*math.Log(a)) }},
				{func(a, b float64) float64 { return math.Pow(a, b-1) * (1 + b*math.Log(a)) }, func(a, b float64) float64 { return math.Pow(a, b) * math.Pow(math.Log(a), 2) }}}},
	} {
		want := func(f number) []float64 {
			a, b := data(t, at[0]), data(t, at[1])
			y := make([]float64, len(a))
			for i := range y {
				y[i] = f(a[i], b[i])
			}
			return y
		}
		// by makes of a function of both one of operand i alone, by one mode.
		by := func(mode func(function) function, f func(a, b tensor.Tensor) tensor.Tensor, i int) func(a, b tensor.Tensor) tensor.Tensor {
			if i == 0 {
				return func(a, b tensor.Tensor) tensor.Tensor {
					return mode(func(a tensor.Tensor) tensor.Tensor { return f(a, b) })(a)
				}
			}
			return func(a, b tensor.Tensor) tensor.Tensor {
				return mode(func(b tensor.Tensor) tensor.Tensor { return f(a, b) })(b)
			}
		}
		name := [2]string{"a", "b"}
		for i := range 2 {
			forward, reverse := by(pushOnes, tt.f, i), by(pullOnes, tt.f, i)
			checkClose(t, tt.name+" by "+name[i]+", reverse", reverse(at[0], at[1]), want(tt.first[i]))
			checkClose(t, tt.name+" by "+name[i]+", forward", forward(at[0], at[1]), want(tt.first[i]))
			for j := range 2 {
				call := tt.name + " by " + name[i] + " and " + name[j]
				want := want(tt.second[i][j])
				checkClose(t, call+", reverse", by(pullOnes, reverse, j)(at[0], at[1]), want)
				checkClose(t, call+", forward", by(pushOnes, forward, j)(at[0], at[1]), want)
				checkClose(t, call+", forward over reverse", by(pushOnes, reverse, j)(at[0], at[1]), want)
				checkClose(t, call+", reverse over forward", by(pullOnes, forward, j)(at[0], at[1]), want)
			}
		}
		// Both at once.
		_, pull := grad.VJP(func(p [2]tensor.Tensor) tensor.Tensor { return tt.f(p[0], p[1]) }, at)
		both := pull(tensor.OnesLike(at[0]))
		checkClose(t, tt.name+" by both, a", both[0], want(tt.first[0]))
		checkClose(t, tt.name+" by both, b", both[1], want(tt.first[1]))
		_, d := grad.JVP(func(p [2]tensor.Tensor) tensor.Tensor { return tt.f(p[0], p[1]) }, at, [2]tensor.Tensor{tensor.OnesLike(at[0]), tensor.OnesLike(at[0])})
		checkClose(t, tt.name+" by both, forward", d, want(func(a, b float64) float64 { return tt.first[0](a, b) + tt.first[1](a, b) }))
	}
}

func TestMatMulDerivative(t *testing.T) {
	ab := [2]tensor.Tensor{upTo(2, 3), upTo(3, 2).Add(6)}
	f := func(p [2]tensor.Tensor) tensor.Tensor { return p[0].MatMul(p[1]) }
	y, pull := grad.VJP(f, ab)
	checkShaped(t, "value", y, []int{2, 2}, 58, 64, 139, 154)
	g := pull(upTo(2, 2))
	checkShaped(t, "gradient by a", g[0], []int{2, 3}, 23, 29, 35, 53, 67, 81)
	checkShaped(t, "gradient by b", g[1], []int{3, 2}, 13, 18, 17, 24, 21, 30)
	_, d := grad.JVP(f, ab, [2]tensor.Tensor{upTo(2, 3), {}}) // the product again
	checkShaped(t, "change along a", d, []int{2, 2}, 58, 64, 139, 154)
}

func TestJacobians(t *testing.T) {
	square := func(x tensor.Tensor) tensor.Tensor { return x.Mul(x) }
	rows := func(x tensor.Tensor) tensor.Tensor { return x.Sum(1) }
	for name, jacobian := range map[string]func(function) function{"JacFwd": grad.JacFwd[tensor.Tensor], "JacRev": grad.JacRev[tensor.Tensor]} {
		checkShaped(t, name+" of x²", jacobian(square)(f64(1, 2, 3)), []int{3, 3}, 2, 0, 0, 0, 4, 0, 0, 0, 6)
		checkShaped(t, name+" of x², a matrix", jacobian(square)(upTo(2, 2)), []int{2, 2, 2, 2},
			2, 0, 0, 0, 0, 4, 0, 0, 0, 0, 6, 0, 0, 0, 0, 8)
		checkShaped(t, name+" of sums of rows", jacobian(rows)(upTo(2, 2)), []int{2, 1, 2, 2}, 1, 1, 0, 0, 0, 0, 1, 1)
		checkShaped(t, name+" of a scalar", jacobian(tensor.Tensor.Exp)(f64(0).Reshape()), []int{}, 1)
		checkShaped(t, name+" of nothing", jacobian(square)(f64()), []int{0, 0})
		checkShaped(t, name+" of a constant", jacobian(func(tensor.Tensor) tensor.Tensor { return f64(1, 2) })(f64(1, 2, 3)), []int{2, 3}, 0, 0, 0, 0, 0, 0)
	}
	cubes := func(x tensor.Tensor) tensor.Tensor { return x.Pow(3).Sum() }
	for name, hessian := range map[string]func(function) function{
		"forward over reverse": func(f function) function { return grad.JacFwd(grad.JacRev(f)) },
		"reverse over reverse": func(f function) function { return grad.JacRev(grad.JacRev(f)) },
		"reverse over forward": func(f function) function { return grad.JacRev(grad.JacFwd(f)) },
		"forward over forward": func(f function) function { return grad.JacFwd(grad.JacFwd(f)) },
		"Hessian":              grad.Hessian,
	} {
		checkShaped(t, "Hessian of Σx³, "+name, hessian(cubes)(f64(1, 2)), []int{2, 2}, 6, 0, 0, 12)
		x := upTo(2, 2)
		want := tensor.Eye(4).Cast(tensor.Float64).Mul(x.Reshape(-1)).Mul(6)
		checkShaped(t, "Hessian of Σx³ of a matrix, "+name, hessian(cubes)(x), []int{2, 2, 2, 2}, data(t, want)...)
	}
}

// TestPerturbations nests derivatives of functions that use the variable of
// the outer one.
func TestPerturbations(t *testing.T) {
	x := f64(1, 2)
	modes := map[string]func(function) function{"forward": pushOnes, "reverse": pullOnes}
	for outer, d := range modes {
		for inner, e := range modes {
			call := outer + " over " + inner
			check(t, "d/dx x·d/dy(x+y), "+call, d(func(x tensor.Tensor) tensor.Tensor {
				return x.Mul(e(func(y tensor.Tensor) tensor.Tensor { return x.Add(y) })(f64(5, 5)))
			})(x), 1, 1)
			check(t, "d/dx x·d/dy(x+y) at y=x, "+call, d(func(x tensor.Tensor) tensor.Tensor {
				return x.Mul(e(func(y tensor.Tensor) tensor.Tensor { return x.Add(y) })(x))
			})(x), 1, 1)
			check(t, "d/dx (y ↦ x·y²)' at y=x, "+call, d(func(x tensor.Tensor) tensor.Tensor {
				return e(func(y tensor.Tensor) tensor.Tensor { return x.Mul(y).Mul(y) })(x)
			})(x), 4, 8)
			check(t, "d/dx x·d/dy(x·y) at y=x, "+call, d(func(x tensor.Tensor) tensor.Tensor {
				return x.Mul(e(func(y tensor.Tensor) tensor.Tensor { return x.Mul(y) })(x))
			})(x), 2, 4)
		}
	}
}

// TestUnused is for arguments that the result does not depend on, or that are
// the result.
func TestUnused(t *testing.T) {
	a, b := f64(1, 2), f64(3, 4)
	for _, tt := range []struct {
		name string
		f    func(p [2]tensor.Tensor) tensor.Tensor
		want [2][]float64
	}{
		{"the last is unused", func(p [2]tensor.Tensor) tensor.Tensor { return p[0].Mul(p[0]) }, [2][]float64{{2, 4}, {0, 0}}},
		{"the first is unused", func(p [2]tensor.Tensor) tensor.Tensor { return p[1].Mul(p[1]) }, [2][]float64{{0, 0}, {6, 8}}},
		{"the first is given back", func(p [2]tensor.Tensor) tensor.Tensor { return p[0] }, [2][]float64{{1, 1}, {0, 0}}},
		{"none is used", func([2]tensor.Tensor) tensor.Tensor { return f64(7, 8) }, [2][]float64{{0, 0}, {0, 0}}},
	} {
		y, pull := grad.VJP(tt.f, [2]tensor.Tensor{a, b})
		g := pull(tensor.OnesLike(y))
		check(t, tt.name+": gradient by a", g[0], tt.want[0]...)
		check(t, tt.name+": gradient by b", g[1], tt.want[1]...)
		_, d := grad.JVP(tt.f, [2]tensor.Tensor{a, b}, [2]tensor.Tensor{tensor.OnesLike(a), {}})
		check(t, tt.name+": change along a", d, tt.want[0]...)
		_, d = grad.JVP(tt.f, [2]tensor.Tensor{a, b}, [2]tensor.Tensor{{}, tensor.OnesLike(b)})
		check(t, tt.name+": change along b", d, tt.want[1]...)
		_, d = grad.JVP(tt.f, [2]tensor.Tensor{a, b}, [2]tensor.Tensor{})
		check(t, tt.name+": change along nothing", d, 0, 0)
	}
	check(t, "x₁·x₀", grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.At(1).Mul(x.At(0)) })(a), 2, 1)
	check(t, "Max with a tie", pullOnes(func(x tensor.Tensor) tensor.Tensor { return x.Max(0) })(f64(1, 3, 3, 2)), 0, 0.5, 0.5, 0)
	check(t, "x² at 0, forward", pushOnes(func(x tensor.Tensor) tensor.Tensor { return x.Pow(f64(2, 2)) })(f64(0, -1)), 0, -2)
}
