package drivertest

import (
	"bytes"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// sharing copies parts of a buffer to others of the same buffer.
func (s *suite) sharing() {
	drv := s.drv
	if !drv.Limits().Shares {
		s.Skipf("%s writes no buffer that the same call reads", drv.Name())
	}
	for _, n := range []int{1, 7, 1000} {
		data := encode(ir.Float32, s.small(3*n))
		b, err := drv.Alloc(len(data))
		if err != nil {
			s.Fatal(err)
		}
		p, err := drv.Compile(copyKernel(ir.Float32, n))
		if err == nil {
			err = drv.Upload(b, 0, data)
		}
		if err == nil {
			err = drv.Run([]driver.Call{
				{Program: p, Args: []driver.Arg{{Buffer: b, Offset: n}, {Buffer: b}}},
				{Program: p, Args: []driver.Arg{{Buffer: b, Offset: 2 * n}, {Buffer: b, Offset: n}}},
			})
		}
		got := make([]byte, len(data))
		if err == nil {
			err = drv.Download(got, b, 0)
		}
		if want := bytes.Repeat(data[:4*n], 3); err != nil || !bytes.Equal(got, want) {
			s.Errorf("two copies of %d elements to the parts of a buffer after them give others, %v", n, err)
		}
		b.Free()
	}
}
