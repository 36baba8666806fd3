package image

import (
	"bytes"
	"fmt"

	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Files has the operator of image files.
var Files = []op.Row{
	op.New("ImageDecoder", op.One(imageDecoder)),
}

// imageDecoder returns the pixels of a file, uint8 of shape [height width channels].
func imageDecoder(c *op.Call) T {
	format := c.String("pixel_format", "RGB")
	channels := map[string]int{"RGB": 3, "BGR": 3, "Grayscale": 1}[format]
	if channels == 0 {
		c.Fail("there is no pixel_format %q", format)
	}
	b := c.Runner.Bytes(c.Value(0))
	decode := func(b []byte, channels int) (T, error) { return imageio.Decode(bytes.NewReader(b), channels) }
	if bytes.HasPrefix(b, []byte("P5")) || bytes.HasPrefix(b, []byte("P6")) {
		decode = netpbm
	}
	t, err := decode(b, channels)
	if err != nil {
		c.Fail("%v", err)
	}
	if format == "BGR" {
		return t.Flip(2)
	}
	return t
}

// netpbm reads binary PGM and PPM.
func netpbm(b []byte, channels int) (T, error) {
	var kind string
	var w, h, most int
	in := bytes.NewReader(b)
	if _, err := fmt.Fscan(in, &kind, &w, &h, &most); err != nil {
		return T{}, err
	}
	rest := b[len(b)-in.Len():]
	from := map[string]int{"P5": 1, "P6": 3}[kind]
	if w < 1 || h < 1 || w > len(rest)/h || most != 255 || len(rest) < 1+w*h*from || from == 0 {
		return T{}, fmt.Errorf("an image %q of %d by %d pixels up to %d, and %d bytes", kind, w, h, most, len(rest))
	}
	t := tensor.FromBytes(tensor.Uint8, []int{h, w, from}, bytes.Clone(rest[1:1+w*h*from]))
	switch {
	case from == channels:
		return t, nil
	case from == 1:
		return t.Expand(h, w, channels), nil
	}
	weights := tensor.New([]float32{0.299, 0.587, 0.114}, 3)
	return t.Cast(tensor.Float32).Mul(weights).Sum(2).Round().Cast(tensor.Uint8), nil
}
