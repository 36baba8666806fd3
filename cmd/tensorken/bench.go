package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/cmd/tensorken/internal/language"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/internal/bench"
	"github.com/tensorken/tensorken/tensor"
)

// benchOptions are the flags of bench.
type benchOptions struct {
	ops, devices []string
	sizes        []int
	max, threads int
	budget       time.Duration
	json         bool
	plot, model  string
	cacheType    string
	peers        peerOptions
	ranks        bool
}

func benchCommand() *cobra.Command {
	var o benchOptions
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast this machine's devices are",
		Long: `Measure a few operations on square matrices of float32, on the CPU and, if there
is one, on the GPU: exp, add, mul, sum over an axis, sum to a scalar and the
matrix product. The inputs are contiguous, and then reshaped to n/2×2n and
transposed (for the product, transposed).

A time is the median of as many runs as fit into --time, at least three, after runs
for half as long that warm up. Each run builds the operation's graph and evaluates it: a time
includes making the graph, finding its plan, submitting it, allocating the result
and computing. It does not include compiling or copies between host and device;
the clock stops when the device has finished a batch of runs. GB/s counts each
input read once and the result written once; GFLOP/s counts one operation for
each element, 2n³ for the product. With two devices, the ratio is the first
one's time divided by the second one's.

With --peers it compares the CPU with other libraries instead, or with --device the
GPU with PyTorch, alone, compiled and in a CUDA graph, and JAX on a GPU of NVIDIA; bench/peers/README.md in the repository says with
which, and how to install them. It runs in a clone of the repository. The works are
matrix products, elementwise operations and sums, softmax, layer norm, a transposition,
a convolution, and training steps of an MLP, of a transformer and of LSTMs; on a GPU
also attention, a cross-entropy and GPT-2, products in types of 16 bits, and of steps the peak
memory and the first one's time. Programs of the libraries alternate with this one, three times, and each
time is the median of the three. A ratio is how many times as fast this library is, or how
many times less memory it takes. The bar is what the project wants: of the ratio to the
fastest of the libraries that it names, or of the value. A work that one program cannot
measure, or whose results differ, is left out, and the command fails at its end.

With --ranks it measures sums over the GPUs of several ranks, in GB/s of the bus as nccl-tests
count them, and training steps of GPT-2 with a batch for each rank. Each rank opens cuda:N, N being its
number on its host, or the N-th of --device: tensorken launch -n 2 tensorken bench --ranks. GB is the
memory at the peak, of a work that needs more than those before. With --peers PyTorch runs on as many GPUs
after that.

With --model it measures how many tokens a second a language model, as in tensorken run,
reads in prompts of some lengths, and writes after them.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkMode(func(flag string) bool {
				f := c.Flags().Lookup(flag)
				return f.Changed && f.Value.String() != "false"
			}); err != nil {
				return err
			}
			if o.ranks {
				return o.benchRanks(c.Context(), c.OutOrStdout())
			}
			if o.peers.compare {
				return o.comparePeers(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
			}
			if o.model != "" {
				return o.benchModel(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
			}
			return o.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.ops, "ops", nil, "operations to measure (default all: "+strings.Join(opNames(), ",")+")")
	f.IntSliceVar(&o.sizes, "sizes", nil, "even sizes n of n×n matrices (default powers of two from 64 to --max)")
	f.IntVar(&o.max, "max", 2048, "greatest size")
	f.StringSliceVar(&o.devices, "device", nil, "devices to measure, such as cpu,webgpu (default the CPU and the GPU, if there is one; with --peers the CPU)")
	f.IntVar(&o.threads, "threads", 0, "cores that the CPU may use (default TENSORKEN_THREADS, else all)")
	f.DurationVar(&o.budget, "time", 200*time.Millisecond, "time to spend on each number, more if three runs take longer")
	f.BoolVar(&o.json, "json", false, "print the result as JSON; the table goes to standard error")
	f.StringVar(&o.plot, "plot", "", "draw the result into this file, a .png or an .svg")
	f.StringVar(&o.model, "model", "", "measure this language model instead")
	f.StringVar(&o.cacheType, "cache-type", "", "with --model: "+language.CacheTypeUsage)
	f.BoolVar(&o.peers.compare, "peers", false, "compare the CPU with NumPy, PyTorch, gonum and GoMLX, or the GPU of --device with PyTorch and JAX")
	f.BoolVar(&o.ranks, "ranks", false, "measure several ranks, which tensorken launch or another launcher starts")
	f.StringVar(&o.peers.works, "works", "", "with --peers or --ranks: works to measure, a regular expression (default all)")
	f.StringVar(&o.peers.dir, "peers-dir", filepath.Join("bench", "peers"), "with --peers: the folder of the peers' programs")
	f.StringVar(&o.peers.python, "python", "", "with --peers: the Python interpreter (default the first on PATH that has the library)")
	return c
}

// benchModel measures a language model on one device.
func (o benchOptions) benchModel(ctx context.Context, stdout, stderr io.Writer) error {
	if len(o.devices) > 1 {
		return errors.New("--model measures one device: name one with --device")
	}
	return language.Bench(ctx, o.model, language.BenchOptions{Device: strings.Join(o.devices, ""), CacheType: o.cacheType, JSON: o.json}, stdout, stderr)
}

func opNames() []string {
	var names []string
	for _, op := range bench.Ops {
		names = append(names, op.Name)
	}
	return names
}

// A benchReport is the output of --json.
type benchReport struct {
	Machine string      `json:"machine"`
	Adapter string      `json:"adapter"` // empty without a GPU
	Rows    []bench.Row `json:"rows"`
}

// A benchDevice is a device with its name in tables.
type benchDevice struct {
	name string
	*tensor.Device
}

func (o benchOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	cells, err := o.cells()
	if err != nil {
		return err
	}
	devices, notes, err := o.open()
	for _, d := range devices {
		defer d.Close()
	}
	if err != nil {
		return err
	}
	table := stdout
	if o.json {
		table = stderr
	}
	r := benchReport{Machine: o.machine()}
	fmt.Fprintln(table, "machine:", r.Machine)
	for _, d := range devices {
		if d.name != "cpu" && r.Adapter == "" {
			r.Adapter = describe(d.String())
			fmt.Fprintln(table, "adapter:", r.Adapter)
		}
	}
	for _, note := range notes {
		fmt.Fprintln(table, "note:", note)
	}
	var stopped error
	if r.Rows, stopped = o.measure(ctx, table, cells, devices); len(r.Rows) == 0 {
		return stopped
	}
	if o.plot != "" {
		if err := plotBench(o.plot, r.Rows); err != nil {
			return errors.Join(stopped, fmt.Errorf("--plot: %w", err))
		}
	}
	if !o.json {
		return stopped
	}
	return errors.Join(stopped, json.NewEncoder(stdout).Encode(r))
}

// machine describes the machine and the number of its cores that are used.
func (o benchOptions) machine() string {
	m := machine()
	if used := o.used(); used > 0 {
		m += fmt.Sprintf(", %d of them used", used)
	}
	return m
}

// used returns the number of cores to use, 0 if it is not limited.
func (o benchOptions) used() int {
	if o.threads > 0 {
		return o.threads
	}
	n, _ := strconv.Atoi(os.Getenv("TENSORKEN_THREADS")) // tensor.CPU has checked it
	return n
}

// measure measures each cell and prints its line of the table. If ctx ends it returns the rows so far.
func (o benchOptions) measure(ctx context.Context, table io.Writer, cells []bench.Cell, devices []benchDevice) ([]bench.Row, error) {
	all := []bench.Row{}
	printBenchHead(table, devices)
	for _, c := range cells {
		rows := make([]*bench.Row, len(devices))
		var failures []error
		for i, d := range devices {
			row, err := bench.Measure(ctx, c, d.Device, o.budget)
			switch {
			case ctx.Err() != nil:
				return all, errors.New("interrupted")
			case err != nil:
				failures = append(failures, fmt.Errorf("%s: %w", d.name, err))
				continue
			}
			row.Device = d.name
			rows[i] = &row
			all = append(all, row)
		}
		printBenchLine(table, c, rows)
		for _, err := range failures {
			fmt.Fprintln(table, "  ", err)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("nothing could be measured")
	}
	return all, nil
}

// maxSize is the greatest size, of a matrix of 16 GiB.
const maxSize = 1 << 16

// cells returns the cells to measure, in the order of the table.
func (o benchOptions) cells() (cells []bench.Cell, err error) {
	ops, sizes := o.ops, o.sizes
	if len(ops) == 0 {
		ops = opNames()
	}
	if len(sizes) == 0 {
		if o.max < 64 || o.max > maxSize {
			return nil, fmt.Errorf("--max is %d, want 64 to %d", o.max, maxSize)
		}
		for n := 64; n <= o.max; n *= 2 {
			sizes = append(sizes, n)
		}
	}
	for _, n := range sizes {
		if n < 2 || n > maxSize || n%2 != 0 {
			return nil, fmt.Errorf("--sizes has %d, want even numbers from 2 to %d", n, maxSize)
		}
	}
	if err := o.limits(); err != nil {
		return nil, err
	}
	err = checkPlot(o.plot)
	for _, name := range ops {
		i := slices.Index(opNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("--ops has %q, want some of %s", name, strings.Join(opNames(), ", "))
		}
		for _, layout := range bench.Layouts {
			for _, n := range sizes {
				cells = append(cells, bench.Cell{Op: bench.Ops[i], N: n, Layout: layout})
			}
		}
	}
	return cells, err
}

// limits checks --threads and --time.
func (o benchOptions) limits() error {
	cores := runtime.GOMAXPROCS(0)
	switch {
	case o.threads < 0 || o.threads > cores:
		return fmt.Errorf("--threads is %d, want 1 to %d, this machine's cores", o.threads, cores)
	case o.budget <= 0:
		return fmt.Errorf("--time is %v, want more than 0", o.budget)
	}
	return nil
}

// open opens the devices to measure. If none are named, it skips a GPU that does not
// open, with a note. On failure it returns the devices already open.
func (o benchOptions) open() (devices []benchDevice, notes []string, err error) {
	names := o.devices
	if slices.Contains(names, "") {
		return nil, nil, errors.New("--device has an empty name")
	}
	if len(names) == 0 {
		names = []string{"cpu", ""}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return devices, nil, fmt.Errorf("--device names %s twice", name)
		}
		if name == "cpu" {
			devices = append(devices, benchDevice{name, tensor.NewCPU(&tensor.CPUOptions{Threads: o.threads})})
			continue
		}
		d, why, err := device.Open(name)
		if err != nil {
			return devices, nil, err
		}
		if why != "" {
			notes = append(notes, fmt.Sprint("device ", d, " ", why))
		}
		if d != tensor.CPU() {
			if name == "" {
				name = "webgpu"
			}
			devices = append(devices, benchDevice{name, d})
		}
	}
	if len(devices) == 0 {
		return nil, nil, errors.New(strings.Join(notes, "; "))
	}
	return devices, notes, nil
}
