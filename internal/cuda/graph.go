//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/lru"
)

const (
	// fewestNodes is the least number of kernels that are worth a graph.
	fewestNodes = 4
	// graphNodes is the number of kernels after which a graph ends, so that the GPU works while
	// the host updates the next one.
	graphNodes = 512
	// maxNodes is the most kernels of all graphs.
	maxNodes = 1 << 16
	// maxSequences is the most lists of programs that are known to have run.
	maxSequences = 1 << 10
	// maxRemade is how often a sequence gets other graphs, before it gets some whose kernels run in a row.
	maxRemade = 3
	// settled is the number of equal replays in a row after which kernels run beside each other again.
	settled = 64
	// maxBeside is the most kernels of such a graph: finding dependences takes quadratic time.
	maxBeside = 8 * graphNodes
)

// A sequence is a list of programs that has run. When it runs again it gets graphs.
type sequence struct {
	programs []driver.Program
	graphs   []*graph // in order; none for few kernels, or if the driver made none
	made     bool     // the graphs were, or were tried to be
	alias    []int    // of the arguments that the graphs were made for
	remade   int      // how often, for arguments that alias each other otherwise
	equal    int      // replays of a row since the arguments aliased each other otherwise
}

// A sequenceKey is the key by which a sequence is found.
type sequenceKey struct {
	first, last driver.Program
	n           int
}

// A graph is the kernels of some calls, which the driver launches at once.
type graph struct {
	launchList
	args       []driver.Arg // of all calls, as in the last launch
	calls      []graphCall
	generation int       // of the kept buffers
	nodes      []uintptr // of the launches
	template   uintptr   // has the nodes
	exec       uintptr
}

// A graphCall has the ends of a call's arguments and launches in its graph's lists.
type graphCall struct{ args, launches int }

// isLong reports whether calls may have enough kernels for a graph.
func (d *device) isLong(calls []driver.Call) bool {
	if !d.replays {
		return false
	}
	n := 0
	for i := range calls {
		p := calls[i].Program.(*program)
		if n += len(p.passes); n >= fewestNodes || p.loop != nil {
			return true
		}
	}
	return false
}

// sequences has the sequences that are known to have run.
type sequences = lru.Cache[sequenceKey, *sequence]

// sequence returns the sequence of calls if it has run before, else nil. A cache of limited size
// has the sequences.
func (d *device) sequence(calls []driver.Call, known *sequences, most int) *sequence {
	key := sequenceKey{calls[0].Program, calls[len(calls)-1].Program, len(calls)}
	e := known.Get(key)
	if e != nil && slices.EqualFunc(e.Value.programs, calls, func(p driver.Program, c driver.Call) bool { return p == c.Program }) {
		return e.Value
	}
	if e != nil {
		d.freeGraphs(e.Value)
	}
	s := &sequence{}
	for i := range calls {
		s.programs = append(s.programs, calls[i].Program)
	}
	known.Put(key, s)
	known.Trim(most, d.freeGraphs)
	return nil
}

// replay launches the graphs of a sequence. It reports false if it has none.
func (d *device) replay(s *sequence, calls []driver.Call) (done bool, err error) {
	d.aliases = d.alias(d.aliases[:0], calls)
	switch same := slices.Equal(d.aliases, s.alias); {
	case !s.made:
	case s.remade <= maxRemade && !same: // the edges are of other dependences
		d.freeGraphs(s)
		s.remade++
	case s.remade > maxRemade && !same:
		s.alias, s.equal = append(s.alias[:0], d.aliases...), 0
	case s.remade > maxRemade:
		if s.equal++; s.equal == settled {
			d.freeGraphs(s)
			s.remade, s.equal = 0, 0
		}
	}
	if !s.made {
		s.alias = slices.Clone(d.aliases)
		if err := d.makeGraphs(s, calls); err != nil {
			return false, err
		}
	}
	for _, g := range s.graphs {
		for i := range g.calls {
			if err := d.beside.awaitCall(d, &calls[i]); err != nil {
				return false, err
			}
		}
		if err := d.update(g, calls[:len(g.calls)]); err != nil {
			return false, err
		}
		if err := d.lib.call("cuGraphLaunch", d.lib.GraphLaunch, g.exec, d.stream); err != nil {
			return false, d.fail(err)
		}
		calls = calls[len(g.calls):]
	}
	return len(s.graphs) > 0, nil
}

// update updates the nodes of calls whose arguments differ from the last launch.
func (d *device) update(g *graph, calls []driver.Call) error {
	kept := g.generation == d.generation
	var begin graphCall
	for i, end := range g.calls {
		args, first := g.args[begin.args:end.args], begin.launches
		begin = end
		if kept && slices.Equal(args, calls[i].Args) && live(args) {
			continue
		}
		d.list.reset()
		if err := d.record(&d.list, &calls[i], i); err != nil {
			return err
		}
		for k := range d.list.launches {
			old, params := g.paramsOf(first+k), d.list.paramsOf(k)
			if bytes.Equal(old, params) {
				continue
			}
			err := d.lib.call("cuGraphExecKernelNodeSetParams", d.lib.GraphExecKernelNodeSetParams_v2, g.exec, g.nodes[first+k], uintptr(unsafe.Pointer(d.node(&d.list, k))))
			if err != nil {
				return d.fail(err)
			}
			copy(old, params)
		}
		copy(args, calls[i].Args)
	}
	g.generation = d.generation
	return nil
}

// live reports whether no buffer is freed.
func live(args []driver.Arg) bool {
	for i := range args {
		if b, ok := args[i].Buffer.(*buffer); ok && b.IsFreed() {
			return false
		}
	}
	return true
}

// makeGraphs makes the graphs of a sequence. It leaves it without if the driver makes none.
func (d *device) makeGraphs(s *sequence, calls []driver.Call) error {
	var graphs []*graph
	g, n := &graph{generation: d.generation}, 0
	awaited := 0 // collectives
	for i := range calls {
		if number := d.beside.of(&calls[i]); number > awaited { // the kernels before do not wait for it
			awaited = number
			if len(g.calls) > 0 {
				graphs, n = append(graphs, g), n+len(g.launches)
				g = &graph{generation: d.generation}
			}
		}
		if err := d.record(&g.launchList, &calls[i], len(g.calls)); err != nil {
			return err
		}
		g.args = append(g.args, calls[i].Args...)
		g.calls = append(g.calls, graphCall{len(g.args), len(g.launches)})
		if last := i == len(calls)-1; last || len(g.launches) >= graphNodes {
			graphs, n = append(graphs, g), n+len(g.launches)
			g = &graph{generation: d.generation}
		}
	}
	s.made = true
	if n < fewestNodes || n > maxNodes {
		return nil
	}
	if d.nodes+n > maxNodes {
		d.freeAllGraphs()
	}
	d.graphs[s] = struct{}{}
	for _, g := range graphs {
		s.graphs = append(s.graphs, g)
		d.nodes += len(g.launches)
		if err := d.makeGraph(g, s.remade > maxRemade || len(g.launches) > maxBeside); err != nil {
			d.freeGraphs(s)
			s.made = true // launches return the error if the device is lost
			return nil
		}
	}
	return nil
}

// makeGraph makes a graph of its launches.
func (d *device) makeGraph(g *graph, row bool) error {
	l := d.lib
	if err := l.call("cuGraphCreate", l.GraphCreate, uintptr(unsafe.Pointer(&g.template)), 0); err != nil {
		return err
	}
	if err := d.addNodes(g, row); err != nil {
		return err
	}
	return l.call("cuGraphInstantiate", l.GraphInstantiateWithFlags, uintptr(unsafe.Pointer(&g.exec)), g.template, 0)
}

// freeGraphs frees the graphs of a sequence. It gets others when it runs again.
func (d *device) freeGraphs(s *sequence) {
	for _, g := range s.graphs {
		if g.exec != 0 {
			d.lib.call("cuGraphExecDestroy", d.lib.GraphExecDestroy, g.exec)
		}
		if g.template != 0 {
			d.lib.call("cuGraphDestroy", d.lib.GraphDestroy, g.template)
		}
		d.nodes -= len(g.launches)
	}
	s.graphs, s.made = nil, false
	delete(d.graphs, s)
}

func (d *device) freeAllGraphs() {
	for s := range d.graphs {
		d.freeGraphs(s)
	}
}
