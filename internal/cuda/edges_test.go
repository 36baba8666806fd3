//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A kernel of a graph follows those whose memory it uses, directly.
func TestDependences(t *testing.T) {
	var buffers [6]buffer
	pass := func(uses string) (l launch, memory []*buffer) { // letters: capital ones are written
		l.pass = &pass{}
		for _, c := range uses {
			l.pass.buffers = append(l.pass.buffers, shader.Buffer{Write: c < 'a'})
			memory = append(memory, &buffers[(c|0x20)-'a'])
		}
		return l, memory
	}
	for _, c := range []struct {
		name   string
		passes []string
		want   string
	}{
		{"a chain", []string{"aB", "bC", "cD"}, "[[] [0] [1]]"},
		{"apart", []string{"aB", "cD", "bE"}, "[[] [] [0]]"},
		{"two readers and a writer", []string{"aB", "bC", "bD", "eB"}, "[[] [0] [0] [2 1]]"},
		{"in place", []string{"aA", "aA", "aB"}, "[[] [0] [1]]"},
		{"twice in a pass", []string{"aAa", "aB"}, "[[] [0]]"},
		{"a writer after a writer", []string{"aB", "cB"}, "[[] [0]]"},
		{"a join", []string{"aB", "aC", "bcD"}, "[[] [] [1 0]]"},
		{"known by another", []string{"aB", "bC", "bcD"}, "[[] [0] [1]]"},
		{"readers alone", []string{"aB", "aC", "aD"}, "[[] [] []]"},
		{"many", append(slices.Repeat([]string{"aB", "cD"}, 40), "bdE"), "[79 78]"},
	} {
		var g graph
		for _, uses := range c.passes {
			l, memory := pass(uses)
			l.memory = len(g.memory)
			g.launches, g.memory = append(g.launches, l), append(g.memory, memory...)
		}
		got := fmt.Sprint(g.dependences(false))
		if c.name == "many" {
			got = fmt.Sprint(g.dependences(false)[80])
		}
		if got != c.want {
			t.Errorf("%s: launches follow %s, want %s", c.name, got, c.want)
		}
		for k, list := range g.dependences(true) {
			if k > 0 && !slices.Equal(list, []int{k - 1}) || k == 0 && list != nil {
				t.Errorf("%s: in a row launch %d follows %v", c.name, k, list)
			}
		}
	}
}

// Graphs whose arguments alias each other otherwise than before get edges of their own, and after some the
// kernels run in a row.
func TestGraphAlias(t *testing.T) {
	f := eachDriver(t, func(t *testing.T, d driver.Device) {
		const n = 8
		r := rig{t, d}
		p := r.compile(shifted(n))
		var buffers [8]driver.Buffer
		for i := range buffers {
			buffers[i] = r.alloc(4 * n)
		}
		// Each call adds 1 to a buffer and writes another.
		for turn, uses := range [][][2]int{
			{{0, 1}, {2, 3}, {4, 5}, {1, 6}},
			{{0, 1}, {2, 3}, {4, 5}, {1, 6}},
			{{4, 5}, {6, 7}, {0, 1}, {5, 2}}, // other buffers, as before
			{{0, 1}, {1, 2}, {2, 3}, {3, 4}},
			{{0, 1}, {1, 2}, {2, 3}, {3, 4}},
			{{0, 1}, {2, 1}, {1, 3}, {3, 1}},
			{{0, 0}, {0, 0}, {0, 1}, {1, 0}},
			{{0, 1}, {1, 1}, {1, 2}, {2, 2}},
			{{3, 4}, {1, 3}, {3, 5}, {5, 1}},
			{{3, 4}, {4, 5}, {1, 3}, {3, 1}},
		} {
			var want [len(buffers)]uint32
			for i, b := range buffers {
				want[i] = uint32(100 * i)
				data := make([]byte, 4*n)
				for k := range n {
					binary.LittleEndian.PutUint32(data[4*k:], want[i])
				}
				if err := d.Upload(b, 0, data); err != nil {
					t.Fatal(err)
				}
			}
			var calls []driver.Call
			for _, u := range uses {
				calls = append(calls, driver.Call{Program: p, Args: []driver.Arg{{Buffer: buffers[u[1]]}, {Buffer: buffers[u[0]]}, {Num: ir.Int(ir.Int32, 1)}}})
				want[u[1]] = want[u[0]] + 1
			}
			if err := d.Run(calls); err != nil {
				t.Fatal(err)
			}
			for i, b := range buffers {
				data := make([]byte, 4*n)
				if err := d.Download(data, b, 0); err != nil {
					t.Fatal(err)
				}
				if got := binary.LittleEndian.Uint32(data[4*(n-1):]); got != want[i] {
					t.Errorf("turn %d: buffer %d has %d, want %d", turn, i, got, want[i])
				}
			}
		}
	})
	if n := f.count("GraphInstantiateWithFlags"); n != 1+maxRemade+1 {
		t.Errorf("%d graphs were made, want %d", n, 1+maxRemade+1)
	}
}
