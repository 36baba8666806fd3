package files

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Parallel calls f for pieces of at most n of count, on all cores, until one fails.
func Parallel(count, n int, f func(begin, end int) error) error {
	workers := min(runtime.GOMAXPROCS(0), (count+n-1)/n)
	var next atomic.Int64
	var failed atomic.Pointer[error]
	work := func() {
		for failed.Load() == nil {
			begin := int(next.Add(int64(n))) - n
			if begin >= count {
				return
			}
			if err := f(begin, min(begin+n, count)); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		}
	}
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
