//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/dynlib"
)

const (
	// stageSize is the size of a stage.
	stageSize = 4 << 20
	// maxStages is the most stages of a device: while the GPU copies from some, the host fills another.
	maxStages = 4
	// minStaged is the least size of a write by way of a stage.
	minStaged = 256 << 10
)

// A stage is a buffer that the host fills and the GPU copies to another. Where a GPU has memory of its own,
// the library's writes allocate memory of the host for each, which takes longer than to fill it.
type stage struct {
	buffer uintptr
	mapped bool // the host may fill it
}

// Write copies by way of the stages that are mapped, and leaves the rest to the library.
func (d *device) Write(b Buffer, offset int64, data []byte) {
	for d.staged && len(data) >= minStaged && d.lost == nil {
		s := d.mappedStage()
		if s == nil {
			break
		}
		n := min(len(data), stageSize)
		d.writeStaged(s, b, offset, data[:n])
		offset, data = offset+int64(n), data[n:]
	}
	if len(data) > 0 && d.lost == nil {
		dynlib.Call(d.QueueWriteBuffer, d.queue, uintptr(b), uintptr(offset), uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)))
	}
}

// mappedStage returns a stage that the host may fill; nil if the GPU copies from all of them still, or
// memory lacks for one.
func (d *device) mappedStage() *stage {
	if len(d.stages) > 0 {
		d.poll()
	}
	for _, s := range d.stages {
		if s.mapped {
			return s
		}
	}
	if len(d.stages) == maxStages {
		return nil
	}
	s := &stage{mapped: true}
	desc := &bufferDescriptor{usage: usageMapWrite | usageCopySrc, size: stageSize, mapped: 1}
	err := d.scoped("Write", func() { s.buffer = dynlib.Call(d.DeviceCreateBuffer, d.device, uintptr(unsafe.Pointer(desc))) })
	if err != nil {
		if s.buffer != 0 {
			dynlib.Call(d.BufferRelease, s.buffer)
		}
		return nil
	}
	d.stages = append(d.stages, s)
	return s
}

// writeStaged copies data to a stage, and submits the copy from there to a buffer.
func (d *device) writeStaged(s *stage, b Buffer, offset int64, data []byte) {
	p := dynlib.Call(d.BufferGetMappedRange, s.buffer, 0, stageSize)
	copy(unsafe.Slice((*byte)(pointer(p)), stageSize), data)
	dynlib.Call(d.BufferUnmap, s.buffer)
	encoder := dynlib.Call(d.DeviceCreateCommandEncoder, d.device, 0)
	dynlib.Call(d.CommandEncoderCopyBufferToBuffer, encoder, s.buffer, 0, uintptr(b), uintptr(offset), uintptr(len(data)))
	d.submitEncoder(encoder)
	s.mapped = false
	d.request(d.BufferMapAsync, callbacks().status, func(e *event) { s.mapped = uint32(e.a) == success }, s.buffer, mapWrite, 0, stageSize)
}

// freeStages frees the stages.
func (d *device) freeStages() {
	for _, s := range d.stages {
		dynlib.Call(d.BufferRelease, s.buffer)
	}
	d.stages = nil
}
