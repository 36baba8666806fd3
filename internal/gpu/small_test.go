package gpu

import (
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/wgpu"
)

// BenchmarkSmall measures Runs of one small dispatch: one after the other, and each with its
// result read.
func BenchmarkSmall(b *testing.B) {
	d := real(b, wgpu.Options{})
	p := prepare(b, d, &increment)
	x, y := alloc(b, d, 4), alloc(b, d, 4)
	for _, read := range []bool{false, true} {
		name := "Run"
		if read {
			name = "Read"
		}
		b.Run(name, func(b *testing.B) {
			calls := chain(p, 2, x, y)
			var result [4]byte
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				var to driver.Buffer = y
				if i%2 == 1 {
					to = x
				}
				err := d.Run(calls[i%2 : i%2+1])
				if err == nil && read {
					err = d.Download(result[:], to, 0)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			if err := d.Sync(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
