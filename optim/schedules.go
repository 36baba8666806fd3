package optim

import (
	"fmt"
	"math"
	"sort"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// StepDecay returns a schedule that multiplies the rate by factor at the steps every, 2·every,
// 3·every and so on.
func StepDecay(every int, factor float64) func(step int) float64 {
	checkSteps("StepDecay", every)
	must("StepDecay", "the factor", factor, limits.NotNegative)
	return func(step int) float64 { return math.Pow(factor, float64(step/every)) }
}

// MultiStep returns a schedule that multiplies the rate by factor at each of the steps,
// which ascend.
func MultiStep(factor float64, at ...int) func(step int) float64 {
	must("MultiStep", "the factor", factor, limits.NotNegative)
	if !sort.IntsAreSorted(at) {
		tensor.Internal.Misuse(graph.Token{}, "optim.MultiStep", fmt.Sprintf("the steps %v do not ascend", at))
	}
	return func(step int) float64 { return math.Pow(factor, float64(sort.SearchInts(at, step+1))) }
}

// Exponential returns a schedule that multiplies the rate by factor after each step.
func Exponential(factor float64) func(step int) float64 {
	must("Exponential", "the factor", factor, limits.NotNegative)
	return StepDecay(1, factor)
}

// Polynomial returns a schedule that falls from 1 to 0 in the given number of steps, as
// (1 - step/steps) to a power, and stays there.
func Polynomial(steps int, power float64) func(step int) float64 {
	must("Polynomial", "the number of steps", float64(steps), limits.NotNegative)
	must("Polynomial", "the power", power, limits.NotNegative)
	return func(step int) float64 { return math.Pow(1-progress(step, steps), power) }
}

// Constant returns a schedule that is factor for the given number of steps, and then 1.
func Constant(steps int, factor float64) func(step int) float64 {
	must("Constant", "the number of steps", float64(steps), limits.NotNegative)
	must("Constant", "the factor", factor, limits.NotNegative)
	return Sequence(func(int) float64 { return factor }, steps, nil)
}

// Rise returns a schedule that rises linearly from start to 1 in the given number of
// steps. From there it follows the schedule then, whose steps count from 0; if
// then is nil, the rate stays at 1.
//
// Rise(1/n, n, then) differs from [Warmup](n, then) by one step: it reaches 1 at step n,
// as PyTorch's LinearLR does, and Warmup at step n-1.
func Rise(start float64, steps int, then func(step int) float64) func(step int) float64 {
	must("Rise", "the number of steps", float64(steps), limits.NotNegative)
	must("Rise", "the start", start, limits.NotNegative)
	return Sequence(func(step int) float64 { return between(start, 1, progress(step, steps)) }, steps, then)
}

// Sequence returns a schedule that follows first for the given number of steps. From there
// it follows then, whose steps count from 0; if then is nil, the rate stays at 1.
func Sequence(first func(step int) float64, steps int, then func(step int) float64) func(step int) float64 {
	must("Sequence", "the number of steps", float64(steps), limits.NotNegative)
	if first == nil {
		tensor.Internal.Misuse(graph.Token{}, "optim.Sequence", "the first schedule is nil: want a function")
	}
	return func(step int) float64 {
		switch {
		case step < steps:
			return first(step)
		case then == nil:
			return 1
		}
		return then(step - steps)
	}
}

// WarmRestarts returns a schedule of [Cosine] waves from 1 to floor. The first takes the
// given number of steps, and each later one growth times as many as the one before.
//
// Source: Loshchilov, Hutter, "SGDR: Stochastic Gradient Descent with Warm
// Restarts", 2017.
func WarmRestarts(steps, growth int, floor float64) func(step int) float64 {
	checkSteps("WarmRestarts", steps)
	checkSteps("WarmRestarts", growth)
	must("WarmRestarts", "the floor", floor, limits.NotNegative)
	return func(step int) float64 {
		if growth == 1 {
			return Cosine(steps, floor)(step % steps)
		}
		length := steps
		for step >= length {
			step -= length
			length = min(length, math.MaxInt/growth) * growth // the last wave has no end
		}
		return Cosine(length, floor)(step)
	}
}

// OneCycle returns a schedule of a rise from 1/25 to 1 in the first 30 % of the steps,
// and a fall to 1/250,000 in the others, both along half a cosine wave.
//
// Source: Smith, Topin, "Super-Convergence: Very Fast Training of Neural Networks Using
// Large Learning Rates", 2018, with PyTorch's numbers.
func OneCycle(steps int) func(step int) float64 {
	checkSteps("OneCycle", steps)
	const start, end, rising = 1. / 25, 1. / 25 / 1e4, 0.3
	top, last := rising*float64(steps)-1, float64(steps-1)
	return func(step int) float64 {
		s := min(float64(step), last)
		if s <= top {
			return wave(start, 1, s/top)
		}
		return wave(1, end, (s-top)/(last-top))
	}
}

// checkSteps panics on behalf of op unless n is positive.
func checkSteps(op string, n int) {
	must(op, "the number of steps", float64(n), limits.Count)
}
