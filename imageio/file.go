package imageio

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"io"
	"math"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

// Load reads an image as uint8 of shape [h w c]. channels is 1, 3 or 4, or 0 for those that
// the image has, as in [FromImage]. The format is found from the contents, not from the
// name. The image is turned upright as its EXIF orientation says. Load panics with a
// [*tensor.Error] for other channels.
func Load(path string, channels int) (tensor.Tensor, error) {
	checkChannels("Load", channels)
	f, err := files.Open(path)
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("imageio: %s: %w", files.Name(path), files.Reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	var t tensor.Tensor
	if err == nil {
		t, err = decode(f, info.Size(), channels)
	}
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("imageio: %s: %w", files.Name(path), files.Reason(err))
	}
	return t, nil
}

// Decode is [Load] of all that a reader has.
func Decode(r io.Reader, channels int) (tensor.Tensor, error) {
	checkChannels("Decode", channels)
	t, err := decode(r, 0, channels)
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("imageio: %w", err)
	}
	return t, nil
}

// decode reads an image; size is the file's, or 0 if it is not known.
func decode(r io.Reader, size int64, channels int) (tensor.Tensor, error) {
	if err := files.Given(r); err != nil {
		return tensor.Tensor{}, err
	}
	b := bufio.NewReader(r)
	start, err := b.Peek(longestMagic)
	if err != nil && err != io.EOF {
		return tensor.Tensor{}, err
	}
	f := sniff(start)
	if f == nil {
		return tensor.Tensor{}, errors.New("not an image in PNG, JPEG, GIF, BMP, TIFF or WebP")
	}
	// Decoders that may read at any place of the file need no buffers of sizes that it claims.
	file, err := files.ReadFrom(b, size, math.MaxInt64)
	if err != nil {
		return tensor.Tensor{}, err
	}
	c, err := f.config(bytes.NewReader(file))
	if err != nil {
		return tensor.Tensor{}, f.broken(err)
	}
	if f.refuse != nil {
		if err := f.refuse(file); err != nil {
			return tensor.Tensor{}, fmt.Errorf("a %s: %w", f.name, err)
		}
	}
	if err := f.checkMemory(c, file); err != nil {
		return tensor.Tensor{}, err
	}
	m, err := f.decode(bytes.NewReader(file))
	if err != nil {
		return tensor.Tensor{}, f.broken(err)
	}
	if size := image.Rect(0, 0, c.Width, c.Height); m.Bounds() != size { // of a GIF
		canvas := image.NewNRGBA(size)
		draw.Draw(canvas, m.Bounds(), m, m.Bounds().Min, draw.Src)
		m = canvas
	}
	if f.colors != nil {
		m = f.colors.photo(m)
	}
	upright := orientation(1)
	if f.exif != nil {
		upright = orientationOf(f.exif(file))
	}
	return fromImage(m, channels, upright)
}

// checkMemory checks the size of an image before the decoder asks for memory.
func (f *format) checkMemory(c image.Config, file []byte) error {
	if c.Width <= 0 || c.Height <= 0 {
		return f.broken(fmt.Errorf("its size is %d × %d pixels", c.Width, c.Height))
	}
	pixel := f.pixel
	if f.name == "JPEG" && isProgressive(file) {
		pixel += progressivePixel
	}
	const (
		padding = 31 // JPEG decodes blocks of up to 32 × 32 pixels, WebP of 16 × 16
		result  = 4  // bytes of a pixel
	)
	pixel += result
	if c.Width > math.MaxInt/pixel/2-padding || c.Width+padding > math.MaxInt/pixel/2/(c.Height+padding) {
		return f.broken(fmt.Errorf("its size is %d × %d pixels, more than can be counted", c.Width, c.Height))
	}
	if f.dense > 0 && c.Width*c.Height/f.dense > len(file) {
		return f.broken(fmt.Errorf("its size is %d × %d pixels, more than its %d bytes can hold: cut short?", c.Width, c.Height, len(file)))
	}
	if err := hostmem.Check((c.Width+padding)*(c.Height+padding)*pixel+f.fixed, 1); err != nil {
		return fmt.Errorf("an image of %d × %d pixels: %w", c.Width, c.Height, err)
	}
	return nil
}

// broken says that err is about a file of the format.
func (f *format) broken(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("a broken %s: %w", f.name, err)
}

// Save writes an image, uint8 of shape [h w] or [h w c] with 1, 3 or 4 channels, in the
// format that the end of path names: .png, .jpg, .jpeg, .gif, .bmp, .tif or .tiff. An image
// with alpha can be PNG or TIFF. Save panics with a [*tensor.Error] for other shapes
// and types. It computes t if necessary; see [tensor.Eval] for the errors.
//
// The file is replaced atomically, as [github.com/tensorken/tensorken/safetensors.Save]
// does.
func Save(path string, t tensor.Tensor) error {
	shapeOf("Save", t)
	f := formatOf(path)
	err := f.check(t)
	if err == nil {
		err = files.Replace(path, func(w *bufio.Writer) error { return f.write("Save", w, t) })
	}
	if err != nil {
		return fmt.Errorf("imageio: save %s: %w", files.Name(path), files.Reason(err))
	}
	return nil
}

// Encode is [Save] to a writer; end is the end of a file's name, such as ".png".
func Encode(w io.Writer, end string, t tensor.Tensor) error {
	shapeOf("Encode", t)
	f := formatOf(end)
	err := cmp.Or(files.Given(w), f.check(t))
	if err == nil {
		err = f.write("Encode", w, t)
	}
	if err != nil {
		return fmt.Errorf("imageio: %w", err)
	}
	return nil
}

// check returns an error for an image that cannot be written in a format, which may be nil.
func (f *format) check(t tensor.Tensor) error {
	switch {
	case f == nil || f.encode == nil:
		return fmt.Errorf("want a name that ends in one of %s", writable())
	case !f.alpha && t.Rank() == 3 && t.Dim(2) == 4:
		return fmt.Errorf("%s has no alpha: drop it by Slice(2, 0, 3)", f.name)
	}
	return nil
}

func (f *format) write(op string, w io.Writer, t tensor.Tensor) error {
	m, err := toImage(op, t)
	if err != nil {
		return err
	}
	return f.encode(w, m)
}
