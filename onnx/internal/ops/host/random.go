package host

import (
	"math"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Random has the operators of random results. Without a seed each run draws others.
var Random = []op.Row{
	op.New("Bernoulli", bernoulli).Drawn(),
	op.New("Multinomial", op.One(multinomial)).Drawn(),
	op.New("RandomNormal", random(normal, false)).Drawn(),
	op.New("RandomNormalLike", random(normal, true)).Drawn(),
	op.New("RandomUniform", random(uniform, false)).Drawn(),
	op.New("RandomUniformLike", random(uniform, true)).Drawn(),
}

// source returns the random bits of a node: of its seed, or of the run.
func source(c *op.Call) *tensor.RNG {
	if c.Attr("seed") != nil {
		return tensor.NewRNG(uint64(math.Float64bits(c.Float("seed", 0))))
	}
	return c.Runner.RNG()
}

func normal(c *op.Call, rng *tensor.RNG, s []int) T {
	return rng.Normal(s...).Mul(c.Float("scale", 1)).Add(c.Float("mean", 0))
}

func uniform(c *op.Call, rng *tensor.RNG, s []int) T {
	low, high := c.Float("low", 0), c.Float("high", 1)
	return rng.Uniform(s...).Mul(high - low).Add(low)
}

// random makes a Func of a distribution, with the shape of an attribute, or the shape and type of an input.
func random(f func(*op.Call, *tensor.RNG, []int) T, like bool) op.Func {
	return op.One(func(c *op.Call) T {
		s, e := c.IntsAttr("shape"), op.Float
		if like {
			s, e = c.Value(0).Dims(), c.Value(0).Elem
		}
		return f(c, source(c), s).Cast(c.DType(c.Elem("dtype", e)))
	})
}

// bernoulli is 1 with the probability in its input.
func bernoulli(c *op.Call) []op.Value {
	e := c.Elem("dtype", c.Value(0).Elem)
	return []op.Value{op.Of(source(c).Bernoulli(c.Tensor(0)).Cast(c.DType(e)))}
}

// multinomial draws classes by logarithms of probabilities, a row of samples for each row. A row whose
// greatest is NaN or infinite is an error of Categorical.
func multinomial(c *op.Call) T {
	x := c.Tensor(0).Cast(tensor.Float32)
	if x.Rank() != 2 {
		c.Fail("the input has shape %v, want [batch classes]", x.Shape())
	}
	n := c.Int("sample_size", 1)
	rows, classes := x.Dim(0), x.Dim(1)
	p := x.Sub(x.Max(1)).Exp().Unsqueeze(1).Expand(rows, n, classes)
	e := c.Elem("dtype", op.Int32)
	return source(c).Categorical(p).Cast(c.DType(e))
}
