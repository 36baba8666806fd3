package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/internal/digits"
	"github.com/tensorken/tensorken/tensor"
)

// examples are rows of numbers with their classes.
type examples struct {
	x tensor.Tensor // [n width], float32, as in the file
	y []float64     // n classes, as in the file
}

// builtIn is the name of the built-in digits in metadata.
const builtIn = "digits"

// heldOut is the share of examples held out of training.
const heldOut = 0.2

// maxClass bounds the magnitude of a class: from here on, several whole numbers are one
// float32.
const maxClass = 1 << 24

// readExamples reads a file, or the built-in digits if path is "".
func readExamples(path string) (examples, error) {
	if path == "" {
		return parseExamples(strings.NewReader(digits.CSV), builtIn)
	}
	r, err := os.Open(path)
	if err != nil {
		return examples{}, err
	}
	defer r.Close()
	return parseExamples(r, path)
}

// parseExamples reads CSV of finite numbers; the last column is the class, a whole
// number. Errors count rows from 1, without the header.
func parseExamples(r io.Reader, path string) (e examples, err error) {
	_, rows, err := data.ReadCSV(r)
	if err != nil {
		return e, fmt.Errorf("%s: %w", path, err)
	}
	if !rows.IsValid() || rows.Rank() != 2 || rows.Dim(0) == 0 || rows.Dim(1) < 2 {
		return e, fmt.Errorf("%s: want rows of at least one number and a class", path)
	}
	values, err := tensor.Data[float32](rows)
	if err != nil {
		return e, err
	}
	width := rows.Dim(1)
	for i, v := range values {
		row, column, x := i/width+1, i%width+1, float64(v)
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			return e, fmt.Errorf("%s: row %d, column %d: %v is not a finite number", path, row, column, v)
		case column < width:
			continue
		case x != math.Trunc(x):
			return e, fmt.Errorf("%s: row %d: class %v is not a whole number", path, row, v)
		case math.Abs(x) >= maxClass:
			return e, fmt.Errorf("%s: row %d: class %.0f is too large: want a magnitude below %d", path, row, x, maxClass)
		}
		e.y = append(e.y, x)
	}
	e.x = rows.Slice(1, 0, -1)
	return e, nil
}

// classes returns the distinct classes in order.
func (e examples) classes() []float64 {
	c := slices.Clone(e.y)
	slices.Sort(c)
	return slices.Compact(c)
}

// labels returns the position of each example's class in classes.
func (e examples) labels(classes []float64) (tensor.Tensor, error) {
	out := make([]int32, len(e.y))
	for i, c := range e.y {
		at, ok := slices.BinarySearch(classes, c)
		if !ok {
			return tensor.Tensor{}, fmt.Errorf("row %d: class %v is not among the model's classes %v", i+1, c, classes)
		}
		out[i] = int32(at)
	}
	return tensor.New(out), nil
}

// A batch has the inputs and labels of examples.
type batch struct{ X, Y tensor.Tensor }

// split divides examples, unscaled, into those for training and those for testing.
func split(e examples, classes []float64, seed uint64) (training, testing batch, err error) {
	y, err := e.labels(classes)
	if err != nil {
		return training, testing, err
	}
	a, b := data.Split(data.Of(batch{e.x, y}), 1-heldOut, seed)
	if b.Len() == 0 || a.Len() == 0 {
		return training, testing, fmt.Errorf("too few examples to hold some out: %d", len(e.y))
	}
	if training, err = data.Whole(a); err != nil {
		return training, testing, err
	}
	testing, err = data.Whole(b)
	return training, testing, err
}

// A scaling maps numbers of a file to inputs of a network: (x - Offset)/Scale, with one
// element for all columns or one for each.
type scaling struct{ Offset, Scale []float32 }

// fit returns the scaling of x to the range from 0 to 1, by column or together.
func fit(x tensor.Tensor, together bool) (s scaling, err error) {
	defer tensor.Catch(&err)
	lo, hi := x.Min(0), x.Max(0)
	if together {
		lo, hi = lo.Min(1), hi.Max(1)
	}
	if s.Offset, err = tensor.Data[float32](lo); err != nil {
		return s, err
	}
	if s.Scale, err = tensor.Data[float32](hi); err != nil {
		return s, err
	}
	for i := range s.Scale {
		if s.Scale[i] -= s.Offset[i]; s.Scale[i] == 0 { // a column of equal numbers
			s.Scale[i] = 1
		}
	}
	return s, nil
}

// apply scales x and reshapes its rows.
func (s scaling) apply(x tensor.Tensor, shape []int) tensor.Tensor {
	x = x.Sub(tensor.New(s.Offset)).Div(tensor.New(s.Scale))
	return x.Reshape(append([]int{-1}, shape...)...).Keep()
}

func digitsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "digits",
		Short: "Print the handwritten digits that train learns, as CSV",
		Long: `Print the 1,797 images of handwritten digits that train learns, as CSV: one image a line,
8 rows of 8 pixels from 0 to 16, then the digit.

The digits are from "Optical Recognition of Handwritten Digits" by E. Alpaydin
and C. Kaynak, UCI Machine Learning Repository, doi.org/10.24432/C50P49, CC BY 4.0.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := io.WriteString(c.OutOrStdout(), digits.CSV)
			return err
		},
	}
}
