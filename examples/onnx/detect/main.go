// Command detect finds objects in images by a detector in ONNX, such as YOLO11, prints them, and draws their
// boxes:
//
//	go run ./examples/onnx/detect -model yolo11n.onnx -images photos -labels coco.txt -out boxes
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/examples/internal/vision"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

var (
	on        = flag.String("device", "", device.Usage)
	model     = flag.String("model", "", "the detector, an .onnx file")
	images    = flag.String("images", "", "a folder of images, or one image")
	labels    = flag.String("labels", "", "a file with the name of a class in each line")
	kind      = flag.String("form", "yolov8", "the form of the model's results: "+formNames())
	threshold = flag.Float64("score", 0.25, "least score of a box")
	overlap   = flag.Float64("overlap", 0.45, "boxes of one class that overlap more than this are one object, of which the best box stays")
	folder    = flag.String("out", "", "a folder for the images with boxes, of PNG files")
	options   = vision.Options{Size: 640, Fit: "pad", Mean: vision.Numbers{0}, Std: vision.Numbers{1}, Layout: "nchw"}.Flags()
)

func main() { flags.Run(on, run, "model", "images") }

// run prints and draws the objects in each image.
func run(ctx context.Context, w io.Writer) (err error) {
	defer tensor.Catch(&err)
	f, ok := forms[*kind]
	if !ok {
		return fmt.Errorf("-form is %q, want %s", *kind, formNames())
	}
	m, err := onnx.Open(*model)
	if err != nil {
		return err
	}
	in, err := options.Input(m)
	if err != nil {
		return err
	}
	if in.Channels != 3 {
		return fmt.Errorf("the model's inputs are %v: want 3 channels", m.Inputs())
	}
	names, err := vision.ReadLabels(*labels)
	if err != nil {
		return err
	}
	paths, err := vision.Images(*images)
	if err != nil {
		return err
	}
	if *folder != "" {
		if err := os.MkdirAll(*folder, 0o700); err != nil {
			return err
		}
	}
	for _, path := range paths {
		pixels, err := imageio.Load(path, 3)
		if err != nil {
			return err
		}
		boxes, err := detect(ctx, m, in, f, names, pixels)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %d objects\n", filepath.Base(path), len(boxes))
		for _, b := range boxes {
			fmt.Fprintf(w, "  %.2f  %s at %v\n", b.Score, names.Name(b.Class), b.rectangle())
		}
		if *folder == "" {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) + ".png"
		if err := drawn(pixels, boxes, filepath.Join(*folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// detect returns the objects in an image, the most certain first, in its pixels.
func detect(ctx context.Context, m *onnx.Model, in vision.Input, f form, names vision.Labels, pixels tensor.Tensor) ([]Box, error) {
	x, view := in.Prepare(pixels)
	out, err := m.Run(ctx, map[string]tensor.Tensor{in.Name: in.Stack([]tensor.Tensor{x})})
	if err != nil {
		return nil, err
	}
	boxes, classes, err := f.find(m.Outputs(), out, float64(in.Size))
	if err == nil && classes > 0 {
		err = names.Check(classes)
	}
	if err != nil {
		return nil, fmt.Errorf("-form %s: %w", *kind, err)
	}
	boxes = best(boxes, *threshold, *overlap)
	w, h := float64(pixels.Dim(1)), float64(pixels.Dim(0))
	for i, b := range boxes {
		b.X0, b.Y0 = view.Back(b.X0, b.Y0)
		b.X1, b.Y1 = view.Back(b.X1, b.Y1)
		b.X0, b.Y0, b.X1, b.Y1 = max(b.X0, 0), max(b.Y0, 0), min(b.X1, w), min(b.Y1, h)
		boxes[i] = b
	}
	return boxes, nil
}

func (b Box) rectangle() image.Rectangle {
	round := func(x float64) int { return int(math.Round(x)) }
	return image.Rect(round(b.X0), round(b.Y0), round(b.X1), round(b.Y1))
}

// colors are for classes in turn.
var colors = []color.RGBA{{230, 25, 75, 255}, {60, 180, 75, 255}, {0, 130, 200, 255}, {245, 130, 48, 255}, {145, 30, 180, 255}, {70, 240, 240, 255}}

// drawn writes an image with boxes into a file.
func drawn(pixels tensor.Tensor, boxes []Box, path string) error {
	from, err := imageio.ToImage(pixels)
	if err != nil {
		return err
	}
	m := image.NewRGBA(from.Bounds())
	draw.Draw(m, m.Bounds(), from, image.Point{}, draw.Src)
	width := max(1, min(m.Bounds().Dx(), m.Bounds().Dy())/200)
	for i := range boxes {
		b := boxes[len(boxes)-1-i] // the most certain is drawn last
		r := b.rectangle()
		paint := image.NewUniform(colors[b.Class%len(colors)])
		for _, side := range []image.Rectangle{
			{r.Min, image.Pt(r.Max.X, r.Min.Y+width)}, {image.Pt(r.Min.X, r.Max.Y-width), r.Max},
			{r.Min, image.Pt(r.Min.X+width, r.Max.Y)}, {image.Pt(r.Max.X-width, r.Min.Y), r.Max},
		} {
			draw.Draw(m, side.Intersect(r), paint, image.Point{}, draw.Src)
		}
	}
	return imageio.Save(path, imageio.FromImage(m, 3))
}
