// Package hostmem allocates large pieces of the host's memory, and fails where the machine,
// or the process's control group or job object, has too little: the system would kill the
// process. Read hostmem.go first, then limit.go.
package hostmem

import (
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
)

// small is the size of pieces that are checked together: each that fills it up.
const small = 1 << 20

// asked counts the bytes that were asked for, without large pieces that were refused;
// checked is its value at the last check.
var asked, checked atomic.Int64

// Asked returns the number of bytes of all successful calls so far. Tests compare it with
// the allocated bytes.
func Asked() int64 { return asked.Load() }

// Make returns count·size bytes, all 0. If there is too little memory, it fails with an
// error that wraps driver.ErrMemory.
func Make(count, size int) ([]byte, error) {
	n := bytesOf(count, size)
	if !isFree(n) {
		mu.Lock() // or others would take the memory that was found free
		defer mu.Unlock()
		if err := check(n); err != nil {
			return nil, err
		}
	}
	data := make([]byte, n)
	advise(data)
	return data, nil
}

// Untouched returns bytes, all 0, that take no pages until they are used, where the system lets a process give back
// pages that Go's runtime has used before.
func Untouched(size int) []byte {
	data := make([]byte, size)
	giveBack(data)
	return data
}

// Check fails as Make would, for memory that is allocated in another way.
func Check(count, size int) error {
	n := bytesOf(count, size)
	if isFree(n) {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	return check(n)
}

// Grow returns s with room for n more elements. It doubles the capacity, and fails
// as Make does.
func Grow[E any](s []E, n int) ([]E, error) {
	if n <= cap(s)-len(s) {
		return s, nil
	}
	var e E
	size := max(2*cap(s), len(s)+n)
	if err := Check(size, int(unsafe.Sizeof(e))); err != nil {
		return nil, err
	}
	return append(make([]E, 0, size), s...), nil
}

// isFree reports whether n bytes need no check.
func isFree(n int) bool {
	if n > small {
		return false // check counts it
	}
	total := asked.Add(int64(n))
	return total-checked.Load() <= small
}

// bytesOf is count·size, or the greatest int.
func bytesOf(count, size int) int {
	if count > math.MaxInt/size {
		return math.MaxInt
	}
	return count * size
}

var (
	mu      sync.Mutex
	samples = []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
)

// check fails if n bytes are more than there are, even after a collection that
// gives free memory back to the system. The caller holds mu.
func check(n int) error {
	limit, err := Limit()
	if err != nil {
		return err
	}
	room := limit - limit/32 // the rest is for memory that Go's runtime does not count
	in := used()
	if n > room-in && n <= room {
		debug.FreeOSMemory()
		in = used()
	}
	if n > room-in {
		checked.Store(asked.Load() - small) // the next piece is checked, however small
		return fmt.Errorf("%w: %s asked for, %s of %s in use by this process", driver.ErrMemory, Size(n), Size(in), Size(limit))
	}
	if n > small {
		asked.Add(int64(n))
	}
	checked.Store(asked.Load())
	return nil
}

// used is the memory that Go's runtime has from the system.
func used() int {
	metrics.Read(samples)
	return int(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// Size writes a number of bytes for people.
func Size(n int) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	x, u := float64(n), 0
	for x >= 1024 && u < len(units)-1 {
		x /= 1024
		u++
	}
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) + " " + units[u]
}
