package gpu

import (
	"math/bits"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/ir"
)

const (
	// piece is the number of bytes of one transfer.
	piece = 16 << 20
	// maxUploads is the most bytes of uploads under way, as the host holds a copy of each.
	maxUploads = 256 << 20
	// maxStaging is the most bytes of unused staging buffers.
	maxStaging = 4 * piece
)

// An upload is bytes that were written before a submission.
type upload struct {
	submission uint64
	bytes      int64
}

func (d *device) Upload(dst driver.Buffer, offset int, src []byte) error {
	if d.Closed != nil {
		return d.Closed
	}
	if err := d.CheckBuffer(dst, offset, len(src)); err != nil {
		return err
	}
	b := dst.(*buffer)
	// WebGPU writes whole words. The bytes beside src stay as they are.
	if head := min(-offset&3, len(src)); head > 0 {
		if err := d.patch(b, offset, src[:head]); err != nil {
			return err
		}
		offset, src = offset+head, src[head:]
	}
	for len(src) >= 4 {
		n := min(len(src)&^3, piece)
		if err := d.write(b, offset, src[:n]); err != nil {
			return err
		}
		offset, src = offset+n, src[n:]
	}
	if len(src) == 0 {
		return nil
	}
	if offset+len(src) == b.Size() { // nothing is beside it
		var word [4]byte
		copy(word[:], src)
		return d.write(b, offset, word[:])
	}
	return d.patch(b, offset, src)
}

// write writes whole words after the recorded commands that use the buffer. It waits if too
// many bytes of uploads are under way.
func (d *device) write(b *buffer, offset int, words []byte) error {
	d.flushFor(b)
	d.dev.Write(b.handle, int64(offset), words)
	if d.written += int64(len(words)); d.written < maxUploads/4 {
		return nil
	}
	if err := d.submit(nil); err != nil {
		return err
	}
	sum := int64(0)
	for i := len(d.uploads) - 1; i >= 0; i-- {
		u := d.uploads[i]
		if sum += u.bytes; sum <= maxUploads {
			continue
		}
		if err := d.dev.Wait(u.submission); err != nil {
			return d.fail(err)
		}
		break
	}
	return nil
}

// patchShader is a program that replaces some bits of a word.
var patchShader = sources{passes: []source{{
	text: `struct Params { at: i32, keep: u32, bits: u32 }
@group(0) @binding(0) var<storage, read_write> b: array<u32>;
@group(0) @binding(1) var<uniform> p: Params;
@compute @workgroup_size(1) fn main() { b[p.at] = (b[p.at] & p.keep) | p.bits; }
`,
	pass: &shader.Pass{
		Buffers: []*shader.Buffer{{Write: true}},
		Grid:    [3]int{1, 1, 1},
		Params:  []*shader.Param{{Offset: true}, {Arg: 1}, {Arg: 2}},
	},
}}}

// patch writes a part of one word.
func (d *device) patch(b *buffer, offset int, src []byte) error {
	if d.patcher == nil {
		// The buffer is an In although it is written: an Out has no offset.
		args := []ir.Arg{{Kind: ir.In, DType: ir.Uint32}, {Kind: ir.Value, DType: ir.Uint32}, {Kind: ir.Value, DType: ir.Uint32}}
		p, err := d.build(&patchShader, schedule.SignatureOf(&ir.Kernel{Args: args}, d.Target))
		if err != nil {
			return err
		}
		d.patcher = p
	}
	var keep, value uint32
	keep = ^keep
	for i, x := range src {
		shift := 8 * (offset&3 + i)
		keep &^= 0xff << shift
		value |= uint32(x) << shift
	}
	return d.Run([]driver.Call{{Program: d.patcher, Args: []driver.Arg{{Buffer: b, Offset: offset / 4}, {Num: ir.Number(keep)}, {Num: ir.Number(value)}}}})
}

func (d *device) Download(dst []byte, src driver.Buffer, offset int) error {
	if d.Closed != nil {
		return d.Closed
	}
	err := d.CheckBuffer(src, offset, len(dst))
	if err != nil {
		return err
	}
	b := src.(*buffer)
	// One piece is copied on the device while the host reads the piece before.
	var before *reading
	for len(dst) > 0 && err == nil {
		n := min(len(dst), piece-offset&3)
		var next *reading
		if next, err = d.read(b, offset, dst[:n]); err == nil {
			err = before.finish(d)
			before = next
		}
		offset, dst = offset+n, dst[n:]
	}
	if e := before.finish(d); err == nil {
		err = e
	}
	if e := d.check(); err == nil {
		err = e
	}
	if len(dst) == 0 { // all of it was waited for
		d.startBatches()
	}
	if err == nil {
		err = d.Failed // Sync returns it as well
	}
	return err
}

// maxSnapshot is the most bytes of a snapshot.
const maxSnapshot = 1 << 20

// Snapshot implements driver.Snapshotter. It copies whole words.
func (d *device) Snapshot(pieces ...driver.Piece) (wait func() ([]byte, error), err error) {
	if d.Closed != nil {
		return nil, d.Closed
	}
	bytes, words := 0, true
	for _, p := range pieces {
		if err := d.CheckBuffer(p.Buffer, p.Offset, p.Bytes); err != nil {
			return nil, err
		}
		bytes += p.Bytes
		words = words && (p.Offset|p.Bytes)%4 == 0
	}
	if bytes == 0 || bytes > maxSnapshot || !words {
		return nil, nil
	}
	if err := d.dropSnapshot(); err != nil {
		return nil, err
	}
	r, err := d.newReading(make([]byte, bytes), 0)
	if err != nil {
		return nil, err
	}
	at := int64(0)
	for _, p := range pieces {
		d.commands = append(d.commands, wgpu.Command{Src: p.Buffer.(*buffer).handle, SrcOffset: int64(p.Offset), Dst: r.from, DstOffset: at, Size: int64(p.Bytes)})
		at += int64(p.Bytes)
	}
	if err := r.begin(d); err != nil {
		return nil, err
	}
	d.snapshot = r
	return func() ([]byte, error) {
		if d.snapshot != r {
			return nil, nil
		}
		err := d.dropSnapshot()
		if e := d.check(); err == nil {
			err = e
		}
		if err == nil {
			err = d.Failed // Sync returns it as well
		}
		return r.dst, err
	}, nil
}

// dropSnapshot waits for the last snapshot, unless that was done.
func (d *device) dropSnapshot() error {
	r := d.snapshot
	d.snapshot = nil
	return r.finish(d)
}

// A reading is a part of a buffer on its way to the host.
type reading struct {
	dst   []byte
	skip  int // bytes before the part in its first word
	size  int64
	class int
	from  wgpu.Buffer
}

// read starts to copy a part of a buffer to the host.
func (d *device) read(b *buffer, offset int, dst []byte) (*reading, error) {
	r, err := d.newReading(dst, offset&3)
	if err != nil {
		return nil, err
	}
	d.commands = append(d.commands, wgpu.Command{Src: b.handle, SrcOffset: int64(offset - r.skip), Dst: r.from, Size: r.size})
	return r, r.begin(d)
}

// newReading returns a reading of words, from a byte of the first one on.
func (d *device) newReading(dst []byte, skip int) (r *reading, err error) {
	r = &reading{dst: dst, skip: skip, size: int64(skip+len(dst)+3) &^ 3}
	r.class = max(12, bits.Len64(uint64(r.size-1)))
	if r.from, err = d.staging.take(d, r.class); err != nil {
		return nil, d.returned(err)
	}
	return r, nil
}

// begin submits the commands that copy to the host.
func (r *reading) begin(d *device) error {
	err := d.flush()
	if err == nil {
		if err = d.dev.Map(r.from, r.size); err != nil {
			err = d.returned(err)
		}
	}
	if err != nil {
		d.dev.FreeBuffer(r.from)
	}
	return err
}

// finish waits until the bytes are there.
func (r *reading) finish(d *device) error {
	if r == nil {
		return nil
	}
	to := r.dst
	if r.skip > 0 {
		to = make([]byte, r.size)
	}
	if err := d.dev.Read(r.from, to); err != nil {
		d.dev.FreeBuffer(r.from)
		return d.returned(err)
	}
	if r.skip > 0 {
		copy(r.dst, to[r.skip:])
	}
	d.staging.give(d, r.class, r.from)
	return nil
}

// staging are buffers that the host can read, by the logarithm of their size.
type staging struct {
	unused [64][]wgpu.Buffer
	bytes  int64
}

func (s *staging) take(d *device, class int) (wgpu.Buffer, error) {
	if list := s.unused[class]; len(list) > 0 {
		s.unused[class] = list[:len(list)-1]
		s.bytes -= 1 << class
		return list[len(list)-1], nil
	}
	return d.dev.NewBuffer(1<<class, wgpu.Readback)
}

func (s *staging) give(d *device, class int, b wgpu.Buffer) {
	if s.bytes+1<<class > maxStaging {
		d.dev.FreeBuffer(b)
		return
	}
	s.bytes += 1 << class
	s.unused[class] = append(s.unused[class], b)
}

func (s *staging) free(d *device) {
	for class, list := range s.unused {
		for _, b := range list {
			d.dev.FreeBuffer(b)
		}
		s.unused[class] = nil
	}
	s.bytes = 0
}
