package imageio

import (
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// A format is a kind of file.
type format struct {
	name   string
	magic  []string // how files begin; ? is any byte
	ends   []string // of names of files
	alpha  bool     // files have an alpha channel
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	encode func(io.Writer, image.Image) error // nil if there is no encoder
	refuse func(file []byte) error            // an error for files that the decoder would read wrongly; may be nil
	exif   func(file []byte) []byte           // returns the EXIF data, nil for none
	colors *colorModel                        // of images with chroma; may be nil
	pixel  int                                // most bytes that the decoder takes for a pixel
	fixed  int                                // most bytes that it takes besides
	dense  int                                // most pixels that a byte of a file holds, 0 if it is not bounded
}

var formats = []format{
	{name: "PNG", magic: []string{"\x89PNG\r\n\x1a\n"}, ends: []string{".png"}, alpha: true,
		config: png.DecodeConfig, decode: png.Decode, encode: encodePNG,
		exif: exifOfPNG, pixel: 16, fixed: 1 << 20, dense: 8 * 1032}, // an interlaced image is decoded twice; deflate
	{name: "JPEG", magic: []string{"\xff\xd8"}, ends: []string{".jpg", ".jpeg"},
		config: jpeg.DecodeConfig, decode: jpeg.Decode, encode: encodeJPEG,
		exif: exifOfJPEG, colors: jpegColors, pixel: 8, fixed: 1 << 20, dense: 1024}, // CMYK: as YCbCr, black and the result; a bit for 64 samples
	{name: "GIF", magic: []string{"GIF87a", "GIF89a"}, ends: []string{".gif"},
		config: gif.DecodeConfig, decode: gif.Decode, encode: encodeGIF,
		pixel: 6, fixed: 1 << 20}, // two frames of indices and the whole image
	{name: "BMP", magic: []string{"BM????\x00\x00\x00\x00"}, ends: []string{".bmp"},
		config: bmp.DecodeConfig, decode: bmp.Decode, encode: bmp.Encode,
		pixel: 8, fixed: 1 << 20, dense: 8},
	{name: "TIFF", magic: []string{"II\x2a\x00", "MM\x00\x2a"}, ends: []string{".tif", ".tiff"}, alpha: true,
		config: tiff.DecodeConfig, decode: tiff.Decode, encode: encodeTIFF, refuse: refuseTIFF,
		exif: func(file []byte) []byte { return file }, pixel: 24, fixed: 64 << 20}, // tiles of up to 1024 × 1024 pixels of any image
	{name: "WebP", magic: []string{"RIFF????WEBPVP8"}, ends: []string{".webp"}, alpha: true,
		config: webp.DecodeConfig, decode: webp.Decode, refuse: refuseWebP,
		exif: exifOfWebP, colors: webpColors, pixel: 16, fixed: 128 << 20}, // tables of up to 2^15 groups of prefix codes
}

// progressivePixel is the additional memory of a progressive JPEG for each pixel: 4 components
// of 4 bytes.
const progressivePixel = 16

// longestMagic is at least the length of each magic.
const longestMagic = 16

// sniff returns the format of a file that begins with start, or nil.
func sniff(start []byte) *format {
	for i := range formats {
		if slices.ContainsFunc(formats[i].magic, func(m string) bool { return matches(start, m) }) {
			return &formats[i]
		}
	}
	return nil
}

func matches(start []byte, magic string) bool {
	if len(start) < len(magic) {
		return false
	}
	for i, c := range []byte(magic) {
		if c != '?' && c != start[i] {
			return false
		}
	}
	return true
}

// formatOf returns the format that the end of a file's name says, nil if it says none.
func formatOf(path string) *format {
	end := strings.ToLower(filepath.Ext(path))
	i := slices.IndexFunc(formats, func(f format) bool { return slices.Contains(f.ends, end) })
	if i < 0 {
		return nil
	}
	return &formats[i]
}

// writable lists the ends of names of files that Save writes.
func writable() string {
	var ends []string
	for _, f := range formats {
		if f.encode != nil {
			ends = append(ends, f.ends...)
		}
	}
	return strings.Join(ends, ", ")
}

// An alphaImage is an image with alpha, even if all of it is opaque.
type alphaImage struct{ *image.NRGBA }

// Opaque returns false.
func (alphaImage) Opaque() bool { return false }

func encodePNG(w io.Writer, m image.Image) error {
	if n, ok := m.(*image.NRGBA); ok {
		m = alphaImage{n}
	}
	return png.Encode(w, m)
}

func encodeJPEG(w io.Writer, m image.Image) error {
	return jpeg.Encode(w, m, &jpeg.Options{Quality: 90})
}

func encodeTIFF(w io.Writer, m image.Image) error {
	return tiff.Encode(w, m, &tiff.Options{Compression: tiff.Deflate, Predictor: true})
}

// encodeGIF writes a GIF with the colors of the image if they are few; otherwise gif.Encode
// dithers to a fixed palette.
func encodeGIF(w io.Writer, m image.Image) error {
	colors := palette(m)
	if colors == nil {
		return gif.Encode(w, m, nil)
	}
	p := image.NewPaletted(m.Bounds(), colors)
	draw.Draw(p, p.Bounds(), m, m.Bounds().Min, draw.Src)
	return gif.Encode(w, p, nil)
}

// palette returns the colors of an image, nil if they are more than a GIF has.
func palette(m image.Image) color.Palette {
	const maxColors = 256
	var colors color.Palette
	seen := map[color.Color]bool{}
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := m.At(x, y)
			if seen[c] {
				continue
			}
			if len(colors) == maxColors {
				return nil
			}
			seen[c] = true
			colors = append(colors, c)
		}
	}
	return colors
}
