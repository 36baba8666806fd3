package imageio

import (
	"image"
	"image/color"
	"image/draw"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// FromImage returns the pixels of an image, uint8 of shape [h w c], on the host. channels
// is 1, 3 or 4 (see the package comment); 0 takes those that the image has, 4 if it has
// alpha or may have, 1 if it is gray or its palette is, otherwise 3. Colors become gray
// by the weights 0.299, 0.587 and 0.114, and alpha is dropped. It panics with a
// [*tensor.Error] for other channels, and with a [*tensor.DeviceError] if there is too
// little memory.
func FromImage(m image.Image, channels int) tensor.Tensor {
	checkChannels("FromImage", channels)
	if m == nil {
		misuse("FromImage", "the image is nil")
	}
	t, err := fromImage(m, channels, 1)
	if err != nil {
		panic(&tensor.DeviceError{Device: "host", Op: "imageio.FromImage", Err: err})
	}
	return t
}

// fromImage is FromImage, and turns an image of some orientation upright.
func fromImage(m image.Image, channels int, o orientation) (tensor.Tensor, error) {
	if channels == 0 {
		channels = channelsOf(m)
	}
	w, h := m.Bounds().Dx(), m.Bounds().Dy()
	data, err := tensor.Internal.Allocate(graph.Token{}, h*w*channels)
	if err != nil {
		return tensor.Tensor{}, err
	}
	offset, down, right := o.steps(h, w)
	row := image.NewNRGBA(image.Rect(0, 0, w, 1))
	turned := make([]byte, w*channels)
	for y := range h {
		readRow(row, m, y)
		at := (offset + y*down) * channels
		if right == 1 {
			copyRow[channels](data[at:], row.Pix)
			continue
		}
		copyRow[channels](turned, row.Pix)
		for x := range w {
			copy(data[at+x*right*channels:][:channels], turned[x*channels:])
		}
	}
	if o.swaps() {
		h, w = w, h
	}
	return tensor.FromBytes(tensor.Uint8, []int{h, w, channels}, data), nil
}

// channelsOf returns the number of an image's channels.
func channelsOf(m image.Image) int {
	switch m := m.(type) {
	case *image.Gray, *image.Gray16:
		return 1
	case *image.NRGBA, *image.NRGBA64, *image.NYCbCrA:
		return 4
	case *image.Paletted:
		if !slices.ContainsFunc(m.Palette, func(c color.Color) bool { return !isGray(c) }) {
			return 1
		}
	}
	if o, ok := m.(interface{ Opaque() bool }); ok && o.Opaque() {
		return 3
	}
	return 4
}

// isGray reports whether a color is gray and opaque.
func isGray(c color.Color) bool {
	r, g, b, a := c.RGBA()
	return r == g && g == b && a == 0xffff
}

// readRow fills row with row y of an image, counted from its top.
func readRow(row *image.NRGBA, m image.Image, y int) {
	if p, ok := m.(*photo); ok {
		p.row(row.Pix, y)
		return
	}
	b := m.Bounds()
	min := b.Min.Add(image.Pt(0, y))
	if n, ok := m.(*image.NRGBA); ok {
		copy(row.Pix, n.Pix[n.PixOffset(min.X, min.Y):])
		return
	}
	// Drawing is fast and multiplies by alpha, which changes nothing where all is opaque.
	draw.Draw((*image.RGBA)(row), row.Rect, m, min, draw.Src)
	for x := range row.Rect.Dx() {
		if p := row.Pix[4*x:][:4]; p[3] != 0xff {
			c := color.NRGBAModel.Convert(m.At(min.X+x, min.Y)).(color.NRGBA)
			p[0], p[1], p[2], p[3] = c.R, c.G, c.B, c.A
		}
	}
}

// copyRow copies pixels of four samples to pixels of a number of channels.
var copyRow = [...]func(dst, src []byte){
	1: func(dst, src []byte) {
		for ; len(src) > 0; dst, src = dst[1:], src[4:] {
			// The weights add up to 1<<16.
			dst[0] = byte((19595*uint32(src[0]) + 38470*uint32(src[1]) + 7471*uint32(src[2]) + 1<<15) >> 16)
		}
	},
	3: func(dst, src []byte) {
		for ; len(src) > 0; dst, src = dst[3:], src[4:] {
			copy(dst[:3], src)
		}
	},
	4: func(dst, src []byte) { copy(dst, src) },
}

// ToImage returns t, uint8 of shape [h w] or [h w c], as an *image.Gray of 1 channel, an
// *image.RGBA of 3 or an *image.NRGBA of 4. It panics with a [*tensor.Error] for other shapes and
// types. It computes t if necessary; see [tensor.Eval] for the errors.
func ToImage(t tensor.Tensor) (image.Image, error) { return toImage("ToImage", t) }

func toImage(op string, t tensor.Tensor) (image.Image, error) {
	s := shapeOf(op, t)
	h, w, channels := s[0], s[1], s[2]
	data, err := tensor.Internal.Bytes(graph.Token{}, "imageio."+op, t)
	if err != nil {
		return nil, err
	}
	rect := image.Rect(0, 0, w, h)
	if channels == 1 {
		return &image.Gray{Pix: slices.Clone(data), Stride: w, Rect: rect}, nil
	}
	if channels == 4 {
		return &image.NRGBA{Pix: slices.Clone(data), Stride: 4 * w, Rect: rect}, nil
	}
	pix, err := tensor.Internal.Allocate(graph.Token{}, 4*h*w)
	if err != nil {
		return nil, err
	}
	for i := range h * w {
		p := pix[4*i:][:4]
		copy(p, data[3*i:][:3])
		p[3] = 0xff
	}
	return &image.RGBA{Pix: pix, Stride: 4 * w, Rect: rect}, nil
}
