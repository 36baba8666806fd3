package wav

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

// Load reads a file: samples is float32 of shape [channels samples], rate the number of
// samples a second.
func Load(path string) (samples tensor.Tensor, rate int, err error) {
	f, err := files.Open(path)
	if err != nil {
		return samples, 0, fmt.Errorf("wav: %s: %w", files.Name(path), files.Reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		samples, rate, err = decode(f, info.Size())
	}
	if err != nil {
		return tensor.Tensor{}, 0, fmt.Errorf("wav: %s: %w", files.Name(path), files.Reason(err))
	}
	return samples, rate, nil
}

// Decode is [Load] of all that a reader has.
func Decode(r io.Reader) (samples tensor.Tensor, rate int, err error) {
	b, err := files.ReadFrom(r, 0, math.MaxInt64)
	if err == nil {
		samples, rate, err = decode(bytes.NewReader(b), int64(len(b)))
	}
	if err != nil {
		return tensor.Tensor{}, 0, fmt.Errorf("wav: %w", err)
	}
	return samples, rate, nil
}

// A sound describes the samples of a file.
type sound struct {
	encoding     Encoding
	channels     int
	rate         int
	start, count int64 // offset of the samples in bytes; number of samples of a channel
}

// frameSize returns the size in bytes of one sample of each channel.
func (s *sound) frameSize() int { return s.channels * encodings[s.encoding].size }

func decode(r io.ReaderAt, size int64) (tensor.Tensor, int, error) {
	s, err := readHeader(r, size)
	if err != nil {
		return tensor.Tensor{}, 0, err
	}
	count, frame := int(s.count), s.frameSize()
	if err := hostmem.Check(s.channels*count, 4); err != nil {
		return tensor.Tensor{}, 0, err // before 4·channels·count, which may be more than an int
	}
	data, err := tensor.Internal.Allocate(graph.Token{}, 4*s.channels*count)
	if err != nil {
		return tensor.Tensor{}, 0, err
	}
	e := &encodings[s.encoding]
	piece := make([]byte, max(1, 1<<16/frame)*frame)
	for i := 0; i < count; {
		part := piece[:min(len(piece), (count-i)*frame)]
		if _, err := r.ReadAt(part, s.start+int64(i)*int64(frame)); err != nil && err != io.EOF {
			return tensor.Tensor{}, 0, err
		}
		for ; len(part) > 0; i++ {
			for c := range s.channels {
				little.PutUint32(data[4*(c*count+i):], math.Float32bits(e.get(part)))
				part = part[e.size:]
			}
		}
	}
	return tensor.FromBytes(tensor.Float32, []int{s.channels, count}, data), s.rate, nil
}

// containers has why a kind of file is refused, "" for those that are read. RF64 and BW64 are
// RIFF with 64-bit sizes in a chunk "ds64".
var containers = map[string]string{
	"RIFF": "", "RF64": "", "BW64": "",
	"RIFX": "it is big-endian (RIFX): want RIFF, RF64 or BW64",
}

// unknownSize is the size of a chunk that was written without knowing it, or whose size is in
// the chunk "ds64".
const unknownSize = math.MaxUint32

// readHeader reads and checks all chunks up to the samples.
func readHeader(r io.ReaderAt, size int64) (*sound, error) {
	var head [12]byte
	if n, err := r.ReadAt(head[:], 0); n < len(head) && err != io.EOF {
		return nil, err
	}
	refused, ok := containers[string(head[:4])]
	switch {
	case !ok || string(head[8:]) != "WAVE":
		return nil, errors.New("not a WAV file: it does not begin as one")
	case refused != "":
		return nil, errors.New(refused)
	}
	whole := int64(little.Uint32(head[4:])) == size-8 // the writer finished the file
	dataSize := int64(math.MaxInt64)                  // if the chunk's own size is unknown
	var s *sound
	for at := int64(len(head)); ; {
		var chunk [8]byte
		if n, err := r.ReadAt(chunk[:], at); n < len(chunk) {
			if err != io.EOF {
				return nil, err
			}
			return nil, fmt.Errorf("it has no samples: no chunk %q", "data")
		}
		name, n := string(chunk[:4]), int64(little.Uint32(chunk[4:]))
		at += int64(len(chunk))
		rest := size - at
		if n > rest && name != "data" {
			return nil, fmt.Errorf("chunk %q has %d bytes, but only %d follow: cut short?", name, n, rest)
		}
		switch name {
		case "ds64":
			// The sizes of the file and of the samples.
			var sizes [16]byte
			if _, err := r.ReadAt(sizes[:min(n, 16)], at); err != nil && err != io.EOF {
				return nil, err
			}
			whole = little.Uint64(sizes[:]) == uint64(size-8)
			dataSize = int64(min(little.Uint64(sizes[8:]), math.MaxInt64))
		case "fmt ":
			if s != nil {
				return nil, fmt.Errorf("it has two chunks %q", name)
			}
			var err error
			if s, err = readFormat(r, at, n); err != nil {
				return nil, err
			}
		case "data":
			if s == nil {
				return nil, fmt.Errorf("its samples are not described: no chunk %q before them", "fmt ")
			}
			if n == unknownSize {
				n = dataSize
			}
			return s, s.locate(at, n, rest, whole)
		}
		at += n
		if n%2 == 1 && isZero(r, at) { // some writers leave the padding out
			at++
		}
	}
}

// isZero reports whether a byte of a file is 0, or after its end.
func isZero(r io.ReaderAt, at int64) bool {
	var b [1]byte
	r.ReadAt(b[:], at)
	return b[0] == 0
}

// locate sets where the samples are: n bytes starting at an offset, rest bytes before the end of
// the file. A recorder writes the size when it stops: in the file of one that was killed, or
// that cannot seek, n is 0, unknownSize or more than rest, and the samples go to the end.
func (s *sound) locate(at, n, rest int64, whole bool) error {
	frame := int64(s.frameSize())
	switch {
	case n > rest, n == 0 && !whole:
		n = rest - rest%frame
	case n%frame != 0:
		return fmt.Errorf("%d bytes of samples are no multiple of %d, for %d channels of %s", n, frame, s.channels, encodings[s.encoding].name)
	}
	s.start, s.count = at, n/frame
	return nil
}

// readFormat reads the chunk that describes the samples.
func readFormat(r io.ReaderAt, at, n int64) (*sound, error) {
	const (
		short = 16 // bytes
		long  = 40 // of an extensible format
	)
	if n < short {
		return nil, fmt.Errorf("chunk %q has %d bytes, want at least %d", "fmt ", n, short)
	}
	var b [long]byte
	if _, err := r.ReadAt(b[:min(n, long)], at); err != nil && err != io.EOF {
		return nil, err
	}
	tag, bits := little.Uint16(b[:]), int(little.Uint16(b[14:]))
	if tag == tagExtensible && n >= long {
		if tail := string(b[26:]); tail != waveFormats && tail != ambisonicFormats {
			return nil, fmt.Errorf("its encoding is number %x: only PCM, floating-point numbers, A-law and μ-law can be read", b[24:])
		}
		tag = little.Uint16(b[24:])
	}
	e, err := encodingOf(tag, bits)
	if err != nil {
		return nil, err
	}
	s := &sound{encoding: e, channels: int(little.Uint16(b[2:])), rate: int(little.Uint32(b[4:]))}
	switch frame := int(little.Uint16(b[12:])); {
	case s.channels == 0 || s.rate == 0:
		return nil, fmt.Errorf("it has %d channels of %d samples a second", s.channels, s.rate)
	case frame != s.frameSize():
		return nil, fmt.Errorf("%d channels of %s take %d bytes, not %d", s.channels, encodings[e].name, s.frameSize(), frame)
	}
	return s, nil
}

// The ends of the identifiers of formats in an extensible format, after the tag:
// Microsoft's, and the ambisonic ones (B-format).
const (
	waveFormats      = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
	ambisonicFormats = "\x00\x00\x21\x07\xd3\x11\x86\x44\xc8\xc1\xca\x00\x00\x00"
)
