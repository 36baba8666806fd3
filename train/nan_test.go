package train_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

// here returns the file and line of its caller, plus lines.
func here(lines int) string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf("nan_test.go:%d", line+lines)
}

func TestFindNaN(t *testing.T) {
	x := tensor.New([]float32{1, 2, -3, 0, 5, 6}, 2, 3)
	w := tensor.NewRNG(1).Normal(3, 4)
	var at string
	for _, c := range []struct {
		name string
		f    func() any
		want string // with %s for the line
	}{
		{"log of a negative number", func() any {
			at = here(1)
			y := x.Log()
			return y.Exp().MatMul(w).Softmax(-1).Mean()
		}, "the first NaN is made by Log of shape [2 3], called in %s, at [0 2] of -3"},
		{"0/0 behind views", func() any {
			y := x.T().Reshape(2, 3)
			at = here(1)
			z := y.Div(y)
			return z.Flip(0).Expand(4, 2, 3).Sum()
		}, "the first NaN is made by Div of shape [2 3], called in %s, at [0 1] of 0 and 0"},
		{"NaN where it is not taken", func() any {
			safe := tensor.Where(x.Gt(0), x.Log(), 0)
			at = here(1)
			return safe.Sub(10).Sqrt().Sum()
		}, "the first NaN is made by Sqrt of shape [2 3], called in %s, at [0 0] of -10"},
		{"infinity times 0 in a product", func() any {
			big := x.Div(0).Abs().Slice(0, 0, 1).Slice(1, 0, 2)
			at = here(1)
			return big.MatMul(tensor.Zeros(2, 2)).Sum()
		}, "the first NaN is made by Mul of shape [1 2 2], called in %s, at [0 0 0] of +Inf and 0"},
		{"an overflow", func() any {
			at = here(1)
			return x.Mul(100).Exp().Mean()
		}, "the first +Inf is made by Exp of shape [2 3], called in %s, at [0 0] of 100"},
		{"the derivative of a root at 0", func() any {
			return grad.Of(func(x tensor.Tensor) tensor.Tensor {
				at = here(1)
				return x.Mul(0).Sqrt().Sum()
			})(x.Abs())
		}, "called in %s, at"},
		{"the derivative after the value", func() any {
			loss, g := grad.ValueAndGrad(func(x tensor.Tensor) tensor.Tensor {
				y := x.Abs()
				at = here(1)
				return y.Mul(0).Sqrt().Sum()
			})(x)
			return []any{loss, g}
		}, "the derivative of %s, at"},
		{"a NaN that was given", func() any {
			return tensor.New([]float32{1, float32(math.NaN())}).Add(1).Sum()
		}, "the first NaN is in a tensor [2] that was given, at [1]"},
		{"none", func() any { return []any{x.Exp().Sum(), tensor.Arange(3)} }, "<nil>"},
		{"a mask of -Inf", func() any {
			return tensor.Where(tensor.Ones(2, 3).Tril(0).Eq(1), x, math.Inf(-1)).Softmax(-1).Sum()
		}, "<nil>"},
	} {
		found, err := train.FindNaN(c.f)
		if err != nil {
			t.Fatal(err)
		}
		got, want := "<nil>", c.want
		if found != nil {
			got = found.String()
		}
		if strings.Contains(want, "%s") {
			want = fmt.Sprintf(want, at)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want …%s", c.name, got, want)
		}
	}
}

// With FindNaN the error of a loop names the operation, the line, and the step; the model
// stays as it was.
func TestLoopFindsNaN(t *testing.T) {
	x := tensor.New([]float32{3, 2, 1, 0}, 4, 1)
	run := func(accumulate int, batches data.Set[batch], loss func(m nn.Linear, b batch) tensor.Tensor) (*loop, error) {
		l := &loop{
			Model: nn.Linear{Weight: tensor.Ones(1, 1)}, Epochs: 1, FindNaN: true, Accumulate: accumulate, Out: io.Discard,
			RNG:       tensor.NewRNG(1),
			Data:      &data.Loader[batch]{Set: batches, Batch: 1},
			Optimizer: optim.New(optim.SGD{}, 1e-3),
			Loss: func(m nn.Linear, b batch, rng *tensor.RNG) (tensor.Tensor, nn.Linear) {
				return loss(m, b).Mul(rng.Uniform().Add(1)), m
			},
		}
		return l, l.Run(context.Background())
	}
	good := data.Of(batch{x, x})
	for _, accumulate := range []int{0, 2} {
		var at string
		l, err := run(accumulate, good, func(m nn.Linear, b batch) tensor.Tensor {
			at = here(1)
			return m.Apply(b.X).Log().Mul(b.Y).Sum()
		})
		want := fmt.Sprintf("train: step %d: the first NaN is made by Mul of shape [1 1], called in %s, at [0 0] of -Inf and 0", 4/max(accumulate, 1), at)
		if err == nil || err.Error() != want {
			t.Errorf("accumulating %d: Run gave error\n%v, want\n%s", accumulate, err, want)
		}
		if w := l.Model.Weight.Item(); math.IsNaN(w) || w == 1 {
			t.Errorf("accumulating %d: the model has weight %v", accumulate, w)
		}
	}
	_, err := run(0, data.Of(batch{x.Log().Log(), x}), func(m nn.Linear, b batch) tensor.Tensor { return m.Apply(b.X).Sum() })
	if want := `train: step 3: tensor "x" of the batch is not finite`; err == nil || err.Error() != want {
		t.Errorf("a batch with NaN gave error %v, want %s", err, want)
	}
	if l, err := run(0, good, func(m nn.Linear, b batch) tensor.Tensor { return m.Apply(b.X).Square().Sum() }); err != nil || l.Step != 4 {
		t.Errorf("without a NaN: %v after %d steps", err, l.Step)
	}
}

func ExampleFindNaN() {
	x := tensor.New([]float32{2, -1})
	found, err := train.FindNaN(func() any { return x.Log().Mean() })
	fmt.Println(found.Op, found.Index, found.Operands, err)
	// Output: Log [1] [-1] <nil>
}
