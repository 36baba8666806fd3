package tensor_test

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// Constants take the type of the typed tensor that they meet; results computed from
// constants alone do too.
func TestUntyped(t *testing.T) {
	causal := func() tensor.Tensor { return tensor.Full(-inf, 3, 3).Triu(1) }
	positions := func() tensor.Tensor { // sin(p·ω) of a model with positions
		rates := tensor.Linspace(0, -1, 4).Mul(math.Log(10000)).Exp()
		return tensor.Arange(5).Unsqueeze(1).Mul(rates).Sin()
	}
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
		x := tensor.ZerosOf(d, 3, 3)
		for name, y := range map[string]tensor.Tensor{
			"Add of a causal mask":    x.Add(causal()),
			"to a causal mask":        causal().Add(x),
			"Where of numbers":        x.Add(tensor.Where(tensor.Arange(3).Gt(1), -inf, 0)),
			"a state":                 tensor.Zeros(3, 3).Mul(x),
			"Eye":                     tensor.Eye(3).MatMul(x),
			"to Eye":                  x.MatMul(tensor.Eye(3)),
			"Arange":                  x.Add(tensor.Arange(3)),
			"Cat":                     tensor.Cat(0, tensor.Zeros(1, 3), tensor.Arange(3).Unsqueeze(0), x),
			"Stack":                   tensor.Stack(0, tensor.Ones(3, 3), x, tensor.Eye(3)),
			"Einsum":                  tensor.Einsum("ij,jk,kl->il", tensor.Eye(3), x, tensor.Ones(3, 1)),
			"Where":                   tensor.Where(tensor.Ones(3, 3).Gt(0), x, tensor.Zeros(3, 3)),
			"Maximum":                 tensor.Scalar(1).Maximum(x),
			"ScatterAdd":              x.ScatterAdd(0, tensor.Arange(3).Unsqueeze(1), tensor.Ones(1, 1)),
			"ScatterAdd to zeros":     tensor.Zeros(3, 3).ScatterAdd(0, tensor.Arange(3).Unsqueeze(1), x),
			"Put":                     x.Put(0, ints(1), tensor.Ones(3)),
			"Take of a table":         x.Add(positions().Take(0, ints(2)).Slice(1, 0, 3)),
			"Attention":               tensor.Attention(x, x, x, &tensor.AttentionOptions{Mask: causal()}),
			"Attention to a constant": tensor.Attention(tensor.Ones(3, 3), x, tensor.Ones(3, 3), nil),
			"Clamp":                   x.Clamp(tensor.Scalar(-1), tensor.Ones(3)),
			"Lerp":                    tensor.Ones(3).Lerp(tensor.Zeros(3), x),
		} {
			if got := y.DType(); got != d {
				t.Errorf("%s of %v is %v", name, d, got)
			}
			if err := tensor.Eval(y); err != nil {
				t.Errorf("%s of %v: %v", name, d, err)
			}
		}
	}
	for name, c := range map[string]struct {
		got  tensor.Tensor
		want tensor.DType
	}{
		"Zeros":              {tensor.Zeros(2), tensor.Float32},
		"Arange":             {tensor.Arange(2), tensor.Int32},
		"both":               {tensor.Arange(2).Add(tensor.Ones(2)), tensor.Float32},
		"both, then float64": {tensor.Arange(2).Add(tensor.Ones(2)).Add(tensor.New([]float64{1})), tensor.Float64},
		"Arange and int64":   {tensor.New([]int64{1}).Add(tensor.Arange(2)), tensor.Int64},
		"the typed remains":  {tensor.ZerosLike(tensor.New([]float64{1})).Add(tensor.Ones(1)), tensor.Float64},
		"an argument":        {grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.Mul(tensor.New([]float64{2})).Sum() })(tensor.Ones(1)), tensor.Float32},
	} {
		if got := c.got.DType(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// A cast fixes the type, as do New and a draw.
	one := tensor.New([]float64{1})
	for name, f := range map[string]func(){
		"Cast":            func() { tensor.Ones(1).Cast(tensor.Float32).Add(one) },
		"Cast of a sum":   func() { tensor.Ones(1).Add(tensor.Arange(1)).Cast(tensor.Float32).Add(one) },
		"OnesOf":          func() { tensor.OnesOf(tensor.Float32, 1).Add(one) },
		"tree.Cast":       func() { tree.Cast([]tensor.Tensor{tensor.Ones(1)}, tensor.Float32)[0].Add(one) },
		"New":             func() { floats(1).Add(one) },
		"a draw":          func() { tensor.NewRNG(1).Normal(1).Add(one) },
		"ZerosLike":       func() { tensor.ZerosLike(tensor.Ones(1)).Add(one) },
		"floats and int":  func() { tensor.Ones(1).Add(ints(1)) },
		"Arange and int8": func() { tensor.Arange(1).Add(tensor.New([]int8{1})) },
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s of float32 and another type: no error", name)
		}
	}
	stored := tensor.Ones(2).Mul(0.5)
	if err := tensor.Eval(stored); err != nil {
		t.Fatal(err)
	}
	run(t, []check{
		typed("of a stored constant", stored.Add(one), tensor.Float64, 1.5, 1.5),
		same("Cast of a stored constant", stored.Cast(tensor.Float32).Add(floats(1)), 1.5, 1.5),
	})
}

// In float64 constants have the digits of float64.
func TestUntypedDigits(t *testing.T) {
	zero := tensor.New([]float64{0})
	third := tensor.Full(1).Div(3)
	rates := tensor.Arange(4).Mul(tensor.Full(0.1)).Exp().Mean()
	for name, c := range map[string]struct {
		got  tensor.Tensor
		want float64
	}{
		"Full":     {zero.Add(tensor.Full(0.1)), 0.1},
		"Linspace": {zero.Add(tensor.Linspace(0, 1, 11).At(3)), 0.3},
		"Div":      {third.Add(zero), 1.0 / 3},
		"a number": {tensor.Ones(1).Mul(0.7).Sub(zero), 0.7},
		"Where":    {tensor.Where(tensor.Ones(1).Gt(0), 0.3, 1).Add(zero), 0.3},
		"Cast":     {tensor.Full(0.1).Cast(tensor.Float64), 0.1},
		"mean":     {zero.Add(rates), (1 + math.Exp(0.1) + math.Exp(0.2) + math.Exp(0.3)) / 4},
	} {
		if got := c.got.Item(); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	digitsOfBatches(t)
	y, g := grad.ValueAndGrad(func(x tensor.Tensor) tensor.Tensor { return x.Mul(0.1).Mul(tensor.New([]float64{3})).Sum() })(tensor.Ones(1))
	if math.Abs(y.Item()-0.3) > 1e-15 || math.Abs(g.Item()-0.3) > 1e-7 {
		t.Errorf("through an argument: %v, gradient %v", y, g)
	}
	if v := tensor.Full(0.1); tensor.Eval(v) != nil || v.Item() != float64(float32(0.1)) {
		t.Errorf("alone Full(0.1) is %v", v.Item())
	}
}

// Examples of a batch are constants if the batch is one, and typed if it is not.
func digitsOfBatches(t *testing.T) {
	double := tensor.New([]float64{0}).Reshape()
	tenths := tensor.Full(0.1, 2)
	for name, f := range map[string]func(tensor.Tensor) tensor.Tensor{
		"Add":               func(x tensor.Tensor) tensor.Tensor { return x.Add(double) },
		"Add to it":         func(x tensor.Tensor) tensor.Tensor { return double.Add(x) },
		"Sort, then Add":    func(x tensor.Tensor) tensor.Tensor { return x.Unsqueeze(0).Sort(0).Squeeze().Add(double) },
		"Cast":              func(x tensor.Tensor) tensor.Tensor { return x.Cast(tensor.Float64) },
		"with a checkpoint": grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor { return x.Add(double) }),
		"Vmap":              grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Add(double) }),
	} {
		x := tenths
		if name == "Vmap" {
			x = tenths.Reshape(1, 2)
		}
		err := tensor.Try(func() {
			y := grad.Vmap(f)(x)
			if got := y.Flatten(0).At(1).Item(); y.DType() != tensor.Float64 || math.Abs(got-0.1) > 1e-15 {
				t.Errorf("Vmap of %s: %v %v, want 0.1", name, y.DType(), got)
			}
		})
		if err != nil {
			t.Errorf("Vmap of %s: %v", name, err)
		}
	}
	fixed := grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Mul(tensor.Ones()).Add(double) })
	if err := tensor.Try(func() { fixed(floats(1, 2)) }); err == nil {
		t.Error("Vmap: an example of a float32 tensor takes another type")
	}
	cast := grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Cast(tensor.Float32) })(tenths)
	if err := tensor.Try(func() { cast.Add(double) }); err == nil {
		t.Error("Vmap: a Cast of an example does not fix its type")
	}
}

// A constant that a loop grows, and that meets float64 each time, is right whether or not it
// is computed in between.
func TestUntypedGrows(t *testing.T) {
	x, y := tensor.Zeros(), tensor.New([]float64{0}).Reshape()
	for i := range 300 {
		x = x.Add(0.1)
		y = y.Add(x)
		if i%100 == 50 {
			if err := tensor.Eval(x, y); err != nil { // x loses its digits of float64
				t.Fatal(err)
			}
		}
	}
	if got, want := y.Item(), 0.1*300*301/2; math.Abs(got-want) > 0.05 {
		t.Errorf("a sum of constants is %v, want %v", got, want)
	}
}

// A cast of a constant to the type that it has changes nothing but the typing: derivatives
// and devices remain.
func TestUntypedCast(t *testing.T) {
	square := grad.Custom(func(x tensor.Tensor) tensor.Tensor { return x.Square() },
		func(x, _, ct tensor.Tensor) tensor.Tensor { return ct.Mul(7) })
	for name, f := range map[string]func(tensor.Tensor) tensor.Tensor{
		"an argument":           func(x tensor.Tensor) tensor.Tensor { return x.Cast(tensor.Float32).Mul(7).Sum() },
		"what is made of one":   func(x tensor.Tensor) tensor.Tensor { return x.Mul(7).Cast(tensor.Float32).Sum() },
		"a result of Custom":    func(x tensor.Tensor) tensor.Tensor { return square(x).Cast(tensor.Float32).Sum() },
		"an argument, computed": func(x tensor.Tensor) tensor.Tensor { return computed(x).Cast(tensor.Float32).Mul(7).Sum() },
	} {
		for _, x := range []tensor.Tensor{tensor.Ones(1), computed(tensor.Ones(1)), computed(tensor.Zeros(1).Add(1))} {
			if g := grad.Of(f)(x); g.Item() != 7 {
				t.Errorf("%s: the gradient of a Cast to its type is %v, want 7", name, g.Item())
			}
		}
	}
	if d := computed(tensor.Zeros(2).Add(1)).Cast(tensor.Float32).Device(); d != nil {
		t.Errorf("a Cast to its type commits a constant to %v", d)
	}
}

func computed(x tensor.Tensor) tensor.Tensor {
	if err := tensor.Eval(x); err != nil {
		panic(err)
	}
	return x
}

// A constant of integers meets unsigned ones if it has no negative elements.
func TestUntypedUnsigned(t *testing.T) {
	a := tensor.Arange(4)
	for name, c := range map[string]struct {
		x        tensor.Tensor
		negative bool
	}{
		"Arange":               {a, false},
		"from 3 down to 0":     {a.Neg().Add(3), false},
		"from 1 down to -2":    {a.Neg().Add(1), true},
		"bounds":               {tensor.Arange(-1, 3), true},
		"steps down":           {tensor.Arange(3, -1, -1), false},
		"no elements":          {tensor.Arange(-1, -1), false},
		"a product":            {a.Mul(-1), true},
		"distances":            {a.Unsqueeze(1).Sub(a).Abs(), false},
		"Maximum":              {a.Sub(2).Maximum(0), false},
		"Minimum":              {a.Minimum(-1), true},
		"Clamp":                {a.Sub(2).Clamp(0, 1), false},
		"movements":            {a.Sub(3).Flip().Reshape(2, 2).T().Unsqueeze(0).Expand(3, 2, 2), true},
		"Cat":                  {tensor.Cat(0, a, tensor.Arange(2).Sub(1), tensor.Arange(0)), true},
		"Cat with nothing":     {tensor.Cat(0, a, tensor.Arange(0).Sub(1)), false},
		"a part":               {a.Sub(1).Slice(0, 1, 3), false},
		"computed":             {computed(a.Add(1)), false},
		"that is not known of": {a.Sub(9).Sort(0), false},
	} {
		for _, d := range []tensor.DType{tensor.Uint32, tensor.Uint64} {
			y := tensor.OnesOf(d)
			err := tensor.Try(func() { c.x.Add(y) })
			if (err != nil) != c.negative {
				t.Errorf("%s meets %v: %v", name, d, err)
			}
		}
		if err := tensor.Try(func() { tensor.New([]int64{1}).Add(c.x); tensor.New([]float32{1}).Add(c.x) }); err != nil {
			t.Errorf("%s meets signed numbers: %v", name, err)
		}
	}
}
