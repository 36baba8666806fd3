package exec

import (
	"runtime"
	"sync"
)

// A queue is held around calls of the driver. A goroutine beside a loop of plans takes it between two
// plans: after a millisecond in Lock, the loop's next Unlock would yield the core (see sync.Mutex).
type queue interface {
	sync.Locker
	TryLock() bool
}

// noQueue is the queue of a concurrent driver.
type noQueue struct{}

func (noQueue) Lock()         {}
func (noQueue) Unlock()       {}
func (noQueue) TryLock() bool { return true }

// maxTries is the number of times that lockBetween tries, which takes a millisecond at least. A plan takes
// some microseconds.
const maxTries = 10_000

// lockBetween is d.queue.Lock for a goroutine that runs beside a loop of plans.
func (d *Device) lockBetween() {
	for range maxTries {
		if d.queue.TryLock() {
			return
		}
		runtime.Gosched()
	}
	d.queue.Lock()
}
