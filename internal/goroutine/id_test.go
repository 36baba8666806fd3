package goroutine_test

import (
	"sync"
	"testing"

	"github.com/tensorken/tensorken/internal/goroutine"
)

// Goroutines that run at the same time have different numbers, and each has one number while its stack grows.
func TestID(t *testing.T) {
	const n = 100
	var numbers sync.Map
	var started, ended sync.WaitGroup
	started.Add(n)
	for range n {
		ended.Go(func() {
			id := goroutine.ID()
			if _, taken := numbers.LoadOrStore(id, true); taken {
				t.Errorf("two goroutines have the number %d", id)
			}
			if deep := deepID(1000); deep != id {
				t.Errorf("the number of a goroutine was %d, then %d", id, deep)
			}
			started.Done()
			started.Wait()
		})
	}
	ended.Wait()
}

// deepID is ID below some frames.
func deepID(frames int) uintptr {
	if frames == 0 {
		return goroutine.ID()
	}
	var pad [64]byte
	return deepID(frames-1) + uintptr(pad[frames%64])
}

func BenchmarkID(b *testing.B) {
	for b.Loop() {
		goroutine.ID()
	}
}
