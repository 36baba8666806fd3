//go:build linux && (amd64 || arm64)

package cuda

import (
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// A fakeGraph is kernels that follow each other.
type fakeGraph struct {
	nodes    []uintptr             // as they were added
	before   map[uintptr][]uintptr // those that a node follows
	launches map[uintptr]*fakeLaunch
	ahead    int // edges to kernels that wait
}

// order returns the nodes in an order that the edges allow, with late ones early: a graph that lacks an edge computes
// something else.
func (g *fakeGraph) order() (order []uintptr) {
	for len(order) < len(g.nodes) {
		for _, n := range slices.Backward(g.nodes) {
			isDone := func(n uintptr) bool { return slices.Contains(order, n) }
			if !isDone(n) && !slices.ContainsFunc(g.before[n], func(b uintptr) bool { return !isDone(b) }) {
				order = append(order, n)
				break
			}
		}
	}
	return order
}

// A fakeExec is the kernels of a graph, each with its own parameters.
type fakeExec fakeGraph

// graphNode returns the launch that parameters of a node say.
func graphNode(a uintptr) *fakeLaunch {
	p := (*nodeParams)(pointer(a))
	x := &fakeLaunch{function: p.function, params: unpacked(p.extra)}
	for i, n := range [...]uint32{p.grid[0], p.grid[1], p.grid[2], p.block[0], p.block[1], p.block[2], p.shared} {
		x.size[i] = uintptr(n)
	}
	return x
}

// The driver defines where the fields are.
func TestNodeParams(t *testing.T) {
	var p nodeParams
	if unsafe.Sizeof(p) != 72 || unsafe.Offsetof(p.shared) != 32 || unsafe.Offsetof(p.extra) != 48 {
		t.Error("nodeParams has another layout than CUDA_KERNEL_NODE_PARAMS_v2")
	}
}

// fakeGraphFunctions are functions of the driver for graphs.
var fakeGraphFunctions = map[string]func(f *fake, a []uintptr) int{
	"GraphCreate": func(f *fake, a []uintptr) int {
		h := f.next()
		f.graphs[h] = &fakeGraph{before: map[uintptr][]uintptr{}, launches: map[uintptr]*fakeLaunch{}}
		return set(a[0], h)
	},
	"GraphDestroy": func(f *fake, a []uintptr) int {
		delete(f.graphs, a[0])
		return 0
	},
	"GraphAddKernelNode_v2": func(f *fake, a []uintptr) int {
		g, x := f.graphs[a[1]], graphNode(a[4])
		if !f.fits(x) {
			return invalidValue
		}
		h := f.next()
		g.nodes, g.before[h] = append(g.nodes, h), slices.Clone(unsafe.Slice((*uintptr)(pointer(a[2])), a[3]))
		g.launches[h] = x
		return set(a[0], h)
	},
	"GraphAddDependencies_v2": func(f *fake, a []uintptr) int {
		g, kind := f.graphs[a[0]], *(*edgeData)(pointer(a[3]))
		from, to := *(*uintptr)(pointer(a[1])), *(*uintptr)(pointer(a[2]))
		text := func(n uintptr) string { return f.kernels[g.launches[n].function].text }
		if a[4] != 1 || kind != waits || !strings.Contains(text(to), "griddepcontrol.wait") || !strings.Contains(text(from), "griddepcontrol.launch_dependents") {
			return invalidValue
		}
		g.before[to] = append(g.before[to], from)
		g.ahead++
		return 0
	},
	"GraphInstantiateWithFlags": func(f *fake, a []uintptr) int {
		h, g, e := f.next(), f.graphs[a[1]], &fakeExec{launches: map[uintptr]*fakeLaunch{}}
		e.nodes = g.order()
		for n, x := range g.launches {
			e.launches[n] = x
		}
		f.execs[h] = e
		return set(a[0], h)
	},
	"GraphExecKernelNodeSetParams_v2": func(f *fake, a []uintptr) int {
		e, x := f.execs[a[0]], graphNode(a[2])
		if e == nil || e.launches[a[1]] == nil || !f.fits(x) {
			return invalidValue
		}
		e.launches[a[1]] = x
		return 0
	},
	"GraphExecDestroy": func(f *fake, a []uintptr) int {
		delete(f.execs, a[0])
		return 0
	},
	"GraphLaunch": func(f *fake, a []uintptr) int {
		e := f.execs[a[0]]
		if e == nil {
			return invalidValue
		}
		for _, n := range e.nodes {
			if code := f.launch(e.launches[n], a[1]); code != 0 {
				return code
			}
		}
		return 0
	},
}
