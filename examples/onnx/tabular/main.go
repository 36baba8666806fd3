// Command tabular predicts the rows of a CSV file by a model of scikit-learn, XGBoost or LightGBM in ONNX, as
// skl2onnx writes it:
//
//	go run ./examples/onnx/tabular -model forest.onnx -data flowers.csv -target species
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

var (
	on      = flag.String("device", "", device.Usage)
	model   = flag.String("model", "", "the model, an .onnx file")
	file    = flag.String("data", "", "the table, a CSV file")
	columns = flag.String("columns", "", "columns of a model with one input, with commas between them (default all but the target)")
	target  = flag.String("target", "", "a column with the truth: its share that is predicted, or the error, is printed")
	rows    = flag.Int("rows", 10, "how many predictions are printed")
)

func main() { flags.Run(on, run, "model", "data") }

// run prints the results for the first rows, and how good the first result is.
func run(ctx context.Context, w io.Writer) (err error) {
	defer tensor.Catch(&err)
	m, err := onnx.Open(*model)
	if err != nil {
		return err
	}
	f, err := table.Load(*file, nil)
	if err != nil {
		return err
	}
	if f.Len() == 0 {
		return fmt.Errorf("%s has no rows", *file)
	}
	inputs, err := read(f, m.Inputs())
	if err != nil {
		return err
	}
	results, err := m.RunValues(ctx, inputs)
	if err != nil {
		return err
	}
	outputs := m.Outputs()
	predicted := make([][]string, len(outputs)) // by result and row
	for i, out := range outputs {
		if predicted[i], err = texts(results[out.Name], f.Len()); err != nil {
			return fmt.Errorf("result %s: %w", out.Name, err)
		}
	}
	for row := range min(*rows, f.Len()) {
		fmt.Fprintf(w, "row %d:", row+1)
		for i, out := range outputs {
			fmt.Fprintf(w, " %s %s", out.Name, predicted[i][row])
		}
		fmt.Fprintln(w)
	}
	if *target == "" {
		return nil
	}
	return score(w, f, outputs[0], predicted[0], results[outputs[0].Name])
}

// texts returns a result for each row: a class, a number, numbers, or the probabilities of classes.
func texts(v onnx.Value, rows int) (list []string, err error) {
	switch {
	case v.Kind == onnx.StringKind && len(v.Strings) == rows:
		return v.Strings, nil
	case v.Kind == onnx.SequenceKind && len(v.Sequence) == rows:
		for _, x := range v.Sequence {
			list = append(list, probabilities(x.Map))
		}
		return list, nil
	case v.Kind == onnx.TensorKind && v.Tensor.Rank() > 0 && v.Tensor.Dim(0) == rows:
		numbers, err := tensor.Data[float64](v.Tensor.Cast(tensor.Float64))
		n := len(numbers) / rows
		for row := range rows {
			list = append(list, strings.Trim(fmt.Sprintf("%.5g", numbers[row*n:][:n]), "[]"))
		}
		return list, err
	}
	return nil, fmt.Errorf("it is %v: want a value for each of %d rows", v, rows)
}

// probabilities returns the entries of a map in the order of their keys.
func probabilities(m map[any]any) string {
	var list []string
	for class, p := range m {
		list = append(list, fmt.Sprintf("%v: %.3g", class, p))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// score prints the share of classes that are right, or the error of numbers.
func score(w io.Writer, f *table.Frame, info onnx.Info, predicted []string, v onnx.Value) error {
	if info.Type != "float" && info.Type != "double" {
		truth, err := table.Column[string](f, *target)
		if err != nil {
			return err
		}
		right := 0
		for row := range truth {
			if truth[row] == predicted[row] {
				right++
			}
		}
		_, err = fmt.Fprintf(w, "%d of %d are right\n", right, len(truth))
		return err
	}
	if v.Tensor.Len() != f.Len() {
		return errors.New("the model's first result has several numbers for each row: -target wants one")
	}
	truth, err := f.Tensor(tensor.Float64, *target)
	if err != nil {
		return err
	}
	difference := v.Tensor.Cast(tensor.Float64).To(tensor.CPU()).Reshape(-1).Sub(truth.To(tensor.CPU()).Reshape(-1))
	_, err = fmt.Fprintf(w, "root of the mean squared error: %.4g\n", difference.Square().Mean().Sqrt().Item())
	return err
}
