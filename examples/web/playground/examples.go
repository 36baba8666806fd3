package main

// An example is lines to begin with.
type example struct {
	Name   string
	Source string
}

// examples are in the order of the page's list; the last shows an error.
var examples = []example{
	{"Softmax of a product", `x := rng.Normal(4, 6)
w := rng.Normal(6, 3)
x.MatMul(w).Softmax(-1).Select(-1, 0)`},
	{"A fused chain", `x := tensor.Linspace(-3, 3, 13)
x.Mul(0.5).Tanh().Add(x.Square().Neg().Exp()).Sin()`},
	{"Layer norm", `x := rng.Normal(8, 32)
mean := x.Mean(-1)
x.Sub(mean).Div(x.Var(-1).Add(1e-5).Sqrt())`},
	{"Attention", `q := rng.Normal(2, 8, 4)
k := rng.Normal(2, 8, 4)
v := rng.Normal(2, 8, 4)
p := q.MatMul(k.T()).Div(2).Softmax(-1)
p.MatMul(v)`},
	{"A convolution", `image := rng.Uniform(1, 1, 8, 8)
kernel := tensor.New([]float32{0, 1, 0, 1, -4, 1, 0, 1, 0}, 1, 1, 3, 3)
image.Conv(kernel, &tensor.ConvOptions{Padding: []int{1}})`},
	{"A view: no kernel", `x := tensor.Linspace(0, 23, 24)
x.Reshape(2, 3, 4).Permute(2, 0, 1).Flip(0)`},
	{"The two greatest", `x := rng.Normal(3, 8)
values, indices := x.TopK(-1, 2)
values.Mul(indices.Cast(tensor.Float32))`},
	{"A mistake", `x := tensor.Ones(3, 4)
y := tensor.Ones(3, 5)
x.MatMul(y)`},
}
