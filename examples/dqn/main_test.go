package main

import (
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// TestOutput trains for a short time, in which rounding changes few actions.
func TestOutput(t *testing.T) {
	*turns, *draw = 100, filepath.Join(t.TempDir(), "dqn.svg")
	exampletest.CheckWithin(t, main, 0.1)
}

// TestLearns checks that a trained player keeps the pole upright for 100 steps. Random pushes
// keep it for 22.
func TestLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	p := newPlayer(1)
	if err := p.learn(io.Discard, 2000); err != nil {
		t.Fatal(err)
	}
	if steps, err := trial(p.net, 3); err != nil || steps < 100 {
		t.Errorf("the pole stays upright for %.1f steps, %v, want 100", steps, err)
	}
}

// TestCartPole compares one push from rest with the equations, solved by hand.
func TestCartPole(t *testing.T) {
	var c cartPole
	if c.step(true) {
		t.Error("the pole fell at once")
	}
	pull := 10 / 1.1
	angular := -pull / (0.5 * (4./3 - 0.1/1.1))
	linear := pull - 0.05*angular/1.1
	if want := (cartPole{0, 0.02 * linear, 0, 0.02 * angular, 1}); !near(c, want) {
		t.Errorf("after a push the cart is %+v, want %+v", c, want)
	}
	left := cartPole{0.1, -0.2, 0.05, 0.3, 0}
	right := cartPole{-0.1, 0.2, -0.05, -0.3, 0} // its mirror image
	left.step(false)
	right.step(true)
	if mirrored := (cartPole{-right.place, -right.speed, -right.angle, -right.spin, 1}); !near(left, mirrored) {
		t.Errorf("a cart is %+v, its mirror image %+v", left, right)
	}
	for steps := 1; ; steps++ {
		if c.step(true) {
			if steps > 20 || math.Abs(c.angle) <= lean {
				t.Errorf("pushed to one side, the pole fell after %d steps at %+v", steps, c)
			}
			break
		}
	}
}

func near(a, b cartPole) bool {
	const most = 1e-12
	return math.Abs(a.place-b.place) < most && math.Abs(a.speed-b.speed) < most &&
		math.Abs(a.angle-b.angle) < most && math.Abs(a.spin-b.spin) < most && a.steps == b.steps
}

// TestMemory checks that the replay memory keeps the last moves.
func TestMemory(t *testing.T) {
	m := memory{moves: make([]move, 0, 3)}
	for i := range 5 {
		m.add(move{from: [observed]float32{float32(i)}, right: i%2 == 1, fell: i == 4})
	}
	batch := m.sample(rand.New(rand.NewPCG(1, 1)), 64)
	from, err := tensor.Data[float32](batch.From.Index(tensor.All, 0))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range from {
		if action, goes := batch.Action.At(i, 0).Item(), batch.Goes.At(i, 0).Item(); int(action) != int(x)%2 || (goes == 0) != (x == 4) {
			t.Errorf("move %v has the action %v and goes on by %v", x, action, goes)
		}
	}
	slices.Sort(from)
	if got := slices.Compact(from); !slices.Equal(got, []float32{2, 3, 4}) {
		t.Errorf("after 5 moves a memory of 3 has %v, want 2, 3, 4", got)
	}
}

// TestLoss compares the loss with double Q-learning's: the value of the push that was made
// should be the reward plus the discounted value, by the target network, of the push that the
// network prefers.
func TestLoss(t *testing.T) {
	values := func(left, right float32) nn.Sequential { // of all states
		return nn.Sequential{nn.Linear{Weight: tensor.Zeros(2, observed), Bias: tensor.New([]float32{left, right})}}
	}
	states := tensor.Ones(2, observed)
	m := Moves{From: states, To: states, Action: tensor.New([]int32{0, 1}, 2, 1), Goes: tensor.New([]float32{1, 0}, 2, 1)}
	net, target := values(0.3, 0.6), values(0.9, 0.5)
	want := (math.Pow(0.3-(0.01+0.99*0.5), 2) + math.Pow(0.6-0.01, 2)) / 2 / 2
	if got := loss(net, target, m).Item(); math.Abs(got-want) > 1e-6 {
		t.Errorf("loss = %v, want %v", got, want)
	}
}
