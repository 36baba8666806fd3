package tensor_test

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/internal/property"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/tensor"
)

// A convCase is a convolution of any shape and options.
type convCase struct {
	x, k, y []int // shapes of input, kernel and result
	o       tensor.ConvOptions
}

// drawConv returns a convolution over 1 to 3 axes.
func drawConv(r *property.T) convCase {
	draw := func(name string, lo, hi int) int { return property.IntRange(lo, hi).Draw(r, name) }
	groups, batch := draw("groups", 1, 2), draw("batch", 1, 2)
	in, out := draw("channels of a group", 1, 2), draw("results of a group", 1, 2)
	c := convCase{x: []int{batch, groups * in}, k: []int{groups * out, in}, y: []int{batch, groups * out}}
	c.o.Groups = groups
	for range draw("axes", 1, 3) {
		n, k, p := draw("length", 1, 5), draw("kernel", 1, 3), draw("padding", 0, 2)
		s, d := draw("stride", 1, 3), draw("dilation", 1, 2)
		n = max(n, d*(k-1)+1-2*p) // one window fits
		steps := (n + 2*p - d*(k-1) - 1) / s
		c.x, c.k, c.y = append(c.x, n), append(c.k, k), append(c.y, steps+1)
		c.o.Stride, c.o.Padding, c.o.Dilation = append(c.o.Stride, s), append(c.o.Padding, p), append(c.o.Dilation, d)
		c.o.OutputPadding = append(c.o.OutputPadding, n+2*p-d*(k-1)-1-steps*s) // of the transposed one, back to n
	}
	return c
}

// products calls f for each product that is summed: of element i of the input and element j
// of the kernel, for element l of the result.
func (c convCase) products(f func(i, j, l int)) {
	in, out := c.k[1], c.k[0]/c.o.Groups
	for l, y := range shape.Positions(c.y) {
		for j, k := range shape.Positions(c.k) {
			if k[0] != y[1] {
				continue
			}
			x := []int{y[0], y[1]/out*in + k[1]}
			for a, n := range c.x[2:] {
				at := y[2+a]*c.o.Stride[a] + k[2+a]*c.o.Dilation[a] - c.o.Padding[a]
				if at < 0 || at >= n {
					break
				}
				x = append(x, at)
			}
			if len(x) == len(c.x) {
				f(shape.Rank(c.x, x), j, l)
			}
		}
	}
}

// Conv, ConvTranspose and their derivatives are sums of products, whatever the options.
func TestConvByDefinition(t *testing.T) {
	property.Check(t, func(r *property.T) {
		c := drawConv(r)
		// Small numbers, for sums of up to 1,458 products that float32 holds exactly.
		x, k, y := iota(c.x...).Rem(13).Sub(3), iota(c.k...).Rem(11).Sub(2), iota(c.y...).Rem(17).Sub(5)
		xs, ks, ys := values(t, x), values(t, k), values(t, y)
		conv, transposed := make([]float64, len(ys)), make([]float64, len(xs))
		byKernel := make([]float64, len(ks))
		c.products(func(i, j, l int) {
			conv[l] += xs[i] * ks[j]
			transposed[i] += ys[l] * ks[j]
			byKernel[j] += xs[i] * ys[l]
		})
		equal := func(what string, got tensor.Tensor, s []int, want []float64) {
			t.Helper()
			if g := values(t, got); !slices.Equal(got.Shape(), s) || !slices.Equal(g, want) {
				r.Fatalf("%s of %v by %v, %+v: %v of %v, want %v of %v", what, c.x, c.k, c.o, got.Shape(), g, s, want)
			}
		}
		forward := func(in [2]tensor.Tensor) tensor.Tensor { return in[0].Conv(in[1], &c.o) }
		got, pull := grad.VJP(forward, [2]tensor.Tensor{x, k})
		equal("Conv", got, c.y, conv)
		d := pull(y)
		equal("derivative of Conv by the input", d[0], c.x, transposed)
		equal("derivative of Conv by the kernel", d[1], c.k, byKernel)

		backward := func(in [2]tensor.Tensor) tensor.Tensor { return in[0].ConvTranspose(in[1], &c.o) }
		got, pull = grad.VJP(backward, [2]tensor.Tensor{y, k})
		equal("ConvTranspose", got, c.x, transposed)
		d = pull(x)
		equal("derivative of ConvTranspose by the input", d[0], c.y, conv)
		equal("derivative of ConvTranspose by the kernel", d[1], c.k, byKernel)
	})
	gradtest.Check(t, func(in [2]tensor.Tensor) tensor.Tensor {
		return in[0].ConvTranspose(in[1], &tensor.ConvOptions{Stride: []int{2}, Padding: []int{1}}).Square()
	}, [2]tensor.Tensor{iota(1, 2, 3, 2).Sub(4).Cast(tensor.Float64), iota(2, 1, 3, 3).Div(9).Cast(tensor.Float64)}, 2)
}

// TestDepthwiseBatch compares a chain of convolutions, one with weights of each channel, of a batch and of its images. Results
// are integers, so that the order of sums does not matter.
func TestDepthwiseBatch(t *testing.T) {
	values := func(n, m int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(i*m%5 - 2)
		}
		return v
	}
	for _, channels := range []int{40, 133} {
		first, windows, last := tensor.New(values(channels*16, 7), channels, 16, 1, 1), tensor.New(values(channels*9, 3), channels, 1, 3, 3), tensor.New(values(24*channels, 11), 24, channels, 1, 1)
		chain := func(x tensor.Tensor) []float32 {
			y := x.Conv(first, nil).ReLU().Conv(windows, &tensor.ConvOptions{Padding: []int{1, 1}, Groups: channels}).ReLU()
			z, err := tensor.Data[float32](y.Mul(y.Sum(2, 3).Clamp(-2, 2)).Conv(last, nil))
			if err != nil {
				t.Fatal(err)
			}
			return z
		}
		x := tensor.New(values(5*16*15*13, 13), 5, 16, 15, 13)
		var want []float32
		for i := range 5 {
			want = append(want, chain(x.Slice(0, i, i+1))...)
		}
		if !slices.Equal(chain(x), want) {
			t.Errorf("%d channels: the batch differs from its images", channels)
		}
	}
}
