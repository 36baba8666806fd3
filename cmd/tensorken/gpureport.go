package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/cuda"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/tensor"
)

func gpuCheckCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "check",
		Short: "Compare what a GPU computes with the CPU",
		Long: `Run a fixed list of operations and gradients on a GPU and on the CPU and compare
the results. The output describes the machine: add it to a bug report. "off" is
the greatest error divided by the tolerance, "first" the time with compiling,
"again" the time without, "cpu" the CPU's time without.

The exit status is 1 if something differs or fails.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return gpuCheck(c.Context(), c.OutOrStdout(), name)
		},
	}
	c.Flags().StringVar(&name, "device", "", "device to check (default what TENSORKEN_DEVICE names, or cuda, or webgpu)")
	return c
}

func gpuCheck(ctx context.Context, w io.Writer, name string) error {
	if name == "" && os.Getenv("TENSORKEN_DEVICE") == "" {
		name = "webgpu"
		if gpus, _ := cuda.GPUs(); len(gpus) > 0 {
			name = "cuda"
		}
	}
	d, _, err := device.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	for _, line := range [][2]string{{"tensorken", version()}, {"machine", machine()}, {"system", system()}, {"device", d.String()}} {
		fmt.Fprintf(w, "%-11s %s\n", line[0], line[1])
	}
	if library, adapters, err := findAdapters(); err == nil {
		printAdapters(w, library, adapters)
	}
	fmt.Fprintln(w)
	checks := checksOf(d)
	failed, err := report(ctx, w, checks, d)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d of %d checks passed\n", len(checks)-failed, len(checks))
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed", failed, len(checks))
	}
	return nil
}

// report runs checks, prints a line for each, and returns the number of failures.
func report(ctx context.Context, w io.Writer, checks []check, d *tensor.Device) (failed int, err error) {
	const line = "%-36s %-5s %6s %10s %10s %10s\n"
	fmt.Fprintf(w, line, "check", "", "off", "first", "again", "cpu")
	for _, c := range checks {
		if ctx.Err() != nil {
			return failed, errors.New("interrupted")
		}
		r := runCheck(c, d)
		verdict := "ok"
		if r.err != nil {
			verdict = "FAIL"
			failed++
		}
		fmt.Fprintf(w, line, r.name, verdict, fmt.Sprintf("%.2g", r.worst),
			duration(r.first.Seconds()), duration(r.again.Seconds()), duration(r.cpu.Seconds()))
		if r.err != nil {
			fmt.Fprintln(w, "   ", r.err)
		}
	}
	return failed, nil
}
