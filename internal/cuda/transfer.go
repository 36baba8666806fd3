//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"unsafe"

	"github.com/tensorken/tensorken/driver"
)

const (
	// chunkBytes is the size of a chunk of pinned memory.
	chunkBytes = 2 << 20
	// chunkAlign is the alignment of pieces in a chunk, in bytes.
	chunkAlign = 64
)

// A staging is memory of the host that is pinned: copies between it and the GPU take their turn
// in the stream, while the host goes on. Its chunks are filled in turns.
type staging struct {
	chunks [8]chunk
	at     int // the chunk that is being filled
}

// noTiming makes an event that has no time.
const noTiming = 2

// A chunk is a piece of pinned memory.
type chunk struct {
	data  []byte
	used  int     // bytes of it
	event uintptr // behind the copies from and to it, once it is full
	busy  bool    // the event is recorded, and nobody has waited for it
}

// A piece is bytes of a chunk.
type piece struct {
	*chunk
	bytes []byte
}

// take returns at most n bytes that no copy uses.
func (s *staging) take(d *device, n int) (piece, error) {
	c := &s.chunks[s.at]
	if c.used >= len(c.data) {
		if err := c.mark(d); err != nil {
			return piece{}, err
		}
		s.at = (s.at + 1) % len(s.chunks)
		c = &s.chunks[s.at]
		err := c.wait(d)
		if c.data == nil && err == nil {
			err = c.make(d, chunkBytes)
		}
		if err != nil {
			return piece{}, err
		}
		c.used = 0
	}
	p := piece{c, c.data[c.used:][:min(n, len(c.data)-c.used)]}
	c.used += (len(p.bytes) + chunkAlign - 1) &^ (chunkAlign - 1)
	return p, nil
}

// make allocates the memory and the event.
func (c *chunk) make(d *device, size int) error {
	var address uintptr
	err := d.lib.call("cuEventCreate", d.lib.EventCreate, uintptr(unsafe.Pointer(&c.event)), noTiming)
	if err == nil {
		err = d.lib.call("cuMemHostAlloc", d.lib.MemHostAlloc, uintptr(unsafe.Pointer(&address)), uintptr(size), 0)
	}
	if err != nil {
		c.free(d)
		*c = chunk{}
		return d.fail(err)
	}
	c.data = unsafe.Slice((*byte)(pointer(address)), size)
	return nil
}

// mark puts the event behind the copies so far.
func (c *chunk) mark(d *device) error {
	if c.used == 0 {
		return nil
	}
	if err := d.lib.call("cuEventRecord", d.lib.EventRecord, c.event, d.stream); err != nil {
		return d.fail(err)
	}
	c.busy = true
	return nil
}

// wait waits for the copies before the event.
func (c *chunk) wait(d *device) error {
	if !c.busy {
		return nil
	}
	if err := d.lib.call("cuEventSynchronize", d.lib.EventSynchronize, c.event); err != nil {
		return d.fail(err)
	}
	c.busy = false
	return nil
}

// free frees the memory and the events.
func (s *staging) free(d *device) {
	for i := range s.chunks {
		s.chunks[i].free(d)
	}
	*s = staging{}
}

func (c *chunk) free(d *device) {
	if c.data != nil {
		d.lib.call("cuMemFreeHost", d.lib.MemFreeHost, addressOf(c.data))
	}
	if c.event != 0 {
		d.lib.call("cuEventDestroy", d.lib.EventDestroy_v2, c.event)
	}
}

// addressOf returns the address of bytes that are pinned.
func addressOf(data []byte) uintptr { return uintptr(unsafe.Pointer(&data[0])) }

// Upload copies src by way of pinned memory, and waits only for room there.
func (d *device) Upload(dst driver.Buffer, offset int, src []byte) error {
	leave, err := d.Enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := d.CheckBuffer(dst, offset, len(src)); err != nil {
		return err
	}
	b := dst.(*buffer)
	if err := d.beside.await(d, b.collective); err != nil {
		return err
	}
	for to := b.address + uintptr(offset); len(src) > 0; {
		p, err := d.staging.take(d, len(src))
		if err != nil {
			return err
		}
		n := copy(p.bytes, src)
		if err := d.lib.call("cuMemcpyHtoDAsync", d.lib.MemcpyHtoDAsync_v2, to, addressOf(p.bytes), uintptr(n), d.stream); err != nil {
			return d.fail(err)
		}
		to, src = to+uintptr(n), src[n:]
	}
	return nil
}

// maxSnapshot is the most bytes of a snapshot.
const maxSnapshot = 1 << 20

// Snapshot implements driver.Snapshotter.
func (d *device) Snapshot(pieces ...driver.Piece) (wait func() ([]byte, error), err error) {
	leave, err := d.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	bytes := 0
	for _, p := range pieces {
		if err := d.CheckBuffer(p.Buffer, p.Offset, p.Bytes); err != nil {
			return nil, err
		}
		if bytes += p.Bytes; bytes > maxSnapshot {
			return nil, nil
		}
		if err := d.beside.await(d, p.Buffer.(*buffer).collective); err != nil {
			return nil, err
		}
	}
	c := &d.snapshot
	if c.data == nil {
		if err := c.make(d, maxSnapshot); err != nil {
			return nil, err
		}
	}
	c.used++
	number := c.used
	to := addressOf(c.data)
	for _, p := range pieces {
		from := p.Buffer.(*buffer).address + uintptr(p.Offset)
		if err := d.lib.call("cuMemcpyDtoHAsync", d.lib.MemcpyDtoHAsync_v2, to, from, uintptr(p.Bytes), d.stream); err != nil {
			return nil, d.fail(err)
		}
		to += uintptr(p.Bytes)
	}
	if err := c.mark(d); err != nil {
		return nil, err
	}
	return func() ([]byte, error) {
		if c.used != number {
			return nil, nil
		}
		leave, err := d.Enter()
		if err != nil {
			return nil, err
		}
		defer leave()
		if err = c.wait(d); err == nil {
			d.checkCommunicators(false)
			err = d.Failed // Sync returns it as well
		}
		return c.data[:bytes], err
	}, nil
}

// Download copies by way of pinned memory: some pieces on the GPU while the host reads the one
// before.
func (d *device) Download(dst []byte, src driver.Buffer, offset int) error {
	leave, err := d.Enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := d.CheckBuffer(src, offset, len(dst)); err != nil {
		return err
	}
	b := src.(*buffer)
	if err := d.beside.await(d, d.beside.started); err != nil { // which are checked then
		return err
	}
	if len(dst) == 0 {
		err = d.wait()
	}
	var pieces []piece // under way
	from, rest := b.address+uintptr(offset), len(dst)
	for rest > 0 || len(pieces) > 0 {
		if rest > 0 && len(pieces) < len(d.staging.chunks)-1 {
			p, err := d.staging.take(d, rest)
			if err != nil {
				return err
			}
			n := len(p.bytes)
			if err := d.lib.call("cuMemcpyDtoHAsync", d.lib.MemcpyDtoHAsync_v2, addressOf(p.bytes), from, uintptr(n), d.stream); err != nil {
				return d.fail(err)
			}
			pieces = append(pieces, p)
			from, rest = from+uintptr(n), rest-n
			continue
		}
		p := pieces[0]
		if p.chunk == &d.staging.chunks[d.staging.at] { // it has no event yet, as the last one
			err = d.wait()
		} else {
			err = p.wait(d)
		}
		if err != nil {
			return err
		}
		dst = dst[copy(dst, p.bytes):]
		pieces = pieces[1:]
	}
	if err == nil {
		d.checkPeers()
		d.checkCommunicators(true)
		err = d.Failed // Sync returns it as well
	}
	return err
}
