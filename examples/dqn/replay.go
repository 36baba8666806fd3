package main

import (
	"math/rand/v2"

	"github.com/tensorken/tensorken/tensor"
)

// A move leads from one state to the next.
type move struct {
	from, to [observed]float32
	right    bool
	fell     bool
}

// Moves are a batch of n moves.
type Moves struct {
	From, To tensor.Tensor // [n observed]
	Action   tensor.Tensor // int32 [n 1]: 0 is left, 1 is right
	Goes     tensor.Tensor // [n 1]: 0 where the episode ended by a fall, else 1
}

// A memory has the last moves of all episodes, in a ring.
type memory struct {
	moves []move
	next  int // the oldest, once the memory is full
}

func (m *memory) add(v move) {
	if len(m.moves) < cap(m.moves) {
		m.moves = append(m.moves, v)
		return
	}
	m.moves[m.next] = v
	m.next = (m.next + 1) % len(m.moves)
}

// sample returns n moves, chosen at random.
func (m *memory) sample(r *rand.Rand, n int) Moves {
	var from, to []float32
	actions, goes := make([]int32, n), make([]float32, n)
	for i := range n {
		v := m.moves[r.IntN(len(m.moves))]
		from, to = append(from, v.from[:]...), append(to, v.to[:]...)
		if v.right {
			actions[i] = 1
		}
		if !v.fell {
			goes[i] = 1
		}
	}
	return Moves{tensor.New(from, n, observed), tensor.New(to, n, observed), tensor.New(actions, n, 1), tensor.New(goes, n, 1)}
}
