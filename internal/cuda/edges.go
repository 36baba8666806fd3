//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"unsafe"

	"github.com/tensorken/tensorken/driver"
)

// An edgeData is the driver's CUgraphEdgeData.
type edgeData struct {
	fromPort, toPort, kind uint8
	_                      [5]uint8
}

// waits is an edge to a kernel that begins once all workgroups of the other one have begun, and waits itself for its
// end.
var waits = edgeData{fromPort: 1, kind: 1}

// addNodes adds the kernels of a graph. Each follows those whose memory it uses, or, in a row, the one before.
func (d *device) addNodes(g *graph, row bool) error {
	g.nodes = make([]uintptr, len(g.launches))
	lists := g.dependences(row)
	ahead := g.ahead(lists, row)
	l := d.lib
	var before []uintptr
	for k, list := range lists {
		before = before[:0]
		for _, i := range list {
			before = append(before, g.nodes[i])
		}
		first, n := unsafe.SliceData(before), len(before)
		waiting := ahead[k] && l.GraphAddDependencies_v2 != 0
		if waiting {
			n = 0
		}
		err := l.call("cuGraphAddKernelNode", l.GraphAddKernelNode_v2, uintptr(unsafe.Pointer(&g.nodes[k])), g.template, uintptr(unsafe.Pointer(first)), uintptr(n), uintptr(unsafe.Pointer(d.node(&g.launchList, k))))
		if err == nil && waiting {
			err = l.call("cuGraphAddDependencies", l.GraphAddDependencies_v2, g.template, uintptr(unsafe.Pointer(first)), uintptr(unsafe.Pointer(&g.nodes[k])), uintptr(unsafe.Pointer(&waits)), 1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ahead reports for each launch whether it may begin before the launch that it follows has ended. It waits itself,
// and either loads memory first that no launch of the graph writes before it, or follows one that waits, too: all
// workgroups of that one have begun, so it takes the place of none. In a row, which stays when arguments alias each
// other otherwise, any launch before may write that memory.
func (g *graph) ahead(lists [][]int, row bool) []bool {
	ahead, written := make([]bool, len(lists)), map[*buffer]bool{}
	for k, list := range lists {
		l := &g.launches[k]
		memory, loads, safe := g.memory[l.memory:][:len(l.buffers)], false, true
		for i := range l.buffers {
			if l.buffers[i].Ahead {
				loads, safe = true, safe && !row && !written[memory[i]]
			}
		}
		for i := range l.buffers {
			if l.buffers[i].Write {
				written[memory[i]] = true
			}
		}
		if l.awaits && safe && len(list) == 1 {
			ahead[k] = loads || g.launches[list[0]].awaits
		}
	}
	return ahead
}

// dependences lists, by launch, the launches that it follows: a reader the writer before it, a writer also the
// readers since. A launch that one of the others in a list follows is left out. In a row each follows the one before.
func (g *graph) dependences(row bool) [][]int {
	type uses struct {
		writer  int // -1 before the first
		readers []int
	}
	memory := map[*buffer]*uses{}
	lists, before := make([][]int, len(g.launches)), make([]launchSet, len(g.launches))
	for k := range g.launches {
		if row {
			if k > 0 {
				lists[k] = []int{k - 1}
			}
			continue
		}
		l := &g.launches[k]
		direct := newLaunchSet(len(g.launches))
		for i := range l.buffers {
			b := g.memory[l.memory+i]
			if memory[b] == nil {
				memory[b] = &uses{writer: -1}
			}
			u := memory[b]
			if u.writer >= 0 {
				direct.add(u.writer)
			}
			for _, r := range u.readers {
				if l.buffers[i].Write {
					direct.add(r)
				}
			}
		}
		before[k] = newLaunchSet(len(g.launches))
		for i := k - 1; i >= 0; i-- {
			if direct.has(i) && !before[k].has(i) {
				lists[k] = append(lists[k], i)
				before[k].add(i)
				before[k].addAll(before[i])
			}
		}
		for i := range l.buffers { // the pass may read memory that it writes, as another buffer
			if l.buffers[i].Write {
				*memory[g.memory[l.memory+i]] = uses{writer: k}
			}
		}
		for i := range l.buffers {
			if u := memory[g.memory[l.memory+i]]; u.writer != k {
				u.readers = append(u.readers, k)
			}
		}
	}
	return lists
}

// A launchSet is a set of launches, a bit for each.
type launchSet []uint64

func newLaunchSet(n int) launchSet { return make(launchSet, (n+63)/64) }

func (s launchSet) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s launchSet) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

func (s launchSet) addAll(t launchSet) {
	for i, bits := range t {
		s[i] |= bits
	}
}

// alias numbers the buffers among the arguments of calls in the order of their first uses, and numbers of kernels
// 0. Launches depend on the same others where arguments have the same numbers.
func (d *device) alias(list []int, calls []driver.Call) []int {
	begin := d.aliased
	for i := range calls {
		for k := range calls[i].Args {
			b, ok := calls[i].Args[k].Buffer.(*buffer)
			if !ok {
				list = append(list, 0)
				continue
			}
			if b.alias <= begin {
				d.aliased++
				b.alias = d.aliased
			}
			list = append(list, b.alias-begin)
		}
	}
	return list
}
