package drivertest

import "github.com/tensorken/tensorken/ir"

// encode returns elements of type d as they lie in a buffer.
func encode(d ir.DType, elems []ir.Number) []byte {
	out := make([]byte, 0, len(elems)*d.Size())
	for _, x := range elems {
		out = x.Append(out, d)
	}
	return out
}

// decode is the inverse of encode; bytes that make no whole element are left
// out.
func decode(d ir.DType, b []byte) []ir.Number {
	out := make([]ir.Number, len(b)/d.Size())
	for i := range out {
		out[i] = ir.Decode(d, b[i*d.Size():])
	}
	return out
}
