package main

import (
	"math"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A unet finds the noise in images. It computes at full and at half resolution, and uses
// results at full resolution from the way down again on the way up.
type unet struct {
	Time, Hidden   nn.Linear    // of the level of noise
	Digit          nn.Embedding // of the digit
	In, Out        nn.Conv
	Down, Mid, Up  residual
	Shrink, Narrow nn.Conv
	Norm           nn.GroupNorm
}

const (
	width = 32 // channels at full resolution; at half there are twice as many
	waves = 32 // numbers that describe a level of noise
	about = 64 // numbers that describe level and digit
)

func newUNet(rng *tensor.RNG) unet {
	padded := &tensor.ConvOptions{Padding: []int{1}}
	return unet{
		Time: nn.NewLinear(rng, waves, about), Hidden: nn.NewLinear(rng, about, about), Digit: nn.NewEmbedding(rng, 10, about),
		In: nn.NewConv2D(rng, 1, width, 3, padded), Out: nn.NewConv2D(rng, width, 1, 3, padded),
		Down:   newResidual(rng, width),
		Shrink: nn.NewConv2D(rng, width, 2*width, 3, &tensor.ConvOptions{Padding: []int{1}, Stride: []int{2}}),
		Mid:    newResidual(rng, 2*width),
		Narrow: nn.NewConv2D(rng, 2*width, width, 1, nil),
		Up:     newResidual(rng, width),
		Norm:   nn.NewGroupNorm(8, width),
	}
}

// apply returns the noise in images x, [batch 1 8 8], at times from 0 to 1, [batch 1 1 1], of
// the digits y, int32 [batch].
func (m unet) apply(x, time, y tensor.Tensor) tensor.Tensor {
	// Waves of several lengths tell near levels and far levels apart.
	frequency := tensor.Linspace(math.Log(1), math.Log(100), waves/2).Exp()
	angle := time.Reshape(-1, 1).Mul(frequency)
	c := m.Hidden.Apply(m.Time.Apply(tensor.Cat(1, angle.Sin(), angle.Cos())).SiLU()).Add(m.Digit.Apply(y)).SiLU()

	full := m.Down.apply(m.In.Apply(x), c)                                 // [batch width 8 8]
	half := m.Mid.apply(m.Shrink.Apply(full), c)                           // [batch 2·width 4 4]
	back := m.Narrow.Apply(half).Repeat(2, 2).Repeat(3, 2)                 // [batch width 8 8]
	return m.Out.Apply(m.Norm.Apply(m.Up.apply(back.Add(full), c)).SiLU()) // [batch 1 8 8]
}

// A residual adds to images the results of two convolutions of them, and of numbers that
// describe them.
type residual struct {
	Norm1, Norm2 nn.GroupNorm
	Conv1, Conv2 nn.Conv
	About        nn.Linear
}

func newResidual(rng *tensor.RNG, channels int) residual {
	padded := &tensor.ConvOptions{Padding: []int{1}}
	return residual{
		Norm1: nn.NewGroupNorm(8, channels), Norm2: nn.NewGroupNorm(8, channels),
		Conv1: nn.NewConv2D(rng, channels, channels, 3, padded), Conv2: nn.NewConv2D(rng, channels, channels, 3, padded),
		About: nn.NewLinear(rng, about, channels),
	}
}

// apply maps x, [batch channels h w], and c, [batch about], to the shape of x.
func (l residual) apply(x, c tensor.Tensor) tensor.Tensor {
	y := l.Conv1.Apply(l.Norm1.Apply(x).SiLU()).Add(l.About.Apply(c).Unsqueeze(2, 3))
	return x.Add(l.Conv2.Apply(l.Norm2.Apply(y).SiLU()))
}
