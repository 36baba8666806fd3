// Command classify names the images of a folder by a classifier in ONNX, such as a ResNet:
//
//	go run ./examples/onnx/classify -model resnet50.onnx -images photos -labels imagenet_classes.txt
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/examples/internal/vision"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

var (
	on      = flag.String("device", "", device.Usage)
	model   = flag.String("model", "", "the classifier, an .onnx file")
	images  = flag.String("images", "", "a folder of images, or one image")
	labels  = flag.String("labels", "", "a file with the name of a class in each line")
	top     = flag.Int("top", 5, "how many classes of an image are printed")
	batch   = flag.Int("batch", 16, "how many images run at the same time, if the model takes any number")
	softmax = flag.Bool("softmax", true, "the model's scores become probabilities; false: it has its own softmax")
	options = vision.ImageNet().Flags()
)

func main() { flags.Run(on, run, "model", "images") }

// run prints the most probable classes of each image.
func run(ctx context.Context, w io.Writer) (err error) {
	defer tensor.Catch(&err)
	if *top < 1 || *batch < 1 {
		return errors.New("want -top and -batch of at least 1")
	}
	m, err := onnx.Open(*model)
	if err != nil {
		return err
	}
	in, err := options.Input(m)
	if err != nil {
		return err
	}
	names, err := vision.ReadLabels(*labels)
	if err != nil {
		return err
	}
	paths, err := vision.Images(*images)
	if err != nil {
		return err
	}
	for _, b := range in.Batches(len(paths), *batch) {
		if err := classify(ctx, w, m, in, names, paths[b[0]:b[1]]); err != nil {
			return err
		}
	}
	return nil
}

// classify prints the classes of the images of one call.
func classify(ctx context.Context, w io.Writer, m *onnx.Model, in vision.Input, names vision.Labels, paths []string) error {
	var batch []tensor.Tensor
	for _, path := range paths {
		image, err := imageio.Load(path, in.Channels)
		if err != nil {
			return err
		}
		x, _ := in.Prepare(image)
		batch = append(batch, x)
	}
	out, err := m.Run(ctx, map[string]tensor.Tensor{in.Name: in.Stack(batch)})
	if err != nil {
		return err
	}
	scores := out[m.Outputs()[0].Name]
	if scores.Rank() != 2 || scores.Dim(0) < len(paths) {
		return fmt.Errorf("the model's result is %v: want scores, [images classes]", m.Outputs()[0])
	}
	if err := names.Check(scores.Dim(1)); err != nil {
		return err
	}
	if *softmax {
		scores = scores.Softmax(-1)
	}
	p, classes := scores.Slice(0, 0, len(paths)).Cast(tensor.Float32).TopK(1, min(*top, scores.Dim(1)))
	if err := tensor.Eval([]tensor.Tensor{p, classes}); err != nil {
		return err
	}
	for i, path := range paths {
		fmt.Fprintln(w, filepath.Base(path))
		for k := range p.Dim(1) {
			fmt.Fprintf(w, "  %6.2f %%  %s\n", 100*p.At(i, k).Item(), names.Name(int(classes.At(i, k).Item())))
		}
	}
	return nil
}
