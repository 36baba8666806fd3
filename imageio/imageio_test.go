package imageio_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/internal/files/filestest"
	"github.com/tensorken/tensorken/internal/hostmem/memtest"
	"github.com/tensorken/tensorken/tensor"
)

// noise returns an image of random samples; steps is the number of values of a sample.
func noise(steps, h, w, c int) tensor.Tensor {
	r := rand.New(rand.NewPCG(uint64(h), uint64(c)))
	data := make([]uint8, h*w*c)
	for i := range data {
		data[i] = uint8(r.IntN(steps) * 255 / (steps - 1))
	}
	return tensor.New(data, h, w, c)
}

func difference(a, b tensor.Tensor) float64 {
	return a.Cast(tensor.Int32).Sub(b.Cast(tensor.Int32)).Abs().Max().Item()
}

// Images come back as they were saved, in formats without loss.
func TestRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		end      string
		steps    int
		channels []int
		most     float64 // difference
	}{
		{".png", 256, []int{1, 3, 4}, 0},
		{".bmp", 256, []int{1, 3}, 0},
		{".tif", 256, []int{1, 3, 4}, 0},
		{".TIFF", 256, []int{1, 3, 4}, 0},
		{".gif", 256, []int{1}, 0},
		{".gif", 6, []int{3}, 0}, // 216 colors
		{".gif", 256, []int{3}, 160},
		{".jpg", 2, []int{1}, 32},
		{".jpeg", 2, []int{1}, 32},
	} {
		for _, c := range tt.channels {
			for _, size := range [][2]int{{1, 1}, {3, 17}, {40, 33}} {
				path := filepath.Join(t.TempDir(), "x"+tt.end)
				x := noise(tt.steps, size[0], size[1], c)
				if err := imageio.Save(path, x); err != nil {
					t.Errorf("Save %s of %v: %v", tt.end, x.Shape(), err)
					continue
				}
				got, err := imageio.Load(path, c)
				if err != nil || got.DType() != tensor.Uint8 || fmt.Sprint(got.Shape()) != fmt.Sprint(x.Shape()) {
					t.Errorf("Load %s of %v gives %v, %v", tt.end, x.Shape(), got, err)
					continue
				}
				if d := difference(got, x); d > tt.most {
					t.Errorf("%s of %v differs by %v, want at most %v", tt.end, x.Shape(), d, tt.most)
				}
				own, err := imageio.Load(path, 0)
				if err != nil || c == 4 && own.Dim(2) != 4 || c == 1 && own.Dim(2) != 1 || c == 3 && own.Dim(2) == 4 {
					t.Errorf("Load %s of %v with 0 channels gives %v, %v", tt.end, x.Shape(), own.Shape(), err)
				}
			}
		}
	}
}

// A smooth color image survives JPEG.
func TestJPEG(t *testing.T) {
	r := tensor.Arange(64).Mul(4).Reshape(64, 1, 1).Expand(64, 48, 1)
	g := tensor.Arange(48).Mul(5).Reshape(1, 48, 1).Expand(64, 48, 1)
	x := tensor.Cat(2, r, g, tensor.Full(90, 64, 48, 1).Cast(tensor.Int32)).Cast(tensor.Uint8)
	var b bytes.Buffer
	if err := imageio.Encode(&b, ".jpg", x); err != nil {
		t.Fatal(err)
	}
	got, err := imageio.Decode(&b, 0)
	if err != nil || got.Dim(2) != 3 || difference(got, x) > 12 {
		t.Errorf("Decode = %v, %v", got.Shape(), err)
	}
}

// Each kind of Go's images gives the pixels that its At says.
func TestFromImage(t *testing.T) {
	rect := image.Rect(-2, 3, 5, 9) // 7 × 6
	r := rand.New(rand.NewPCG(1, 2))
	colors := color.Palette{color.NRGBA{10, 20, 30, 255}, color.NRGBA{1, 2, 3, 0}, color.NRGBA{200, 100, 50, 128}}
	ycc := image.NewYCbCr(rect, image.YCbCrSubsampleRatio420)
	for i := range ycc.Y {
		ycc.Y[i] = byte(r.Uint32())
	}
	for i := range ycc.Cb {
		ycc.Cb[i], ycc.Cr[i] = byte(r.Uint32()), byte(r.Uint32())
	}
	type drawable interface {
		image.Image
		Set(x, y int, c color.Color)
	}
	images := map[image.Image]int{ycc: 3} // channels
	for m, c := range map[drawable]int{
		image.NewGray(rect): 1, image.NewGray16(rect): 1, image.NewRGBA(rect): 4, image.NewNRGBA(rect): 4,
		image.NewRGBA64(rect): 4, image.NewNRGBA64(rect): 4, image.NewCMYK(rect): 3, image.NewPaletted(rect, colors): 4,
		image.NewPaletted(rect, color.Palette{color.Black, color.Gray{100}, color.White}): 1,
	} {
		for y := rect.Min.Y; y < rect.Max.Y; y++ {
			for x := rect.Min.X; x < rect.Max.X; x++ {
				m.Set(x, y, color.NRGBA{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.IntN(3) * 127)})
			}
		}
		if p, ok := m.(*image.Paletted); ok {
			for i := range p.Pix {
				p.Pix[i] = byte(i % 3)
			}
		}
		images[m] = c
	}
	for m, c := range images {
		own, all, gray := imageio.FromImage(m, 0), imageio.FromImage(m, 4), imageio.FromImage(m, 1)
		if fmt.Sprint(own.Shape()) != fmt.Sprint([]int{6, 7, c}) {
			t.Errorf("%T: shape %v, want %d channels", m, own.Shape(), c)
			continue
		}
		if c > 1 && difference(own, all.Slice(2, 0, c)) != 0 {
			t.Errorf("%T: %d channels are not the first of 4", m, c)
		}
		for y := range 6 {
			for x := range 7 {
				want := color.NRGBAModel.Convert(m.At(rect.Min.X+x, rect.Min.Y+y)).(color.NRGBA)
				got := all.At(y).At(x)
				if fmt.Sprint(got) != fmt.Sprintf("[%d %d %d %d]", want.R, want.G, want.B, want.A) {
					t.Errorf("%T: pixel %d %d = %v, want %v", m, x, y, got, want)
				}
				luma := 0.299*float64(want.R) + 0.587*float64(want.G) + 0.114*float64(want.B)
				if g := gray.At(y).At(x).At(0).Item(); g < luma-0.6 || g > luma+0.6 {
					t.Errorf("%T: pixel %d %d is gray %v, want %v", m, x, y, g, luma)
				}
			}
		}
	}
}

// Files of the decoders' own encoders, of other kinds than Save writes.
func TestFiles(t *testing.T) {
	deep := image.NewGray16(image.Rect(0, 0, 2, 1))
	deep.Set(1, 0, color.Gray16{0x1234})
	frame := image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Transparent, color.White})
	for _, tt := range []struct {
		what   string
		encode func(io.Writer) error
		want   string
	}{
		{"PNG of 16 bits", func(w io.Writer) error { return png.Encode(w, deep) }, "[1 2 1] [0 18]"},
		{"TIFF of 16 bits", func(w io.Writer) error { return tiff.Encode(w, deep, nil) }, "[1 2 1] [0 18]"},
		{"BMP of a palette", func(w io.Writer) error { return bmp.Encode(w, frame) }, ""},
		{"GIF of two frames", func(w io.Writer) error {
			return gif.EncodeAll(w, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}})
		}, "[1 1 4] [0 0 0 0]"},
		{"WebP without loss", base64File("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="), "[1 1 4]"},
		{"WebP", base64File("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA="), "[1 1 3]"},
	} {
		var b bytes.Buffer
		if err := tt.encode(&b); err != nil {
			t.Fatal(err)
		}
		x, err := imageio.Decode(&b, 0)
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
		} else if got := fmt.Sprint(x.Shape(), x.Reshape(-1)); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: Decode = %s, want %s", tt.what, got, tt.want)
		}
	}
}

// Pixels of WebP are libwebp's, and pixels of JPEG libjpeg's but for the rounding of Go's inverse cosine transform.
// Pillow decoded the files.
func TestPhotos(t *testing.T) {
	for _, tt := range []struct {
		what, file, pixels string
		channels           int
		most               float64 // difference
	}{
		{"WebP", "UklGRlgAAABXRUJQVlA4IEwAAACwAQCdASoHAAUABABoJbACdAD0LhcAAP5mGHb3SUY3Z259rtGx+WmbVWtN6oRD0q/w7+DjGVqwN0fc7cpH44PyfiD4hgX4nfk39VAA",
			"d6HlbpbYe57fj7bwg7LfhbP/ACDLeJi/bo+0eJe4ka7Lm7rQkq3mGCuxp7innq+apbmcws6xvLWcwra8g3u5tqmJqKF6q695wcWPxcSVyLSir32ZzJmR0KiWuqeDk5psfKV6jZB/rEBg", 3, 0},
		{"WebP with alpha", "UklGRpYAAABXRUJQVlA4WAoAAAAQAAAABgAABAAAQUxQSCQAAAAA2pZCAr88gbNaRWhuYZ1qmPs+B/irIXtPsCUUXjGVf870HHdWUDggTAAAALABAJ0BKgcABQAEAGglsAJ0APQuFwAA/mYYdvdJRjdnbn2u0bH5aZtVa03qhEPSr/Dv4OMZWrA3R9ztykfVh+8uJrciv/E78m/qoAA=",
			"d6Hl2m6W2JZ7nt9Cj7bwAoGz37+EtP88ACHLgXiYv7Nuj7RaeJe4RZGuy2ibutBukq3mYRgrsZ2nuKdqnq+amKW5nPvCzrE+u7acB8K2vPiDe7mrtqmJIaihenurr3lPwcWPsMXElSXItKIUr32ZXsyZkTHQqJaVuqeDf5OabM58pXr0jZB/HKxAYHc=", 4, 0},
		{"JPEG, 2 × 2", "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAFAAcDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAgEAACAQEJAAAAAAAAAAAAAAAAAQMCBAUREhMUIkHR/8QAFQEBAQAAAAAAAAAAAAAAAAAAAwX/xAAbEQACAgMBAAAAAAAAAAAAAAABAgMRAASBBf/aAAwDAQACEQMRAD8ArvbQ2Elnkhz0VYN8mu14ABF2p4hSOR05b83R15kcyIDTVyhn/9k=",
			"WqXPbKPbeoncprr/a6//Yav/BCjGaKKueKK6hoq6p7Lwbqrpa6j7Hy6lnbeIrLuUuaqX0MzBo8vCsNHYiWyYt653wbGAxaeBybmYo7uXvMCvtWx/0KKVzqKXxZiTrZSNhZGDnImLrzZh", 3, 3},
		{"JPEG, 2 × 1", "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAFAAcDASEAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAgEAABAwIHAAAAAAAAAAAAAAABAAIDBAUREhMUIkHR/8QAFQEBAQAAAAAAAAAAAAAAAAAABAX/xAAfEQABAwQDAQAAAAAAAAAAAAABAhExAAMEBSFhcdH/2gAMAwEAAhEDEQA/AK7tobCSnkhzsdgTyI7HiJdjZZNhJSFTzA+VRw9TbyUEuzFvYLz3X//Z",
			"hIrsd5zjSKi+dd3meLTYf6X2BCq7YZT/Zpz/WZnjj7v/l5L2mYv/FyfcksFzp8RyubVc8sl3/a1w/7SPnW1jlLuOob6QqLWHwb6TvbCN1bakqHJ/85GQ55aSyZeOqpeIiZF5qIZ9xS5P", 3, 3},
	} {
		var file bytes.Buffer
		if err := base64File(tt.file)(&file); err != nil {
			t.Fatal(err)
		}
		want, err := base64.StdEncoding.DecodeString(tt.pixels)
		if err != nil {
			t.Fatal(err)
		}
		x, err := imageio.Decode(&file, 0)
		if err != nil || fmt.Sprint(x.Shape()) != fmt.Sprint([]int{5, 7, tt.channels}) {
			t.Errorf("%s: Decode = %v, %v", tt.what, x.Shape(), err)
		} else if d := difference(x, tensor.New(want, x.Shape()...)); d > tt.most {
			t.Errorf("%s: pixels differ by %v, want at most %v", tt.what, d, tt.most)
		}
	}
}

func base64File(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		b, err := base64.StdEncoding.DecodeString(text)
		if err == nil {
			_, err = w.Write(b)
		}
		return err
	}
}

func encoded(t testing.TB, end string, x tensor.Tensor) []byte {
	var b bytes.Buffer
	if err := imageio.Encode(&b, end, x); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	x := noise(256, 8, 8, 3)
	whole := encoded(t, ".png", x)
	huge := bytes.Clone(whole[:33])
	copy(huge[16:], "\x7f\xff\xff\xff\x7f\xff\xff\xff")
	for _, tt := range []struct{ what, bytes, want string }{
		{"empty", "", "not an image in PNG, JPEG, GIF, BMP, TIFF or WebP"},
		{"text", "hello, world", "not an image in"},
		{"cut PNG", string(whole[:60]), "a broken PNG: png: invalid format: not enough pixel data"},
		{"head of PNG", string(whole[:12]), "a broken PNG: unexpected EOF"},
		{"huge PNG", string(huge), "a broken PNG: "},
		{"cut JPEG", string(encoded(t, ".jpg", x)[:300]), "a broken JPEG: unexpected EOF"},
		{"cut GIF", string(encoded(t, ".gif", x)[:30]), "a broken GIF: "},
		{"cut BMP", string(encoded(t, ".bmp", x)[:70]), "a broken BMP: unexpected EOF"},
		{"cut TIFF", string(encoded(t, ".tif", x)[:40]), "a broken TIFF: "},
		{"cut WebP", "RIFF\x24\x00\x00\x00WEBPVP8 ", "a broken WebP: "},
	} {
		path := filepath.Join(dir, "broken")
		if err := os.WriteFile(path, []byte(tt.bytes), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := imageio.Load(path, 0)
		if err == nil || !strings.HasPrefix(err.Error(), "imageio: "+path+": "+tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: Load = %v, want %s", tt.what, err, tt.want)
		}
	}
	for _, tt := range []struct {
		name string
		x    tensor.Tensor
		want string
	}{
		{"x.webp", x, "want a name that ends in one of .png, .jpg, .jpeg, .gif, .bmp, .tif, .tiff"},
		{"x", x, "want a name that ends in one of"},
		{"x.jpg", noise(2, 2, 2, 4), "JPEG has no alpha: drop it by Slice(2, 0, 3)"},
		{"no/x.png", x, filestest.NoFolder(t)},
	} {
		path := filepath.Join(dir, tt.name)
		err := imageio.Save(path, tt.x)
		if err == nil || !strings.HasPrefix(err.Error(), "imageio: save "+path+": ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Save(%s) = %v, want %s", tt.name, err, tt.want)
		}
	}
	if _, err := imageio.Load(filepath.Join(dir, "none.png"), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of no file = %v", err)
	}
}

func TestMisuse(t *testing.T) {
	x := tensor.Zeros(2, 2, 3).Cast(tensor.Uint8)
	for want, f := range map[string]func(){
		"imageio.Load: 2 channels: want 1 (gray), 3 (RGB), 4 (RGBA) or 0": func() { imageio.Load("x.png", 2) },
		"imageio.Decode: -1 channels":                                     func() { imageio.Decode(nil, -1) },
		"imageio.FromImage: 5 channels":                                   func() { imageio.FromImage(image.NewGray(image.Rect(0, 0, 1, 1)), 5) },
		"imageio.Save: shape [3 2 2]: want [h w c]":                       func() { imageio.Save("x.png", x.Permute(2, 0, 1)) },
		"imageio.Encode: shape [4]: want [h w c]":                         func() { imageio.Encode(nil, ".png", x.Reshape(-1).Slice(0, 0, 4)) },
		"imageio.ToImage: type float32: want uint8":                       func() { imageio.ToImage(tensor.Zeros(2, 2)) },
		"imageio.ToImage: shape [0 2]: an image must have a pixel":        func() { imageio.ToImage(tensor.Zeros(0, 2).Cast(tensor.Uint8)) },
		"imageio.ToImage: the tensor is absent":                           func() { imageio.ToImage(tensor.Tensor{}) },
	} {
		err := tensor.Try(f)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "imageio_test.go") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// An image is refused, or decoded with the channels that were asked for, and can be saved.
func FuzzDecode(f *testing.F) {
	for _, end := range []string{".png", ".jpg", ".gif", ".bmp", ".tif"} {
		f.Add(encoded(f, end, noise(4, 5, 7, 3)))
		f.Add(encoded(f, end, noise(4, 5, 7, 1)))
	}
	for _, text := range []string{"UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==", "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA="} {
		var b bytes.Buffer
		if err := base64File(text)(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("II*\x00\x00\x00\x00\xff" + strings.Repeat("\x00", 28))) // a directory at 4 GB
	f.Add(grayTIFF(3, 2, "abcdef", [2]uint16{274, 6}))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, _, err := image.DecodeConfig(bytes.NewReader(b))
		if err == nil && c.Width > (1<<14)/max(1, c.Height) {
			return // larger than a fuzzer should decode
		}
		var x tensor.Tensor
		memtest.Bound(t, len(b), func() { x, err = imageio.Decode(bytes.NewReader(b), 4) })
		if err != nil {
			return
		}
		if x.Rank() != 3 || x.Dim(2) != 4 {
			t.Fatalf("Decode gives shape %v", x.Shape())
		}
		again, err := imageio.Decode(bytes.NewReader(encoded(t, ".png", x)), 4)
		if err != nil || !bytes.Equal(pixels(t, again), pixels(t, x)) {
			t.Fatalf("an image of shape %v does not come back: %v", x.Shape(), err)
		}
	})
}

func pixels(t *testing.T, x tensor.Tensor) []byte {
	t.Helper()
	b, err := x.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}
