package wav

import (
	"fmt"
	"strings"
	"testing"
)

// extensible returns a format of one channel whose identifier has an end.
func extensible(tag, bits uint16, end string) string {
	b := little.AppendUint16([]byte(format(tagExtensible, 1, 8000, (bits+7)/8, (bits+7)&^7)), 22)
	b = little.AppendUint16(append(little.AppendUint16(b, bits), 4, 0, 0, 0), tag)
	return string(b) + end
}

// resized is a file with other sizes of the file and the samples.
func resized(file string, riff, data uint32) string {
	at := strings.Index(file, "data") + 4
	return file[:4] + string(little.AppendUint32(nil, riff)) + file[8:at] + string(little.AppendUint32(nil, data)) + file[at+4:]
}

type worldFile struct{ what, file, want string }

// worldFiles are files as programs write them, and the samples or the error.
func worldFiles() []worldFile {
	const samples = "\x00\x40\x00\x20" // 0.5 0.25
	plain := wave("fmt ", pcm, "data", samples)
	size := uint32(len(plain) - 8)
	empty := wave("fmt ", pcm, "data", "", "LIST", "INFOabcd")
	ds64 := func(container string, file, data uint64) string {
		sizes := little.AppendUint64(little.AppendUint64(nil, file), data)
		sizes = append(little.AppendUint64(sizes, 2), 0, 0, 0, 0)
		return container + wave("ds64", string(sizes), "fmt ", pcm, "data", samples)[4:]
	}
	const both = "[[0.5 0.25]]"
	return []worldFile{
		{"plain", plain, both},
		{"a streaming recorder", resized(plain, 1<<32-1, 1<<32-1), both},
		{"a killed recorder", resized(plain, 0, 0), both},
		{"a killed recorder with the size of its header", resized(plain, 36, 0), both},
		{"a killed recorder, size unknown", resized(plain, 1<<32-1, 0), both},
		{"a killed recorder, in the middle of a sample", resized(plain+"\x01", 0, 0), both},
		{"a file cut short", resized(plain, 2000, 1000), both},
		{"a file cut short, size 2^32-2", resized(plain, 1<<32-1, 1<<32-2), both},
		{"a size of ffmpeg to a pipe", resized(plain, 1<<32-1, 1<<32-1), both},
		{"no samples", wave("fmt ", pcm, "data", ""), "[[]]"},
		{"no samples, other chunks behind", empty, "[[]]"},
		{"a recorder killed at once", resized(wave("fmt ", pcm, "data", ""), 0, 0), "[[]]"},
		{"chunks of other programs", wave("JUNK", strings.Repeat("\x00", 28), "bext", strings.Repeat("x", 602), "fmt ", pcm, "fact", "1234",
			"PEAK", "12345678", "id3 ", "ID3", "LIST", "INFOISFT\x05\x00\x00\x00Lavf\x00\x00", "data", samples, "cue ", "x"), both},
		{"odd chunks", wave("LIST", "odd", "fmt ", pcm, "data", samples, "LIST", "x"), both},
		{"odd chunks without padding", strings.Replace(wave("LIST", "odd", "fmt ", pcm, "data", samples), "odd\x00", "odd", 1), both},
		{"a long format", wave("fmt ", pcm+"\x00\x00", "data", samples), both},
		{"a longer format", wave("fmt ", pcm+"\x04\x00abcd", "data", samples), both},
		{"extensible", wave("fmt ", extensible(tagPCM, 16, waveFormats), "data", samples), both},
		{"extensible, 12 of 16 bits", wave("fmt ", extensible(tagPCM, 12, waveFormats), "data", samples), both},
		{"extensible ambisonic", wave("fmt ", extensible(tagPCM, 16, ambisonicFormats), "data", samples), both},
		{"extensible float", wave("fmt ", extensible(tagFloat, 32, waveFormats), "data", "\x00\x00\x00\x3f\x00\x00\x80\x3e"), both},
		{"extensible μ-law", wave("fmt ", extensible(tagMuLaw, 8, waveFormats), "data", "\xff\x00"), "[[0 -0.9803467]]"},
		{"12 of 16 bits", wave("fmt ", format(1, 1, 8000, 2, 12), "data", samples), both},
		{"20 of 24 bits", wave("fmt ", format(1, 1, 8000, 3, 20), "data", "\x00\x00\x40\x00\x00\x20"), both},
		{"24 bits", wave("fmt ", format(1, 1, 8000, 3, 24), "data", "\x00\x00\x40\x00\x00\x20"), both},
		{"float64", wave("fmt ", format(3, 1, 8000, 8, 64), "data", "\x00\x00\x00\x00\x00\x00\xe0\x3f\x00\x00\x00\x00\x00\x00\xd0\x3f"), both},
		{"RF64", ds64("RF64", uint64(size)+36, 4), both},
		{"BW64", ds64("BW64", uint64(size)+36, 4), both},
		{"RF64 of unknown sizes", ds64("RF64", 0, 0), both},
		{"RF64, size in ds64", resized(ds64("RF64", uint64(size)+36, 2), 1<<32-1, 1<<32-1), "[[0.5]]"},
		{"RF64, great size in ds64", resized(ds64("RF64", 1<<63, 1<<63), 1<<32-1, 1<<32-1), both},
		{"A-law", wave("fmt ", format(6, 1, 8000, 1, 8), "data", "\xd5\x55\xaa\x2a"), "[[0.00024414063 -0.00024414063 0.984375 -0.984375]]"},
		{"μ-law", wave("fmt ", format(7, 1, 8000, 1, 8), "data", "\xff\x7f\x80\x00\x8f"), "[[0 0 0.9803467 -0.9803467 0.5115967]]"},
	}
}

func TestWorldFiles(t *testing.T) {
	for _, tt := range worldFiles() {
		x, rate, err := Decode(strings.NewReader(tt.file))
		if err != nil || rate != 8000 || fmt.Sprintf("[%v]", values(t, x)) != tt.want {
			t.Errorf("%s: Decode = %v, %d, %v, want %s", tt.what, x, rate, err, tt.want)
		}
	}
}
