// Command makemore generates names with the models of Andrej Karpathy's lectures "Neural
// Networks: Zero to Hero", from counts of pairs of letters to a transformer. The flag -model
// chooses one of them, or one of the lectures' studies:
//
//   - counts: counts of pairs of letters; neuron: the same by gradient descent
//   - rates, mlp: a search for the learning rate; a network that sees three letters
//   - init, batchnorm: histograms of activations and gradients, by the initial weights, with
//     and without batch norm; a deep network with batch norm
//   - backprop: gradients derived by hand, and compared with package grad's
//   - wavenet: a tree of layers over eight letters
//   - rnn, gru, lstm, transformer: networks that read a whole name
//
// With -plot it also draws the lectures' figures. The page README.md shows them.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

var (
	on      = flag.String("device", "", device.Usage)
	file    = flag.String("names", "", names.Usage)
	seed    = flag.Uint64("seed", 1, "seed of the split, the weights and the names drawn")
	model   = flag.String("model", "all", "what to run: all, "+strings.Join(stageNames(), ", "))
	steps   = flag.Int("steps", 0, "steps of training (default the model's own number)")
	figures = flag.String("plot", "", "an existing folder to draw figures into, as .png files")
)

func main() {
	flags.Parse()
	list, err := names.Read(*file)
	if err != nil {
		log.Fatal(err)
	}
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	if err := makemore(os.Stdout, list, *model); err != nil {
		log.Fatal(err)
	}
}

// A stage is a model or a study of the lectures.
type stage struct {
	name string
	run  func(s *session) error
}

// stages returns the stages in the lectures' order.
func stages() []stage {
	return []stage{
		{"counts", counts},
		{"neuron", trained(neuron)},
		{"rates", rates},
		{"mlp", trained(mlp)},
		{"init", initial},
		{"batchnorm", trained(batchNorm)},
		{"backprop", backprop},
		{"wavenet", trained(waveNet)},
		{"rnn", trained(rnn)},
		{"gru", trained(gru)},
		{"lstm", trained(lstm)},
		{"transformer", trained(transformer)},
	}
}

func stageNames() (list []string) {
	for _, s := range stages() {
		list = append(list, s.name)
	}
	return list
}

// A session is a run of the program.
type session struct {
	w       io.Writer
	data    dataset
	seed    uint64
	steps   int    // 0: each model's own number
	figures string // a folder, "" for no figures
	results []result
}

// rng returns new random numbers, so that the draws of a stage do not depend on the stages
// before it.
func (s *session) rng() *tensor.RNG { return tensor.NewRNG(s.seed) }

// draw writes a figure, if the program draws.
func (s *session) draw(name string, figure func() *plot.Figure) error {
	if s.figures == "" {
		return nil
	}
	return figure().Save(s.figures + string(os.PathSeparator) + name + ".png")
}

// makemore runs the named stage, or all and a comparison of their losses.
func makemore(w io.Writer, list []string, name string) (err error) {
	defer tensor.Catch(&err)
	if len(list) < 3 {
		return fmt.Errorf("%d names: want at least 3, to train, to choose and to test", len(list))
	}
	s := &session{w: w, data: split(list, *seed), seed: *seed, steps: *steps, figures: *figures}
	fmt.Fprintf(w, "%d names to train with, %d to choose by, %d to test with, of at most %d letters\n",
		len(s.data.train), len(s.data.dev), len(s.data.test), s.data.longest)
	if s.figures != "" { // fail before the training
		if info, err := os.Stat(s.figures); err != nil || !info.IsDir() {
			return fmt.Errorf("-plot %s: want a folder that exists", s.figures)
		}
	}
	found := false
	for _, stage := range stages() {
		if name != "all" && name != stage.name {
			continue
		}
		found = true
		fmt.Fprintf(w, "\n%s\n", stage.name)
		if err := stage.run(s); err != nil {
			return fmt.Errorf("%s: %w", stage.name, err)
		}
	}
	if !found {
		return fmt.Errorf("no model %q: want all, %s", name, strings.Join(stageNames(), ", "))
	}
	if name != "all" {
		return nil
	}
	return s.compare()
}
