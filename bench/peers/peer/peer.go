// Package peer has the common parts of the peers in Go: arguments, inputs, timing and
// output. README.md, a folder above, describes the protocol.
package peer

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// A Work is a computation to measure. Setup makes its inputs, and returns a function that
// computes once and one that reads the last result.
type Work struct {
	Name  string
	Setup func(in *Inputs) (run func(), read func() []float32)
}

// Inputs makes the numbers that all peers compute with: a hash of position and seed. Each
// slice has the next seed, so works make their inputs in the same order.
type Inputs struct {
	Threads int
	seed    uint32
}

// Floats returns n uniform numbers in ±scale.
func (in *Inputs) Floats(scale float32, n int) []float32 {
	in.seed++
	x := make([]float32, n)
	for i := range x {
		h := uint32(i) + in.seed*0x9e3779b9
		h ^= h >> 16
		h *= 0x85ebca6b
		h ^= h >> 13
		h *= 0xc2b2ae35
		h ^= h >> 16
		x[i] = (float32(h>>8)*0x1p-23 - 1) * scale
	}
	return x
}

// Main measures the works that the arguments name and prints a line for each, or describes
// the program. It reports the version of the named module.
func Main(name, module string, works []Work) {
	about := flag.Bool("about", false, "print name, version and works")
	threads := flag.Int("threads", 1, "the most threads that compute")
	seconds := flag.Float64("seconds", 0.2, "time for each work")
	flag.Parse()
	out := json.NewEncoder(os.Stdout)
	if *about {
		names := []string{}
		for _, w := range works {
			names = append(names, w.Name)
		}
		write(out, map[string]any{"about": name + " " + version(module) + ", " + runtime.Version(), "works": names})
		return
	}
	runtime.GOMAXPROCS(*threads)
	for _, name := range flag.Args() {
		i := slices.IndexFunc(works, func(w Work) bool { return w.Name == name })
		if i < 0 {
			log.Fatalf("no work %q", name)
		}
		run, read := works[i].Setup(&Inputs{Threads: *threads})
		run()
		result := sample(read())
		write(out, map[string]any{"work": name, "seconds": median(run, *seconds), "sample": result})
	}
}

func write(out *json.Encoder, v any) {
	if err := out.Encode(v); err != nil {
		log.Fatal(err)
	}
}

func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return fmt.Sprintf("(%s)", module)
}

// sample returns up to 16 elements, evenly spaced from the first to the last.
func sample(x []float32) []float32 {
	m := min(16, len(x))
	s := make([]float32, m)
	for k := range s {
		s[k] = x[k*(len(x)-1)/max(m-1, 1)]
	}
	return s
}

// median returns the median time of a run in seconds, in batches long enough for the
// clock. Batches in half as much time before warm up.
func median(run func(), seconds float64) float64 {
	const batches = 20
	runtime.GC()
	n, spent := 1, -seconds/2
	var samples []float64
	for len(samples) == 0 || spent < seconds {
		warm := spent >= 0
		start := time.Now()
		for range n {
			run()
		}
		t := time.Since(start).Seconds()
		spent += t
		if t < seconds/batches/2 {
			n *= 2
			samples = samples[:0]
			continue
		}
		if warm {
			samples = append(samples, t/float64(n))
		}
	}
	slices.Sort(samples)
	return (samples[(len(samples)-1)/2] + samples[len(samples)/2]) / 2
}
