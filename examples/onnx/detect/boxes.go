package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// A Box is a rectangle with an object, in pixels: of the square that the model sees, and then of the image.
type Box struct {
	X0, Y0, X1, Y1, Score float64
	Class                 int
}

// A form is how results of a family of models are read.
type form struct {
	shapes [][]int // of results, in order, with the first image alone: -n is at least n
	boxes  int     // the axis of boxes of the first, which is its longest
	text   string
	// read returns boxes, [n 4], and their scores, [n classes], or scores, [n], and classes.
	read func(out []tensor.Tensor, size float64) (boxes, scores, classes tensor.Tensor)
}

// forms are the results of YOLO 8 to 12, of YOLO 5 and 7, of YOLO 10, and of DETR.
var forms = map[string]form{
	"yolov8": {[][]int{{1, -5, -1}}, 2, "[1 4+classes boxes]: center, size, a score for each class", func(out []tensor.Tensor, _ float64) (b, s, c tensor.Tensor) {
		x := out[0].Transpose(0, 1)
		return corners(x), x.Slice(1, 4, x.Dim(1)), c
	}},
	"yolov5": {[][]int{{1, -1, -6}}, 1, "[1 boxes 5+classes]: center, size, a score of all, one for each class", func(out []tensor.Tensor, _ float64) (b, s, c tensor.Tensor) {
		x := out[0]
		return corners(x), x.Slice(1, 4, 5).Mul(x.Slice(1, 5, x.Dim(1))), c
	}},
	"yolov10": {[][]int{{1, -1, 6}}, 1, "[1 boxes 6]: two corners, score, class", func(out []tensor.Tensor, _ float64) (b, s, c tensor.Tensor) {
		x := out[0]
		return x.Slice(1, 0, 4), x.Slice(1, 4, 5).Squeeze(1), x.Slice(1, 5, 6).Squeeze(1)
	}},
	"detr": {[][]int{{1, -1, -2}, {1, -1, 4}}, 1, "logits, [1 boxes classes+1], then centers and sizes from 0 to 1, [1 boxes 4]", func(out []tensor.Tensor, size float64) (b, s, c tensor.Tensor) {
		p := out[0].Softmax(1)
		return corners(out[1].Mul(size)), p.Slice(1, 0, p.Dim(1)-1), c // the last class is no object
	}},
}

func formNames() string { return strings.Join(slices.Sorted(maps.Keys(forms)), ", ") }

// corners returns the corners of boxes [n 4…] that have center and size.
func corners(x tensor.Tensor) tensor.Tensor {
	center, half := x.Slice(1, 0, 2), x.Slice(1, 2, 4).Mul(0.5)
	return tensor.Cat(1, center.Sub(half), center.Add(half))
}

// find returns the boxes of the first image, each with its best class, and the number of classes, 0 if the
// results do not say it.
func (f form) find(infos []onnx.Info, out map[string]tensor.Tensor, size float64) (boxes []Box, n int, err error) {
	var list []tensor.Tensor
	for i, want := range f.shapes {
		if i >= len(infos) || !has(out[infos[i].Name], want) {
			return nil, 0, fmt.Errorf("the model's results are %v: want %s", infos, f.text)
		}
		list = append(list, out[infos[i].Name].At(0).Cast(tensor.Float32))
	}
	if d := list[0].Shape(); d[f.boxes-1] < d[2-f.boxes] {
		return nil, 0, fmt.Errorf("the model's first result is %v, with fewer boxes than numbers for each: want %s", out[infos[0].Name].Shape(), f.text)
	}
	corners, scores, classes := f.read(list, size)
	if !classes.IsValid() {
		n = scores.Dim(1)
		classes, scores = scores.ArgMax(1), scores.Max(1)
	}
	x, err := tensor.Data[float32](corners)
	s, err2 := tensor.Data[float32](scores)
	c, err3 := tensor.Data[float32](classes.Cast(tensor.Float32))
	if err := cmp.Or(err, err2, err3); err != nil {
		return nil, 0, err
	}
	for i := range s {
		b := x[4*i:]
		boxes = append(boxes, Box{float64(b[0]), float64(b[1]), float64(b[2]), float64(b[3]), float64(s[i]), int(c[i])})
	}
	return boxes, n, nil
}

// has reports whether a result is of images, and has a shape for each.
func has(t tensor.Tensor, shape []int) bool {
	if !t.IsValid() || t.Rank() != len(shape) || t.Dim(0) < 1 {
		return false
	}
	for i, n := range shape[1:] {
		if have := t.Dim(i + 1); n > 0 && have != n || have < -n {
			return false
		}
	}
	return true
}

// best returns the boxes with at least a score, the best first, without those that overlap a better one of
// their class: non-maximum suppression.
func best(boxes []Box, score, overlap float64) (kept []Box) {
	boxes = slices.DeleteFunc(boxes, func(b Box) bool { return !(b.Score >= score) })
	slices.SortStableFunc(boxes, func(a, b Box) int { return cmp.Compare(b.Score, a.Score) })
	for _, b := range boxes {
		if !slices.ContainsFunc(kept, func(k Box) bool { return k.Class == b.Class && k.over(b) > overlap }) {
			kept = append(kept, b)
		}
	}
	return kept
}

// over returns the area that boxes have in common, divided by the area of both.
func (b Box) over(o Box) float64 {
	w, h := min(b.X1, o.X1)-max(b.X0, o.X0), min(b.Y1, o.Y1)-max(b.Y0, o.Y0)
	if w <= 0 || h <= 0 {
		return 0
	}
	return w * h / (b.area() + o.area() - w*h)
}

func (b Box) area() float64 { return (b.X1 - b.X0) * (b.Y1 - b.Y0) }
