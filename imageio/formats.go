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
}

var formats = []format{
	{"PNG", []string{"\x89PNG\r\n\x1a\n"}, []string{".png"}, true, png.DecodeConfig, png.Decode, encodePNG},
	{"JPEG", []string{"\xff\xd8"}, []string{".jpg", ".jpeg"}, false, jpeg.DecodeConfig, jpeg.Decode, encodeJPEG},
	{"GIF", []string{"GIF87a", "GIF89a"}, []string{".gif"}, false, gif.DecodeConfig, gif.Decode, encodeGIF},
	{"BMP", []string{"BM????\x00\x00\x00\x00"}, []string{".bmp"}, false, bmp.DecodeConfig, bmp.Decode, bmp.Encode},
	{"TIFF", []string{"II\x2a\x00", "MM\x00\x2a"}, []string{".tif", ".tiff"}, true, tiff.DecodeConfig, tiff.Decode, encodeTIFF},
	{"WebP", []string{"RIFF????WEBPVP8"}, []string{".webp"}, true, webp.DecodeConfig, webp.Decode, nil},
}

// longestMagic is at least the length of each magic.
const longestMagic = 16

// sniff returns the format of a file that begins with start, nil if it is none of them.
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
	const most = 256
	var colors color.Palette
	seen := map[color.Color]bool{}
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := m.At(x, y)
			if seen[c] {
				continue
			}
			if len(colors) == most {
				return nil
			}
			seen[c] = true
			colors = append(colors, c)
		}
	}
	return colors
}
