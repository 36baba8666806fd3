package exec_test

import (
	"runtime/debug"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
)

// sized is a device that says how much memory it has, and does no work.
type sized struct {
	driver.Device
	memory int
}

func (d sized) Limits() driver.Limits {
	l := d.Device.Limits()
	l.Memory = d.memory
	return l
}

func (d sized) Run([]driver.Call) error { return nil }

// What is dropped is used again although Go's collector has no reason to run,
// later where it would run all the time and there is memory.
func TestGarbageIsReclaimed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const mb = 1 << 20
	for _, c := range []struct{ memory, most int }{{0, 256 * mb}, {1024 * mb, 256 * mb}, {6400 * mb, 400 * mb}} {
		dev := exec.New(sized{cpu.New(cpu.Options{}), c.memory})
		before := exec.Info()
		dims := []int{4 * mb} // 16 MB
		for range 100 {
			if err := exec.Eval(dev, []*graph.Node{scalar(1, dims)}); err != nil {
				t.Fatal(err)
			}
		}
		after := exec.Info()
		most := int(after.Peak - before.Peak)
		if slack := 32 * mb; most > c.most+slack || most < c.most-slack {
			t.Errorf("with %d MB of memory %d MB were held at most, want about %d", c.memory/mb, most/mb, c.most/mb)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
}

// allocating is a device that counts buffers of a size.
type allocating struct {
	sized
	size  int
	count *int
}

func (d allocating) Alloc(n int) (driver.Buffer, error) {
	if n == d.size {
		*d.count++
	}
	return d.Device.Alloc(n)
}

// The pool gives up what was used before and not what is used now.
func TestPoolKeepsWhatIsUsed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const mb = 1 << 20
	count := 0
	dev := exec.New(allocating{sized{cpu.New(cpu.Options{}), 0}, 64 * mb, &count})
	defer dev.Close()
	for _, c := range []struct{ size, times int }{{16 * mb, 40}, {64 * mb, 40}} {
		for range c.times {
			if err := exec.Eval(dev, []*graph.Node{scalar(1, []int{c.size / 4})}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if count > 10 {
		t.Errorf("40 results of 64 MB, each dropped, take %d buffers, want about 5", count)
	}
}
