package memory

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/hostmem"
)

// counting is a device with memory for some bytes. It numbers its buffers, and frees memory when it waits.
type counting struct {
	driver.Device
	limits           driver.Limits
	bytes            int // that buffers may have; 0 for any number
	allocated, freed int
	held, dropped    int // bytes; dropped ones are freed buffers'
	queue            *Queue
	unlocked         int // buffers that were freed while no one held the queue
}

type countedBuffer struct {
	device       *counting
	size, number int
}

func (b countedBuffer) Size() int { return b.size }

func (b countedBuffer) Free() {
	if b.device.queue.TryLock() {
		b.device.unlocked++
		b.device.queue.Unlock()
	}
	b.device.freed++
	b.device.dropped += b.size
}

func (d *counting) Limits() driver.Limits { return d.limits }

func (d *counting) Alloc(bytes int) (driver.Buffer, error) {
	if d.bytes > 0 && d.held+bytes > d.bytes {
		return nil, driver.ErrMemory
	}
	d.held += bytes
	d.allocated++
	return countedBuffer{d, bytes, d.allocated}, nil
}

func (d *counting) wait() error {
	d.held, d.dropped = d.held-d.dropped, 0
	return nil
}

func newPool(d *counting) *Pool {
	d.queue = NewQueue(d)
	return NewPool(d.queue, d.wait)
}

// viewer is a device whose memory callers may view.
type viewer struct{ *counting }

func (viewer) View(driver.Buffer) ([]byte, error) { return nil, nil }

// Buffers are freed under the queue, as the driver takes one call at a time: idle ones after a collection, and viewed ones.
func TestFreesUnderQueue(t *testing.T) {
	d := &counting{}
	d.queue = NewQueue(viewer{d})
	p := NewPool(d.queue, d.wait)
	k, err := p.AcquireOne(1024)
	if err != nil {
		t.Fatal(err)
	}
	viewed, err := p.AcquireOne(2048)
	if err != nil {
		t.Fatal(err)
	}
	block := p.SetBlock(new(Block), viewed)
	block.MarkViewed()
	block.Free()
	p.Release(k)
	for range 3 { // the pool keeps the most bytes in use since the last collection but one
		p.collect()
	}
	if d.freed != 2 || d.unlocked > 0 {
		t.Errorf("%d buffers were freed, %d of them without the queue, want 2 and 0", d.freed, d.unlocked)
	}
	runtime.KeepAlive(block)
}

func numbers(list []Pooled) (n []int) {
	for _, b := range list {
		if b.Buffer == nil {
			n = append(n, 0)
			continue
		}
		n = append(n, b.Buffer.(countedBuffer).number)
	}
	return n
}

func TestSizeClass(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct{ size, limit, want int }{
		{1, 0, 256}, {256, 0, 256}, {257, 0, 320}, {320, 0, 320}, {1025, 0, 1280}, {8 * mb, 0, 8 * mb}, {3*mb - 1, 0, 3 * mb}, {9 * mb / 4, 0, 9 * mb / 4}, {1572 * mb, 0, 1572 * mb}, {1573 * mb, 0, 1576 * mb},
		{16*mb + 1, 0, 16*mb + mb/4}, {100 * mb, 0, 100 * mb},
		{9 * mb, 9 * mb, 9 * mb}, {257, 300, 300}, {301, 300, 301},
	} {
		if got := sizeClass(c.size, c.limit); got != c.want {
			t.Errorf("%d bytes, limit %d: class %d, want %d", c.size, c.limit, got, c.want)
		}
	}
}

// A caller that acquires released buffers gets them in the same order.
func TestAcquireReleased(t *testing.T) {
	p := newPool(&counting{})
	requests := []Request{p.Request(1000, false), {}, p.Request(5000, false), p.Request(1000, false)}
	want := []int{1, 0, 2, 3}
	for range 3 {
		list, err := p.Acquire(nil, requests...)
		if got := numbers(list); err != nil || !slices.Equal(got, want) {
			t.Fatalf("acquired buffers %v and error %v, want %v", got, err, want)
		}
		p.Release(list...)
	}
}

// Buffers that outlive a plan are no temporaries, unless they are large: else a plan that runs again would get others.
func TestLasting(t *testing.T) {
	p := newPool(&counting{})
	for _, size := range []int{1024, 1 << 20} {
		temporaries, err := p.Acquire(nil, p.Request(size, false))
		if err != nil {
			t.Fatal(err)
		}
		p.Release(temporaries...)
		list, err := p.Acquire(nil, p.Request(size, true))
		if same := slices.Equal(numbers(list), numbers(temporaries)); err != nil || same != (size > maxCollected) {
			t.Errorf("%d bytes: buffers %v after %v, and error %v", size, numbers(list), numbers(temporaries), err)
		}
	}
}

// A pool frees its idle buffers before it lacks memory. An error leaves those that were acquired to the caller.
func TestAcquireMakesRoom(t *testing.T) {
	d := &counting{bytes: 4096}
	p := newPool(d)
	a, err := p.AcquireOne(2048)
	if err != nil {
		t.Fatal(err)
	}
	p.Release(a)
	b, err := p.AcquireOne(4096)
	if err != nil || d.freed != 1 {
		t.Fatalf("4096 bytes of 4096: %v, and %d idle buffers were freed, want 1", err, d.freed)
	}
	p.Release(b)
	list, err := p.Acquire(nil, p.Request(4096, false), p.Request(256, false))
	if got := numbers(list); !errors.Is(err, driver.ErrMemory) || got[0] == 0 || got[1] != 0 {
		t.Errorf("more than all memory: buffers %v and error %v, want the first one and %v", got, err, driver.ErrMemory)
	}
	p.Release(list...)
	if s := p.Stats(); s.Held != 0 {
		t.Errorf("%d bytes are held after Release", s.Held)
	}
}

// A pool frees the classes first that were used longest ago, and of these the buffers that were allocated last.
func TestTrim(t *testing.T) {
	d := &counting{}
	p := newPool(d)
	old, err := p.Acquire(nil, p.Request(1024, false), p.Request(1024, false))
	if err != nil {
		t.Fatal(err)
	}
	recent, err := p.AcquireOne(2048)
	if err != nil {
		t.Fatal(err)
	}
	p.Release(append(old, recent)...)
	d.queue.Lock()
	p.trim(3072)
	d.queue.Unlock()
	if s := p.Stats(); s.Pooled != 3072 || d.freed != 1 {
		t.Errorf("%d bytes are left and %d buffers were freed, want 3072 and 1", s.Pooled, d.freed)
	}
	list, err := p.Acquire(nil, p.Request(1024, false), p.Request(2048, true))
	if got, want := numbers(list), []int{1, 3}; err != nil || !slices.Equal(got, want) {
		t.Errorf("buffers %v and error %v, want %v", got, err, want)
	}
}

// A block's buffer returns once: when the block is freed and nothing uses it any more.
func TestBlock(t *testing.T) {
	p := newPool(&counting{})
	held := func() int64 { return p.Stats().Held }
	block := func() *Block {
		b, err := p.AcquireOne(1024)
		if err != nil {
			t.Fatal(err)
		}
		return p.SetBlock(new(Block), b)
	}
	for _, c := range []struct {
		name string
		do   func(k *Block) (ok bool)
		held int64
	}{
		{"freed", func(k *Block) bool { k.Free(); k.Free(); return !k.Use() }, 0},
		{"freed while used", func(k *Block) bool { ok := k.Use(); k.Free(); return ok }, 1024},
		{"used until freed", func(k *Block) bool { ok := k.Use(); k.Free(); k.Done(); return ok }, 0},
		{"shared", func(k *Block) bool { k.MarkShared(); k.Free(); return k.Use() }, 1024},
		{"taken", func(k *Block) bool {
			k.Use()
			b, ok := k.TakeAlone(1)
			p.Release(b)
			return ok && !k.Use()
		}, 0},
		{"taken while used", func(k *Block) bool { k.Use(); k.Use(); _, ok := k.TakeAlone(1); return !ok }, 1024},
		{"put back", func(k *Block) bool {
			k.Use()
			b, ok := k.TakeAlone(1)
			k.PutBack(b, 1)
			k.Free()
			k.Done()
			return ok
		}, 0},
	} {
		before, k := held(), block()
		if !c.do(k) {
			t.Errorf("%s: a call had another result", c.name)
		}
		if got := held() - before; got != c.held {
			t.Errorf("%s: %d bytes are held, want %d", c.name, got, c.held)
		}
		runtime.KeepAlive(k)
	}
}

// The buffers of an owner return when its object is unreachable, except buffers of freed blocks,
// which return before.
func TestOwner(t *testing.T) {
	p := newPool(&counting{})
	func() {
		blocks := new([2]Block)
		list, err := p.Acquire(nil, p.Request(1024, false), p.Request(1024, false))
		if err != nil {
			t.Fatal(err)
		}
		o := NewOwner(p, blocks, len(list))
		for i, b := range list {
			o.SetBlock(&blocks[i], b)
		}
		blocks[0].Free()
		if held := p.Stats().Held; held != 1024 {
			t.Errorf("%d bytes are held after one of two blocks of 1024 was freed", held)
		}
		runtime.KeepAlive(blocks)
	}()
	for start := time.Now(); p.Stats().Held > 0; {
		if hostmem.Collect(); time.Since(start) > 10*time.Second {
			t.Fatalf("%d bytes are held after the object is unreachable", p.Stats().Held)
		}
	}
	if pooled := p.Stats().Pooled; pooled != 2048 {
		t.Errorf("%d bytes are pooled, want 2048", pooled)
	}
}

// A hosted device has its buffers in Go's heap, and memory of its own.
type hosted struct {
	*counting
	trims int
}

func (d *hosted) AllocHost(bytes int) (driver.Buffer, error) { return d.Alloc(bytes) }
func (d *hosted) Trim()                                      { d.trims++ }

// Live buffers in Go's heap take the ballast's place, and MakeRoom frees the scratch of the driver.
func TestBallast(t *testing.T) {
	if hostMemory()/leastBytes < 2*ballastSize {
		t.Skip("there is no ballast on a machine of less than 4 GiB")
	}
	d := &hosted{counting: &counting{}}
	d.queue = NewQueue(d)
	p := NewPool(d.queue, d.wait)
	collect := func(want bool) {
		t.Helper()
		p.collect()
		if has := ballast.bytes != nil; has != want {
			t.Errorf("with %d bytes held there is a ballast: %v, want %v", p.Stats().Held, has, want)
		}
	}
	collect(true)
	b, err := p.AcquireOne(ballastSize)
	if err != nil {
		t.Fatal(err)
	}
	collect(true) // it may be garbage
	collect(false)
	p.Release(b)
	collect(true)
	if err := p.MakeRoom(); err != nil || d.trims != 1 {
		t.Errorf("the driver was trimmed %d times, want 1: error %v", d.trims, err)
	}
}
