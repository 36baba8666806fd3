package wav

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Options say how sound is written. The zero value is the default.
type Options struct {
	// Encoding says how a sample is stored. Integers are rounded half to even; numbers
	// outside of [-1, 1) become the nearest of them, and NaN becomes 0.
	Encoding Encoding
}

// Save writes samples, float32 of shape [channels samples] or [samples], with a rate in
// samples a second. It panics with a [*tensor.Error] for other shapes and types, an
// encoding that is not one of the constants, and a rate below 1 or too high for the format.
// It computes samples if necessary; see [tensor.Eval] for the errors. A file of 4 GiB or
// more is an error.
//
// The file is replaced atomically, as [github.com/tensorken/tensorken/safetensors.Save]
// does.
func Save(path string, samples tensor.Tensor, rate int, o *Options) error {
	s := check("Save", samples, rate, o)
	err := s.checkSize()
	if err == nil {
		err = files.Replace(path, func(w *bufio.Writer) error { return s.write("Save", w, samples) })
	}
	if err != nil {
		return fmt.Errorf("wav: save %s: %w", files.Name(path), files.Reason(err))
	}
	return nil
}

// Encode is [Save] to a writer.
func Encode(w io.Writer, samples tensor.Tensor, rate int, o *Options) error {
	s := check("Encode", samples, rate, o)
	err := cmp.Or(s.checkSize(), files.Given(w))
	if err == nil {
		b := bufio.NewWriter(w)
		if err = s.write("Encode", b, samples); err == nil {
			err = b.Flush()
		}
	}
	if err != nil {
		return fmt.Errorf("wav: %w", err)
	}
	return nil
}

// check returns the description of samples for a header; it panics for misuse.
func check(op string, samples tensor.Tensor, rate int, o *Options) *sound {
	misuse := func(format string, args ...any) {
		tensor.Internal.Misuse(graph.Token{}, "wav."+op, fmt.Sprintf(format, args...))
	}
	if o == nil {
		o = new(Options)
	}
	if !samples.IsValid() {
		misuse("the tensor is absent (the zero Tensor): test with IsValid")
	}
	shape := samples.Shape()
	switch {
	case samples.DType() != tensor.Float32:
		misuse("type %v: want float32, from -1 to 1: Cast first", samples.DType())
	case len(shape) < 1 || len(shape) > 2:
		misuse("shape %v: want [channels samples] or [samples]", shape)
	case o.Encoding >= numEncodings:
		misuse("no such encoding as %v", o.Encoding)
	}
	s := &sound{encoding: o.Encoding, channels: 1, rate: rate, count: int64(shape[len(shape)-1])}
	if len(shape) == 2 {
		s.channels = shape[0]
	}
	switch {
	case s.channels == 0 || s.channels > math.MaxUint16/encodings[s.encoding].size:
		misuse("shape %v: %d channels: want 1 to %d", shape, s.channels, math.MaxUint16/encodings[s.encoding].size)
	case rate < 1 || rate > math.MaxUint32/s.frameSize():
		misuse("%d samples a second: want 1 to %d", rate, math.MaxUint32/s.frameSize())
	}
	return s
}

// header returns all that is before the samples.
func (s *sound) header() []byte {
	e := &encodings[s.encoding]
	format := little.AppendUint16(nil, e.tag)
	format = little.AppendUint16(format, uint16(s.channels))
	format = little.AppendUint32(format, uint32(s.rate))
	format = little.AppendUint32(format, uint32(s.rate*s.frameSize()))
	format = little.AppendUint16(format, uint16(s.frameSize()))
	format = little.AppendUint16(format, uint16(8*e.size))
	body := []byte("WAVE")
	if e.tag == tagPCM {
		body = appendChunk(body, "fmt ", format)
	} else { // other formats must have an extension, here empty, and the number of samples
		body = appendChunk(body, "fmt ", append(format, 0, 0))
		body = appendChunk(body, "fact", little.AppendUint32(nil, uint32(s.count)))
	}
	body = little.AppendUint32(append(body, "data"...), uint32(s.dataSize()))
	size := int64(len(body)) + s.dataSize() + s.dataSize()&1
	return append(little.AppendUint32([]byte("RIFF"), uint32(size)), body...)
}

func appendChunk(b []byte, name string, data []byte) []byte {
	return append(little.AppendUint32(append(b, name...), uint32(len(data))), data...)
}

func (s *sound) dataSize() int64 { return s.count * int64(s.frameSize()) }

// checkSize returns an error for samples that are too many for a file.
func (s *sound) checkSize() error {
	const most = math.MaxUint32 - 100 // leaves room for the header
	if s.count > most/int64(s.frameSize()) {
		return fmt.Errorf("%d channels of %d samples take more than 4 GiB, which a WAV file cannot have", s.channels, s.count)
	}
	return nil
}

func (s *sound) write(op string, w *bufio.Writer, samples tensor.Tensor) error {
	data, err := tensor.Internal.Bytes(graph.Token{}, "wav."+op, samples)
	if err != nil {
		return err
	}
	if _, err := w.Write(s.header()); err != nil {
		return err
	}
	e := &encodings[s.encoding]
	frame := make([]byte, s.frameSize())
	count := int(s.count)
	for i := range count {
		for c := range s.channels {
			e.put(frame[c*e.size:], math.Float32frombits(little.Uint32(data[4*(c*count+i):])))
		}
		if _, err := w.Write(frame); err != nil {
			return err
		}
	}
	if s.dataSize()&1 == 1 {
		return w.WriteByte(0) // chunks have even sizes
	}
	return nil
}
