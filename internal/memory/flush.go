package memory

import (
	"time"

	"github.com/tensorken/tensorken/driver"
)

const (
	// flushDelay is the time after which a queue starts calls that it holds, if Go's timers are
	// on time and no more come.
	flushDelay = 200 * time.Microsecond
	// manyRuns is the number of Runs in that time from which on the device will soon have enough
	// calls to start them by itself.
	manyRuns = 8
)

// A flusher flushes a driver.Flusher that has held calls for some time. The queue guards its fields.
type flusher struct {
	holder driver.Flusher // nil if the device never holds calls
	timer  *time.Timer
	armed  bool
	runs   int // since the timer was set
}

// initFlusher makes the flusher of a queue, whose lock and drv are set.
func (q *Queue) initFlusher() {
	var ok bool
	if q.holder, ok = q.drv.(driver.Flusher); !ok {
		return
	}
	q.timer = time.AfterFunc(time.Hour, func() {
		if !q.TryLock() { // there are plans still, or a wait, which flushes
			q.timer.Reset(flushDelay)
			return
		}
		defer q.Unlock()
		q.tick()
	})
	q.timer.Stop()
}

// ran arms the timer, after the driver's Run. It is not stopped when the driver starts the
// calls for another reason: the next calls may be held as well.
func (f *flusher) ran() {
	if f.holder == nil {
		return
	}
	f.runs++
	if !f.armed && f.holder.Holds() {
		f.set()
	}
}

func (f *flusher) set() {
	f.armed, f.runs = true, 0
	f.timer.Reset(flushDelay)
}

// tick starts the calls that are held when the timer ends, or sets it again after many Runs.
func (f *flusher) tick() {
	if f.runs >= manyRuns {
		f.set()
		return
	}
	f.armed = false
	f.holder.Flush()
}

// flush starts the calls that the driver holds. The caller holds no lock.
func (q *Queue) flush() {
	if q.holder != nil {
		q.Lock()
		defer q.Unlock()
		q.holder.Flush()
	}
}
