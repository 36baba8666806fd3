// Command kernel learns through a kernel of its own: the operation recur, in Go, WGSL and PTX, with
// its derivative. It finds the decays of four leaky integrators from their response to noise.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

var on = flag.String("device", "", device.Usage)

func main() {
	flags.Parse()
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	if err := learn(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// learn prints decays that are learned from the last outputs of integrators with the true ones.
func learn(w io.Writer) error {
	const steps, channels = 200, 4
	noise := tensor.NewRNG(1).Normal(steps, channels)
	truth := tensor.New([]float32{0.2, 0.5, 0.8, 0.95}, channels)
	target := recur(truth.Expand(steps, channels), noise).Keep()

	loss := func(logits, batch tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, tensor.Tensor) {
		decay := logits.Sigmoid().Expand(steps, channels)
		return recur(decay, batch).Sub(target).Square().Mean(), logits
	}
	logits := tensor.ZerosOf(tensor.Float32, channels)
	step := optim.Jit(optim.New(optim.Adam{}, 0.1), loss)
	for i := range 301 {
		l, err := step(&logits, noise, nil)
		if err != nil {
			return err
		}
		if i%100 == 0 {
			fmt.Fprintf(w, "step %3d: loss %.4f\n", i, l.Item())
		}
	}
	fmt.Fprintf(w, "decays %.3f\n", logits.Sigmoid())
	return nil
}
