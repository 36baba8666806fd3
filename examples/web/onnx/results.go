package main

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// A result is one of a run, as the page shows it.
type result struct {
	Name, Type string
	Range      string  // of its elements
	Text       string  // the elements, or some of them
	Top        []class // the greatest of scores of classes
	Map        *heat   // the last two axes as an image, of the first of the others
}

type class struct {
	Class       int
	Score       string
	Probability float64 // by softmax, unless the scores are probabilities
}

// A heat is a map of levels from 0 to 255, row by row.
type heat struct {
	Height, Width int
	Levels        []int
}

const (
	top       = 5
	mostSide  = 96
	leastSide = 4
)

// resultOf describes a result, on the CPU.
func resultOf(info onnx.Info, v onnx.Value) (r result, err error) {
	r = result{Name: info.Name, Type: v.String(), Text: textOf(v)}
	if v.Kind != onnx.TensorKind || v.Tensor.Len() == 0 || v.Tensor.DType() == tensor.Bool {
		return r, nil
	}
	t := v.Tensor.To(tensor.CPU())
	x := t.Cast(tensor.Float64)
	lo, hi, mean := x.Min(), x.Max(), x.Mean()
	if err := tensor.Eval([]tensor.Tensor{lo, hi, mean}); err != nil {
		return r, err
	}
	r.Range = fmt.Sprintf("from %.5g to %.5g, mean %.5g", lo.Item(), hi.Item(), mean.Item())
	n := 1
	if t.Rank() > 0 {
		n = t.Dim(-1)
	}
	if t.DType().IsFloat() && n == t.Len() && n >= 3 {
		r.Top = classes(x.Reshape(n))
	}
	if t.Rank() >= 2 && t.Dim(-2) >= leastSide && n >= leastSide {
		r.Map, err = heatOf(x.Reshape(-1, t.Dim(-2), n).Slice(0, 0, 1))
	}
	return r, err
}

// classes returns the classes with the greatest scores.
func classes(scores tensor.Tensor) (list []class) {
	p := scores
	if sum := scores.Sum().Item(); scores.Min().Item() < 0 || sum < 0.999 || sum > 1.001 {
		p = scores.Softmax(0)
	}
	best, which := scores.TopK(0, min(top, scores.Len()))
	for i := range best.Len() {
		c := int(which.At(i).Item())
		list = append(list, class{c, fmt.Sprintf("%.5g", best.At(i).Item()), finite(p.At(c).Item())})
	}
	return list
}

// finite returns a probability that a message holds: 0 for NaN.
func finite(p float64) float64 {
	if p != p {
		return 0
	}
	return p
}

// textOf returns the elements of a value, or some of them.
func textOf(v onnx.Value) string {
	const most = 100
	switch v.Kind {
	case onnx.TensorKind:
		return v.Tensor.String()
	case onnx.StringKind:
		return strings.Join(v.Strings[:min(len(v.Strings), most)], "\n")
	case onnx.MapKind:
		return fmt.Sprint(v.Map)
	}
	var list []string
	for _, x := range v.Sequence[:min(len(v.Sequence), most)] {
		list = append(list, textOf(x))
	}
	return strings.Join(list, "\n")
}

// heatOf returns a map of [1 h w], of at most mostSide levels along each axis.
func heatOf(x tensor.Tensor) (*heat, error) {
	h, w := min(x.Dim(1), mostSide), min(x.Dim(2), mostSide)
	x = x.Cast(tensor.Float32).Unsqueeze(0).Resize([]int{h, w}, &tensor.ResizeOptions{Mode: tensor.Area})
	lo, hi := x.Min(), x.Max()
	x = x.Sub(lo).Div(hi.Sub(lo).Maximum(1e-30)).Mul(255)
	levels, err := tensor.Data[uint8](tensor.Where(x.Eq(x), x, 0).Clamp(0, 255).Cast(tensor.Uint8))
	if err != nil {
		return nil, err
	}
	m := &heat{Height: h, Width: w}
	for _, l := range levels {
		m.Levels = append(m.Levels, int(l))
	}
	return m, nil
}
