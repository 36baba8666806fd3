package optim

import (
	"cmp"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// A Plateau lowers the learning rate when a metric no longer improves:
//
//	plateau := &optim.Plateau{Patience: 3}
//	opt.Schedule = plateau.Schedule
//	… plateau.Observe(validationLoss) // after each epoch
//
// It is a tree: State is saved and loaded as tensors are. It is for one goroutine.
type Plateau struct {
	Factor    float64 // on the rate, each time; 0 is 0.1
	Patience  int     // observations without an improvement that change nothing; 0 is 10, -1 none
	Threshold float64 // improvements are by more than this share of the best, whatever its sign; 0 is 1e-4
	Cooldown  int     // observations after a change that are not counted
	Floor     float64 // the least rate, as a factor on LR
	Maximize  bool    // greater metrics are better

	// State is the factor on LR, the best metric, how many observations have not
	// improved it, and how many are still not counted: four float64, absent at first.
	State tensor.Tensor `tensor:",optional"`
}

// Schedule returns the factor on the learning rate, whatever the step.
func (p *Plateau) Schedule(int) float64 { return p.state()[0] }

// Observe takes the metric's next value. NaN is not an improvement. It panics if State cannot
// come from a Plateau, or a setting has no meaning.
func (p *Plateau) Observe(metric float64) {
	if err := checkSettings(p); err != nil {
		tensor.Internal.Misuse(graph.Token{}, "optim.Plateau", err.Error())
	}
	s := p.state()
	factor, best, bad, cooldown := &s[0], &s[1], &s[2], &s[3]
	least := cmp.Or(p.Threshold, 1e-4) * math.Abs(*best) // of an improvement
	if math.IsInf(*best, 0) {
		least = 0
	}
	better := metric < *best-least
	if p.Maximize {
		better = metric > *best+least
	}
	if better {
		*best, *bad = metric, 0
	} else {
		*bad++
	}
	if *cooldown > 0 {
		*cooldown--
		*bad = 0
	}
	if *bad > float64(max(cmp.Or(p.Patience, 10), 0)) {
		*factor = max(*factor*cmp.Or(p.Factor, 0.1), p.Floor)
		*bad, *cooldown = 0, float64(p.Cooldown)
	}
	p.State = tensor.New(s)
}

// worst is a value that every metric improves.
func (p *Plateau) worst() float64 {
	if p.Maximize {
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// state returns the elements of State, or those before the first observation.
func (p *Plateau) state() []float64 {
	if !p.State.IsValid() {
		return []float64{1, p.worst(), 0, 0}
	}
	if p.State.DType() != tensor.Float64 || p.State.Len() != 4 {
		tensor.Internal.Misuse(graph.Token{}, "optim.Plateau", fmt.Sprintf("its State is %s, want four float64", describe(p.State)))
	}
	s, err := tensor.Data[float64](p.State)
	if err != nil {
		panic(err) // of the host's memory
	}
	return s
}
