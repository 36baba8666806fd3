package cpu

import "github.com/tensorken/tensorken/ir"

// A mapRunner runs a kernel without reductions.
type mapRunner struct {
	code  *code
	tiles *tiling
	work  int // additions in all
	per   int // tiles in a task
}

func newMap(s *space) *mapRunner {
	return newMapOver(s, s.roles(ir.Kept), s.stores())
}

// newMapOver prepares some stores over some axes.
func newMapOver(s *space, axes, stores []int) *mapRunner {
	m := &mapRunner{tiles: newTiling(s, axes, s.tune.enough, s.tune.most)}
	m.code = assemble(s, plan{lanes: m.tiles.block(), extent: s.extents(m.tiles), roots: stores}).code
	m.work = s.points(axes) * max(s.cost(), 1)
	m.per = s.tune.grain(m.tiles.count, m.work)
	return m
}

// grain is how many of n pieces of work make a task worth handing out.
func (t *tuning) grain(n, work int) int {
	if n == 0 {
		return 1
	}
	return max(1, t.small/2*n/max(work, 1), (n+255)/256)
}

func (m *mapRunner) run(d *device) error {
	return d.do(&mapJob{m, d.bind}, (m.tiles.count+m.per-1)/m.per, m.work)
}

type mapJob struct {
	*mapRunner
	bind []binding
}

func (m *mapJob) begin(w *worker) {
	w.frames[0].enter(m.code, m.bind, w.scratch(m.code.scratch), &w.bad)
}

func (m *mapJob) task(w *worker, i int) {
	f := &w.frames[0]
	for t := i * m.per; t < min((i+1)*m.per, m.tiles.count); t++ {
		m.tiles.set(f, t)
		f.run()
	}
}
