package drivertest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/exec"
)

// Random compiles and runs n random graphs and compares each with the definition of its
// operations, node by node. Graphs depend on the seed, their number and the device's types
// alone. A graph that fails is made smaller and printed. Some run at the same time, on
// devices of their own.
func Random(t *testing.T, open func() (driver.Device, error), n int, seed uint64) {
	compile.Verify()
	const some = 50
	for from := 0; from < n; from += some {
		t.Run(fmt.Sprintf("from %d", from), func(t *testing.T) {
			t.Parallel()
			drv, err := open()
			if err != nil {
				t.Fatal(err)
			}
			random(t, drv, seed, from, min(from+some, n))
		})
	}
}

// random runs the graphs of some numbers, and closes the device.
func random(t *testing.T, drv driver.Device, seed uint64, from, to int) {
	dev := exec.New(drv)
	defer dev.Close()
	failures := 0
	for i := from; i < to; i++ {
		p := generate(rand.New(rand.NewPCG(seed, uint64(i))), drv.Limits().Types)
		stuck := time.AfterFunc(time.Minute, func() {
			panic(fmt.Sprintf("seed %d, graph %d does not end\n%v", seed, i, p))
		})
		err := p.check(drv, dev)
		stuck.Stop()
		if err == nil {
			continue
		}
		small := p.shrink(dev)
		t.Errorf("seed %d, graph %d: %v\nsmaller: %v\n%v", seed, i, err, small.run(dev), small)
		if failures++; failures == 5 {
			t.Fatalf("%d of %d graphs fail", failures, i+1-from)
		}
	}
}
