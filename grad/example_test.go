package grad_test

import (
	"fmt"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

func Example() {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Pow(3).Sum() }
	df := grad.Of(f)
	ddf := grad.Of(func(x tensor.Tensor) tensor.Tensor { return df(x).Sum() })
	x := tensor.New([]float32{1, 2, 3})
	fmt.Println(f(x), df(x), ddf(x))
	// Output: 36 [3 12 27] [6 12 18]
}

// The argument may be any Go value made of tensors. Captured tensors are constants.
func ExampleOf() {
	type Line struct{ Slope, Offset tensor.Tensor }
	x := tensor.New([]float32{0, 1, 2})
	y := tensor.New([]float32{1, 3, 5})
	loss := func(l Line) tensor.Tensor {
		return l.Slope.Mul(x).Add(l.Offset).Sub(y).Square().Sum()
	}
	g := grad.Of(loss)(Line{Slope: tensor.Scalar(1), Offset: tensor.Scalar(0)})
	fmt.Println(g.Slope, g.Offset)
	// Output: -16 -12
}

// A function of several arguments is differentiated by one of them where it captures the
// others, and by all of them as the fields of a struct, like argnums of JAX.
func ExampleOf_arguments() {
	f := func(x, y tensor.Tensor) tensor.Tensor { return x.Square().Mul(y) }
	x, y := tensor.Scalar(3), tensor.Scalar(2)
	byX := grad.Of(func(x tensor.Tensor) tensor.Tensor { return f(x, y) })(x)
	byY := grad.Of(func(y tensor.Tensor) tensor.Tensor { return f(x, y) })(y)

	type Args struct{ X, Y tensor.Tensor }
	both := grad.Of(func(a Args) tensor.Tensor { return f(a.X, a.Y) })(Args{x, y})
	fmt.Println(byX, byY, both.X, both.Y)
	// Output: 12 9 12 9
}

func ExampleValueAndGrad() {
	square := func(x tensor.Tensor) tensor.Tensor { return x.Mul(x) }
	value, g := grad.ValueAndGrad(square)(tensor.Scalar(3))
	fmt.Println(value, g)
	// Output: 9 6
}

func ExampleValueAndGradAux() {
	x := tensor.New([]float32{1, 2, 3})
	loss := func(w tensor.Tensor) (loss, prediction tensor.Tensor) {
		prediction = x.Mul(w)
		return prediction.Sub(1).Square().Mean(), prediction
	}
	value, prediction, g := grad.ValueAndGradAux(loss)(tensor.Scalar(2))
	fmt.Println(prediction)
	fmt.Printf("%.3f %.3f\n", value, g)
	// Output:
	// [2 4 6]
	// 11.667 14.667
}

func ExampleVJP() {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Mul(x) }
	y, pullback := grad.VJP(f, tensor.New([]float32{1, 2, 3}))
	fmt.Println(y)
	fmt.Println(pullback(tensor.New([]float32{1, 0, 0})))
	fmt.Println(pullback(tensor.New([]float32{0, 10, 100})))
	// Output:
	// [1 4 9]
	// [2 0 0]
	// [0 40 600]
}

// The value, and how it changes along a direction.
func ExampleJVP() {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Mul(x) }
	y, dy := grad.JVP(f, tensor.New([]float32{1, 2, 3}), tensor.New([]float32{1, 0, 10}))
	fmt.Println(y, dy)
	// Output: [1 4 9] [2 0 60]
}

// The derivative at a point, for any number of directions: f runs once.
func ExampleLinearize() {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Mul(x) }
	y, push := grad.Linearize(f, tensor.New([]float32{1, 2, 3}))
	fmt.Println(y)
	fmt.Println(push(tensor.New([]float32{1, 0, 0})))
	fmt.Println(push(tensor.New([]float32{0, 10, 100})))
	// Output:
	// [1 4 9]
	// [2 0 0]
	// [0 40 600]
}

// The velocity and the acceleration of a body on its path.
func ExampleDiff() {
	path := func(t tensor.Tensor) tensor.Tensor { return tensor.Stack(0, t, t.Square().Mul(-5)) }
	velocity := grad.Diff(path)
	acceleration := grad.Diff(velocity)
	t := tensor.Scalar(2)
	fmt.Println(path(t), velocity(t), acceleration(t))
	// Output: [2 -20] [1 -20] [0 -10]
}

// A column for each element of the argument: best where these are few.
func ExampleJacFwd() {
	polar := func(p tensor.Tensor) tensor.Tensor {
		r, angle := p.At(0), p.At(1)
		return tensor.Stack(0, r.Mul(angle.Cos()), r.Mul(angle.Sin()))
	}
	fmt.Println(grad.JacFwd(polar)(tensor.New([]float32{2, 0})))
	// Output:
	// [[1 0]
	//  [0 2]]
}

// A row for each element of the result: best where these are few. The Jacobian
// by a struct is a struct of Jacobians.
func ExampleJacRev() {
	type Line struct{ Slope, Offset tensor.Tensor }
	x := tensor.New([]float32{1, 2, 3})
	line := func(l Line) tensor.Tensor { return l.Slope.Mul(x).Add(l.Offset) }
	j := grad.JacRev(line)(Line{Slope: tensor.Scalar(5), Offset: tensor.Scalar(0)})
	fmt.Println(j.Slope, j.Offset)
	// Output: [1 2 3] [1 1 1]
}

func ExampleHessian() {
	f := func(x tensor.Tensor) tensor.Tensor { return x.At(0).Square().Mul(x.At(1)) }
	fmt.Println(grad.Hessian(f)(tensor.New([]float32{3, 5})))
	// Output:
	// [[10  6]
	//  [ 6  0]]
}

// The gradient of each example by itself, without a loop.
func ExampleVmap() {
	type Example struct{ X, Y tensor.Tensor }
	w := tensor.New([]float32{1, -1})
	gradient := func(e Example) tensor.Tensor {
		return grad.Of(func(w tensor.Tensor) tensor.Tensor { return w.Dot(e.X).Sub(e.Y).Square() })(w)
	}
	fmt.Println(grad.Vmap(gradient)(Example{
		X: tensor.From([][]float32{{1, 0}, {2, 1}, {2, 3}}),
		Y: tensor.New([]float32{0, 0, -2}),
	}))
	// Output:
	// [[2 0]
	//  [4 2]
	//  [4 6]]
}

// The vectors are the columns of the matrix, and so are the results.
func ExampleVmapAxes() {
	unit := func(v tensor.Tensor) tensor.Tensor { return v.Div(v.Norm()) }
	columns := tensor.From([][]float32{{3, 0}, {4, 2}})
	fmt.Printf("%.1f\n", grad.VmapAxes(unit, 1, 1)(columns))
	// Output:
	// [[0.6 0.0]
	//  [0.8 1.0]]
}

// Ten layers in two pieces. The backward pass computes the intermediate results of a piece
// again, so that the forward pass need not keep them.
func ExampleCheckpoint() {
	piece := grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor {
		for range 5 {
			x = x.Sin()
		}
		return x
	})
	f := func(x tensor.Tensor) tensor.Tensor { return piece(piece(x)) }
	fmt.Printf("%.4f\n", grad.Of(f)(tensor.Scalar(1)))
	// Output: 0.0793
}

// The second factor counts as a constant.
func ExampleStopGradient() {
	f := func(x tensor.Tensor) tensor.Tensor {
		return x.Mul(grad.StopGradient(x))
	}
	fmt.Println(grad.Of(f)(tensor.Scalar(3)))
	// Output: 3
}

// The value goes through as it is, its gradient not further than from -1 to 1.
func ExampleCustom() {
	type T = tensor.Tensor
	limit := grad.Custom(
		func(x T) T { return x },
		func(x, out, ct T) T { return ct.Clamp(-1, 1) },
	)
	f := func(x T) T { return limit(x).Square().Sum() }
	fmt.Println(grad.Of(f)(tensor.New([]float32{0.25, 10, -10})))
	// Output: [0.5 1.0 -1.0]
}

// log(1+eˣ), whose derivative 1 - 1/(1+eˣ) would come out as ∞/∞ by itself.
func ExampleCustomJVP() {
	type T = tensor.Tensor
	f := func(x T) T { return x.Exp().Add(1).Log() }
	stable := grad.CustomJVP(f, func(x, v T) (T, T) {
		return f(x), v.Mul(tensor.Scalar(1).Sub(x.Exp().Add(1).Reciprocal()))
	})
	x := tensor.Scalar(100)
	fmt.Println(grad.Of(f)(x), grad.Of(stable)(x), grad.Diff(stable)(x))
	// Output: NaN 1 1
}
