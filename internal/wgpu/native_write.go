//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/dynlib"
)

const (
	// stagingSize is the size of a staging buffer.
	stagingSize = 4 << 20
	// maxStaging is the most staging buffers of a device: while the GPU copies from some, the host fills another.
	maxStaging = 4
	// minStaged is the least size of a write by way of one.
	minStaged = 256 << 10
)

// A stagingBuffer is a buffer that the host fills and the GPU copies to another. Where a GPU has memory of its own,
// the library's writes allocate memory of the host for each, which takes longer than to fill it.
type stagingBuffer struct {
	buffer uintptr
	mapped bool // the host may fill it
}

// Write copies by way of the staging buffers that are mapped, and leaves the rest to the library.
func (d *device) Write(b Buffer, offset int64, data []byte) {
	for d.staged && len(data) >= minStaged && d.lost == nil {
		n := min(len(data), stagingSize)
		if s := d.mappedStaging(); s == nil || !d.writeStaged(s, b, offset, data[:n]) {
			break
		}
		offset, data = offset+int64(n), data[n:]
	}
	if len(data) > 0 && d.lost == nil {
		dynlib.Call(d.QueueWriteBuffer, d.queue, uintptr(b), uintptr(offset), uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)))
	}
}

// mappedStaging returns a staging buffer that the host may fill. It is nil if the GPU copies from all of them still,
// if memory lacks for another one, or if the device is lost.
func (d *device) mappedStaging() *stagingBuffer {
	if d.poll(); d.lost != nil {
		return nil
	}
	for _, s := range d.staging {
		if s.mapped {
			return s
		}
	}
	if len(d.staging) == maxStaging {
		return nil
	}
	b, _ := d.createBuffer("Write", &bufferDescriptor{usage: usageMapWrite | usageCopySrc, size: stagingSize, mapped: 1})
	if b == 0 {
		return nil
	}
	s := &stagingBuffer{buffer: b, mapped: true}
	d.staging = append(d.staging, s)
	return s
}

// writeStaged copies data to a staging buffer, and submits the copy from there to a buffer. It reports false, and
// does neither, if that has no memory after all.
func (d *device) writeStaged(s *stagingBuffer, b Buffer, offset int64, data []byte) bool {
	p := dynlib.Call(d.BufferGetMappedRange, s.buffer, 0, stagingSize)
	if p == 0 {
		s.mapped = false
		return false
	}
	copy(unsafe.Slice((*byte)(pointer(p)), stagingSize), data)
	dynlib.Call(d.BufferUnmap, s.buffer)
	encoder := dynlib.Call(d.DeviceCreateCommandEncoder, d.device, 0)
	dynlib.Call(d.CommandEncoderCopyBufferToBuffer, encoder, s.buffer, 0, uintptr(b), uintptr(offset), uintptr(len(data)))
	d.submitEncoder(encoder)
	s.mapped = false
	d.request(d.BufferMapAsync, callbacks().status, func(e *event) { s.mapped = uint32(e.a) == success }, s.buffer, mapWrite, 0, stagingSize)
	return true
}

// freeStaging frees the staging buffers.
func (d *device) freeStaging() {
	for _, s := range d.staging {
		dynlib.Call(d.BufferRelease, s.buffer)
	}
	d.staging = nil
}
