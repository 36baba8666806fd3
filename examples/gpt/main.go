// Command gpt trains a small GPT on the characters of a text, prints samples while it
// trains, and goes on where it was stopped. README.md has an example.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/examples/internal/gpt"
	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

var (
	on         = flag.String("device", "", device.Usage)
	file       = flag.String("text", "", "file of the text to learn (default a list of names)")
	prompt     = flag.String("prompt", "\n", "how samples begin")
	checkpoint = flag.String("checkpoint", "", "file to save the run in, and to go on from")
	curves     = flag.String("plot", "", "draw the losses into this file, a .png or an .svg")
	steps      = flag.Int("steps", 2000, "steps of training in all")
	every      = flag.Int("every", 200, "steps between samples")
	batch      = flag.Int("batch", 16, "windows of the text in a step")
	rate       = flag.Float64("rate", 1e-3, "learning rate")
	dropout    = flag.Float64("dropout", 0.1, "probability that a number is dropped in training")
	layers     = flag.Int("layers", 4, "blocks of the model")
	width      = flag.Int("width", 128, "width of the model")
	heads      = flag.Int("heads", 4, "heads of each attention")
	length     = flag.Int("length", 128, "characters that the model looks back on")
)

func main() { flags.Run(on, run) }

// read returns the text to learn.
func read() (string, error) {
	if *file == "" {
		list, err := names.Read("")
		return "\n" + strings.Join(list, "\n") + "\n", err
	}
	b, err := os.ReadFile(*file)
	return string(b), err
}

// run trains and prints, at each report, the losses and a sample.
func run(ctx context.Context, w io.Writer) error {
	text, err := read()
	if err != nil {
		return err
	}
	characters := gpt.NewVocabulary(text)
	start, err := characters.Encode(*prompt)
	if err != nil || len(start) == 0 {
		return fmt.Errorf("-prompt: want characters of the text: %v", err)
	}
	l, err := newLoop(characters, text)
	if err != nil {
		return err
	}
	l.Watch = func(history []train.Metrics) error {
		last := history[len(history)-1]
		sample := sample(l.Model, tensor.NewRNG(uint64(l.Step)), start, 300)
		fmt.Fprintf(w, "\nstep %d, loss %.4f, of the text held out %.4f\n%s\n", l.Step, last["loss"], last["test"], characters.Decode(sample))
		if *curves == "" {
			return nil
		}
		figure := plot.Metrics(history)
		figure.X.Label, figure.Width, figure.Height = fmt.Sprintf("%d steps", *every), 480, 320
		return figure.Save(*curves)
	}
	return l.Run(ctx)
}

// sample returns text with n more tokens.
func sample(m gpt.Model, rng *tensor.RNG, text []int32, n int) []int32 {
	draw := func(logits tensor.Tensor) tensor.Tensor { return rng.Categorical(logits.Softmax(-1)) }
	for token := range m.Write(text, draw) {
		text = append(text, token)
		if n--; n == 0 {
			break
		}
	}
	return text
}
