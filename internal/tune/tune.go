package tune

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

const (
	// maxTiles is the greatest number of tiles that a search times.
	maxTiles = 6
	// largeProduct is the least number of multiplications that is worth a search.
	largeProduct = 1 << 28
)

// A Tuner chooses the tiles of products on one GPU.
type Tuner struct {
	Least int // multiplications of a product that is worth a search
	mode  Mode
	kept  *keptFile // nil if the mode is Off
}

// New returns a Tuner. The text identifies the GPU and its driver.
func New(m Mode, gpu string) *Tuner {
	t := &Tuner{Least: largeProduct, mode: m}
	if m != Off {
		t.kept = newKeptFile(gpu)
	}
	return t
}

// Compile is schedule.Compile by the choice that is kept for a kernel or that a search on m
// finds, if there is one. A search that fails, as where memory is short, finds none.
func (t *Tuner) Compile(k *ir.Kernel, target schedule.Target, m Machine) (*shader.Program, error) {
	if choice, ok := t.choose(k, target, m); ok {
		return schedule.CompileChoice(k, target, choice)
	}
	return schedule.Compile(k, target)
}

func (t *Tuner) choose(k *ir.Kernel, target schedule.Target, m Machine) (choice schedule.Choice, ok bool) {
	if t.mode == Off || k.Template != ir.Contraction || k.Points() < t.Least {
		return choice, false
	}
	list := schedule.Choices(k, target)
	list = list[:min(len(list), maxTiles)]
	if len(list) < 2 {
		return choice, false
	}
	key := schedule.Key(k, target, list)
	if choice, ok = named(list, t.kept.get(key)); ok || t.mode == Kept {
		return choice, ok
	}
	searching.Lock()
	defer searching.Unlock()
	t.kept.read() // another device may have searched
	if choice, ok = named(list, t.kept.get(key)); ok {
		return choice, true
	}
	err := m.Isolate(func() (err error) {
		choice, err = search(k, target, list, m)
		return err
	})
	if err != nil {
		return choice, false
	}
	if other, ok := named(list, t.kept.put(key, choice.String())); ok {
		return other, true
	}
	return choice, true
}

// named returns the choice of a name, which another version of this library may have kept.
func named(list [][]schedule.Choice, name string) (choice schedule.Choice, ok bool) {
	for _, c := range slices.Concat(list...) {
		if c.String() == name {
			return c, true
		}
	}
	return choice, false
}

// searching is held while programs are timed: devices of one process may share a GPU.
var searching sync.Mutex

// search returns the choice that is the fastest on m: it compares tiles, each with its best
// split, and then other splits of the fastest tile.
func search(k *ir.Kernel, target schedule.Target, list [][]schedule.Choice, m Machine) (choice schedule.Choice, err error) {
	room, err := roomFor(m)
	if err != nil {
		return choice, err
	}
	args, free, err := arguments(k, m, &room)
	if err != nil {
		return choice, err
	}
	defer free()
	compare := func(candidates []schedule.Choice) (int, error) {
		programs, errs := make([]driver.Program, len(candidates)), make([]error, len(candidates))
		for i, c := range candidates { // in the background
			p, err := schedule.CompileChoice(k, target, c)
			if err == nil && !fits(p.Scratch, room) {
				err = errRoom
			}
			if err == nil {
				programs[i], err = m.Build(k, p)
			}
			errs[i] = err
		}
		return fastest(len(candidates), func(i, times int) (seconds float64, err error) {
			if errs[i] != nil {
				return 0, errs[i]
			}
			return duration(m, driver.Call{Program: programs[i], Args: args}, times)
		})
	}
	var tiles []schedule.Choice
	for _, splits := range list {
		tiles = append(tiles, splits[0])
	}
	tile, err := compare(tiles)
	if err != nil {
		return choice, err
	}
	split, err := compare(list[tile])
	return list[tile][split], err
}
