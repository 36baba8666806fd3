//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import "sync"

// minAsync is the least number of commands that are encoded in a goroutine: to start one takes as
// long as to encode some of them.
const minAsync = 32

// An async is a device that encodes the commands of a large Submit in a goroutine, while the
// caller prepares the next. The library gets one call at a time: other methods wait for the goroutine.
type async struct {
	dev      *device
	encoding sync.WaitGroup
	busy     bool      // the goroutine of the last large Submit may be running
	commands []Command // of that Submit
	done     uint64    // dev.done when that Submit began
}

// wait waits for the goroutine and returns the device.
func (a *async) wait() *device {
	if a.busy {
		a.encoding.Wait()
		a.busy = false
	}
	return a.dev
}

// Submit fails if the device is lost. A loss while the goroutine encodes is the error of later calls.
func (a *async) Submit(commands []Command) (uint64, error) {
	d := a.wait()
	if d.lost != nil {
		return 0, d.lost
	}
	if len(commands) < minAsync {
		return d.Submit(commands)
	}
	number := d.submitted + 1
	a.busy, a.done = true, d.done
	a.commands = append(a.commands[:0], commands...)
	a.encoding.Go(func() { d.Submit(a.commands) })
	return number, nil
}

// Done does not wait for the goroutine: it may return the number of an earlier submission.
func (a *async) Done() uint64 {
	if a.busy {
		return a.done
	}
	return a.dev.done
}

func (a *async) Adapter() *Adapter                             { return a.dev.Adapter() }
func (a *async) NewBuffer(size int64, u Usage) (Buffer, error) { return a.wait().NewBuffer(size, u) }
func (a *async) FreeBuffer(b Buffer)                           { a.wait().FreeBuffer(b) }
func (a *async) Write(b Buffer, offset int64, data []byte)     { a.wait().Write(b, offset, data) }
func (a *async) NewLayout(w []bool, params int64) (Layout, error) {
	return a.wait().NewLayout(w, params)
}
func (a *async) NewPipeline(src string, l Layout) (Pipeline, error) {
	return a.wait().NewPipeline(src, l)
}
func (a *async) Await(p Pipeline) error                         { return a.wait().Await(p) }
func (a *async) FreePipeline(p Pipeline)                        { a.wait().FreePipeline(p) }
func (a *async) NewGroup(l Layout, bs []Binding) (Group, error) { return a.wait().NewGroup(l, bs) }
func (a *async) FreeGroup(g Group)                              { a.wait().FreeGroup(g) }
func (a *async) NewQueries(n int) (Queries, error)              { return a.wait().NewQueries(n) }
func (a *async) FreeQueries(q Queries)                          { a.wait().FreeQueries(q) }
func (a *async) Wait(submission uint64) error                   { return a.wait().Wait(submission) }
func (a *async) Map(b Buffer, n int64) error                    { return a.wait().Map(b, n) }
func (a *async) Read(b Buffer, dst []byte) error                { return a.wait().Read(b, dst) }
func (a *async) Poll() error                                    { return a.wait().Poll() }
func (a *async) Close()                                         { a.wait().Close() }
