package shape

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// The functions of this file resolve axes as users write them. Errors state the mistake in
// a few words; the caller adds the name of the call.

// AxisOf returns axis, negative from the end, as one in [0, rank).
func AxisOf(axis, rank int) (int, error) {
	a := axis
	if a < 0 {
		a += rank
	}
	if a < 0 || a >= rank {
		return 0, fmt.Errorf("axis %d is out of range for rank %d", axis, rank)
	}
	return a, nil
}

// Axes returns axes, negative from the end, as distinct ascending ones in
// [0, rank).
func Axes(axes []int, rank int) ([]int, error) {
	out := make([]int, len(axes))
	for i, axis := range axes {
		a, err := AxisOf(axis, rank)
		if err != nil {
			return nil, err
		}
		out[i] = a
	}
	slices.Sort(out)
	for i := 1; i < len(out); i++ {
		if out[i] == out[i-1] {
			return nil, fmt.Errorf("axis %d is named twice", out[i])
		}
	}
	return out, nil
}

// All returns 0, 1, …, rank-1.
func All(rank int) []int {
	out := make([]int, rank)
	for i := range out {
		out[i] = i
	}
	return out
}

// Order returns axes, negative from the end, as a permutation of [0, rank).
func Order(axes []int, rank int) ([]int, error) {
	if len(axes) != rank {
		return nil, fmt.Errorf("%s for rank %d", Count(len(axes), "axis"), rank)
	}
	if _, err := Axes(axes, rank); err != nil {
		return nil, err
	}
	out := make([]int, rank)
	for i, axis := range axes {
		out[i], _ = AxisOf(axis, rank)
	}
	return out, nil
}

// Infer returns shape with its one -1, if any, replaced by the length that
// gives n elements.
func Infer(shape []int, n int) ([]int, error) {
	out := slices.Clone(shape)
	hole := -1
	for i, d := range shape {
		if d != -1 {
			continue
		}
		if hole >= 0 {
			return nil, errors.New("more than one length of -1")
		}
		hole, out[i] = i, 1
	}
	if err := Check(out); err != nil {
		return nil, err
	}
	known := 1
	for _, d := range out {
		known *= d
	}
	switch {
	case hole < 0 && known != n:
		return nil, fmt.Errorf("%s cannot make %d", Count(n, "element"), known)
	case hole >= 0 && known == 0:
		return nil, errors.New("-1 beside a length of 0 could be anything")
	case hole >= 0 && n%known != 0:
		return nil, fmt.Errorf("%s cannot make a multiple of %d", Count(n, "element"), known)
	case hole >= 0:
		out[hole] = n / known
	}
	return out, nil
}

// Without returns shape without axes, which are ascending.
func Without(shape, axes []int) []int {
	out := make([]int, 0, len(shape)-len(axes))
	for i, d := range shape {
		if len(axes) > 0 && axes[0] == i {
			axes = axes[1:]
			continue
		}
		out = append(out, d)
	}
	return out
}

// WithOnes returns shape with axes of length 1 put in, so that they are at
// the ascending positions axes of the result.
func WithOnes(shape, axes []int) []int {
	out := make([]int, 0, len(shape)+len(axes))
	for len(out) < cap(out) {
		if len(axes) > 0 && axes[0] == len(out) {
			out, axes = append(out, 1), axes[1:]
			continue
		}
		out, shape = append(out, shape[0]), shape[1:]
	}
	return out
}

// With returns shape with axis of length n.
func With(shape []int, axis, n int) []int {
	out := slices.Clone(shape)
	out[axis] = n
	return out
}

// End as a stop means past the last element, or before the first where the
// step is negative.
const End = math.MaxInt

// IndexOf returns i, negative from the end, as one in [0, n).
func IndexOf(i, n int) (int, error) {
	j := i
	if j < 0 {
		j += n
	}
	if j < 0 || j >= n {
		return 0, fmt.Errorf("index %d is out of range for length %d", i, n)
	}
	return j, nil
}

// Steps resolves a range of an axis of length n: the elements from start up
// to but not including stop, step apart; backwards if step is negative. Both
// ends count from the end if negative, and nothing is clamped. It returns the
// position of the first element and how many there are.
func Steps(start, stop, step, n int) (first, count int, err error) {
	lo, hi := 0, n // where both ends may be
	if step < 0 {
		lo, hi = -1, n-1
	}
	switch {
	case step == 0:
		return 0, 0, errors.New("a step of 0")
	case step > 0 && start == End:
		start = n
	case start < 0 && !(step < 0 && n == 0 && start == -1):
		start += n
		if start < 0 {
			return 0, 0, outside("start", start-n, n)
		}
	}
	switch {
	case stop == End && step > 0:
		stop = n
	case stop == End:
		stop = -1
	case stop < 0:
		stop += n
		if stop < 0 {
			return 0, 0, outside("stop", stop-n, n)
		}
	}
	switch {
	case start < lo || start > hi:
		return 0, 0, outside("start", start, n)
	case stop < lo || stop > hi:
		return 0, 0, outside("stop", stop, n)
	case step > 0 && start > stop:
		return 0, 0, fmt.Errorf("start %d is after stop %d", start, stop)
	case step < 0 && start < stop:
		return 0, 0, fmt.Errorf("start %d is before stop %d, and the step is %d", start, stop, step)
	}
	distance := max(stop-start, start-stop)
	if distance == 0 {
		return start, 0, nil
	}
	return start, (distance-1)/max(step, -step) + 1, nil
}

func outside(what string, i, n int) error {
	return fmt.Errorf("%s %d is out of range for length %d", what, i, n)
}

// Windows returns how many windows of size elements, dilation apart, fit into
// n elements when each starts stride after the last; 0 if none does.
func Windows(n, size, stride, dilation int) int {
	if n == 0 || size-1 > (n-1)/dilation {
		return 0
	}
	return (n-1-(size-1)*dilation)/stride + 1
}
