// Package onnxcmd has the command tensorken onnx. Read onnx.go first.
package onnxcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/internal/onnxcase"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// Command is tensorken onnx.
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "onnx",
		Short: "Models in ONNX: describe, check, run, time, test",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(infoCommand(), checkCommand(), runCommand(), benchCommand(), caseCommand())
	return c
}

// A StatusError is an error with an exit status of its own.
type StatusError struct {
	Status int
	Err    error
}

func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e *StatusError) Unwrap() error { return e.Err }

// A dims is the value of --dim: lengths of named axes.
type dims struct{ list []string }

func (d *dims) flag(c *cobra.Command) {
	c.Flags().StringArrayVar(&d.list, "dim", nil, "NAME=LENGTH or INPUT[AXIS]=LENGTH of an axis, 1 if it is not given; may be repeated")
}

func (d *dims) lengths() (map[string]int, error) {
	m := map[string]int{}
	for _, s := range d.list {
		name, value, ok := strings.Cut(s, "=")
		n, err := strconv.Atoi(value)
		if !ok || err != nil || n < 0 || name == "" {
			return nil, fmt.Errorf("--dim: %q: want NAME=LENGTH", s)
		}
		m[name] = n
	}
	return m, nil
}

// useDevice opens a device and makes it the default.
func useDevice(name string, notes io.Writer) error {
	d, why, err := device.Open(name)
	if err != nil {
		return err
	}
	if why != "" {
		why = " " + why
	}
	fmt.Fprintf(notes, "device %v%s\n", d, why)
	tensor.SetDefault(d)
	return nil
}

func infoCommand() *cobra.Command {
	var d dims
	c := &cobra.Command{
		Use:   "info MODEL.onnx",
		Short: "Print inputs, results, and the nodes with shapes, parameters and operations",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			defer tensor.Catch(&err)
			lengths, err := d.lengths()
			if err != nil {
				return err
			}
			m, err := onnx.Open(args[0])
			if err != nil {
				return err
			}
			return printInfo(c.OutOrStdout(), m, lengths)
		},
	}
	d.flag(c)
	return c
}

func printInfo(w io.Writer, m *onnx.Model, dims map[string]int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "model\t%s\n", m.Name)
	fmt.Fprintf(t, "producer\t%s\n", m.Producer)
	for domain, v := range m.Opsets {
		if domain == "" {
			domain = "ai.onnx"
		}
		fmt.Fprintf(t, "opset\t%s %d\n", domain, v)
	}
	for _, in := range m.Inputs() {
		fmt.Fprintf(t, "input\t%v\n", in)
	}
	for _, out := range m.Outputs() {
		fmt.Fprintf(t, "output\t%v\n", out)
	}
	nodes, err := m.Describe(dims)
	if len(nodes) > 0 {
		fmt.Fprintln(t, "\nnode\toperator\tresults\tparameters\toperations")
		params, flops := 0, 0.0
		for _, n := range nodes {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", n.Name, n.Op, strings.Join(n.Results, ", "), count(float64(n.Params)), count(n.FLOPs))
			params += n.Params
			flops += n.FLOPs
		}
		fmt.Fprintf(t, "%d nodes\t\t\t%s\t%s\n", len(nodes), count(float64(params)), count(flops))
	}
	if err != nil && slices.ContainsFunc(m.Inputs(), isOpen) {
		err = fmt.Errorf("%w; axes without --dim have length 1", err)
	}
	return errors.Join(t.Flush(), err)
}

// isOpen reports whether the file leaves the length of an axis open.
func isOpen(in onnx.Info) bool {
	return slices.ContainsFunc(in.Dims, func(d onnx.Dim) bool { return d.Len < 0 })
}

// count returns a number in three digits, empty for 0.
func count(n float64) string {
	units := []string{"", " k", " M", " G", " T"}
	for n >= 1000 && len(units) > 1 {
		n, units = n/1000, units[1:]
	}
	if n == 0 {
		return ""
	}
	return strconv.FormatFloat(n, 'g', 3, 64) + units[0]
}

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check MODEL.onnx",
		Short: "List the operators that a model needs; the status is 1 if one is missing",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			needs, err := onnx.Check(args[0])
			if err != nil {
				return err
			}
			missing := 0
			t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "operator\topset\tnodes\t")
			for _, n := range needs {
				state := "ok"
				if n.Missing != "" {
					state = n.Missing
					missing++
				}
				fmt.Fprintf(t, "%s\t%d\t%d\t%s\n", n.Op, n.Opset, n.Nodes, state)
			}
			if err := t.Flush(); err != nil {
				return err
			}
			if missing > 0 {
				return fmt.Errorf("%s: %d of %d operators are missing", args[0], missing, len(needs))
			}
			return nil
		},
	}
}

func caseCommand() *cobra.Command {
	var name string
	var write bool
	c := &cobra.Command{
		Use:   "case DIR",
		Short: "Run a case of ONNX's test suite",
		Long: `Run DIR/model.onnx on the inputs in DIR/test_data_set_0 and so on, or in DIR/io.npz. The status is
0 if all results are as in the case, 1 if one differs, 2 if the model cannot be run; a line says why.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := useDevice(name, io.Discard); err != nil {
				return &StatusError{int(onnxcase.CannotRun), err}
			}
			v, err := runCase(c.Context(), args[0], write)
			if err != nil {
				return &StatusError{int(v), fmt.Errorf("%v: %s", v, onnxcase.Reason(err))}
			}
			fmt.Fprintln(c.OutOrStdout(), v)
			return nil
		},
	}
	c.Flags().StringVar(&name, "device", "", device.Usage)
	c.Flags().BoolVar(&write, "write", false, "write the results to DIR/test_data_set_0/output_0.pb and so on instead")
	return c
}

// runCase runs a case, or writes its results. A misuse cannot run.
func runCase(ctx context.Context, dir string, write bool) (v onnxcase.Verdict, err error) {
	v = onnxcase.CannotRun
	defer tensor.Catch(&err)
	if !write {
		return onnxcase.RunFolder(ctx, dir)
	}
	if err := onnxcase.Write(ctx, dir); err != nil {
		return v, err
	}
	return onnxcase.Match, nil
}
