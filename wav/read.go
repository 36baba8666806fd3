package wav

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Load reads a file: samples is float32 of shape [channels samples], rate the number of
// samples a second.
func Load(path string) (samples tensor.Tensor, rate int, err error) {
	f, err := files.Open(path)
	if err != nil {
		return samples, 0, fmt.Errorf("wav: %s: %w", path, files.Reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		samples, rate, err = decode(f, info.Size())
	}
	if err != nil {
		return tensor.Tensor{}, 0, fmt.Errorf("wav: %s: %w", path, files.Reason(err))
	}
	return samples, rate, nil
}

// Decode is [Load] of all that a reader has.
func Decode(r io.Reader) (samples tensor.Tensor, rate int, err error) {
	b, err := io.ReadAll(r)
	if err == nil {
		samples, rate, err = decode(bytes.NewReader(b), int64(len(b)))
	}
	if err != nil {
		return tensor.Tensor{}, 0, fmt.Errorf("wav: %w", err)
	}
	return samples, rate, nil
}

// A sound is what a file says of its samples.
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

// toEnd is the size of data in a file that was written without knowing it.
const toEnd = math.MaxUint32

// readHeader reads and checks all chunks up to the samples.
func readHeader(r io.ReaderAt, size int64) (*sound, error) {
	var head [12]byte
	if n, err := r.ReadAt(head[:], 0); n < len(head) && err != io.EOF {
		return nil, err
	}
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return nil, errors.New("not a WAV file: it does not begin as one")
	}
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
		switch {
		case name == "data" && s == nil:
			return nil, fmt.Errorf("its samples are not described: no chunk %q before them", "fmt ")
		case name == "data" && n == toEnd:
			n = rest - rest%int64(s.frameSize())
		case n > rest:
			return nil, fmt.Errorf("chunk %q has %d bytes, but only %d follow: cut short?", name, n, rest)
		}
		switch name {
		case "fmt ":
			if s != nil {
				return nil, fmt.Errorf("it has two chunks %q", name)
			}
			var err error
			if s, err = readFormat(r, at, n); err != nil {
				return nil, err
			}
		case "data":
			if n%int64(s.frameSize()) != 0 {
				return nil, fmt.Errorf("%d bytes of samples are no multiple of %d, for %d channels of %v", n, s.frameSize(), s.channels, s.encoding)
			}
			s.start, s.count = at, n/int64(s.frameSize())
			return s, nil
		}
		at += n + n&1
	}
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
		return nil, fmt.Errorf("%d channels of %v take %d bytes, not %d", s.channels, e, s.frameSize(), frame)
	}
	return s, nil
}
