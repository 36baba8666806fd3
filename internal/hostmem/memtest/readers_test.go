package memtest_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem/memtest"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/npy"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/wav"
)

var (
	le = binary.LittleEndian
	be = binary.BigEndian
)

// readers read a file by its path.
var readers = func() map[string]func(path string) error {
	all := maps.Clone(fileReaders)
	maps.Copy(all, languageReaders)
	return all
}()

// fileReaders are the readers of tensors, images, sound and tables, and of settings.
var fileReaders = map[string]func(path string) error{
	"imageio.Load": func(path string) error { _, err := imageio.Load(path, 0); return err },
	"imageio.Decode": func(path string) error {
		return decode(path, func(r *bytes.Reader) error { _, err := imageio.Decode(r, 4); return err })
	},
	"npy.Open":         func(path string) error { f, err := npy.Open(path); return closed(f, err) },
	"safetensors.Open": func(path string) error { f, err := safetensors.Open(path); return closed(f, err) },
	"wav.Load":         func(path string) error { _, _, err := wav.Load(path); return err },
	"wav.Decode": func(path string) error {
		return decode(path, func(r *bytes.Reader) error { _, _, err := wav.Decode(r); return err })
	},
	"data.Lines":     func(path string) error { return drain(data.Lines(path)) },
	"data.JSONLines": func(path string) error { return drain(data.JSONLines[tensor.Tensor](path)) },
	"models.Load": func(path string) error {
		if err := os.Rename(path, filepath.Join(filepath.Dir(path), "config.json")); err != nil {
			return err
		}
		_, err := models.Load(filepath.Dir(path))
		return err
	},
	"table.Load": func(path string) error { _, err := table.Load(path, nil); return err },
	"data.ReadCSV": func(path string) error {
		return decode(path, func(r *bytes.Reader) error { _, _, err := data.ReadCSV(r); return err })
	},
	"tensor.UnmarshalJSON": func(path string) error {
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, new(tensor.Tensor))
		}
		return err
	},
}

func decode(path string, f func(*bytes.Reader) error) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return f(bytes.NewReader(b))
}

func closed(f interface{ Close() error }, err error) error {
	if err == nil {
		f.Close()
	}
	return err
}

func drain[T any](s data.Stream[T]) error {
	for _, err := range s(context.Background(), 0) {
		if err != nil {
			return err
		}
	}
	return nil
}

// png returns a PNG of a head, a palette and compressed samples.
func png(w, h uint32, depth, color, interlace byte, samples []byte) string {
	var z bytes.Buffer
	c, _ := zlib.NewWriterLevel(&z, zlib.BestSpeed)
	c.Write(samples)
	c.Close()
	s := "\x89PNG\r\n\x1a\n"
	for _, chunk := range [][2]string{
		{"IHDR", string(append(be.AppendUint32(be.AppendUint32(nil, w), h), depth, color, 0, 0, interlace))},
		{"PLTE", strings.Repeat("abc", 256)}, {"IDAT", z.String()}, {"IEND", ""},
	} {
		body := chunk[0] + chunk[1]
		s += string(be.AppendUint32(nil, uint32(len(chunk[1])))) + body + string(be.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
	}
	return s
}

// jpeg returns the start of a JPEG of some components, with one scan.
func jpeg(frame byte, w, h uint16, sampling ...byte) string {
	head := be.AppendUint16(be.AppendUint16([]byte{8}, h), w)
	head = append(head, byte(len(sampling)))
	scan := []byte{byte(len(sampling))}
	for i, s := range sampling {
		head = append(head, byte(i+1), s, 0)
		scan = append(scan, byte(i+1), 0)
	}
	scan = append(scan, 0, 0, 0)
	segment := func(marker byte, b []byte) string {
		return "\xff" + string([]byte{marker}) + string(be.AppendUint16(nil, uint16(len(b)+2))) + string(b)
	}
	tables := append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)
	codes := append([]byte{0, 1}, make([]byte, 16)...)
	return "\xff\xd8" + segment(0xdb, tables) + segment(frame, head) + segment(0xc4, codes) + segment(0xda, scan) + strings.Repeat("\x00", 64)
}

// tiff returns a TIFF of tags of one value each, of type LONG.
func tiff(data string, tags ...[2]uint32) string {
	b := le.AppendUint32([]byte("II*\x00"), uint32(8+len(data)))
	b = le.AppendUint16(append(b, data...), uint16(len(tags)))
	for _, t := range tags {
		b = le.AppendUint16(le.AppendUint16(b, uint16(t[0])), 4)
		b = le.AppendUint32(le.AppendUint32(b, 1), t[1])
	}
	return string(append(b, 0, 0, 0, 0))
}

func deflated(n int) string {
	var z bytes.Buffer
	c, _ := zlib.NewWriterLevel(&z, zlib.BestSpeed)
	c.Write(make([]byte, n))
	c.Close()
	return z.String()
}

func riff(kind string, size uint32, chunks ...string) string {
	s := kind + string(le.AppendUint32(nil, size))
	return s + strings.Join(chunks, "")
}

func chunk(name string, size uint32, data string) string {
	return name + string(le.AppendUint32(nil, size)) + data
}

func npyFile(header string, length uint32) string {
	return "\x93NUMPY\x02\x00" + string(le.AppendUint32(nil, length)) + header
}

func archive(members int, data string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range members {
		w, _ := z.Create(fmt.Sprintf("%d.npy", i))
		w.Write([]byte(data))
	}
	z.Close()
	return b.String()
}

func tensors(header string, length uint64) string {
	return string(le.AppendUint64(nil, length)) + header
}

// A claim is a file that claims more than it has, or whose parts take more memory than the file.
type claim struct {
	readers string // names, separated by spaces
	what    string
	file    string
	good    bool // no error is wanted
}

func pictures() []claim {
	const format = "\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00"
	numbers := func(n int) string { return strings.Repeat("1,", n) + "1" }
	entries := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},`, i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (1073741824,), }"
	many := entries(5_000)
	tile, strip := deflated(9<<20), deflated(20<<20)
	return []claim{
		{"imageio.Load imageio.Decode", "PNG of 30000 x 30000", png(30_000, 30_000, 8, 0, 0, nil), false},
		{"imageio.Load imageio.Decode", "PNG of 2^31 pixels a row", png(1<<31-1, 1, 16, 6, 1, nil), false},
		{"imageio.Load imageio.Decode", "PNG, interlaced, 16 bits", png(700, 700, 16, 6, 1, make([]byte, 1000)), false},
		{"imageio.Load imageio.Decode", "PNG of a palette", png(3000, 1000, 8, 3, 0, make([]byte, 100)), false},
		{"imageio.Load imageio.Decode", "PNG with samples behind the image", png(1, 1, 8, 0, 0, make([]byte, 20<<20)), false},
		{"imageio.Load imageio.Decode", "JPEG, progressive, 65535 x 1", jpeg(0xc2, 65535, 1, 0x11, 0x11, 0x11, 0x11), false},
		{"imageio.Load imageio.Decode", "JPEG, progressive, 1 x 65535, 4 x 2", jpeg(0xc2, 1, 65535, 0x42, 0x11, 0x11), false},
		{"imageio.Load imageio.Decode", "JPEG, progressive, 65500 x 65500", jpeg(0xc2, 65500, 65500, 0x22, 0x11, 0x11), false},
		{"imageio.Load imageio.Decode", "JPEG, progressive, CMYK", jpeg(0xc2, 1000, 1000, 0x22, 0x11, 0x11, 0x22), false},
		{"imageio.Load imageio.Decode", "JPEG, CMYK", jpeg(0xc0, 2000, 1000, 0x11, 0x11, 0x11, 0x11), false},
		{"imageio.Load imageio.Decode", "GIF of 65535 x 65535", "GIF89a\xff\xff\xff\xff\x80\x00\x00abcdef,\x00\x00\x00\x00\xff\xff\xff\xff\x40\x02\x00", false},
		{"imageio.Load imageio.Decode", "GIF of 2000 x 2000", "GIF89a\xd0\x07\xd0\x07\x80\x00\x00abcdef,\x00\x00\x00\x00\xd0\x07\xd0\x07\x40\x02\x00", false},
		{"imageio.Load imageio.Decode", "BMP of 20000 x 20000", "BM????\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x20\x4e\x00\x00\x20\x4e\x00\x00\x01\x00\x18\x00" + strings.Repeat("\x00", 24), false},
		{"imageio.Load imageio.Decode", "BMP of 2^31 x 2^31", "BM????\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\xff\xff\xff\x7f\xff\xff\xff\x7f\x01\x00\x18\x00" + strings.Repeat("\x00", 24), false},
		{"imageio.Load imageio.Decode", "TIFF whose directory is at 4 GB", "II*\x00\x00\x00\x00\xff" + strings.Repeat("\x00", 28), false},
		{"imageio.Load imageio.Decode", "TIFF of 65535 tags", "II*\x00\x08\x00\x00\x00\xff\xff" + strings.Repeat("\x00", 28), false},
		{"imageio.Load imageio.Decode", "TIFF of a tile of 32768 x 32768", tiff(deflated(1<<20), [2]uint32{256, 1}, [2]uint32{257, 1}, [2]uint32{258, 8}, [2]uint32{259, 8},
			[2]uint32{262, 1}, [2]uint32{322, 1 << 15}, [2]uint32{323, 1 << 15}, [2]uint32{324, 8}, [2]uint32{325, 1000}), false},
		{"imageio.Load imageio.Decode", "TIFF of a tile of 1024 x 1024 of one pixel", tiff(tile, [2]uint32{256, 1}, [2]uint32{257, 1}, [2]uint32{258, 8}, [2]uint32{259, 8},
			[2]uint32{262, 1}, [2]uint32{322, 1 << 10}, [2]uint32{323, 1 << 10}, [2]uint32{324, 8}, [2]uint32{325, uint32(len(tile))}), true},
		{"imageio.Load imageio.Decode", "TIFF of a strip of 20 MB of one pixel", tiff(strip, [2]uint32{256, 1}, [2]uint32{257, 1}, [2]uint32{258, 8}, [2]uint32{259, 8},
			[2]uint32{262, 1}, [2]uint32{273, 8}, [2]uint32{279, uint32(len(strip))}), true},
		{"imageio.Load imageio.Decode", "TIFF of a strip of 4 GB", tiff("x", [2]uint32{256, 1}, [2]uint32{257, 1}, [2]uint32{258, 8}, [2]uint32{259, 1},
			[2]uint32{262, 1}, [2]uint32{273, 8}, [2]uint32{279, 1<<32 - 1}), false},
		{"imageio.Load imageio.Decode", "TIFF of a strip of 9 MB", tiff("x", [2]uint32{256, 1}, [2]uint32{257, 1}, [2]uint32{258, 8}, [2]uint32{259, 1},
			[2]uint32{262, 1}, [2]uint32{273, 8}, [2]uint32{279, 9 << 20}), false},
		{"imageio.Load imageio.Decode", "WebP of a chunk of 100 MB", riff("RIFF", 100<<20, "WEBP", chunk("VP8 ", 100<<20-12, "\x30\x01\x00\x9d\x01\x2a\x01\x00\x01\x00"+strings.Repeat("\x00", 99))), false},
		{"imageio.Load imageio.Decode", "WebP of 16383 x 16383", riff("RIFF", 30, "WEBP", chunk("VP8L", 17, "\x2f\xff\xff\xff\x0f"+strings.Repeat("\x00", 13))), false},
		{"imageio.Load imageio.Decode", "WebP of 2^24 x 64 with alpha", riff("RIFF", 40, "WEBP", chunk("VP8X", 10, "\x10\x00\x00\x00\xff\xff\xff\x3f\x00\x00"), chunk("ALPH", 10, strings.Repeat("\x00", 10))), false},

		{"npy.Open", "npy of 2^30 numbers", npyFile(header, uint32(len(header))), false},
		{"npy.Open", "npy of a header of 4 GB", npyFile(header, 1<<32-1), false},
		{"npy.Open", "npy of a shape of 20000 axes", npyFile(strings.Replace(header, "(1073741824,)", "("+numbers(20_000)+")", 1), uint32(len(header)-13+40_003)), false},
		{"npy.Open", "npz of 2^30 numbers", archive(1, npyFile(header, uint32(len(header)))), false},
		{"npy.Open", "npz of headers of 60 kB", archive(50, npyFile(strings.Repeat(" ", 60_000), 60_000)), false},
		{"npy.Open", "npz of 20000 members", archive(20_000, ""), false},

		{"wav.Load wav.Decode", "WAV of a format of 4 GB", riff("RIFF", 100, "WAVE", chunk("fmt ", 1<<32-1, format[4:])), false},
		{"wav.Load wav.Decode", "WAV of a list of 2 GB", riff("RIFF", 100, "WAVE", chunk("LIST", 1<<31, "INFO")), false},
		{"wav.Load wav.Decode", "WAV of 4 GB of samples", riff("RIFF", 1<<32-1, "WAVE", "fmt "+format, chunk("data", 1<<32-2, "\x00\x01")), true},
		{"wav.Load wav.Decode", "RF64 of 2^63 bytes", riff("RF64", 1<<32-1, "WAVE", chunk("ds64", 28, strings.Repeat("\x7f", 28)), "fmt "+format, chunk("data", 1<<32-1, "\x00\x01")), true},
		{"wav.Load wav.Decode", "WAV of an extensible format of 65535 bytes", riff("RIFF", 100, "WAVE", chunk("fmt ", 65535, "\xfe\xff"+format[6:])), false},

		{"safetensors.Open", "header of 100 MB", tensors("{}", 100_000_000), false},
		{"safetensors.Open", "header of 2^63 bytes", tensors("{}", 1<<63), false},
		{"safetensors.Open", "5000 tensors", tensors(many, uint64(len(many))), true},
		{"safetensors.Open", "a shape of 200000 axes", tensors(`{"a":{"dtype":"U8","shape":[`+numbers(200_000)+`],"data_offsets":[0,0]}}`, 400_046), false},
		{"safetensors.Open", "lists in lists", tensors(`{"a":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`}`, 18_006), false},
		{"safetensors.Open .json", "index of metadata of lists", `{"metadata":{"a":[` + strings.Repeat("[],", 100_000) + `[]]},"weight_map":{"a":"none"}}`, false},
		{"safetensors.Open .json", "index of 20000 tensors in no file", `{"weight_map":{` + strings.TrimSuffix(repeat(20_000, `"%d":"s",`), ",") + `}}`, false},

		{"data.Lines", "a line of 10 MB", strings.Repeat("x", 10<<20), true},
		{"data.JSONLines tensor.UnmarshalJSON", "a shape of 300000 axes", `{"shape":[` + numbers(300_000) + `],"values":[1]}`, false},
		{"data.JSONLines tensor.UnmarshalJSON", "300000 values", `{"shape":[300001],"values":[` + numbers(300_000) + `]}`, true},
		{"data.JSONLines tensor.UnmarshalJSON", "2^40 values", `{"shape":[1099511627776],"values":[1]}`, false},
		{"data.JSONLines tensor.UnmarshalJSON", "300000 lists", `{"shape":[1],"values":[` + strings.Repeat("[],", 300_000) + `[]]}`, false},
		{"data.JSONLines tensor.UnmarshalJSON", "values again and again", `{"shape":[1],"values":[1]` + strings.Repeat(`,"values":[1,2]`, 10_000) + `}`, false},

		{"models.Load", "300000 settings", `{"model_type":"llama",` + strings.TrimSuffix(repeat(300_000, `"%d":0,`), ",") + `}`, false},
		{"models.Load", "a setting of lists", `{"model_type":"llama","eos":[` + strings.Repeat("[],", 300_000) + `[]]}`, false},

		{"table.Load data.ReadCSV", "500000 columns", strings.Repeat("1,", 500_000) + "1\n1\n", false},
		{"table.Load data.ReadCSV", "500000 rows", strings.Repeat("1\n", 500_000), true},
		{"table.Load data.ReadCSV", "quotes in quotes", "1\n\"" + strings.Repeat(`""`, 500_000) + "\"\n\"", false},
		{"table.Load data.ReadCSV", "an open quote in each row", strings.Repeat("1,\"\n", 200_001), false},
	}
}

// Each reader takes memory in proportion to the file, or memory that it checked against the budget.
func TestReaders(t *testing.T) {
	if _, err := tensor.New([]int64{1}).Add(1).Bytes(); err != nil { // the device is opened once
		t.Fatal(err)
	}
	walked := map[string]int{}
	for _, tt := range slices.Concat(pictures(), languages()) {
		for _, name := range strings.Fields(tt.readers) {
			if name == ".json" {
				continue
			}
			walked[name]++
			if testing.Short() && walked[name]%4 != 1 {
				continue
			}
			path := filepath.Join(t.TempDir(), "f")
			if strings.HasSuffix(tt.readers, ".json") {
				path += ".json"
			}
			if err := os.WriteFile(path, []byte(tt.file), 0o666); err != nil {
				t.Fatal(err)
			}
			t.Run(name+" of "+tt.what, func(t *testing.T) {
				var err error
				memtest.Bound(t, len(tt.file), func() { err = readers[name](path) })
				if (err == nil) != tt.good {
					t.Errorf("%s of %s: error %v, want one: %v", name, tt.what, err, !tt.good)
				}
				if err != nil && files.Name(err.Error()) != err.Error() {
					t.Errorf("%s of %s: the error has characters that could command a terminal: %q", name, tt.what, err)
				}
				if err != nil && len(err.Error()) > 1000 {
					t.Errorf("%s of %s: an error of %d bytes: %.300s", name, tt.what, len(err.Error()), err)
				}
			})
		}
	}
	for name := range readers {
		if walked[name] == 0 {
			t.Errorf("no file is for %s", name)
		}
	}
}

func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
