//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"
)

// adder is a pipeline that adds to each element of a buffer on its adder's device.
type adder struct {
	*async
	buffer, result Buffer
	command        Command
}

// newAdder returns an adder of 1, which takes some time to add it.
func newAdder(t *testing.T, rounds string) *adder {
	d := nativeAsync(t, Options{Validate: true, Timeout: time.Minute})
	a := &adder{async: d}
	err := func() (err error) {
		if a.buffer, err = d.NewBuffer(4, Storage); err != nil {
			return err
		}
		if a.result, err = d.NewBuffer(4, Readback); err != nil {
			return err
		}
		l, err := d.NewLayout([]bool{true}, 0)
		if err != nil {
			return err
		}
		p, err := d.NewPipeline(`@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(1) fn main() {
	var n = x[0];
	for (var i = 1u; i < `+rounds+`; i++) { n = n * i + 1u; }
	x[0] = select(x[0] + 1u, n, n == 0x12345678u && arrayLength(&x) > 1);
}`, l)
		if err == nil {
			err = d.Await(p)
		}
		if err != nil {
			return err
		}
		g, err := d.NewGroup(l, []Binding{{a.buffer, 4}})
		a.command = Command{Pipeline: p, Group: g, Groups: [3]uint32{1, 1, 1}}
		return err
	}()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// add submits n additions, and changes the commands after that.
func (a *adder) add(t *testing.T, n int) uint64 {
	t.Helper()
	commands := make([]Command, n)
	for i := range commands {
		commands[i] = a.command
	}
	number, err := a.Submit(commands)
	if err != nil {
		t.Fatal(err)
	}
	clear(commands)
	return number
}

// Submissions, large ones too, run in order, among writes and reads.
func TestAsync(t *testing.T) {
	d := newAdder(t, "2u")
	var last uint64
	for i, c := range []struct {
		write bool
		add   []int
		want  uint32
	}{
		{true, []int{minAsync}, minAsync},
		{true, []int{minAsync, 1, minAsync, 4 * minAsync}, 6*minAsync + 1},
		{false, []int{minAsync - 1, minAsync}, 8 * minAsync},
		{true, []int{1}, 1},
	} {
		if c.write {
			d.Write(d.buffer, 0, make([]byte, 4))
		}
		for _, n := range c.add {
			number := d.add(t, n)
			if last++; number != last {
				t.Fatalf("step %d: Submit returns %d, want %d", i, number, last)
			}
			if done := d.Done(); done > number {
				t.Errorf("step %d: %d of %d submissions are complete", i, done, number)
			}
		}
		last++
		if _, err := d.Submit([]Command{{Src: d.buffer, Dst: d.result, Size: 4}}); err != nil {
			t.Fatal(err)
		}
		err, got := d.Map(d.result, 4), make([]byte, 4)
		if err == nil {
			err = d.Read(d.result, got)
		}
		if got := binary.LittleEndian.Uint32(got); err != nil || got != c.want {
			t.Errorf("step %d: got %d, %v, want %d", i, got, err, c.want)
		}
	}
	last = d.add(t, minAsync)
	if err := d.Wait(last); err != nil || d.Done() != last {
		t.Errorf("after Wait %d submissions are complete, %v, want %d", d.Done(), err, last)
	}
	if d.add(t, minAsync); d.Done() != last {
		t.Errorf("after Submit %d submissions are complete, want %d", d.Done(), last)
	}
	if err := d.Poll(); err != nil {
		t.Error(err)
	}
}

// The loss of a device is the error of all calls after the first that finds it.
func TestAsyncLost(t *testing.T) {
	d := newAdder(t, "2u")
	d.add(t, minAsync)
	d.wait().lose(t, "on purpose")
	first := d.Wait(d.add(t, minAsync))
	var e *Error
	if !errors.As(first, &e) || e.Kind != Lost {
		t.Fatalf("Wait for a lost device: got error %v", first)
	}
	for _, n := range []int{1, minAsync} {
		if _, err := d.Submit(make([]Command, n)); err != first {
			t.Errorf("Submit of %d commands to a lost device: got error %v, want %v", n, err, first)
		}
	}
	if err := d.Poll(); err != first {
		t.Errorf("Poll of a lost device: got error %v, want %v", err, first)
	}
}
