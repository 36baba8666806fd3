package optim

import (
	"math"

	"github.com/tensorken/tensorken/internal/limits"
)

// Cosine returns a schedule that falls from 1 to floor along half a cosine wave in the
// given number of steps, and stays there.
//
// Source: Loshchilov, Hutter, "SGDR: Stochastic Gradient Descent with Warm
// Restarts", 2017.
func Cosine(steps int, floor float64) func(step int) float64 {
	checkFall("Cosine", steps, floor)
	return func(step int) float64 {
		return wave(1, floor, progress(step, steps))
	}
}

// Linear returns a schedule that falls linearly from 1 to floor in the given number
// of steps, and stays there.
func Linear(steps int, floor float64) func(step int) float64 {
	checkFall("Linear", steps, floor)
	return func(step int) float64 { return between(1, floor, progress(step, steps)) }
}

// Warmup returns a schedule that rises linearly from 1/steps to 1 in the given number
// of steps. After them it follows then, counted from 0; a nil then stays at 1.
func Warmup(steps int, then func(step int) float64) func(step int) float64 {
	must("Warmup", "the number of steps", float64(steps), limits.NotNegative)
	return Sequence(func(step int) float64 { return float64(step+1) / float64(steps) }, steps, then)
}

// checkFall panics on behalf of op unless a schedule can fall to floor in a number of steps.
func checkFall(op string, n int, floor float64) {
	must(op, "the number of steps", float64(n), limits.NotNegative)
	must(op, "the floor", floor, limits.NotNegative)
}

// progress returns the share of the steps done, from 0 to 1.
func progress(step, steps int) float64 {
	if step >= steps {
		return 1
	}
	return float64(step) / float64(steps)
}

// between returns a number on the line from one at share 0 to another at share 1, both exactly.
func between(from, to, share float64) float64 { return from*(1-share) + to*share }

// wave is between along half a cosine wave.
func wave(from, to, share float64) float64 {
	return between(from, to, (1-math.Cos(math.Pi*share))/2)
}
