package wgputest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/wgpu"
)

// TestCheck makes one forbidden call after another.
func TestCheck(t *testing.T) {
	var log strings.Builder
	timed := FakeAdapter("a", wgpu.Discrete)
	timed.Features = []string{wgpu.TimestampQuery}
	fake := &Fake{List: []wgpu.Adapter{timed}, Shaders: map[string]Shader{"s": func([3]uint32, [][]byte, []byte) {}}}
	c, err := Check(fake, &log).Open(func([]wgpu.Adapter) (int, error) { return 0, nil }, wgpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := c.NewBuffer(64, wgpu.Storage)
	b, _ := c.NewBuffer(64, wgpu.Storage)
	n, _ := c.NewBuffer(512, wgpu.Params)
	r, _ := c.NewBuffer(64, wgpu.Readback)
	gone, _ := c.NewBuffer(64, wgpu.Storage)
	c.FreeBuffer(gone)
	l, _ := c.NewLayout([]bool{false, true}, 256)
	other, _ := c.NewLayout([]bool{true}, 0)
	p, _ := c.NewPipeline("s", l)
	late, _ := c.NewPipeline("s", l)
	numbers := wgpu.Binding{Buffer: n, Size: 256}
	g, _ := c.NewGroup(l, []wgpu.Binding{{Buffer: a, Size: 64}, {Buffer: b, Size: 64}, numbers})
	h, _ := c.NewGroup(other, []wgpu.Binding{{Buffer: a, Size: 64}})
	times, _ := c.NewBuffer(64, wgpu.Times)
	set, _ := c.NewQueries(8)
	if err := c.Await(p); err != nil {
		t.Fatal(err)
	}
	one := [3]uint32{1, 1, 1}
	good := []wgpu.Command{
		{Pipeline: p, Group: g, Params: true, Offset: 256, Groups: one, Queries: set, Query: 6}, {Src: b, Dst: r, Size: 64},
		{Queries: set, Dst: times, Size: 64}, {Src: times, Dst: r, Size: 64},
	}
	if _, err := c.Submit(good); err != nil {
		t.Fatal(err)
	}
	submit := func(k wgpu.Command) func() { return func() { c.Submit([]wgpu.Command{k}) } }
	for _, m := range []struct {
		name string
		f    func()
		want string
	}{
		{"an odd size", func() { c.NewBuffer(5, wgpu.Storage) }, "NewBuffer: 5 bytes"},
		{"an empty buffer", func() { c.NewBuffer(0, wgpu.Storage) }, "NewBuffer: 0 bytes"},
		{"a write past the end", func() { c.Write(a, 60, make([]byte, 8)) }, "Write: 8 bytes from 60"},
		{"an odd write", func() { c.Write(a, 0, make([]byte, 3)) }, "Write: 3 bytes"},
		{"a write to a freed buffer", func() { c.Write(gone, 0, nil) }, "was freed"},
		{"a write to what is read back", func() { c.Write(r, 0, make([]byte, 4)) }, "usage"},
		{"freeing twice", func() { c.FreeBuffer(gone) }, "was freed"},
		{"too many bindings", func() { c.NewLayout(make([]bool, 9), 0) }, "NewLayout: 9 buffers"},
		{"too few buffers", func() { c.NewGroup(l, []wgpu.Binding{{Buffer: a, Size: 64}, numbers}) }, "1 buffers for a layout of 2"},
		{"one buffer read and written", func() { c.NewGroup(l, []wgpu.Binding{{Buffer: a, Size: 64}, {Buffer: a, Size: 64}, numbers}) }, "bound twice"},
		{"a binding past the end", func() { c.NewGroup(l, []wgpu.Binding{{Buffer: a, Size: 64}, {Buffer: b, Size: 68}, numbers}) }, "68 bytes"},
		{"numbers that are none", func() { c.NewGroup(l, []wgpu.Binding{{Buffer: a, Size: 64}, {Buffer: b, Size: 64}}) }, "usage"},
		{"too few numbers", func() {
			c.NewGroup(l, []wgpu.Binding{{Buffer: a, Size: 64}, {Buffer: b, Size: 64}, {Buffer: n, Size: 64}})
		}, "64 bytes of numbers"},
		{"a pipeline not waited for", submit(wgpu.Command{Pipeline: late, Group: g, Params: true, Groups: one}), "not waited for"},
		{"a group of another layout", submit(wgpu.Command{Pipeline: p, Group: h, Params: true, Groups: one}), "does not fit"},
		{"no numbers", submit(wgpu.Command{Pipeline: p, Group: g, Groups: one}), "256 bytes of them"},
		{"an offset between slots", submit(wgpu.Command{Pipeline: p, Group: g, Params: true, Offset: 4, Groups: one}), "numbers from 4"},
		{"an offset past the end", submit(wgpu.Command{Pipeline: p, Group: g, Params: true, Offset: 512, Groups: one}), "numbers from 512"},
		{"too many workgroups", submit(wgpu.Command{Pipeline: p, Group: g, Params: true, Groups: [3]uint32{65536, 1, 1}}), "65536"},
		{"a query past the end", submit(wgpu.Command{Pipeline: p, Group: g, Params: true, Groups: one, Queries: set, Query: 7}), "9 timestamps"},
		{"timestamps that there are not", submit(wgpu.Command{Queries: set, Dst: times, Size: 72}), "9 timestamps"},
		{"timestamps for what is no buffer of them", submit(wgpu.Command{Queries: set, Dst: r, Size: 64}), "usage"},
		{"too many queries", func() { c.NewQueries(4097) }, "4097 timestamps"},
		{"freeing queries that are none", func() { c.FreeQueries(set + 1) }, "0 timestamps"},
		{"a copy onto itself", submit(wgpu.Command{Src: a, Dst: a, Size: 4}), "from buffer"},
		{"a copy past the end", submit(wgpu.Command{Src: a, Dst: b, SrcOffset: 32, Size: 36}), "36 bytes"},
		{"mapping what cannot be", func() { c.Map(a, 4) }, "usage"},
		{"reading without mapping", func() { c.Read(r, make([]byte, 4)) }, "4 bytes of 0"},
		{"waiting for what is to come", func() { c.Wait(9) }, "no submission 9"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "wgpu: ") || !strings.Contains(got, m.want) {
					t.Errorf("%s: got panic %q, want %q", m.name, got, m.want)
				}
			}()
			m.f()
		}()
	}
	c.Close()
	for _, want := range []string{"NewBuffer(64, 0)", "Submit(", "Close() with 5 buffers"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}
