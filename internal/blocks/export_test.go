package blocks

import (
	"encoding/binary"
	"math"

	"github.com/tensorken/tensorken/ir"
)

// SetScales gives the scales of blocks values.
func (f *Format) SetScales(b []byte, value func() float32) {
	for ; len(b) > 0; b = b[f.Bytes:] {
		for _, s := range f.scales {
			v := value()
			switch at := b[s.offset:]; f.Name {
			case "Q8_K":
				binary.LittleEndian.PutUint32(at, math.Float32bits(v))
			case "IQ1_M":
				for n, h := 0, ir.ToF16(v); n < 4; n++ {
					at[2*n+1] = at[2*n+1]&15 | byte(h>>(4*n))<<4
				}
			default:
				binary.LittleEndian.PutUint16(at, uint16(ir.ToF16(v)))
			}
		}
		if f.Name == "MXFP4" { // whose scale is a power of two, in the first byte
			b[0] = 120
		}
	}
}
