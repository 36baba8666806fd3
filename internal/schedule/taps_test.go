package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A convolution and its gradients, where a step of the depth has one tap and where it has several, are
// as on the CPU.
func TestTaps(t *testing.T) {
	for i, c := range []struct {
		batch, channels, height, width, filters, kernel int
		options                                         tensor.ConvOptions
		taps                                            bool // steps of some kernel have one tap
	}{
		{2, 16, 9, 8, 24, 3, tensor.ConvOptions{Padding: []int{1}}, true},
		{1, 32, 12, 12, 70, 3, tensor.ConvOptions{Padding: []int{1}, Stride: []int{2}}, true},
		{2, 48, 7, 11, 16, 5, tensor.ConvOptions{Dilation: []int{2}, Padding: []int{4}}, true},
		{2, 3, 9, 8, 16, 3, tensor.ConvOptions{Padding: []int{1}}, true},
		{2, 32, 10, 10, 32, 3, tensor.ConvOptions{Groups: 2}, true},
		{2, 3, 9, 9, 5, 3, tensor.ConvOptions{}, false},
	} {
		t.Run(fmt.Sprint(c.channels, "x", c.kernel), func(t *testing.T) {
			if i%3 != 0 {
				notShort(t)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			type operands struct{ X, W tensor.Tensor }
			in := operands{
				normal(rng, c.batch, c.channels, c.height, c.width),
				normal(rng, c.filters, c.channels/max(1, c.options.Groups), c.kernel, c.kernel),
			}
			run := func(d *tensor.Device) []float32 {
				_, y, g := grad.ValueAndGradAux(func(x operands) (loss, y tensor.Tensor) {
					y = x.X.Conv(x.W, &c.options)
					return y.Mul(y).Sum(), y
				})(operands{in.X.To(d), in.W.To(d)})
				if err := tensor.Eval(y, g); err != nil {
					t.Fatal(err)
				}
				return floatsOf(t, y, g.X, g.W)
			}
			want := run(tensor.CPU())
			list := []Target{big, plain, nvidia}
			if testing.Short() {
				list = list[i%len(list):][:1]
			}
			for _, target := range list {
				target.Wide = true
				taps := false
				ref := attender(t, target, func(k *ir.Kernel) {
					if k.Template != ir.Contraction {
						return
					}
					x := productOf(k, target)
					if list := tiles.Options(x); len(list) > 0 {
						tiles.Tap(x, list[0].Layout)
						taps = taps || len(x.Taps) > 0
					}
				})
				got := run(tensor.NewDevice(ref))
				if want := c.taps && !target.Matrices; taps != want {
					t.Errorf("%+v: steps of a kernel have one tap: %v, want %v", target, taps, want)
				}
				worst, most := 0.0, 0.0
				for i, x := range want {
					worst, most = max(worst, math.Abs(float64(got[i]-x))), max(most, math.Abs(float64(x)))
				}
				if !(worst < 2e-6*most) {
					t.Errorf("%+v: error %g of %g", target, worst, most)
				}
			}
		})
	}
}
