package gpu

import (
	"encoding/binary"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/loops"
	"github.com/tensorken/tensorken/internal/wgpu"
)

// A profiler is a device whose adapter has timestamps.
type profiler struct{ *device }

// A gpuClock converts timestamps to the host's time. A timestamp at the beginning of a submission
// is later than the host's time of submitting it: the clock assumes that the submission with the
// least delay has no delay.
type gpuClock struct {
	host time.Time // of the first submission
	gpu  uint64    // of its begin
	lag  time.Duration
	last uint64 // the timestamp up to which calls are known
}

// A timedBatch is the timestamps of the calls of one submission.
type timedBatch struct {
	queries    wgpu.Queries // the beginning and end of each call
	results    wgpu.Buffer  // of the queries
	readback   wgpu.Buffer
	submission uint64
	submitted  time.Time
	calls      int
	spans      []span // once read
	err        error
}

// A span is the beginning and end of a call, as timestamps.
type span struct{ begin, end uint64 }

// A timing is the batches of one RunTimed.
type timing struct {
	device  *device
	batches []*timedBatch
}

// RunTimed is Run with a pass for each call, whose begin and end are timestamps.
func (p profiler) RunTimed(calls []driver.Call) (driver.Timing, error) {
	d, t := p.device, &timing{device: p.device}
	if d.Closed != nil {
		return nil, d.Closed
	}
	if err := d.flush(); err != nil {
		return nil, err
	}
	calls, counts, err := d.prepare(calls)
	if err != nil {
		return nil, err
	}
	defer func() { d.timed = nil }()
	for len(calls) > 0 {
		b, err := d.newTimedBatch()
		if err != nil {
			return nil, err
		}
		d.timed = b
		if b.calls, err = d.recordSome(calls); err == nil {
			err = d.submitTimed(b)
		}
		if err != nil {
			d.freeTimedBatch(b)
			return nil, err
		}
		t.batches = append(t.batches, b)
		calls = calls[b.calls:]
	}
	d.readTimes(d.dev.Done())
	return loops.Timed(t, counts), nil
}

// newTimedBatch returns a batch with a pair of queries for each call of a submission.
func (d *device) newTimedBatch() (*timedBatch, error) {
	if last := len(d.freeTimed) - 1; last >= 0 {
		old := d.freeTimed[last]
		d.freeTimed = d.freeTimed[:last]
		return &timedBatch{queries: old.queries, results: old.results, readback: old.readback}, nil
	}
	b, size := &timedBatch{}, timedBytes(d.batch)
	var err error
	if b.queries, err = d.dev.NewQueries(2 * d.batch); err == nil {
		if b.results, err = d.dev.NewBuffer(size, wgpu.Times); err == nil {
			b.readback, err = d.dev.NewBuffer(size, wgpu.Readback)
		}
	}
	if err != nil {
		d.freeTimedBatch(b)
		return nil, d.returned(err)
	}
	return b, nil
}

func (d *device) freeTimedBatch(b *timedBatch) {
	if b.queries != 0 {
		d.dev.FreeQueries(b.queries)
	}
	for _, buffer := range []wgpu.Buffer{b.results, b.readback} {
		if buffer != 0 {
			d.dev.FreeBuffer(buffer)
		}
	}
}

// timedBytes is the bytes of the timestamps of a number of calls.
func timedBytes(calls int) int64 { return int64(16 * calls) }

// mark makes the commands of the i-th call write its timestamps. There is no batch if
// calls are not timed.
func (b *timedBatch) mark(commands []wgpu.Command, i int) {
	if b == nil {
		return
	}
	for k := range commands {
		commands[k].Queries, commands[k].Query = b.queries, uint32(2*i)
	}
}

// submitTimed submits the recorded commands, and has their timestamps copied to the host.
func (d *device) submitTimed(b *timedBatch) error {
	size := timedBytes(b.calls)
	d.commands = append(d.commands,
		wgpu.Command{Queries: b.queries, Dst: b.results, Size: size},
		wgpu.Command{Src: b.results, Dst: b.readback, Size: size})
	d.poll() // which waits until earlier commands are encoded
	b.submitted = clock.Now()
	if err := d.submitRecorded(); err != nil {
		return err
	}
	b.submission = d.last
	if err := d.dev.Map(b.readback, size); err != nil {
		return d.returned(err)
	}
	d.pendingTimed = append(d.pendingTimed, b)
	return nil
}

// readTimes reads the timestamps of all submissions up to one. A batch keeps the error.
func (d *device) readTimes(submission uint64) {
	for len(d.pendingTimed) > 0 && d.pendingTimed[0].submission <= submission {
		b := d.pendingTimed[0]
		d.pendingTimed = d.pendingTimed[1:]
		data := make([]byte, timedBytes(b.calls))
		if err := d.dev.Read(b.readback, data); err != nil {
			b.err = d.returned(err)
			d.freeTimedBatch(b)
			continue
		}
		d.freeTimed = append(d.freeTimed, b)
		for i := range b.calls {
			at := data[16*i:]
			b.spans = append(b.spans, d.clock.span(binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])))
		}
		d.clock.set(b)
	}
}

// span returns the span of the next call: calls do not overlap, and one without commands,
// whose timestamps are 0, takes no time.
func (c *gpuClock) span(begin, end uint64) span {
	begin = max(begin, c.last)
	c.last = max(begin, end)
	return span{begin, c.last}
}

// set sets the clock by a submission.
func (c *gpuClock) set(b *timedBatch) {
	begin := b.spans[0].begin
	if c.host.IsZero() {
		c.host, c.gpu = b.submitted, begin
	}
	c.lag = max(c.lag, b.submitted.Sub(c.host)-time.Duration(begin-c.gpu))
}

// at is the host's time of a timestamp.
func (c *gpuClock) at(t uint64) time.Time { return c.host.Add(c.lag + time.Duration(t-c.gpu)) }

// Spans reads the timestamps of all submissions, as each may set the clock.
func (t *timing) Spans() ([]driver.Span, error) {
	d := t.device
	if d.Closed != nil {
		return nil, d.Closed
	}
	d.readTimes(d.last)
	var spans []driver.Span
	for _, b := range t.batches {
		if b.err != nil {
			return nil, b.err
		}
		for _, s := range b.spans {
			spans = append(spans, driver.Span{Start: d.clock.at(s.begin), Duration: time.Duration(s.end - s.begin)})
		}
	}
	return spans, nil
}

// freeTimes frees all queries.
func (d *device) freeTimes() {
	for _, list := range [][]*timedBatch{d.freeTimed, d.pendingTimed} {
		for _, b := range list {
			d.freeTimedBatch(b)
		}
	}
	d.freeTimed, d.pendingTimed = nil, nil
}
