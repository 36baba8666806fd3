package tensor_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

// classifier is an MLP of 64, 128 and 10 units that answers one request at a time.
func classifier() func(pixels []float32) ([]float32, error) {
	rng := tensor.NewRNG(1)
	w1, b1, w2, b2 := rng.Normal(128, 64), rng.Normal(128), rng.Normal(10, 128), rng.Normal(10)
	if err := tensor.Eval(w1, b1, w2, b2); err != nil {
		panic(err)
	}
	return func(pixels []float32) ([]float32, error) {
		hidden := tensor.New(pixels, 1, 64).MatMul(w1.T()).Add(b1).ReLU()
		return tensor.Data[float32](hidden.MatMul(w2.T()).Add(b2).Softmax(-1))
	}
}

// A program of small tensors does not spend its time in Go's collector: 10,000 requests
// make garbage of some 60 MB, a few collections' worth.
func TestServeCollectsRarely(t *testing.T) {
	if limit, err := hostmem.Limit(); err != nil || limit < 4<<30 {
		t.Skip("the device has no ballast on a machine of less than 4 GiB")
	}
	classify, pixels := classifier(), make([]float32, 64)
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumGC
	}
	before := collections()
	for range 10_000 {
		if _, err := classify(pixels); err != nil {
			t.Fatal(err)
		}
	}
	if n := collections() - before; n > 6 {
		t.Errorf("10,000 requests ran the collector %d times, want at most 6", n)
	}
}

// BenchmarkServe compares the requests per second of 8 goroutines and of one, in turns of a
// tenth of a second.
func BenchmarkServe(b *testing.B) {
	classify := classifier()
	serve := func(goroutines int, turn time.Duration) (requests int) {
		var all sync.WaitGroup
		counts := make([]int, goroutines)
		end := time.Now().Add(turn)
		for g := range goroutines {
			all.Go(func() {
				pixels := make([]float32, 64)
				n := 0
				for ; time.Now().Before(end); n++ {
					pixels[n%64]++
					if _, err := classify(pixels); err != nil {
						b.Error(err)
					}
				}
				counts[g] = n
			})
		}
		all.Wait()
		for _, n := range counts {
			requests += n
		}
		return requests
	}
	const turn = 100 * time.Millisecond
	serve(8, turn)
	turns, one, eight := 0, 0, 0
	for b.Loop() {
		one += serve(1, turn)
		eight += serve(8, turn)
		turns++
	}
	seconds := float64(turns) * turn.Seconds()
	b.ReportMetric(float64(one)/seconds, "req/s-of-1")
	b.ReportMetric(float64(eight)/seconds, "req/s-of-8")
	b.ReportMetric(float64(eight)/float64(one), "8-to-1")
}
