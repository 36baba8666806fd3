package drivertest

import (
	"bytes"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// viewing reads buffers where they lie, before and after Free.
func (s *suite) viewing() {
	drv, ok := s.drv.(driver.Viewer)
	if !ok {
		s.Skipf("%s has memory of its own", s.drv.Name())
	}
	if drv.Limits().Async {
		s.Error("a Viewer is Async")
	}
	data := encode(ir.Float32, s.small(1000))
	b, err := drv.Alloc(len(data))
	if err == nil {
		err = drv.Upload(b, 0, data)
	}
	if err != nil {
		s.Fatal(err)
	}
	view, err := drv.View(b)
	if err != nil || len(view) < len(data) || !bytes.Equal(view[:len(data)], data) {
		s.Fatalf("View of a buffer of %d bytes gives %d, or others: %v", len(data), len(view), err)
	}
	data[7]++
	if err := drv.Upload(b, 0, data); err != nil || !bytes.Equal(view[:len(data)], data) {
		s.Errorf("the view of a buffer is not its memory: %v", err)
	}
	b.Free()
	other, err := drv.Alloc(len(data))
	if err == nil {
		err = drv.Upload(other, 0, make([]byte, len(data)))
		defer other.Free()
	}
	if err != nil {
		s.Fatal(err)
	}
	if !bytes.Equal(view[:len(data)], data) {
		s.Error("after Free another buffer has the memory of a view")
	}
}
