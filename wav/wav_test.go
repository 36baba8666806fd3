package wav

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/files/filestest"
	"github.com/tensorken/tensorken/internal/hostmem/memtest"
	"github.com/tensorken/tensorken/tensor"
)

func values(t testing.TB, x tensor.Tensor) []float32 {
	t.Helper()
	v, err := tensor.Data[float32](x)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Sound comes back within half a step of its encoding, with the same size and rate.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for e := range numEncodings {
		step := map[Encoding]float64{PCM8: 1. / 128, PCM16: 1. / (1 << 15), PCM24: 1. / (1 << 23), PCM32: 1. / (1 << 31)}[e]
		for _, shape := range [][]int{{1, 1}, {2, 101}, {5, 40_000}, {3, 0}} {
			data := make([]float32, shape[0]*shape[1])
			for i := range data {
				data[i] = r.Float32()*2 - 1
			}
			path := filepath.Join(t.TempDir(), "x.wav")
			if err := Save(path, tensor.New(data, shape...), 44100, &Options{Encoding: e}); err != nil {
				t.Errorf("%v: Save: %v", e, err)
				continue
			}
			x, rate, err := Load(path)
			if err != nil || rate != 44100 || fmt.Sprint(x.Shape(), x.DType()) != fmt.Sprint(shape, tensor.Float32) {
				t.Errorf("%v: Load gives shape %v, rate %d, %v", e, x, rate, err)
				continue
			}
			for i, got := range values(t, x) {
				want := min(float64(data[i]), 1-step)
				if d := math.Abs(float64(got) - want); d > step/2+1e-9*step || step == 0 && d > 0 {
					t.Errorf("%v: sample %d is %v, want %v", e, i, got, want)
					break
				}
			}
		}
	}
}

// Every number of an encoding keeps its bytes; numbers outside become the nearest.
func TestEncodings(t *testing.T) {
	for e, row := range encodings[:PCM24] {
		for i := range 1 << (8 * row.size) {
			b := []byte{byte(i), byte(i >> 8)}[:row.size]
			again := make([]byte, row.size)
			if row.put(again, row.get(b)); !bytes.Equal(again, b) {
				t.Fatalf("%v: % x is %v, which is % x", Encoding(e), b, row.get(b), again)
			}
		}
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, tt := range []struct {
		e    Encoding
		x    float32
		want string
	}{
		{PCM8, 0, "80"}, {PCM8, -1, "00"}, {PCM8, 1, "ff"}, {PCM8, nan, "80"}, {PCM8, 0.5, "c0"},
		{PCM16, 1, "ff 7f"}, {PCM16, -1, "00 80"}, {PCM16, inf, "ff 7f"}, {PCM16, -inf, "00 80"}, {PCM16, 1. / (1 << 15), "01 00"},
		{PCM16, 0.5 / (1 << 15), "00 00"}, {PCM16, 1.5 / (1 << 15), "02 00"},
		{PCM24, 1, "ff ff 7f"}, {PCM24, -1, "00 00 80"}, {PCM24, -1. / (1 << 23), "ff ff ff"},
		{PCM32, 1, "ff ff ff 7f"}, {PCM32, -1, "00 00 00 80"}, {PCM32, nan, "00 00 00 00"},
		{Float32, 2, "00 00 00 40"}, {Float64, 2, "00 00 00 00 00 00 00 40"},
	} {
		b := make([]byte, encodings[tt.e].size)
		if encodings[tt.e].put(b, tt.x); fmt.Sprintf("% x", b) != tt.want {
			t.Errorf("%v of %v is % x, want %s", tt.e, tt.x, b, tt.want)
		}
	}
}

// The bytes of a file as other programs write it.
func TestBytes(t *testing.T) {
	const stereo = "RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00\x44\xac\x00\x00\x10\xb1\x02\x00\x04\x00\x10\x00data\x08\x00\x00\x00" +
		"\x00\x40\x00\xc0\xff\x7f\x00\x80"
	x := tensor.New([]float32{0.5, 1, -0.5, -1}, 2, 2)
	var b bytes.Buffer
	if err := Encode(&b, x, 44100, nil); err != nil || b.String() != stereo {
		t.Errorf("Encode = %q, %v, want %q", b.String(), err, stereo)
	}
	got, rate, err := Decode(strings.NewReader(stereo))
	if want := "[0.5 0.9999695 -0.5 -1]"; err != nil || rate != 44100 || fmt.Sprint(values(t, got)) != want {
		t.Errorf("Decode = %v, %d, %v, want %s", got, rate, err, want)
	}
	if err := Encode(&b, tensor.Zeros(3), 8000, &Options{Encoding: PCM8}); err != nil || b.Len() != len(stereo)+44+4 {
		t.Errorf("Encode of 3 bytes: %d bytes, %v; want the size even", b.Len()-len(stereo), err)
	}
}

// wave returns a file of chunks.
func wave(chunks ...string) string {
	s := ""
	for i := 0; i < len(chunks); i += 2 {
		s += chunks[i] + string(little.AppendUint32(nil, uint32(len(chunks[i+1])))) + chunks[i+1]
		if len(s)%2 == 1 {
			s += "\x00"
		}
	}
	return "RIFF" + string(little.AppendUint32(nil, uint32(len(s)+4))) + "WAVE" + s
}

func format(tag, channels uint16, rate uint32, frame, bits uint16) string {
	b := little.AppendUint16(little.AppendUint16(nil, tag), channels)
	b = little.AppendUint32(little.AppendUint32(b, rate), rate*uint32(frame))
	return string(little.AppendUint16(little.AppendUint16(b, frame), bits))
}

var pcm = format(1, 1, 8000, 2, 16)

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ what, file, want string }{
		{"empty", "", "not a WAV file"},
		{"text", "hello, world, hello", "not a WAV file"},
		{"no chunk", wave(), `it has no samples: no chunk "data"`},
		{"no data", wave("fmt ", pcm), `it has no samples: no chunk "data"`},
		{"no format", wave("data", "\x00\x00"), `its samples are not described: no chunk "fmt " before them`},
		{"two formats", wave("fmt ", pcm, "fmt ", pcm), `it has two chunks "fmt "`},
		{"short format", wave("fmt ", pcm[:14]), `chunk "fmt " has 14 bytes, want at least 16`},
		{"half a frame", wave("fmt ", pcm, "data", "\x00\x00\x00"), "3 bytes of samples are no multiple of 2, for 1 channels of PCM16"},
		{"extensible without extension", wave("fmt ", format(tagExtensible, 1, 8000, 2, 16)), "its encoding is number 65534: only"},
		{"extensible of another kind", wave("fmt ", extensible(1, 16, strings.Repeat("x", 14))), "its encoding is number 01007878"},
		{"MP3", wave("fmt ", format(0x55, 1, 8000, 1, 8)), "its encoding is number 85 (MP3): only PCM, floating-point numbers, A-law and μ-law can be read"},
		{"big-endian", "RIFX\x00\x00\x00\x00WAVE", "it is big-endian (RIFX): want RIFF, RF64 or BW64"},
		{"bits", wave("fmt ", format(1, 1, 8000, 5, 40)), "its samples have 40 bits"},
		{"no bits", wave("fmt ", format(1, 1, 8000, 2, 0)), "its samples have 0 bits"},
		{"A-law bits", wave("fmt ", format(6, 1, 8000, 2, 16)), "its samples have 16 bits"},
		{"long chunk", "RIFF\x00\x00\x00\x00WAVELIST\xff\xff\xff\xffINFO", `chunk "LIST" has 4294967295 bytes, but only 4 follow: cut short?`},
		{"float bits", wave("fmt ", format(3, 1, 8000, 2, 16)), "its samples have 16 bits"},
		{"channels", wave("fmt ", format(1, 0, 8000, 0, 16)), "it has 0 channels of 8000 samples a second"},
		{"rate", wave("fmt ", format(1, 1, 0, 2, 16)), "it has 1 channels of 0 samples a second"},
		{"frame", wave("fmt ", format(1, 2, 8000, 2, 16)), "2 channels of PCM16 take 4 bytes, not 2"},
	} {
		path := filepath.Join(t.TempDir(), "x.wav")
		if err := os.WriteFile(path, []byte(tt.file), 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, err := Load(path)
		if err == nil || !strings.HasPrefix(err.Error(), "wav: "+path+": "+tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: Load = %v, want %s", tt.what, err, tt.want)
		}
	}
	path := filepath.Join(t.TempDir(), "no", "x.wav")
	if err := Save(path, tensor.Zeros(2), 1, nil); err == nil || !strings.HasPrefix(err.Error(), "wav: save "+path+": "+filestest.NoFolder(t)) {
		t.Errorf("Save = %v", err)
	}
	if _, _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), "wav: "+path+": "+filestest.NoFolder(t)) {
		t.Errorf("Load = %v", err)
	}
	large := tensor.Zeros(2, 1<<30)
	if err := Encode(nil, large, 1, nil); err == nil || err.Error() != "wav: 2 channels of 1073741824 samples take more than 4 GiB, which a WAV file cannot have" {
		t.Errorf("Encode of 4 GiB: %v", err)
	}
}

// zeros is the end of a sparse file.
type zeros struct{ start string }

func (z zeros) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	if at < int64(len(z.start)) {
		copy(b, z.start[at:])
	}
	return len(b), nil
}

// A sparse file can have more samples than there are addresses.
func TestSparse(t *testing.T) {
	file := resized(wave("fmt ", pcm, "data", ""), 1<<32-1, 1<<32-1)
	for _, size := range []int64{1 << 50, 1 << 62, math.MaxInt64} {
		if _, _, err := decode(zeros{file}, size); !errors.Is(err, driver.ErrMemory) {
			t.Errorf("a file of %d bytes: %v, want %v", size, err, driver.ErrMemory)
		}
	}
}

func TestMisuse(t *testing.T) {
	x := tensor.Zeros(2, 3)
	for want, f := range map[string]func(){
		"wav.Save: type int32: want float32":                   func() { Save("", tensor.Arange(3), 1, nil) },
		"wav.Encode: shape [1 2 3]: want [channels samples]":   func() { Encode(nil, x.Unsqueeze(0), 1, nil) },
		"wav.Encode: no such encoding as Encoding(9)":          func() { Encode(nil, x, 1, &Options{Encoding: 9}) },
		"wav.Encode: shape [0 3]: 0 channels: want 1 to 32767": func() { Encode(nil, tensor.Zeros(0, 3), 1, nil) },
		"wav.Encode: 0 samples a second: want 1 to 1073741823": func() { Encode(nil, x, 0, nil) },
		"wav.Encode: 5000000000 samples a second":              func() { Encode(nil, x, 5e9, nil) },
		"wav.Encode: the tensor is absent":                     func() { Encode(nil, tensor.Tensor{}, 1, nil) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "wav_test.go") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A file is refused, or its sound comes back when it is written and read again.
func FuzzDecode(f *testing.F) {
	for e := range numEncodings {
		var b bytes.Buffer
		if err := Encode(&b, tensor.New([]float32{0, 0.5, -1, 1, 0.25, 0.1}, 2, 3), 8000, &Options{Encoding: e}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	for _, tt := range worldFiles() {
		f.Add([]byte(tt.file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var x tensor.Tensor
		var rate int
		var err error
		memtest.Bound(t, len(file), func() { x, rate, err = Decode(bytes.NewReader(file)) })
		if err != nil || rate > math.MaxUint32/4/x.Dim(0) || x.Dim(0) > math.MaxUint16/4 {
			return
		}
		var b bytes.Buffer
		if err := Encode(&b, x, rate, &Options{Encoding: Float32}); err != nil {
			t.Fatal(err)
		}
		y, again, err := Decode(&b)
		if err != nil || again != rate {
			t.Fatalf("rate %d became %d, %v", rate, again, err)
		}
		want, _ := x.Bytes()
		got, err := y.Bytes()
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("samples % x became % x, %v", want, got, err)
		}
	})
}
