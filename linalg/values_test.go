package linalg_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/tensor"
)

// eye is the identity for matrices with columns as a has, in its type.
func eye(a tensor.Tensor) tensor.Tensor { return tensor.Eye(a.Dim(-1)).Cast(a.DType()) }

// orthonormal fails the test unless the columns of q are.
func orthonormal(tb testing.TB, what string, q tensor.Tensor, tol float64) {
	tb.Helper()
	near(tb, what, t(q).MatMul(q), eye(q).Expand(t(q).MatMul(q).Shape()...), tol)
}

// definitions check results by the equations that define them.
var definitions = []struct {
	name   string
	shapes [][]int
	check  func(tb testing.TB, a tensor.Tensor, tol float64)
}{
	{"Solve", squareShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		a = regularAll(a)
		b := random(2, a.Dim(-1), 3).Cast(a.DType())
		x := linalg.Solve(a, b)
		near(tb, "a·x", a.MatMul(x), b.Expand(x.Shape()...), tol)
		y := linalg.Solve(a, b.Slice(1, 0, 1).Squeeze(-1))
		near(tb, "of a vector", y, x.Slice(-1, 0, 1).Squeeze(-1), tol)
	}},
	{"SolveTriangular", squareShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		a = regularAll(a)
		b := random(2, a.Dim(-1), 3).Cast(a.DType())
		for _, c := range []struct {
			form linalg.Triangle
			t    tensor.Tensor
		}{
			{linalg.Triangle{}, a.Tril(0)},
			{linalg.Triangle{Upper: true}, a.Triu(0)},
			{linalg.Triangle{Unit: true}, a.Mul(0.1).Tril(-1).Add(eye(a))},
			{linalg.Triangle{Upper: true, Unit: true}, a.Mul(0.1).Triu(1).Add(eye(a))},
		} {
			from := a
			if c.form.Unit {
				from = a.Mul(0.1)
			}
			x := linalg.SolveTriangular(from, b, c.form)
			near(tb, fmt.Sprint(c.form), c.t.MatMul(x), b.Expand(x.Shape()...), tol)
		}
	}},
	{"Inv", squareShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		a = regularAll(a)
		near(tb, "a·Inv(a)", a.MatMul(linalg.Inv(a)), eye(a).Expand(a.Shape()...), tol)
	}},
	{"Cholesky", squareShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		a = positive(a)
		l := linalg.Cholesky(a)
		near(tb, "l·lᵀ", l.MatMul(t(l)), a, tol*10)
		near(tb, "l", l, l.Tril(0), 0)
		b := random(3, a.Dim(-1), 2).Cast(a.DType())
		x := linalg.CholeskySolve(l, b)
		near(tb, "CholeskySolve", a.MatMul(x), b.Expand(x.Shape()...), tol*10)
	}},
	{"LU", allShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		p, l, u := linalg.LU(a)
		near(tb, "p·l·u", p.MatMul(l).MatMul(u), a, tol)
		near(tb, "u", u, u.Triu(0), 0)
		near(tb, "l", l, l.Tril(0), 0)
		near(tb, "diagonal", l.Diag(0), tensor.OnesLike(l.Diag(0)), 0)
		if l.Len() > 0 && l.Abs().Max().Item() > 1 {
			tb.Errorf("l has an element above 1: the pivots are not the greatest")
		}
		orthonormal(tb, "p", p, 0)
	}},
	{"QR", allShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		q, r := linalg.QR(a)
		near(tb, "q·r", q.MatMul(r), a, tol)
		near(tb, "r", r, r.Triu(0), 0)
		orthonormal(tb, "q", q, tol)
	}},
	{"SVD", allShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		u, s, vt := linalg.SVD(a)
		near(tb, "u·s·vt", u.MatMul(s.Unsqueeze(-1).Mul(vt)), a, tol)
		orthonormal(tb, "u", u, tol)
		orthonormal(tb, "v", t(vt), tol)
		near(tb, "SVDVals", linalg.SVDVals(a), s, tol)
		near(tb, "order", s.Sort(-1).Flip(-1), s, 0)
	}},
	{"Eigh", squareShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		w, v := linalg.Eigh(a)
		near(tb, "v·w·vᵀ", v.MatMul(w.Unsqueeze(-1).Mul(t(v))), a.Add(t(a)).Div(2), tol)
		orthonormal(tb, "v", v, tol)
		near(tb, "Eigvalsh", linalg.Eigvalsh(a), w, tol)
		near(tb, "order", w.Sort(-1), w, 0)
	}},
	{"Eig", squareShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		w, v := linalg.Eig(a)
		re, im := w.Re.Unsqueeze(-2), w.Im.Unsqueeze(-2)
		near(tb, "real part", a.MatMul(v.Re), v.Re.Mul(re).Sub(v.Im.Mul(im)), tol)
		near(tb, "imaginary part", a.MatMul(v.Im), v.Re.Mul(im).Add(v.Im.Mul(re)), tol)
		length := v.Re.Square().Add(v.Im.Square()).Sum(-2)
		near(tb, "length", length, tensor.OnesLike(length), tol)
	}},
	{"Det", squareShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		a = moderate(a)
		sign, logAbs := linalg.SlogDet(a)
		near(tb, "sign·exp", sign.Mul(logAbs.Exp()), linalg.Det(a), tol)
		b := moderate(random(8, a.Dim(-1), a.Dim(-1)).Cast(a.DType()))
		near(tb, "of a product", linalg.Det(a.MatMul(b)), linalg.Det(a).Mul(linalg.Det(b)), tol)
	}},
	{"PInv", allShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		if a.Dim(-2) > 3 { // of a lower rank
			a = a.Slice(-2, 0, 2).MatMul(a.Slice(-2, 0, 2).Transpose(-2, -1)).MatMul(a.Slice(-2, 0, 2))
		}
		p := linalg.PInv(a)
		ap, pa := a.MatMul(p), p.MatMul(a)
		near(tb, "a·p·a", ap.MatMul(a), a, tol)
		near(tb, "p·a·p", pa.MatMul(p), p, tol*10)
		near(tb, "a·p", t(ap), ap, tol)
		near(tb, "p·a", t(pa), pa, tol)
		b := random(9, a.Dim(-2), 2).Cast(a.DType())
		near(tb, "LstSq", linalg.LstSq(a, b), p.MatMul(b), tol)
	}},
	{"MatrixPower", squareShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		a = moderate(a).Add(eye(a).Mul(1.5))
		near(tb, "0", linalg.MatrixPower(a, 0), eye(a).Expand(a.Shape()...), 0)
		near(tb, "1", linalg.MatrixPower(a, 1), a, 0)
		near(tb, "7", linalg.MatrixPower(a, 7), a.MatMul(a).MatMul(a).MatMul(a).MatMul(a).MatMul(a).MatMul(a), tol)
		near(tb, "-3", linalg.MatrixPower(a, -3).MatMul(a).MatMul(a).MatMul(a), eye(a).Expand(a.Shape()...), tol*10)
	}},
	{"Expm", squareShapes, func(tb testing.TB, a tensor.Tensor, tol float64) {
		for _, scale := range []float64{0.01, 1, 4} {
			a := moderate(a).Mul(scale)
			near(tb, fmt.Sprint("Expm(a)·Expm(-a), ", scale), linalg.Expm(a).MatMul(linalg.Expm(a.Neg())), eye(a).Expand(a.Shape()...), tol*1e3)
		}
		a = moderate(a)
		sum, term := eye(a).Expand(a.Shape()...), eye(a).Expand(a.Shape()...)
		for k := range 30 {
			term = term.MatMul(a).Div(k + 1)
			sum = sum.Add(term)
		}
		near(tb, "the sum", linalg.Expm(a), sum, tol*10)
	}},
}

var (
	squareShapes = [][]int{{0, 0}, {1, 1}, {5, 5}, {2, 3, 4, 4}, {0, 3, 3}, {3, 0, 0}, {60, 60}}
	allShapes    = append(squareShapes[:len(squareShapes):len(squareShapes)], []int{7, 3}, []int{3, 7}, []int{1, 5}, []int{5, 1}, []int{0, 4}, []int{4, 0}, []int{2, 70, 30}, []int{30, 70})
)

// regularAll is a, of matrices of any size, far from singular.
func regularAll(a tensor.Tensor) tensor.Tensor {
	return a.Add(eye(a).Mul(float64(a.Dim(-1)) + 1))
}

// moderate is a with eigenvalues of up to about 1.
func moderate(a tensor.Tensor) tensor.Tensor {
	return a.Mul(1.5 / math.Sqrt(max(1, float64(a.Dim(-1)))))
}

func TestDefinitions(t *testing.T) {
	for _, c := range definitions {
		for _, s := range c.shapes {
			for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
				t.Run(fmt.Sprint(c.name, s, d), func(t *testing.T) {
					tol := map[tensor.DType]float64{tensor.Float32: 2e-4, tensor.Float64: 1e-11}[d]
					a := random(4, s...).Cast(d)
					if err := tensor.Try(func() { c.check(t, a, tol) }); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// Large matrices reach all branches of the factorizations by blocks.
func TestLarge(t *testing.T) {
	a := random(3, 317, 317)
	x := linalg.Solve(a, a)
	near(t, "Solve(a, a)", x, tensor.Eye(317).Cast(tensor.Float64), 1e-9)
	l := linalg.Cholesky(positive(a))
	near(t, "l·lᵀ", l.MatMul(l.Transpose(0, 1)), positive(a), 1e-9)
	q, r := linalg.QR(a)
	near(t, "q·r", q.MatMul(r), a, 1e-10)
}

func TestNumbers(t *testing.T) {
	m := func(rows ...[]float64) tensor.Tensor { return tensor.From(rows) }
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		want []float64
	}{
		{"Det", linalg.Det(m([]float64{1, 2}, []float64{3, 4})), []float64{-2}},
		{"Det of a permutation", linalg.Det(m([]float64{0, 1}, []float64{1, 0})), []float64{-1}},
		{"Det of a singular matrix", linalg.Det(m([]float64{1, 2}, []float64{2, 4})), []float64{0}},
		{"Det of nothing", linalg.Det(tensor.ZerosOf(tensor.Float64, 0, 0)), []float64{1}},
		{"MatrixRank", linalg.MatrixRank(m([]float64{1, 2}, []float64{2, 4})), []float64{1}},
		{"MatrixRank of nothing", linalg.MatrixRank(tensor.ZerosOf(tensor.Float64, 2, 0, 3)), []float64{0, 0}},
		{"MatrixRank, tolerant", linalg.MatrixRank(m([]float64{1, 0}, []float64{0, 0.1}), 0.5), []float64{1}},
		{"MatrixRank of zeros", linalg.MatrixRank(tensor.ZerosOf(tensor.Float64, 3, 3)), []float64{0}},
		{"Det of a singular matrix", tensor.Ones(1).Copysign(linalg.Det(m([]float64{1, 2}, []float64{2, 4}))), []float64{1}},
		{"Cond", linalg.Cond(m([]float64{4, 0}, []float64{0, 2})), []float64{2}},
		{"Cond of a singular matrix", linalg.Cond(m([]float64{4, 0}, []float64{0, 0})), []float64{math.Inf(1)}},
		{"Frobenius", linalg.Norm(m([]float64{3, 0}, []float64{0, -4}), linalg.Frobenius), []float64{5}},
		{"Frobenius of great numbers", linalg.Norm(m([]float64{3e200, 0}, []float64{0, -4e200}), linalg.Frobenius).Div(1e200), []float64{5}},
		{"Frobenius of small numbers", linalg.Norm(m([]float64{3e-200, 0}, []float64{0, -4e-200}), linalg.Frobenius).Mul(1e200), []float64{5}},
		{"Nuclear", linalg.Norm(m([]float64{3, 0}, []float64{0, -4}), linalg.Nuclear), []float64{7}},
		{"Two", linalg.Norm(m([]float64{3, 0}, []float64{0, -4}), linalg.Two), []float64{4}},
		{"MinusTwo", linalg.Norm(m([]float64{3, 0}, []float64{0, -4}), linalg.MinusTwo), []float64{3}},
		{"One", linalg.Norm(m([]float64{1, -5}, []float64{2, 1}), linalg.One), []float64{6}},
		{"MinusOne", linalg.Norm(m([]float64{1, -5}, []float64{2, 1}), linalg.MinusOne), []float64{3}},
		{"Inf", linalg.Norm(m([]float64{1, -6}, []float64{2, 1}), linalg.Inf), []float64{7}},
		{"MinusInf", linalg.Norm(m([]float64{1, -6}, []float64{2, 1}), linalg.MinusInf), []float64{3}},
		{"Frobenius of nothing", linalg.Norm(tensor.ZerosOf(tensor.Float64, 2, 0, 3), linalg.Frobenius), []float64{0, 0}},
		{"Nuclear of nothing", linalg.Norm(tensor.ZerosOf(tensor.Float64, 0, 3), linalg.Nuclear), []float64{0}},
		{"Expm of a nilpotent matrix", linalg.Expm(m([]float64{0, 1}, []float64{0, 0})), []float64{1, 1, 0, 1}},
		{"Expm of NaN", linalg.Expm(m([]float64{math.NaN()})), []float64{math.NaN()}},
		{"Solve of NaN", linalg.Solve(m([]float64{math.NaN()}), m([]float64{1})), []float64{math.NaN()}},
		{"SlogDet of a singular matrix", second(linalg.SlogDet(tensor.ZerosOf(tensor.Float64, 2, 2))), []float64{math.Inf(-1)}},
		{"LstSq", linalg.LstSq(m([]float64{1, 0}, []float64{1, 1}, []float64{1, 2}), tensor.New([]float64{1, 3, 5})), []float64{1, 2}},
		// The inverse, at which a product of gaps would divide by 0.
		{"gradient of Det of a singular matrix", grad.Of(linalg.Det)(m([]float64{1, 2}, []float64{2, 4})), []float64{4, -2, -2, 1}},
		{"gradient of Det of zeros", grad.Of(linalg.Det)(tensor.ZerosOf(tensor.Float64, 2, 2)), []float64{0, 0, 0, 0}},
		{"gradient of equal eigenvalues", grad.Of(func(a tensor.Tensor) tensor.Tensor { return linalg.Eigvalsh(a).Square().Sum() })(tensor.Eye(2).Cast(tensor.Float64)), []float64{2, 0, 0, 2}},
		{"gradient of vectors of equal eigenvalues", grad.Of(func(a tensor.Tensor) tensor.Tensor {
			w, v := linalg.Eigh(a)
			return v.MatMul(w.Unsqueeze(-1).Mul(v.Transpose(0, 1))).Trace()
		})(tensor.Eye(2).Cast(tensor.Float64)), []float64{1, 0, 0, 1}},
		{"gradient of equal singular values", grad.Of(func(a tensor.Tensor) tensor.Tensor {
			_, s, _ := linalg.SVD(a)
			return s.Square().Sum()
		})(tensor.Eye(2).Cast(tensor.Float64)), []float64{2, 0, 0, 2}},
	} {
		got, err := tensor.Data[float64](c.got.Cast(tensor.Float64))
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %v %v, want %v", c.name, got, err, c.want)
			continue
		}
		for i, w := range c.want {
			if !(math.Abs(got[i]-w) <= 1e-14) && !(got[i] == w) && !(math.IsNaN(got[i]) && math.IsNaN(w)) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

func second(_, x tensor.Tensor) tensor.Tensor { return x }

func TestErrors(t *testing.T) {
	zeros := func(d tensor.DType, s ...int) tensor.Tensor { return tensor.ZerosOf(d, s...) }
	f64 := tensor.Float64
	nan := tensor.New([]float64{math.NaN(), 0, 0, 1}).Reshape(2, 2)
	indefinite := tensor.New([]float64{1, 0, 0, 0, 1, 0, 0, 0, -1}).Reshape(3, 3)
	read := func(ts ...tensor.Tensor) {
		if err := tensor.Eval(ts); err != nil {
			panic(err)
		}
	}
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { linalg.Solve(zeros(f64, 2, 3), zeros(f64, 2)) }, "linalg.Solve of float64 [2 3]: the matrix must be square"},
		{func() { linalg.Solve(zeros(f64, 3, 3), zeros(f64, 2)) }, "must have 3 rows, or be a vector of 3"},
		{func() { linalg.Solve(zeros(f64, 3, 3), zeros(f64)) }, "must have 3 rows, or be a vector of 3"},
		{func() { linalg.Solve(zeros(f64, 2, 3, 3), zeros(f64, 4, 3, 1)) }, "do not broadcast"},
		{func() { linalg.Solve(zeros(f64, 3, 3), zeros(tensor.Float32, 3)) }, "the types differ: Cast one"},
		{func() { linalg.Inv(zeros(f64, 3)) }, "linalg.Inv of float64 [3]: a matrix has two axes"},
		{func() { linalg.Inv(tensor.Tensor{}) }, "linalg.Inv: the tensor is absent"},
		{func() { linalg.Cholesky(zeros(tensor.Int32, 3, 3)) }, "linalg.Cholesky of int32 [3 3]: the elements must be float32 or float64: Cast first"},
		{func() { linalg.SVD(zeros(tensor.Float16, 3, 3)) }, "must be float32 or float64"},
		{func() { linalg.PInv(zeros(f64, 3, 3), 1, 2) }, "one tolerance"},
		{func() { linalg.PInv(zeros(f64, 3, 3), math.Inf(1)) }, "want a finite number of at least 0"},
		{func() { linalg.MatrixRank(zeros(f64, 3, 3), -1) }, "want a finite number of at least 0"},
		{func() { linalg.Cond(zeros(f64, 0, 3)) }, "no element"},
		{func() { linalg.Norm(zeros(f64, 0, 3), linalg.Two) }, "no element"},
		{func() { linalg.Norm(zeros(f64, 3, 3), 77) }, "no such order"},
		{func() { read(linalg.Solve(zeros(f64, 2, 2), zeros(f64, 2))) }, "linalg.Solve: the matrix is singular"},
		{func() { read(linalg.Inv(tensor.Stack(0, tensor.Eye(2).Cast(f64), zeros(f64, 2, 2)))) }, "linalg.Inv: matrix [1] of the batch: the matrix is singular"},
		{func() { read(linalg.Cholesky(indefinite)) }, "linalg.Cholesky: the matrix is not positive definite: its leading minor of order 3 is not positive"},
		{func() { read(linalg.Cholesky(nan)) }, "leading minor of order 1 "},
		{func() { u, s, vt := linalg.SVD(nan); read(u, s, vt) }, "linalg.SVD: element [0 0] is NaN"},
		{func() { read(linalg.Eigvalsh(nan)) }, "linalg.Eigvalsh: element [0 0] is NaN"},
		{func() { w, _ := linalg.Eig(nan); read(w.Re) }, "linalg.Eig: element [0 0] is NaN"},
		{func() { read(linalg.PInv(nan)) }, "linalg.PInv: element [0 0] is NaN"},
		{func() {
			read(grad.Of(func(a tensor.Tensor) tensor.Tensor { w, _ := linalg.Eig(a); return w.Re.Sum() })(indefinite))
		}, "linalg.Eig of float64 [3 3]: it has no derivative"},
	} {
		err := tensor.Try(c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "values_test.go:") {
			t.Errorf("got %v\nwant values_test.go:…: %s", err, c.want)
		}
	}
}

// Values on any device, derivatives, batches and checkpoints of them.
func TestDevice(t *testing.T) {
	dev, _, err := device.Open("")
	if err != nil {
		t.Skip(err)
	}
	defer dev.Close()
	for _, f := range functions {
		t.Run(f.name, func(t *testing.T) {
			s := f.shape[0]
			a := randomLike(tensor.Scalar(0), 6, 2, s[0], s[1])
			check := grad.Checkpoint(f.total)
			g := grad.Vmap(grad.Of(check))
			near(t, "the gradient", g(a.To(dev)).To(tensor.CPU()), g(a), 2e-3)
			for i, x := range f.f(f.of(a.To(dev))) {
				if x.Device() != dev {
					t.Errorf("result %d is on %v", i, x.Device())
				}
			}
		})
	}
}
