// Command dqn learns to balance a pole on a cart, by deep Q-learning: Mnih et al.,
// "Human-level control through deep reinforcement learning", 2015, with the targets of van
// Hasselt, Guez, Silver, "Deep Reinforcement Learning with Double Q-learning", 2016.
//
// A network learns how long the pole will stay up after a push to the left or to the right.
// The player pushes to the better side, at first often to a random one. Nothing tells the
// network how a cart moves.
//
// The program prints how long episodes last while it learns, and draws their lengths if the
// flag -plot names a file.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

var (
	on    = flag.String("device", "", device.Usage)
	seed  = flag.Uint64("seed", 3, "seed of the first weights, the episodes and the exploration")
	turns = flag.Int("turns", 6000, "turns of all carts, each with a training step")
	draw  = flag.String("plot", "", "draw the lengths of episodes into this file, a .png or an .svg")
)

func main() {
	flags.Parse()
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	p := newPlayer(*seed)
	p.opt.Schedule = optim.Cosine(*turns, 0.01)
	err := p.learn(os.Stdout, *turns)
	if err == nil && *draw != "" {
		err = p.figure().Save(*draw)
	}
	if err != nil {
		log.Fatal(err)
	}
}

const (
	carts     = 8 // that are played at the same time
	batch     = 256
	remembers = 50_000 // moves
	discount  = 0.99
	follows   = 0.99 // the share that the target keeps of itself in each step
)

// A player learns on several carts.
type player struct {
	net, target nn.Sequential
	opt         *optim.Optimizer
	random      *rand.Rand
	carts       []*cartPole
	memory      memory
	lengths     []float32 // of the episodes that ended
}

func newPlayer(seed uint64) *player {
	const width = 128
	rng, relu := tensor.NewRNG(seed), nn.Func(tensor.Tensor.ReLU)
	p := &player{
		net:    nn.Sequential{nn.NewLinear(rng, observed, width), relu, nn.NewLinear(rng, width, width), relu, nn.NewLinear(rng, width, 2)},
		opt:    &optim.Optimizer{Rule: optim.Adam{}, LR: 3e-4},
		random: rand.New(rand.NewPCG(seed, 0)),
		memory: memory{moves: make([]move, 0, remembers)},
	}
	p.target = p.net
	for range carts {
		p.carts = append(p.carts, newCartPole(p.random))
	}
	return p
}

// better returns for each state which push the network holds for better: 0 is left, 1 is
// right.
func better(net nn.Sequential, states []float32) ([]int32, error) {
	return tensor.Data[int32](net.Apply(tensor.New(states, len(states)/observed, observed)).ArgMax(-1))
}

// loss returns how far the network's values of moves are from the values one step later: a
// share for the step, and the target's value of the better push there. The shares of a pole
// that never falls add up to 1.
func loss(net, target nn.Sequential, m Moves) tensor.Tensor {
	push := net.Apply(m.To).ArgMax(-1).Unsqueeze(-1)
	later := target.Apply(m.To).TakeAlong(1, push)
	want := grad.StopGradient(later.Mul(m.Goes).Mul(discount).Add(1 - discount)) // [n 1]
	return nn.Huber(net.Apply(m.From).TakeAlong(1, m.Action), want).Mean()
}

// train makes one training step.
func (p *player) train() error {
	m := p.memory.sample(p.random, batch)
	gradient := grad.Of(func(net nn.Sequential) tensor.Tensor { return loss(net, p.target, m) })(p.net)
	if err := p.opt.Step(&p.net, gradient); err != nil {
		return err
	}
	p.target = optim.Average(p.target, p.net, follows)
	return tensor.Eval(p.target)
}

// play pushes each cart once, to a random side with the probability explore.
func (p *player) play(explore float64) error {
	var states []float32
	for _, c := range p.carts {
		s := c.state()
		states = append(states, s[:]...)
	}
	pushes, err := better(p.net, states)
	if err != nil {
		return err
	}
	for i, c := range p.carts {
		right := pushes[i] == 1
		if p.random.Float64() < explore {
			right = p.random.IntN(2) == 1
		}
		from := c.state()
		fell := c.step(right)
		p.memory.add(move{from, c.state(), right, fell})
		if fell || c.steps == maxSteps {
			p.lengths = append(p.lengths, float32(c.steps))
			p.carts[i] = newCartPole(p.random)
		}
	}
	return nil
}

// learn plays and trains, and prints how long episodes last. Of twenty trials it keeps the best
// network, since a player that has become better sees fewer mistakes, and may forget their
// lessons.
func (p *player) learn(w io.Writer, turns int) (err error) {
	defer tensor.Catch(&err)
	fmt.Fprintln(w, " turns  episodes  random pushes  mean steps of the last 50, and in a trial")
	const least, rests = 0.05, 1000. // random pushes fall from all to least in so many turns
	best, bestSteps := p.net, 0.
	for turn := 1; turn <= turns; turn++ {
		explore := max(least, 1-(1-least)*float64(turn)/rests)
		if err := p.play(explore); err != nil {
			return err
		}
		if len(p.memory.moves) >= batch {
			if err := p.train(); err != nil {
				return err
			}
		}
		if turn%max(turns/20, 1) != 0 {
			continue
		}
		steps, err := trial(p.net, 1)
		if err != nil {
			return err
		}
		if steps > bestSteps {
			best, bestSteps = p.net, steps
		}
		fmt.Fprintf(w, "%6d %9d %13.0f%% %8.1f %8.1f\n", turn, len(p.lengths), 100*explore, meanOfLast(p.lengths, 50), steps)
	}
	p.net = best
	steps, err := trial(p.net, 2)
	fmt.Fprintf(w, "\nThe best network balances the pole in %d new episodes for %.1f of at most %d steps.\n", trials, steps, maxSteps)
	return err
}

// trials is the number of episodes in a trial.
const trials = 50

// trial returns how many steps episodes last, in the mean, without random pushes.
func trial(net nn.Sequential, seed uint64) (mean float64, err error) {
	r := rand.New(rand.NewPCG(seed, 1))
	playing := make([]*cartPole, trials)
	for i := range playing {
		playing[i] = newCartPole(r)
	}
	steps := 0
	for len(playing) > 0 {
		// States of carts that have stopped are 0, so that all turns have the network's one plan.
		states := make([]float32, trials*observed)
		for i, c := range playing {
			s := c.state()
			copy(states[i*observed:], s[:])
		}
		pushes, err := better(net, states)
		if err != nil {
			return 0, err
		}
		var still []*cartPole
		for i, c := range playing {
			steps++
			if fell := c.step(pushes[i] == 1); !fell && c.steps < maxSteps {
				still = append(still, c)
			}
		}
		playing = still
	}
	return float64(steps) / trials, nil
}

// meanOfLast returns the mean of the last n numbers, or of all if there are fewer.
func meanOfLast(xs []float32, n int) float64 {
	xs = xs[max(len(xs)-n, 0):]
	sum := 0.
	for _, x := range xs {
		sum += float64(x)
	}
	return sum / float64(max(len(xs), 1))
}

// figure draws the lengths of episodes and the mean of the last 50.
func (p *player) figure() *plot.Figure {
	means := make([]float32, len(p.lengths))
	for i := range means {
		means[i] = float32(meanOfLast(p.lengths[:i+1], 50))
	}
	f := plot.Overlay(
		plot.Scatter(plot.Series{Name: "an episode", Y: tensor.New(p.lengths), Color: plot.Color(7)}),
		plot.Lines(plot.Series{Name: "mean of the last 50", Y: tensor.New(means), Color: plot.Color(1)}))
	f.X.Label, f.Y.Label = "episode", "steps"
	return f
}
