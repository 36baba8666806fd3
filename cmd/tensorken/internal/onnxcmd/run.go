package onnxcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/npy"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// runOptions are the flags of run and bench.
type runOptions struct {
	dims   dims
	inputs []string
	seed   uint64
	device string
	out    string
	time   time.Duration
}

func (o *runOptions) flags(c *cobra.Command) {
	o.dims.flag(c)
	c.Flags().StringArrayVar(&o.inputs, "input", nil, "NAME=FILE.npy of an input, random if it is not given; may be repeated")
	c.Flags().Uint64Var(&o.seed, "seed", 1, "seed of random inputs")
	c.Flags().StringVar(&o.device, "device", "", device.Usage)
}

func runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run MODEL.onnx",
		Short: "Run a model on random inputs, or on arrays of NumPy",
		Long: `Run a model and print its results. Random inputs are normally distributed floats, and integers that
are 0 or 1.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			defer tensor.Catch(&err)
			m, inputs, err := o.open(args[0], c.ErrOrStderr())
			if err != nil {
				return err
			}
			results, err := m.RunValues(c.Context(), inputs)
			if err != nil {
				return err
			}
			return o.print(c.OutOrStdout(), m, results)
		},
	}
	o.flags(c)
	c.Flags().StringVar(&o.out, "out", "", "write the results to this file, an .npz")
	return c
}

// print prints results, or writes them to a file.
func (o *runOptions) print(w io.Writer, m *onnx.Model, results map[string]onnx.Value) error {
	tree := map[string]tensor.Tensor{}
	for _, out := range m.Outputs() {
		v := results[out.Name]
		switch {
		case v.Strings != nil:
			fmt.Fprintf(w, "%s %v %q\n", out.Name, v, v.Strings)
		case v.Sequence != nil:
			fmt.Fprintf(w, "%s %v\n", out.Name, v)
			for _, x := range v.Sequence {
				fmt.Fprintf(w, "  %v\n%v\n", x, x.Tensor)
			}
		case !v.Tensor.IsValid():
			fmt.Fprintf(w, "%s %v\n", out.Name, v)
		default:
			tree[out.Name] = v.Tensor
			fmt.Fprintf(w, "%s %v\n", out.Name, v)
			if o.out == "" {
				fmt.Fprintln(w, v.Tensor)
			}
		}
	}
	if o.out == "" {
		return nil
	}
	if !strings.HasSuffix(o.out, ".npz") {
		return fmt.Errorf("--out: %s: the name should end in .npz", o.out)
	}
	return npy.Save(o.out, tree)
}

// open opens a model and makes its inputs.
func (o *runOptions) open(path string, notes io.Writer) (*onnx.Model, map[string]onnx.Value, error) {
	lengths, err := o.dims.lengths()
	if err != nil {
		return nil, nil, err
	}
	given := map[string]string{}
	for _, s := range o.inputs {
		name, file, ok := strings.Cut(s, "=")
		if !ok || name == "" || file == "" {
			return nil, nil, fmt.Errorf("--input: %q: want NAME=FILE.npy", s)
		}
		given[name] = file
	}
	if err := useDevice(o.device, notes); err != nil {
		return nil, nil, err
	}
	m, err := onnx.Open(path)
	if err != nil {
		return nil, nil, err
	}
	inputs := map[string]onnx.Value{}
	if len(given) < len(m.Inputs()) {
		if inputs, err = m.Zeros(lengths); err != nil {
			return nil, nil, err
		}
	}
	rng := tensor.NewRNG(o.seed)
	for _, in := range m.Inputs() {
		v := inputs[in.Name]
		if file, ok := given[in.Name]; ok {
			if err := npy.Load(file, &v.Tensor); err != nil {
				return nil, nil, err
			}
			v = onnx.Value{Kind: onnx.TensorKind, Elem: onnx.ElemOf(v.Tensor.DType()), Tensor: v.Tensor}
			delete(given, in.Name)
		} else if v.Tensor.IsValid() {
			v.Tensor = random(rng, v.Tensor)
		}
		inputs[in.Name] = v
	}
	for name := range given {
		return nil, nil, fmt.Errorf("--input: %s has no input %q: it wants %v", path, name, m.Inputs())
	}
	return m, inputs, nil
}

// random returns random elements of a type and shape.
func random(rng *tensor.RNG, like tensor.Tensor) tensor.Tensor {
	d := like.DType()
	if d.IsFloat() {
		return rng.Normal(like.Shape()...).Cast(d)
	}
	return rng.Ints(2, like.Shape()...).Cast(d)
}

func benchCommand() *cobra.Command {
	o := runOptions{time: 2 * time.Second}
	c := &cobra.Command{
		Use:   "bench MODEL.onnx",
		Short: "Time a model: opening, the first run, and the median of further runs",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			defer tensor.Catch(&err)
			if o.time <= 0 {
				return errors.New("--time: want more than 0")
			}
			return o.bench(c.Context(), args[0], c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.flags(c)
	c.Flags().DurationVar(&o.time, "time", o.time, "how long to run")
	return c
}

func (o *runOptions) bench(ctx context.Context, path string, w, notes io.Writer) error {
	start := clock.Now()
	m, inputs, err := o.open(path, notes)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "open      %v\n", clock.Since(start).Round(time.Microsecond))
	var times []time.Duration
	run := func() error {
		begin := clock.Now()
		out, err := m.RunValues(ctx, inputs)
		if err == nil {
			err = tensor.Default().Sync()
		}
		_ = out
		times = append(times, clock.Since(begin))
		return err
	}
	const warm = 3 // the second records the model, the third compares the recording
	begin := clock.Now()
	for len(times) <= warm || clock.Since(begin) < o.time {
		if len(times) == warm {
			begin = clock.Now()
		}
		if err := run(); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "first run %v\n", times[0].Round(time.Microsecond))
	rest := times[warm:]
	slices.Sort(rest)
	fmt.Fprintf(w, "median    %v of %d runs\n", rest[len(rest)/2].Round(time.Microsecond), len(rest))
	return nil
}
