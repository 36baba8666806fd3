package host

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Images has the operator of image files.
var Images = []op.Row{
	op.New("ImageDecoder", op.One(imageDecoder)),
}

// imageFormats has the decoders by the first bytes of a file.
var imageFormats = []struct {
	magic  string
	decode func(io.Reader) (image.Image, error)
}{
	{"\xff\xd8", jpeg.Decode},
	{"\x89PNG", png.Decode},
	{"GIF8", gif.Decode},
	{"BM", bmp.Decode},
	{"II*\x00", tiff.Decode},
	{"MM\x00*", tiff.Decode},
	{"RIFF", webp.Decode},
	{"P6", netpbm},
	{"P5", netpbm},
}

// maxImage is the greatest number of pixels.
const maxImage = 1 << 28

// imageDecoder returns the pixels of a file, [height width channels].
func imageDecoder(c *op.Call) T {
	b := c.Runner.Bytes(c.Value(0))
	for _, f := range imageFormats {
		if !bytes.HasPrefix(b, []byte(f.magic)) {
			continue
		}
		img, err := f.decode(bytes.NewReader(b))
		if err != nil {
			c.Fail("the image cannot be read: %v", err)
		}
		return pixels(c, img)
	}
	c.Fail("the image begins with %q, which is no format that can be read: want JPEG, PNG, GIF, BMP, TIFF, WebP or PNM", b[:min(len(b), 4)])
	return T{}
}

func pixels(c *op.Call, img image.Image) T {
	box := img.Bounds()
	h, w := box.Dy(), box.Dx()
	format := c.String("pixel_format", "RGB")
	channels := map[string]int{"RGB": 3, "BGR": 3, "Grayscale": 1}[format]
	if channels == 0 {
		c.Fail("there is no pixel_format %q", format)
	}
	out := make([]uint8, 0, h*w*channels)
	for y := range h {
		for x := range w {
			r, g, b, _ := img.At(box.Min.X+x, box.Min.Y+y).RGBA()
			r, g, b = r>>8, g>>8, b>>8
			switch format {
			case "RGB":
				out = append(out, uint8(r), uint8(g), uint8(b))
			case "BGR":
				out = append(out, uint8(b), uint8(g), uint8(r))
			default: // Pillow's weights
				out = append(out, uint8((r*19595+g*38470+b*7471+0x8000)>>16))
			}
		}
	}
	return tensor.New(out, h, w, channels)
}

// netpbm reads binary PGM and PPM.
func netpbm(r io.Reader) (image.Image, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var kind string
	var w, h, most int
	in := bytes.NewReader(b)
	if _, err := fmt.Fscan(in, &kind, &w, &h, &most); err != nil {
		return nil, err
	}
	rest := b[len(b)-in.Len():]
	channels := map[string]int{"P5": 1, "P6": 3}[kind]
	if w < 1 || h < 1 || w > maxImage/h || most != 255 || len(rest) < 1+w*h*channels {
		return nil, fmt.Errorf("%s of %d by %d pixels up to %d, and %d bytes", kind, w, h, most, len(rest))
	}
	rest = rest[1:]
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		for k := range 3 {
			img.Pix[4*i+k] = rest[i*channels+k%channels]
		}
		img.Pix[4*i+3] = 255
	}
	return img, nil
}
