package imageio_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/tensor"
)

// exif returns EXIF data that has an orientation.
func exif(order binary.ByteOrder, o int) string {
	b := []byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	if order == binary.BigEndian {
		b = []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	}
	order.PutUint16(b[18:], uint16(o))
	return string(b)
}

// grayTIFF returns a TIFF of one strip of gray pixels, with more tags.
func grayTIFF(w, h int, pixels string, tags ...[2]uint16) []byte {
	all := [][2]uint16{{256, uint16(w)}, {257, uint16(h)}, {258, 8}, {259, 1}, {262, 1}, {273, 8}}
	all = append(append(all, tags...), [2]uint16{278, uint16(h)}, [2]uint16{279, uint16(len(pixels))})
	slices.SortFunc(all, func(a, b [2]uint16) int { return cmp.Compare(a[0], b[0]) })
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("II*\x00"), uint32(8+len(pixels)))
	b = le.AppendUint16(append(b, pixels...), uint16(len(all)))
	for _, t := range all {
		b = le.AppendUint16(le.AppendUint16(b, t[0]), 3)
		b = le.AppendUint32(le.AppendUint32(b, 1), uint32(t[1]))
	}
	return append(b, 0, 0, 0, 0)
}

// upright are the pixels of [[1 2 3] [4 5 6]] by orientation, as EXIF defines it.
var upright = [...]string{
	1: "[2 3 1] [1 2 3 4 5 6]", 2: "[2 3 1] [3 2 1 6 5 4]", 3: "[2 3 1] [6 5 4 3 2 1]", 4: "[2 3 1] [4 5 6 1 2 3]",
	5: "[3 2 1] [1 4 2 5 3 6]", 6: "[3 2 1] [4 1 5 2 6 3]", 7: "[3 2 1] [6 3 5 2 4 1]", 8: "[3 2 1] [3 6 2 5 1 4]",
}

func TestOrientation(t *testing.T) {
	x := tensor.New([]uint8{1, 2, 3, 4, 5, 6}, 2, 3, 1)
	plain := string(encoded(t, ".png", x))
	chunk := func(data string) string {
		body := "eXIf" + data
		return string(binary.BigEndian.AppendUint32(nil, uint32(len(data)))) + body +
			string(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
	}
	const head = 33 // of a PNG, up to the end of IHDR
	for o := 0; o <= 9; o++ {
		want := upright[1]
		if o >= 1 && o <= 8 {
			want = upright[o]
		}
		for what, file := range map[string]string{
			"PNG, in front":           plain[:head] + chunk(exif(binary.BigEndian, o)) + plain[head:],
			"PNG, after the pixels":   plain[:len(plain)-12] + chunk(exif(binary.LittleEndian, o)) + plain[len(plain)-12:],
			"PNG, with JPEG's prefix": plain[:head] + chunk("Exif\x00\x00"+exif(binary.LittleEndian, o)) + plain[head:],
			"TIFF":                    string(grayTIFF(3, 2, "\x01\x02\x03\x04\x05\x06", [2]uint16{274, uint16(o)})),
		} {
			got, err := imageio.Decode(strings.NewReader(file), 0)
			if s := fmt.Sprint(got.Shape(), got.Reshape(-1)); err != nil || s != want {
				t.Errorf("%s, orientation %d: Decode = %s, %v, want %s", what, o, s, err, want)
			}
		}
		shape := "[8 16 3]"
		if o >= 5 && o <= 8 {
			shape = "[16 8 3]"
		}
		// A photograph that is dark on the left and bright on the right.
		dark := tensor.Cat(1, tensor.Zeros(8, 8, 3), tensor.Full(255, 8, 8, 3)).Cast(tensor.Uint8)
		jpg := string(encoded(t, ".jpg", dark))
		data := "Exif\x00\x00" + exif(binary.BigEndian, o)
		jpg = jpg[:2] + "\xff\xe0\x00\x04ab" + "\xff\xe1" + string(binary.BigEndian.AppendUint16(nil, uint16(len(data)+2))) + data + jpg[2:]
		got, err := imageio.Decode(strings.NewReader(jpg), 3)
		if err != nil || fmt.Sprint(got.Shape()) != shape {
			t.Errorf("JPEG, orientation %d: Decode = %v, %v, want shape %s", o, got.Shape(), err, shape)
			continue
		}
		bright := map[int]bool{2: true, 3: true, 7: true, 8: true}[o]
		if first := got.At(0).At(0).At(0).Item(); (first > 128) != bright {
			t.Errorf("JPEG, orientation %d: the first pixel is %v, want it bright: %v", o, first, bright)
		}
		webp, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
		if err != nil {
			t.Fatal(err)
		}
		webp[21] = 2 // the width less 1
		webp = append(webp, "EXIF\x1a\x00\x00\x00"+exif(binary.LittleEndian, o)...)
		webp[4] = byte(len(webp) - 8)
		shape = "[1 3 4]"
		if o >= 5 && o <= 8 {
			shape = "[3 1 4]"
		}
		if got, err := imageio.Decode(bytes.NewReader(webp), 0); err != nil || fmt.Sprint(got.Shape()) != shape {
			t.Errorf("WebP, orientation %d: Decode = %v, %v, want shape %s", o, got.Shape(), err, shape)
		}
	}
}

// A frame that does not fill a GIF is on a transparent image of the GIF's size.
func TestPartOfGIF(t *testing.T) {
	frame := image.NewPaletted(image.Rect(1, 1, 3, 2), color.Palette{color.White, color.Gray{100}})
	frame.Pix[1] = 1
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{0}, Config: image.Config{Width: 3, Height: 3}}); err != nil {
		t.Fatal(err)
	}
	x, err := imageio.Decode(&b, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(x.Shape(), x.Slice(2, 3, 4).Reshape(-1), x.Slice(2, 0, 1).Reshape(-1))
	if want := "[3 3 4] [0 0 0 0 255 255 0 0 0] [0 0 0 0 255 100 0 0 0]"; got != want {
		t.Errorf("Decode = %s, want %s", got, want)
	}
}

// Files that a decoder would read wrongly are refused by name.
func TestRefused(t *testing.T) {
	for want, file := range map[string]string{
		"a TIFF: its channels are stored one after the other":       string(grayTIFF(1, 1, "\x01", [2]uint16{277, 3}, [2]uint16{284, 2})),
		"a WebP: it is animated":                                    "RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"a WebP: it should have 4096 bytes, but has 30: cut short?": "RIFF\xf8\x0f\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		_, err := imageio.Decode(strings.NewReader(file), 0)
		if err == nil || !strings.HasPrefix(err.Error(), "imageio: "+want) {
			t.Errorf("Decode = %v, want %s", err, want)
		}
	}
}
