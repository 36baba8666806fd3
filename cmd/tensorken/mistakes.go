package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

// The number of images that are drawn as text, and in a file.
const (
	shownMistakes = 6
	drawnMistakes = 64
)

// mistakes are images that a model took for another class.
type mistakes struct {
	side   int
	pixels [][]float32 // of an image, row by row, 0 for the background
	titles []string    // "8, not 3"
}

// findMistakes returns the images among examples whose class was not predicted. Others are
// no images: rows of numbers that make no square.
func findMistakes(x tensor.Tensor, classes []float64, truth, said []int32) (mistakes, error) {
	width := x.Dim(1)
	m := mistakes{side: int(math.Sqrt(float64(width)) + 0.5)}
	if m.side*m.side != width || m.side < 4 {
		return mistakes{}, nil
	}
	values, err := tensor.Data[float32](x)
	if err != nil {
		return m, err
	}
	name := func(class int32) string { return strconv.FormatFloat(classes[class], 'f', -1, 64) }
	for i, class := range truth {
		if said[i] == class {
			continue
		}
		row := values[i*width : (i+1)*width]
		m.pixels = append(m.pixels, row)
		m.titles = append(m.titles, fmt.Sprintf("%s, not %s", name(class), name(said[i])))
	}
	return m, nil
}

// print draws the first images as text.
func (m mistakes) print(w io.Writer) error {
	n := min(len(m.pixels), shownMistakes)
	if n == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nwrong: %s\n", strings.Join(m.titles[:n], "; "))
	var all []float32
	for _, p := range m.pixels[:n] {
		all = append(all, p...)
	}
	t := tensor.New(all, n, m.side, m.side)
	return plot.Image(t.Div(t.Max()).Unsqueeze(-1)).Print(w)
}

// save draws the images to a file. Without any, it says so to notes.
func (m mistakes) save(path string, notes io.Writer) error {
	if len(m.pixels) == 0 {
		_, err := fmt.Fprintln(notes, "no image was taken for another class: --plot draws nothing")
		return err
	}
	var figures []*plot.Figure
	for i, p := range m.pixels[:min(len(m.pixels), drawnMistakes)] {
		t := tensor.New(p, m.side, m.side)
		f := plot.Image(tensor.Scalar(1).Sub(t.Div(t.Max()))) // dark on bright
		f.Title = m.titles[i]
		f.Width, f.Height = 120, 140
		figures = append(figures, f)
	}
	return plot.Grid(8, figures...).Save(path)
}
