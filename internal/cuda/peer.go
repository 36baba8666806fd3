//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
)

// A peer is a GPU that a device copies from, its own GPU too if that is open several times.
type peer struct {
	gpu       GPU
	context   uintptr // retained: written is of it
	written   uintptr // event of the GPU, behind the work before the last copy
	read      uintptr // event of the device's own GPU, behind the last copy
	unchecked bool    // a copy was made, and the result of the work before it is not known yet
}

// IsPeer implements driver.PeerCopier.
func (d *device) IsPeer(src driver.Buffer) bool {
	b, ok := src.(*buffer)
	return ok && b.device != d && b.device.lib == d.lib
}

// CopyPeer implements driver.PeerCopier.
func (d *device) CopyPeer(dst driver.Buffer, to int, src driver.Buffer, from, bytes int) error {
	if d.Closed != nil {
		return d.Closed
	}
	if !d.IsPeer(src) {
		return fmt.Errorf("%s: a copy from a buffer of no peer", d.Name())
	}
	other := src.(*buffer).device
	other.Flush() // which makes its context current
	if other.Failed != nil {
		return d.peerError(other.Name(), other.Failed)
	}
	leave, err := d.Enter()
	if err != nil {
		return err
	}
	defer leave()
	if other.Closed != nil {
		return other.Closed
	}
	if err := other.CheckBuffer(src, from, bytes); err != nil {
		return err
	}
	a := src.(*buffer)
	if err := d.CheckBuffer(dst, to, bytes); err != nil || bytes == 0 {
		return err
	}
	b := dst.(*buffer)
	if err := other.settlePeers(); err != nil {
		return d.peerError(other.Name(), err)
	}
	if err := errors.Join(d.beside.await(d, b.collective), other.beside.await(other, a.collective)); err != nil {
		return err
	}
	if err := d.copyPeer(b.address+uintptr(to), other, a.address+uintptr(from), uintptr(bytes)); err != nil {
		return d.peerError(other.Name(), err)
	}
	return nil
}

// copyPeer copies n bytes in this device's stream. The copy waits for the other one's stream, which
// then waits for the copy, so that its memory is not used again before.
func (d *device) copyPeer(dst uintptr, other *device, src, n uintptr) error {
	l := d.lib
	p, err := d.peer(other)
	if err != nil {
		return err
	}
	if err := d.follow(d.stream, other.stream, p.written); err != nil {
		return err
	}
	p.unchecked = true
	if p.context == d.context {
		err = l.call("cuMemcpyDtoDAsync", l.MemcpyDtoDAsync_v2, dst, src, n, d.stream)
	} else {
		err = l.call("cuMemcpyPeerAsync", l.MemcpyPeerAsync, dst, d.context, src, p.context, n, d.stream)
	}
	if err != nil {
		return err
	}
	return d.follow(other.stream, d.stream, p.read)
}

// follow makes later work in one stream wait for the work so far in another, by an event of the
// other's GPU.
func (d *device) follow(later, earlier, event uintptr) error {
	l := d.lib
	if err := l.call("cuEventRecord", l.EventRecord, event, earlier); err != nil {
		return err
	}
	return l.call("cuStreamWaitEvent", l.StreamWaitEvent, later, event, 0)
}

// peer returns the peer that is another device's GPU.
func (d *device) peer(other *device) (*peer, error) {
	if p := d.peers[other.gpu.Index]; p != nil {
		return p, nil
	}
	l := d.lib
	p := &peer{gpu: other.gpu}
	if err := l.call("cuDevicePrimaryCtxRetain", l.DevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&p.context)), uintptr(p.gpu.handle)); err != nil {
		return nil, err
	}
	err := p.makeEvents(d)
	if err != nil {
		p.freeEvents(d)
		p.release(d)
		return nil, err
	}
	d.share(other)
	d.peers[p.gpu.Index] = p
	return p, nil
}

// makeEvents makes an event in each context, and leaves the device's own current.
func (p *peer) makeEvents(d *device) error {
	l := d.lib
	err := l.call("cuCtxSetCurrent", l.CtxSetCurrent, p.context)
	if err == nil {
		err = l.call("cuEventCreate", l.EventCreate, uintptr(unsafe.Pointer(&p.written)), noTiming)
	}
	if own := l.call("cuCtxSetCurrent", l.CtxSetCurrent, d.context); err == nil {
		err = own
	}
	if err == nil {
		err = l.call("cuEventCreate", l.EventCreate, uintptr(unsafe.Pointer(&p.read)), noTiming)
	}
	return err
}

// An accessDesc is the driver's CUmemAccessDesc.
type accessDesc struct {
	location, id int32
	flags        int32
}

// share lets the device's GPU read another one's memory, so that copies go from GPU to GPU. Where
// that is refused, the driver copies through the host. The access is to the pool, for
// cuCtxEnablePeerAccess has no effect on memory of pools. Where the GPUs cannot reach each other a
// pool may take the access and then fail to allocate, so it is asked for only if they can.
func (d *device) share(other *device) {
	const aGPU, readWrite = 1, 3
	l, can := d.lib, int32(0)
	if err := l.call("cuDeviceCanAccessPeer", l.DeviceCanAccessPeer, uintptr(unsafe.Pointer(&can)), uintptr(d.gpu.handle), uintptr(other.gpu.handle)); err != nil || can == 0 {
		return
	}
	access := accessDesc{aGPU, d.gpu.handle, readWrite}
	l.call("cuMemPoolSetAccess", l.MemPoolSetAccess, other.pool, uintptr(unsafe.Pointer(&access)), 1)
}

// peerError returns an error of a copy with the names of both devices. Neither counts as lost: one
// that is fails in its next call.
func (d *device) peerError(name string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Code == outOfMemory {
		err = fmt.Errorf("%w: %w", driver.ErrMemory, err)
	}
	return fmt.Errorf("%s: copy from %s: %w", d.Name(), name, err)
}

// checkPeers notes a failure of the work that copies have waited for: this device's stream does not
// fail by it. The caller has waited for the copies.
func (d *device) checkPeers() {
	for _, p := range d.peers {
		if !p.unchecked {
			continue
		}
		p.unchecked = false
		if err := d.lib.call("cuEventQuery", d.lib.EventQuery, p.written); err != nil && d.Failed == nil {
			d.Failed = d.peerError(p.gpu.deviceName(), err)
		}
	}
}

// settlePeers returns a failure of the work that the device's copies have waited for. It waits
// for copies that are not known to be done: else copies by another device from this one would
// hide the failure.
func (d *device) settlePeers() error {
	for _, p := range d.peers {
		if p.unchecked {
			if err := d.Wait(); err != nil {
				return err
			}
			return d.Failed
		}
	}
	return nil
}

func (p *peer) freeEvents(d *device) {
	for _, e := range []uintptr{p.written, p.read} {
		if e != 0 {
			d.lib.call("cuEventDestroy", d.lib.EventDestroy_v2, e)
		}
	}
}

func (p *peer) release(d *device) {
	d.lib.call("cuDevicePrimaryCtxRelease", d.lib.DevicePrimaryCtxRelease_v2, uintptr(p.gpu.handle))
}
