package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A Decoder decodes blocks of a format.
type Decoder func(y, b unsafe.Pointer, blocks int)

// decoders has the routines in assembly, by the name of the format.
var decoders = map[string]Decoder{}

// DecoderOf returns the decoder of a format.
func DecoderOf(f *ir.Format) Decoder {
	if d := decoders[f.Name]; d != nil {
		return d
	}
	return func(y, b unsafe.Pointer, blocks int) {
		f.Decode(vec[float32](y, blocks*f.Len), vec[byte](b, blocks*f.Bytes))
	}
}
