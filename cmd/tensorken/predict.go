package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// predictOptions are the flags of predict.
type predictOptions struct{ device, data, plot string }

func predictCommand() *cobra.Command {
	var o predictOptions
	c := &cobra.Command{
		Use:   "predict MODEL.safetensors",
		Short: "Evaluate a saved model: accuracy and confusion matrix",
		Long: `Evaluate a model saved by train on a CSV file of numbers whose last column is the
class. Print the accuracy and the confusion matrix, with a row for each class and a
column for each predicted class. Without --data, a model trained on the digits is
evaluated on the digits that train held out. Examples that are square images, as the
digits are, are drawn if their class was not predicted: the first as text, more of them
into the file of --plot.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return o.run(args[0], c.OutOrStdout(), c.ErrOrStderr()) },
	}
	c.Flags().StringVar(&o.device, "device", "", device.Usage)
	c.Flags().StringVar(&o.data, "data", "", "CSV file of examples")
	c.Flags().StringVar(&o.plot, "plot", "", "draw the images whose class was not predicted into this file, a .png or an .svg")
	return c
}

func (o predictOptions) run(path string, stdout, stderr io.Writer) (err error) {
	defer tensor.Catch(&err)
	if err := checkPlot(o.plot); err != nil {
		return err
	}
	about, net, err := open(path)
	if err != nil {
		return err
	}
	examples, err := o.load(about)
	if err != nil {
		return err
	}
	dev, why, err := device.Open(o.device)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "device", noted(dev.String(), why))
	x := about.Scaling.apply(examples.X, about.InputShape)
	scores := tree.To(net, dev).Apply(x).Keep()
	said, err := tensor.Data[int32](scores.ArgMax(-1))
	if err != nil {
		return err
	}
	values, err := tensor.Data[float32](scores)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(values, notFinite); i >= 0 {
		return fmt.Errorf("%s: the model's scores of example %d are not finite numbers: its scaling or its weights do not fit the data",
			path, i/len(about.Classes)+1)
	}
	truth, err := tensor.Data[int32](examples.Y)
	if err != nil {
		return err
	}
	counts, right := confusion(truth, said, len(about.Classes))
	fmt.Fprintf(stdout, "accuracy %.2f %% (%d of %d)\n\n", 100*float64(right)/float64(len(truth)), right, len(truth))
	if err := printConfusion(stdout, about.Classes, counts); err != nil {
		return err
	}
	wrong, err := findMistakes(examples.X, about.Classes, truth, said)
	if err != nil {
		return err
	}
	if o.plot != "" {
		if err := wrong.save(o.plot, stderr); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	return wrong.print(stdout)
}

// load reads the examples to evaluate the model on.
func (o predictOptions) load(about description) (batch, error) {
	if o.data == "" && about.Data != builtIn {
		return batch{}, fmt.Errorf("the model was trained on %q: name a file to evaluate it on with --data", about.Data)
	}
	e, err := readExamples(o.data)
	if err != nil {
		return batch{}, err
	}
	if width := about.width(); e.x.Dim(1) != width {
		return batch{}, fmt.Errorf("%s: rows have %d numbers and a class, the model needs %d", o.data, e.x.Dim(1), width)
	}
	if o.data == "" {
		_, testing, err := split(e, about.Classes, about.Seed)
		return testing, err
	}
	y, err := e.labels(about.Classes)
	if err != nil {
		return batch{}, fmt.Errorf("%s: %w", o.data, err)
	}
	return batch{e.x, y}, nil
}

// confusion counts the predictions of each class by true class, and the correct ones.
func confusion(truth, said []int32, classes int) (counts [][]int, right int) {
	counts = make([][]int, classes)
	for i := range counts {
		counts[i] = make([]int, classes)
	}
	for i, c := range truth {
		counts[c][said[i]]++
		if said[i] == c {
			right++
		}
	}
	return counts, right
}

// printConfusion prints a row for each class, with a column for each predicted class.
func printConfusion(w io.Writer, classes []float64, counts [][]int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = strconv.FormatFloat(c, 'f', -1, 64)
	}
	fmt.Fprintf(t, "class\t%s\t\n", strings.Join(names, "\t"))
	for i, row := range counts {
		fmt.Fprintf(t, "%s\t", names[i])
		for _, n := range row {
			fmt.Fprintf(t, "%d\t", n)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
