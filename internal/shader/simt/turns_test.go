package simt_test

import (
	"encoding/binary"
	"strings"
	"testing"

	. "github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// Each thread reads an element that another one wrote before it passed its turn, and may write
// there a turn after that. With fewer turns there is a race.
func TestTurns(t *testing.T) {
	const once, twice = 1, 2 // turns before threads write again
	for _, c := range []struct {
		name          string
		threads, skip int // skip a TakeTurn
		turns         int
		err           string
	}{
		{"one group", 128, -1, once, ""},
		{"two groups", 256, -1, twice, ""},
		{"one group, the first turn not taken", 128, 0, once, "with no barrier between"},
		{"two groups, the first turn not taken", 256, 0, twice, "with no barrier between"},
		{"two groups, the second turn not taken", 256, 1, twice, "with no barrier between"},
		{"two groups, a write a turn early", 256, -1, once, "with no barrier between"},
		{"three groups", 384, -1, once, "not in one or two groups of 128"},
	} {
		out := &Buffer{Name: "out", Type: ir.Uint32, Write: true}
		w := &Shared{Name: "w0", Type: U32, Len: c.threads}
		body := &Block{}
		p := &Program{Passes: []*Pass{{Threads: c.threads, Grid: [3]int{1, 1, 1}, Body: body, Buffers: []*Buffer{out}, Shared: []*Shared{w}}}}
		body.Put(w, ThreadID, ThreadID)
		body.Do(&PassTurn{Before: true})
		for turn := range c.turns {
			if turn != c.skip {
				body.Do(&TakeTurn{})
			}
			if turn == 0 {
				other := body.Let("other", w.At(ThreadID.Add(c.threads-1).Rem(c.threads)))
				body.Do(&Store{Buffer: out, Index: ThreadID, Values: []*Expr{other}})
			}
			body.Do(&PassTurn{})
		}
		if c.threads == 128 {
			body.Do(&TakeTurn{})
		}
		body.Put(w, ThreadID, Number(U32, 0))
		body.Do(&TakeTurn{After: true})
		data := make([]byte, 4*c.threads)
		err := simt.Verify(p)
		if err == nil {
			err = simt.Compile(p).Run([]simt.Arg{{Data: data}})
		}
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %s", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for i := range c.threads {
			if got, want := int(binary.LittleEndian.Uint32(data[4*i:])), (i+c.threads-1)%c.threads; got != want {
				t.Fatalf("%s: thread %d reads %d, want %d", c.name, i, got, want)
			}
		}
	}
}
