package storage

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// Elements are read through views, from the host and from a device, until their memory is given away.
func TestRead(t *testing.T) {
	d := New(cpu.New(cpu.Options{}), nil)
	defer d.Close()
	data := []byte{0, 1, 2, 3, 4, 5, 6, 7}
	gone := &GoneError{Op: "a test"}
	for _, c := range []struct {
		name           string
		shape, strides []int
		offset         int
		want           []byte
	}{
		{"all", []int{2, 4}, []int{4, 1}, 0, data},
		{"a scalar", nil, nil, 3, []byte{3}},
		{"a row", []int{4}, []int{1}, 4, []byte{4, 5, 6, 7}},
		{"transposed", []int{4, 2}, []int{1, 4}, 0, []byte{0, 4, 1, 5, 2, 6, 3, 7}},
		{"backwards", []int{3}, []int{-2}, 7, []byte{7, 5, 3}},
		{"repeated", []int{2, 2}, []int{0, 1}, 2, []byte{2, 3, 2, 3}},
		{"none", []int{0, 2}, []int{2, 1}, 0, nil},
	} {
		stored, err := d.store(data)
		if err != nil {
			t.Fatal(err)
		}
		shared := stored.Shared()
		for name, s := range map[string]graph.Store{"the host": FromHost(data), "a device": stored} {
			n := graph.Buffer(ir.Uint8, c.shape, &graph.Value{Store: s, Offset: c.offset, Strides: c.strides})
			for _, read := range []func(*graph.Node) ([]byte, error){Read, View} {
				if got, err := read(n); err != nil || !bytes.Equal(got, c.want) {
					t.Errorf("%s, on %s: got %v and error %v, want %v", c.name, name, got, err, c.want)
				}
			}
		}
		stored.Free(gone)
		value := &graph.Value{Store: stored, Offset: c.offset, Strides: c.strides}
		if _, err := Read(graph.Buffer(ir.Uint8, c.shape, value)); c.want != nil && !errors.Is(err, gone) {
			t.Errorf("%s, freed: got error %v, want %v", c.name, err, gone)
		}
		value = &graph.Value{Store: shared, Offset: c.offset, Strides: c.strides}
		if got, err := Read(graph.Buffer(ir.Uint8, c.shape, value)); err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s, shared with what is freed: got %v and error %v, want %v", c.name, got, err, c.want)
		}
	}
}

// A goroutine may read elements while another gives their memory away: it gets them, or why they are gone.
func TestReadBesideFree(t *testing.T) {
	d := New(cpu.New(cpu.Options{}), nil)
	defer d.Close()
	data, gone := []byte{1, 2, 3, 4}, &GoneError{Op: "a test"}
	for name, read := range map[string]func(*graph.Node) ([]byte, error){"Read": Read, "View": View} {
		for range 100 {
			s, err := d.store(slices.Clone(data))
			if err != nil {
				t.Fatal(err)
			}
			freed := make(chan struct{})
			go func() {
				s.Free(gone)
				close(freed)
			}()
			got, err := read(graph.Buffer(ir.Uint8, []int{4}, &graph.Value{Store: s, Strides: []int{1}}))
			if !errors.Is(err, gone) && (err != nil || !bytes.Equal(got, data)) {
				t.Errorf("%s: got %v and error %v", name, got, err)
			}
			<-freed
		}
	}
}

// Two views of a new storage have one storage each if they are equal: a node may be freed without the other.
func TestNewValue(t *testing.T) {
	d := New(cpu.New(cpu.Options{}), nil)
	defer d.Close()
	s, err := d.store(make([]byte, 8))
	if err != nil {
		t.Fatal(err)
	}
	first, equal, other := s.NewValue(0, []int{1}), s.NewValue(0, []int{1}), s.NewValue(4, []int{1})
	if first.Store != s || equal.Store == s || other.Store != s {
		t.Errorf("the first value has the storage: %v, an equal one: %v, another: %v; want true, false, true", first.Store == s, equal.Store == s, other.Store == s)
	}
	if !Same(s, Of(other)) || Same(s, Of(equal)) || !Same(FromHost([]byte{1}).(*Storage), FromHost([]byte{1}).(*Storage)) {
		t.Error("storages are the same if they are one, or if the host has equal elements")
	}
}

// A read waits for a plan that takes the memory, until it puts it back or says why it is gone.
func TestReadTaken(t *testing.T) {
	d := New(cpu.New(cpu.Options{}), nil)
	defer d.Close()
	data, gone := []byte{1, 2, 3, 4}, &GoneError{Op: "a test"}
	for _, isGone := range []bool{false, true} {
		b, err := d.Pool.AcquireOne(len(data))
		if err != nil {
			t.Fatal(err)
		}
		s := d.Store(b)
		if err := d.Driver.Upload(b.Buffer, 0, data); err != nil {
			t.Fatal(err)
		}
		taken, ok := s.block.TakeAlone(0)
		if !ok {
			t.Fatal("the memory is not taken")
		}
		got, failed := make([]byte, len(data)), make(chan error)
		go func() { failed <- s.download(got, 0) }()
		select {
		case err := <-failed:
			t.Fatalf("a read does not wait: %v, error %v", got, err)
		case <-time.After(time.Millisecond):
		}
		if isGone {
			s.Free(gone)
		} else {
			s.block.PutBack(taken, 0)
		}
		switch err := <-failed; {
		case isGone && !errors.Is(err, gone):
			t.Errorf("the memory is gone: error %v, want %v", err, gone)
		case !isGone && (err != nil || !bytes.Equal(got, data)):
			t.Errorf("the memory is put back: got %v and error %v, want %v", got, err, data)
		}
	}
}
