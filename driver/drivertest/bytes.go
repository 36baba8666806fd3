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
	out := make([]ir.Number, d.Elements(len(b)))
	if f := d.Format(); f != nil {
		y := make([]float32, len(out))
		f.Decode(y, b[:d.Bytes(len(y))])
		for i, x := range y {
			out[i] = ir.Float(ir.Float32, float64(x))
		}
		return out
	}
	for i := range out {
		out[i] = ir.Decode(d, b[i*d.Size():])
	}
	return out
}

// tiny is a format with blocks that are short enough for small tensors: a byte with a scale and an offset, and four
// numbers of four bits.
var tiny = ir.AddFormat(ir.Format{
	Name: "tiny", Len: 4, Bytes: 3,
	Decode: func(y []float32, b []byte) {
		for ; len(b) > 0; y, b = y[4:], b[3:] {
			for i := range 4 {
				y[i] = nibble(b[1+i/2], i%2)*nibble(b[0], 0) + nibble(b[0], 1)
			}
		}
	},
	Codes: &ir.Codes{
		Run: 4, Code: nibbles(8), Cuts: []int{1},
		Scale: ir.Factor{Times: new(nibbles(0))}, Offset: &ir.Factor{Times: new(nibbles(4))},
	},
})

// nibbles is a field of numbers of four bits from a bit on.
func nibbles(at int) ir.Field {
	return ir.Field{Signed: true, Parts: []ir.Bits{{Count: 4, At: at, Digits: []ir.Digit{{Len: 4, Step: 4}}}}}
}

func nibble(b byte, n int) float32 { return float32(int8(b<<(4-4*n)) >> 4) }
