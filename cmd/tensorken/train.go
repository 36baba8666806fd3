package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
	"github.com/tensorken/tensorken/tree"
)

// trainOptions are the flags of train.
type trainOptions struct {
	model, device, data, out string
	plot                     string
	epochs, batch            int
	lr                       float64
	seed                     uint64
	json                     bool
}

func trainCommand() *cobra.Command {
	var o trainOptions
	c := &cobra.Command{
		Use:   "train",
		Short: "Train a classifier on handwritten digits, or on a CSV file",
		Long: `Train a classifier on 1,797 handwritten digits, or on a CSV file of numbers
whose last column is the class, a whole number.

A fifth of the examples is held out. The model of the epoch with the best accuracy
on them is saved. Progress goes to standard error, results to standard output.
Ctrl-C, SIGTERM or a closed console window of Windows stops after the current step
and saves the best model so far; the exit status is then 0.

The digits are from "Optical Recognition of Handwritten Digits" by E. Alpaydin
and C. Kaynak, UCI Machine Learning Repository, doi.org/10.24432/C50P49, CC BY 4.0.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(c.Flags().Changed); err != nil {
				return err
			}
			return o.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.model, "model", "mlp", "kind of network: mlp or cnn")
	f.IntVar(&o.epochs, "epochs", 0, "passes over the examples (default 40 for mlp, 15 for cnn)")
	f.Float64Var(&o.lr, "lr", 0, "learning rate (default 0.02 for mlp, 0.003 for cnn)")
	f.IntVar(&o.batch, "batch", 64, "examples in a step")
	f.Uint64Var(&o.seed, "seed", 1, "seed of all randomness: the same seed gives the same result")
	f.StringVar(&o.device, "device", "", device.Usage)
	f.StringVar(&o.data, "data", "", "CSV file of examples (default the digits)")
	f.StringVar(&o.out, "out", "digits.safetensors", "file to save the model to")
	f.StringVar(&o.plot, "plot", "", "draw the loss and the accuracy into this file, a .png or an .svg, after each epoch")
	f.BoolVar(&o.json, "json", false, "print the result as JSON, on the last line")
	return c
}

// A result is the output of --json.
type result struct {
	Device       string  `json:"device"`
	Epochs       int     `json:"epochs"`
	Seconds      float64 `json:"seconds"`
	TrainLoss    float64 `json:"train_loss"`
	TestAccuracy float64 `json:"test_accuracy"`
	Parameters   int     `json:"parameters"`
}

func (o trainOptions) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	defer tensor.Catch(&err)
	dev, reason, err := device.Open(o.device)
	if err != nil {
		return err
	}
	arch := architectures[o.model]
	about, training, testing, err := o.load(arch)
	if err != nil {
		return err
	}
	rng := tensor.NewRNG(o.seed)
	net := tree.To(arch.build(rng, about.InputShape, len(about.Classes)), dev)
	loop := o.newLoop(net, rng, training, testing, stderr)

	r := result{Device: dev.String(), Parameters: tree.Size(net)}
	fmt.Fprintf(stderr, "training %s on %s of %s\n", o.model, shape.Count(training.Y.Len(), "example"), noted(about.Data, reason))
	start := clock.Now()
	err = loop.Run(ctx)
	r.Seconds = clock.Since(start).Seconds()
	interrupted := err != nil && ctx.Err() != nil
	switch {
	case interrupted && loop.Best == nil:
		return errors.New("interrupted before the first step: nothing to save")
	case interrupted:
		fmt.Fprintln(stderr, "interrupted: keeping the best model so far")
	case err != nil && len(loop.History) > 0:
		if saveErr := about.save(o.out, loop.Best); saveErr != nil {
			return err
		}
		return fmt.Errorf("%w; the best model before that is saved to %s", err, o.out)
	case err != nil:
		return err
	}
	r.Epochs = len(loop.History)
	r.TrainLoss = nn.CrossEntropy(loop.Best.Apply(training.X), training.Y).Mean().Item()
	r.TestAccuracy = train.Accuracy(loop.Best.Apply(testing.X), testing.Y).Item()
	if err := about.save(o.out, loop.Best); err != nil {
		return err
	}
	return o.report(stdout, r, loop.History)
}

// newLoop returns the training of a network. It prints progress to stderr.
func (o trainOptions) newLoop(net nn.Sequential, rng *tensor.RNG, training, testing batch, stderr io.Writer) *train.Loop[nn.Sequential, batch] {
	steps := o.epochs * ir.CeilDiv(training.Y.Len(), o.batch)
	loop := &train.Loop[nn.Sequential, batch]{
		Model:     net,
		Data:      &data.Loader[batch]{Set: data.Of(training), Batch: o.batch, Shuffle: true, Seed: o.seed},
		Optimizer: optim.New(optim.AdamW{WeightDecay: 0.01}, o.lr),
		RNG:       rng,
		Epochs:    o.epochs,
		Loss: func(net nn.Sequential, b batch, rng *tensor.RNG) (tensor.Tensor, nn.Sequential) {
			logits, next := nn.Train(net, b.X, rng)
			return nn.CrossEntropy(logits, b.Y).Mean(), next
		},
		Validate: func(net nn.Sequential) (m train.Metrics, err error) {
			defer tensor.Catch(&err)
			return train.Metrics{"accuracy": train.Accuracy(net.Apply(testing.X), testing.Y).Item()}, nil
		},
		Monitor: "accuracy",
		Out:     stderr,
	}
	loop.Optimizer.Schedule = optim.Cosine(steps, 0)
	if o.plot != "" {
		loop.Watch = plot.WatchFiles[train.Metrics](o.plot)
	}
	return loop
}

// check sets flags that were not given to the model's defaults, and checks the others.
func (o *trainOptions) check(given func(flag string) bool) error {
	arch, err := findArchitecture(o.model)
	if err != nil {
		return err
	}
	if !given("epochs") {
		o.epochs = arch.epochs
	}
	if !given("lr") {
		o.lr = arch.lr
	}
	switch {
	case o.epochs < 1:
		return fmt.Errorf("--epochs is %d, want at least 1", o.epochs)
	case o.batch < 1:
		return fmt.Errorf("--batch is %d, want at least 1", o.batch)
	case !(o.lr > 0) || math.IsInf(o.lr, 1):
		return fmt.Errorf("--lr is %v, want a number above 0", o.lr)
	}
	if err := checkPlot(o.plot); err != nil {
		return err
	}
	return writable("--out", o.out)
}

// checkPlot returns an error if --plot is given and its file cannot be drawn.
func checkPlot(path string) error {
	if path == "" {
		return nil
	}
	if err := plot.CheckName(path); err != nil {
		return fmt.Errorf("--plot %s: %w", path, err)
	}
	return writable("--plot", path)
}

// writable returns an error if the file that a flag names cannot be written, before any
// work is done.
func writable(flag, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s %s is a folder, want a file", flag, path)
	}
	if err := files.Check(path); err != nil {
		return fmt.Errorf("%s %s: %w", flag, path, files.Reason(err))
	}
	return nil
}

// load reads the examples, splits them into those for training and for testing, and scales them.
func (o trainOptions) load(arch architecture) (about description, training, testing batch, err error) {
	e, err := readExamples(o.data)
	if err != nil {
		return about, training, testing, err
	}
	about = description{Model: o.model, Classes: e.classes(), Data: o.data, Seed: o.seed}
	if o.data == "" {
		about.Data = builtIn
	}
	if about.InputShape, err = arch.shape(e.x.Dim(1)); err != nil {
		return about, training, testing, err
	}
	if training, testing, err = split(e, about.Classes, o.seed); err != nil {
		return about, training, testing, err
	}
	if about.Scaling, err = fit(training.X, arch.together); err != nil {
		return about, training, testing, err
	}
	training.X = about.Scaling.apply(training.X, about.InputShape)
	testing.X = about.Scaling.apply(testing.X, about.InputShape)
	return about, training, testing, tensor.Eval(training, testing)
}

// report prints the losses as a curve, and the result.
func (o trainOptions) report(w io.Writer, r result, history []train.Metrics) error {
	if len(history) > 1 {
		losses := make([]float64, len(history))
		for i, m := range history {
			losses[i] = m["loss"]
		}
		curve := plot.Line(tensor.New(losses))
		curve.Title = fmt.Sprintf("loss over %d epochs", len(losses))
		if greatest := slices.Max(losses); !math.IsNaN(greatest) && !math.IsInf(greatest, 0) {
			curve.Y.Max = max(greatest, 0) // and Min is 0
		}
		if err := curve.Print(w); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%.2f %% of held-out examples right, by the best model of %s in %.1f s, saved to %s\n",
		100*r.TestAccuracy, shape.Count(r.Epochs, "epoch"), r.Seconds, o.out)
	if !o.json {
		return nil
	}
	for _, figure := range []*float64{&r.Seconds, &r.TrainLoss, &r.TestAccuracy} {
		*figure = math.Round(*figure*1e6) / 1e6
	}
	return json.NewEncoder(w).Encode(r)
}

// noted appends a note, if there is one.
func noted(text, note string) string {
	return strings.TrimSuffix(text+" "+note, " ")
}
