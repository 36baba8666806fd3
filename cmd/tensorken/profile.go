package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/bench"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// profileOptions are the flags of profile.
type profileOptions struct {
	model, work, device, trace string
	steps                      int
}

func profileCommand() *cobra.Command {
	var o profileOptions
	c := &cobra.Command{
		Use:   "profile",
		Short: "Show which kernels the training steps of a model run, and how fast",
		Long: `Profile training steps of a model: mlp and cnn are those of tensorken train on a batch
of 64 digits, transformer is a small language model of 4 layers on random tokens.
With --work, profile runs of a work of tensorken bench --peers, such as gpt2 on a GPU.

The table has a line for each kernel and line of code that asked for it, added up
over the steps, as tensor.Profile gives it for any program. GB/s counts each element
that a kernel reads or writes once. Peak is the share of the device's peak: of the
GB/s of a sum of a long vector or of the GFLOP/s of a product of square matrices,
both of float32, whichever is greater; data in a cache may exceed it.

--trace writes a file that ui.perfetto.dev and chrome://tracing open.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.run(c.Context(), c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&o.model, "model", "transformer", "model to train: "+strings.Join(profileNames(), ", "))
	f.StringVar(&o.work, "work", "", "work of tensorken bench --peers to run in place of the model's steps")
	f.StringVar(&o.device, "device", "", device.Usage)
	f.IntVar(&o.steps, "steps", 10, "steps or runs to profile, after some that compile the kernels")
	f.StringVar(&o.trace, "trace", "", "write the kernels into this file, as JSON in Chrome's trace format")
	return c
}

// A stepper makes a model, and returns a function that does a training step and returns the
// loss before it.
type stepper func(d *tensor.Device) (func() (tensor.Tensor, error), error)

// profiled has the models that can be profiled.
var profiled = map[string]stepper{
	"mlp": digitsSteps("mlp"),
	"cnn": digitsSteps("cnn"),
	"transformer": func(d *tensor.Device) (func() (tensor.Tensor, error), error) {
		return startWork(bench.Works, "transformer", d)
	},
}

func profileNames() []string { return slices.Sorted(maps.Keys(profiled)) }

// digitsSteps trains an architecture on a batch of the built-in digits.
func digitsSteps(model string) stepper {
	return func(d *tensor.Device) (func() (tensor.Tensor, error), error) {
		const size = 64
		arch := architectures[model]
		about, training, _, err := trainOptions{model: model, seed: 1}.load(arch)
		if err != nil {
			return nil, err
		}
		rng := tensor.NewRNG(1)
		net := tree.To(arch.build(rng, about.InputShape, len(about.Classes)), d)
		x, y := training.X.Slice(0, 0, size).To(d), training.Y.Slice(0, 0, size).To(d)
		opt := optim.New(optim.AdamW{WeightDecay: 0.01}, arch.lr)
		return func() (tensor.Tensor, error) {
			loss, next, gradient := grad.ValueAndGradAux(func(net nn.Sequential) (tensor.Tensor, nn.Sequential) {
				logits, next := nn.Train(net, x, rng)
				return nn.CrossEntropy(logits, y).Mean(), next
			})(net)
			net = next
			return loss, opt.Step(&net, gradient)
		}, nil
	}
}

// workRuns runs a work of a device's suite.
func workRuns(name string) stepper {
	return func(d *tensor.Device) (func() (tensor.Tensor, error), error) {
		gpu := d.String()
		if d == tensor.CPU() {
			gpu = ""
		}
		return startWork(bench.SuiteOf(gpu).Works, name, d)
	}
}

// startWork starts the work of a name.
func startWork(works []bench.Work, name string, d *tensor.Device) (func() (tensor.Tensor, error), error) {
	var names []string
	for _, w := range works {
		if w.Name == name {
			return w.Start(d), nil
		}
		names = append(names, w.Name)
	}
	return nil, fmt.Errorf("no work %q on %s: want one of %s", name, d, strings.Join(names, ", "))
}

func (o profileOptions) run(ctx context.Context, stdout io.Writer) (err error) {
	defer tensor.Catch(&err)
	make, ok := profiled[o.model]
	name, unit := o.model, "training steps"
	if o.work != "" {
		make, ok = workRuns(o.work), true
		name, unit = o.work, "runs"
	}
	switch {
	case !ok:
		return fmt.Errorf("no model %q: want one of %s", o.model, strings.Join(profileNames(), ", "))
	case o.steps < 1:
		return fmt.Errorf("--steps is %d, want at least 1", o.steps)
	case o.trace != "":
		err = writable("--trace", o.trace)
	}
	if err != nil {
		return err
	}
	dev, why, err := device.Open(o.device)
	if err != nil {
		return err
	}
	defer dev.Close()
	step, err := make(dev)
	if err != nil {
		return err
	}
	const warmUp = 3
	if err := repeat(ctx, warmUp, dev, step); err != nil {
		return err
	}
	trace := tensor.Profile(func() { err = repeat(ctx, o.steps, dev, step) })
	if err != nil {
		return err
	}
	each := trace.Wall / time.Duration(o.steps)
	fmt.Fprintf(stdout, "machine: %s\n%s: %d %s on %s, %.3f ms each\n\n%v", machine(), name, o.steps, unit, noted(dev.String(), why), each.Seconds()*1e3, trace)
	if o.trace == "" {
		return nil
	}
	if err := files.Replace(o.trace, func(w *bufio.Writer) error { return trace.WriteTrace(w) }); err != nil {
		return fmt.Errorf("--trace %s: %w", o.trace, files.Reason(err))
	}
	return nil
}

// repeat does steps, and waits for the device to finish them.
func repeat(ctx context.Context, steps int, d *tensor.Device, step func() (tensor.Tensor, error)) error {
	for range steps {
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		loss, err := step()
		if err == nil {
			err = tensor.Eval(loss)
		}
		if err != nil {
			return err
		}
	}
	return d.Sync()
}
