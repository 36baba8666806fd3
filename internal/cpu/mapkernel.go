package cpu

import "github.com/tensorken/tensorken/ir"

// A mapRunner runs a kernel without reductions.
type mapRunner struct {
	code  *code
	tiles tilings
	work  int // additions in all
	per   int // blocks in a task
}

func newMap(s *space) *mapRunner {
	return newMapOver(s, s.roles(ir.Parallel), s.stores())
}

// newMapOver prepares some stores over some axes.
func newMapOver(s *space, axes, stores []int) *mapRunner {
	t := s.tune
	m := &mapRunner{}
	if n := s.turned(axes, s.needs(stores, nil)); n > 0 {
		outer, inner := newTiling(s, axes[:n], t.side, t.side), newTiling(s, axes[n:], 2*t.side, 2*t.side)
		m.tiles = tilings{outer, inner}
	} else {
		m.tiles = tilings{newTiling(s, axes, t.enough, t.most)}
	}
	m.code = assemble(s, plan{lanes: m.tiles.block(), extent: s.extents(m.tiles...), roots: stores}).code
	m.work = s.points(axes) * max(s.cost(), 1)
	m.per = t.grain(m.tiles.count(), m.work)
	return m
}

// turned returns n > 0 if something is read with stride 1 along axes[n-1] and
// far apart along the last of axes: blocks then had better be long along
// both.
func (s *space) turned(axes []int, need []bool) int {
	for i := range s.body {
		in := &s.body[i]
		if in.Op != ir.Load || !need[i] || len(axes) < 2 {
			continue
		}
		c := in.View.Coef
		if last := axes[len(axes)-1]; max(c[last], -c[last]) < 16 || s.axes[last].Len < s.tune.side {
			continue
		}
		for n := len(axes) - 1; n > 0; n-- {
			if a := axes[n-1]; (c[a] == 1 || c[a] == -1) && s.axes[a].Len >= s.tune.side {
				return n
			}
		}
	}
	return 0
}

// grain is how many of n pieces of work make a task worth handing out.
func (t *tuning) grain(n, work int) int {
	if n == 0 {
		return 1
	}
	return max(1, t.small/2*n/max(work, 1), (n+255)/256)
}

func (m *mapRunner) run(d *device) error {
	return d.do(&mapJob{m, d.bind}, (m.tiles.count()+m.per-1)/m.per, m.work)
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
	for t := i * m.per; t < min((i+1)*m.per, m.tiles.count()); t++ {
		m.tiles.set(f, t)
		f.run()
	}
}
