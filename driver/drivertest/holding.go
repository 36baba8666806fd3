package drivertest

import (
	"bytes"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// holding overwrites and frees buffers of calls that the device holds.
func (s *suite) holding() {
	drv, ok := s.drv.(driver.Flusher)
	if !ok {
		s.Skipf("%s holds no calls", s.drv.Name())
	}
	const n = 100
	p, err := drv.Compile(copyKernel(ir.Float32, n))
	if err != nil {
		s.Fatal(err)
	}
	x, y := encode(ir.Float32, s.small(n)), encode(ir.Float32, s.small(n))
	for _, c := range []struct {
		name string
		then func(from driver.Buffer) error
	}{
		{"Download", func(driver.Buffer) error { return nil }},
		{"Flush", func(driver.Buffer) error { drv.Flush(); return nil }},
		{"Upload", func(from driver.Buffer) error { return drv.Upload(from, 0, y) }},
		{"Upload of a part of a word", func(from driver.Buffer) error { return drv.Upload(from, 1, y[1:2]) }},
		{"Free", func(from driver.Buffer) error { from.Free(); return nil }},
		{"Sync", func(driver.Buffer) error { return drv.Sync() }},
	} {
		var buffers [2]driver.Buffer
		for i := range buffers {
			if buffers[i], err = drv.Alloc(len(x)); err != nil {
				s.Fatal(err)
			}
		}
		from, to := buffers[0], buffers[1]
		got := make([]byte, len(x))
		if err = drv.Upload(from, 0, x); err == nil {
			err = drv.Run([]driver.Call{{Program: p, Args: []driver.Arg{{Buffer: to}, {Buffer: from}}}})
		}
		if err == nil {
			err = c.then(from)
		}
		if (c.name == "Flush" || c.name == "Sync") && drv.Holds() {
			s.Errorf("calls are held after %s", c.name)
		}
		if err == nil {
			err = drv.Download(got, to, 0)
		}
		if err != nil || !bytes.Equal(got, x) {
			s.Errorf("a copy, then %s: got another, %v", c.name, err)
		}
		from.Free()
		to.Free()
	}
}
