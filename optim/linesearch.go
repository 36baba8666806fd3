package optim

import "math"

// A trial is a point along the direction of a line search, at length t from its start.
type trial[G any] struct {
	t, loss, slope float64 // slope is the derivative of the loss by t
	at             G       // the gradient there
}

// strongWolfe returns a trial with c1 and c2 of the strong Wolfe conditions, enough
// descent and a slope that is small enough: loss ≤ start.loss + c1·t·start.slope and
// |slope| ≤ c2·|start.slope|. It begins at length t, extends it until some shorter length
// must do, and narrows that bracket by cubic interpolation. size is the largest element of
// the direction: a bracket that moves no parameter by as much as 1e-9, or 25 evaluations,
// end the search with the best trial of the bracket.
//
// Source: Nocedal, Wright, "Numerical Optimization", 2006, algorithms 3.5 and 3.6, with
// the safeguards and numbers of PyTorch.
func strongWolfe[G any](start trial[G], t, size float64, eval func(t float64) (trial[G], error)) (best trial[G], evals int, err error) {
	const c1, c2, maxEvals, shortest = 1e-4, 0.9, 25, 1e-9
	descends := func(x trial[G]) bool { return x.loss <= start.loss+c1*x.t*start.slope }
	flat := func(x trial[G]) bool { return math.Abs(x.slope) <= -c2*start.slope }

	previous := start
	now, err := eval(t)
	if err != nil {
		return start, 1, err
	}
	low, high := start, now // the bracket
	n := 0
	for ; n < maxEvals; n++ {
		if !descends(now) || n > 1 && now.loss >= previous.loss || !flat(now) && now.slope >= 0 {
			low, high = previous, now
			break
		}
		if flat(now) {
			return now, n + 1, nil
		}
		next := interpolate(previous, now, now.t+0.01*(now.t-previous.t), 10*now.t)
		previous = now
		if now, err = eval(next); err != nil {
			return start, n + 2, err
		}
		high = now
	}

	if low.loss > high.loss {
		low, high = high, low
	}
	slow := false // the last trial was near an end of the bracket
	for ; n < maxEvals && math.Abs(high.t-low.t)*size >= shortest; n++ {
		left, right := min(low.t, high.t), max(low.t, high.t)
		t := interpolate(low, high, left, right)
		margin := 0.1 * (right - left)
		near := min(right-t, t-left) < margin
		if near && (slow || t >= right || t <= left) {
			if right-t < t-left {
				t = right - margin
			} else {
				t = left + margin
			}
			near = false
		}
		slow = near
		if now, err = eval(t); err != nil {
			return start, n + 2, err
		}
		switch {
		case !descends(now) || now.loss >= low.loss:
			high = now
			if low.loss > high.loss {
				low, high = high, low
			}
			continue
		case flat(now):
			return now, n + 2, nil
		case now.slope*(high.t-low.t) >= 0:
			high = low
		}
		low = now
	}
	return low, n + 1, nil
}

// interpolate returns where the cubic with the losses and slopes of two trials is least,
// between lo and hi, or the middle of these if it has no least value.
func interpolate[G any](a, b trial[G], lo, hi float64) float64 {
	if a.t > b.t {
		a, b = b, a
	}
	mean := a.slope + b.slope - 3*(a.loss-b.loss)/(a.t-b.t)
	root := math.Sqrt(mean*mean - a.slope*b.slope)
	t := b.t - (b.t-a.t)*(b.slope+root-mean)/(b.slope-a.slope+2*root)
	if math.IsNaN(t) {
		return (lo + hi) / 2
	}
	return min(max(t, lo), hi)
}
