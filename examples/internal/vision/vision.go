// Package vision makes images the inputs of models that were trained elsewhere. Nothing in an ONNX file
// says how its images were prepared: [Options] have the settings, and an input that contradicts them is an
// error.
package vision

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// Options say how a model wants its images.
type Options struct {
	Size   int     // the side of the square that it sees, in pixels
	Fit    string  // how an image becomes a square: crop, pad or stretch
	Crop   float64 // with crop: the share of the shorter side that is seen, 0.875 for 224 pixels of 256
	Mean   Numbers // subtracted from colors between 0 and 1; one for each channel, or one for all
	Std    Numbers // divides them then
	Layout string  // nchw or nhwc
}

// ImageNet returns the settings of most classifiers.
func ImageNet() Options {
	return Options{Size: 224, Fit: "crop", Crop: 0.875, Mean: Numbers{0.485, 0.456, 0.406}, Std: Numbers{0.229, 0.224, 0.225}, Layout: "nchw"}
}

// Flags returns the settings as flags of the program.
func (o Options) Flags() *Options {
	flag.IntVar(&o.Size, "size", o.Size, "side of the square of pixels that the model sees")
	flag.StringVar(&o.Fit, "fit", o.Fit, "how an image becomes a square: crop, pad or stretch")
	flag.Float64Var(&o.Crop, "crop", o.Crop, "with -fit crop: share of the shorter side that is seen")
	flag.Var(&o.Mean, "mean", "subtracted from colors between 0 and 1, for each channel")
	flag.Var(&o.Std, "std", "divides them then, for each channel")
	flag.StringVar(&o.Layout, "layout", o.Layout, "order of the axes of the model's input: nchw or nhwc")
	return &o
}

// Numbers are the value of a flag, such as 0.485,0.456,0.406.
type Numbers []float64

// String returns the text of the flag.
func (n Numbers) String() string {
	s := make([]string, len(n))
	for i, x := range n {
		s[i] = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strings.Join(s, ",")
}

// Set sets the flag.
func (n *Numbers) Set(s string) error {
	*n = nil
	for field := range strings.SplitSeq(s, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || math.IsNaN(0*x) {
			return errors.New("want numbers with commas between them")
		}
		*n = append(*n, x)
	}
	return nil
}

// An Input is how a model takes images.
type Input struct {
	Name     string
	Batch    int // images of a call; 0: any number
	Channels int
	Options
	half bool
}

// Input returns the model's input of images. It is an error if the model has another input, or if that
// contradicts the settings.
func (o Options) Input(m *onnx.Model) (Input, error) {
	inputs := m.Inputs()
	in := Input{Options: o, Channels: 3}
	if len(inputs) != 1 || len(inputs[0].Dims) != 4 || !slices.Contains([]string{"float", "float16"}, inputs[0].Type) {
		return in, fmt.Errorf("the model's inputs are %v: want one of images, floats with 4 axes", inputs)
	}
	in.Name, in.half = inputs[0].Name, inputs[0].Type == "float16"
	if err := o.check(); err != nil {
		return in, err
	}
	d := inputs[0].Dims
	n, c, h, w := d[0].Len, d[1], d[2].Len, d[3].Len
	if o.Layout == "nhwc" {
		c, h, w = d[3], d[1].Len, d[2].Len
	}
	in.Batch = max(n, 0)
	if c.Len >= 0 {
		in.Channels = c.Len
	}
	switch {
	case in.Channels != 1 && in.Channels != 3:
		return in, fmt.Errorf("the model's input is %v, whose axis of channels as -layout %s has it is of length %d: want 1 or 3", inputs[0], o.Layout, in.Channels)
	case h >= 0 && w >= 0 && h != w:
		return in, fmt.Errorf("the model's input is %v: want squares", inputs[0])
	case max(h, w) >= 0 && max(h, w) != o.Size:
		return in, fmt.Errorf("the model's input is %v: want -size %d, not %d", inputs[0], max(h, w), o.Size)
	}
	for name, list := range map[string]Numbers{"mean": o.Mean, "std": o.Std} {
		if len(list) != 1 && len(list) != in.Channels {
			return in, fmt.Errorf("the model's input is %v: want -%s of 1 or %d numbers, not %d", inputs[0], name, in.Channels, len(list))
		}
	}
	return in, nil
}

// check returns the mistake in the settings.
func (o Options) check() error {
	switch {
	case o.Size < 1 || o.Size > 1<<14:
		return fmt.Errorf("-size is %d, want 1 to 16384", o.Size)
	case fits[o.Fit] == nil:
		return fmt.Errorf("-fit is %q, want crop, pad or stretch", o.Fit)
	case o.Fit == "crop" && !(o.Crop > 0 && o.Crop <= 1):
		return fmt.Errorf("-crop is %v, want more than 0 and at most 1", o.Crop)
	case o.Layout != "nchw" && o.Layout != "nhwc":
		return fmt.Errorf("-layout is %q, want nchw or nhwc", o.Layout)
	case slices.Contains(o.Std, 0):
		return errors.New("-std has a 0, by which colors would be divided")
	}
	return nil
}

// A View says where the pixels of an image, uint8 [h w c], are in the square: x·Scale[0] + Offset[0] along the
// rows, y·Scale[1] + Offset[1] along the columns.
type View struct{ Scale, Offset [2]float64 }

// Back returns the place in the image of one in the square.
func (v View) Back(x, y float64) (float64, float64) {
	return (x - v.Offset[0]) / v.Scale[0], (y - v.Offset[1]) / v.Scale[1]
}

// fits has the views of an image of w by h pixels.
var fits = map[string]func(o Options, w, h float64) View{
	"stretch": func(o Options, w, h float64) View {
		return View{Scale: [2]float64{float64(o.Size) / w, float64(o.Size) / h}}
	},
	"crop": func(o Options, w, h float64) View {
		return o.centered(w, h, math.Round(float64(o.Size)/o.Crop)/min(w, h))
	},
	"pad": func(o Options, w, h float64) View { return o.centered(w, h, float64(o.Size)/max(w, h)) },
}

// centered returns the view of an image in the middle of the square.
func (o Options) centered(w, h, scale float64) View {
	size := float64(o.Size)
	return View{Scale: [2]float64{scale, scale}, Offset: [2]float64{(size - w*scale) / 2, (size - h*scale) / 2}}
}

// gray is the color beside an image that is padded, of 255, as detectors of the YOLO family have it.
const gray = 114

// Prepare returns an image, uint8 of shape [h w c], as the model wants it, a batch of one, and the view of
// it.
func (in Input) Prepare(image tensor.Tensor) (tensor.Tensor, View) {
	h, w := image.Dim(0), image.Dim(1)
	v := fits[in.Fit](in.Options, float64(w), float64(h))
	x := image.Permute(2, 0, 1).Cast(tensor.Float32).Sub(gray)
	x = resampling(in.Size, h, v.Scale[1], v.Offset[1]).MatMul(x).MatMul(resampling(in.Size, w, v.Scale[0], v.Offset[0]).Transpose(0, 1))
	x = x.Add(gray).Div(255)
	x = x.Sub(column(in.Mean)).Div(column(in.Std)).Unsqueeze(0)
	if in.Layout == "nhwc" {
		x = x.Permute(0, 2, 3, 1)
	}
	if in.half {
		x = x.Cast(tensor.Float16)
	}
	return x, v
}

// Batches returns the numbers of images, from first to before last, that go into a call: all that the model
// takes, or at most so many.
func (in Input) Batches(images, most int) (list [][2]int) {
	n := cmp.Or(in.Batch, most)
	for i := 0; i < images; i += n {
		list = append(list, [2]int{i, min(i+n, images)})
	}
	return list
}

// Stack returns images of [Input.Prepare] as one batch. Where the model takes a number of them, the last one is
// repeated.
func (in Input) Stack(images []tensor.Tensor) tensor.Tensor {
	for len(images) < in.Batch {
		images = append(images, images[len(images)-1])
	}
	return tensor.Cat(0, images...)
}

// column returns numbers as a tensor [n 1 1].
func column(n Numbers) tensor.Tensor {
	return tensor.New(n, len(n), 1, 1).Cast(tensor.Float32)
}

// resampling returns the matrix, [to from], by which pixels along an axis become pixels of the square. Its
// rows are triangles as wide as a pixel of the square, and no narrower than one of the image: linear
// interpolation with antialiasing, as Pillow and torchvision have it. Pixels beside the image are 0.
func resampling(to, from int, scale, offset float64) tensor.Tensor {
	data := make([]float32, to*from)
	width := max(1/scale, 1)
	for i := range to {
		center := (float64(i) + 0.5 - offset) / scale
		if center < 0 || center > float64(from) {
			continue
		}
		row, sum := data[i*from:][:from], 0.0
		lo, hi := int(max(math.Floor(center-width+0.5), 0)), int(min(math.Floor(center+width+0.5), float64(from)))
		weight := func(j int) float64 { return max(1-math.Abs(float64(j)+0.5-center)/width, 0) }
		for j := lo; j < hi; j++ {
			sum += weight(j)
		}
		for j := lo; j < hi; j++ {
			row[j] = float32(weight(j) / sum)
		}
	}
	return tensor.New(data, to, from)
}
