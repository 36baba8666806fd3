package optim

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// LBFGS is the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno, with a line
// search for the strong Wolfe conditions. It is for losses without randomness, such as the
// loss of all the data, and runs by [Minimize]. Zero settings are PyTorch's.
//
// Source: Nocedal, Wright, "Numerical Optimization", 2006, algorithm 7.4.
type LBFGS struct {
	LR        float64 // the first length of a step to try; 0 is 1
	MaxIter   int     // the most iterations of a call; 0 is 20
	MaxEval   int     // evaluations after which a call begins no iteration; 0 is MaxIter·5/4
	TolGrad   float64 // a call ends if no element of the gradient is larger; 0 is 1e-7
	TolChange float64 // a call ends if the loss, or every element, changes by less; 0 is 1e-9
	History   int     // the number of steps that it remembers; 0 is 100
	State     LBFGSState
}

// LBFGSState is the memory of an [LBFGS]: its last steps and the changes of the gradient in
// them, as rows, and their products. It is a tree, which is saved and loaded as a model is. It
// grows with the number of steps, up to History.
type LBFGSState struct {
	Pairs  tensor.Tensor `tensor:",optional"` // the number of pairs so far: one int32
	S, Y   tensor.Tensor `tensor:",optional"` // [capacity n], of a model with n elements
	SY, YY tensor.Tensor `tensor:",optional"` // [capacity capacity]
}

// Minimize sets *m to a model with a smaller loss, by up to MaxIter iterations of o, and
// returns that loss. A second call continues with the State of the first; for another model
// or loss State must be LBFGSState{}. Each iteration reads the loss about once, so the
// device waits for the host. Minimize fails if the loss, the gradient of *m or its square is not
// finite; *m then stays as it was.
func Minimize[M any](o *LBFGS, m *M, loss func(M) tensor.Tensor) (final float64, err error) {
	defer tensor.Catch(&err)
	switch {
	case o == nil || m == nil || loss == nil:
		return 0, errors.New("optim: Minimize: the *LBFGS, the model or the loss is nil")
	case checkSettings(o) != nil:
		return 0, fmt.Errorf("optim: Minimize: %w", checkSettings(o))
	}
	p, err := newProblem(*m, loss)
	if err != nil {
		return 0, err
	}
	now, err := p.eval(p.start.Mul(0), 0)
	if err != nil {
		return 0, err
	}
	if math.IsInf(now.loss, 0) || math.IsNaN(now.at.sum) || math.IsInf(now.at.sum, 0) {
		return 0, fmt.Errorf("optim: Minimize: the loss is %v and its gradient has size %v: want finite ones at the start", now.loss, now.at.sum)
	}
	h, err := newHistory(o, p.start)
	if err != nil {
		return 0, err
	}
	now, moved, err := iterate(o, p, h, now)
	if err != nil {
		return 0, err
	}
	if !moved {
		return now.loss, nil
	}
	if math.IsInf(now.loss, 0) {
		return 0, fmt.Errorf("optim: Minimize: the loss falls to %v: want one with a least value", now.loss)
	}
	next, err := p.model(now.at.params)
	if err != nil {
		return 0, err
	}
	if err := tensor.Eval(next); err != nil {
		return 0, err
	}
	*m, o.State = next, h.state()
	return now.loss, nil
}

// iterate descends from a trial by the iterations of a call. It returns the last trial, and whether
// there was an iteration. It moves p's start, and adds the steps to the history.
func iterate[M any](o *LBFGS, p *problem[M], h *history, now trial[evaluation]) (last trial[evaluation], moved bool, err error) {
	maxIter, change := cmp.Or(o.MaxIter, 20), cmp.Or(o.TolChange, 1e-9)
	evals := 1
	for n := 0; n < maxIter && evals < cmp.Or(o.MaxEval, maxIter*5/4) && now.at.largest > cmp.Or(o.TolGrad, 1e-7); n++ {
		length := cmp.Or(o.LR, 1)
		if h.pairs == 0 {
			length *= min(1, 1/now.at.sum)
		}
		direction, slope, size, err := h.direction(now.at.gradient)
		if err != nil {
			return now, moved, err
		}
		if slope > -change || moved && math.IsInf(slope, 0) {
			break
		}
		if math.IsInf(slope, 0) {
			return now, moved, fmt.Errorf("optim: Minimize: the gradient has size %v, and %v lacks its square: divide the loss", now.at.largest, now.at.params.DType())
		}
		start := now
		start.t, start.slope = 0, slope
		p.start = now.at.params
		var used int
		now, used, err = strongWolfe(start, length, size, func(t float64) (trial[evaluation], error) { return p.eval(direction, t) })
		if err != nil {
			return now, moved, err
		}
		evals, moved = evals+used, true
		if err := h.push(direction.Mul(now.t), now.at.gradient.Sub(start.at.gradient)); err != nil {
			return now, moved, err
		}
		if size*now.t <= change || math.Abs(now.loss-start.loss) < change {
			break
		}
	}
	return now, moved, nil
}

// An evaluation is the gradient of the loss at a point. largest and sum are of its elements'
// absolute values.
type evaluation struct {
	params, gradient tensor.Tensor // [n]
	largest, sum     float64
}

// A history is the State of an LBFGS during a call.
type history struct {
	maxRows      int           // the History of the LBFGS
	pairs        int           // the number of pairs so far: pair k is in row k mod maxRows
	s, y, sy, yy tensor.Tensor // see LBFGSState
}

func newHistory(o *LBFGS, params tensor.Tensor) (*history, error) {
	h := &history{maxRows: cmp.Or(o.History, 100), s: o.State.S, y: o.State.Y, sy: o.State.SY, yy: o.State.YY}
	if !o.State.Pairs.IsValid() {
		return h, nil
	}
	n, err := State{Step: o.State.Pairs}.step()
	if err != nil {
		return nil, errors.New("optim: Minimize: the State's Pairs are no number")
	}
	h.pairs = n
	rows := 0
	if h.s.IsValid() && h.s.Rank() == 2 {
		rows = h.s.Dim(0)
	}
	row := tensor.ZerosOf(params.DType(), rows, params.Len())
	square := tensor.ZerosOf(params.DType(), rows, rows)
	if rows < min(n, h.maxRows) || rows > h.maxRows || !sameForm(h.s, row) || !sameForm(h.y, row) || !sameForm(h.sy, square) || !sameForm(h.yy, square) {
		return nil, fmt.Errorf("optim: Minimize: the State has rows %s, which do not fit a model of %s and a History of %d: LBFGSState{} starts over",
			describe(h.s), describe(params), h.maxRows)
	}
	return h, nil
}

func (h *history) state() LBFGSState {
	return LBFGSState{Pairs: tensor.New([]int32{int32(h.pairs)}), S: h.s, Y: h.y, SY: h.sy, YY: h.yy}
}

// push adds a pair, a step s and the change y of the gradient in it, unless the loss has no
// curvature along the step. It replaces the oldest pair if there are maxRows.
func (h *history) push(s, y tensor.Tensor) error {
	if !(s.Mul(y).Sum().Item() > 1e-10) {
		return nil
	}
	h.grow(s)
	row := h.pairs % h.maxRows
	rows := h.s.Dim(0)
	here := tensor.Arange(rows).Eq(row)
	down, right := here.Reshape(rows, 1), here.Reshape(1, rows)
	h.s, h.y = tensor.Where(down, s.Unsqueeze(0), h.s), tensor.Where(down, y.Unsqueeze(0), h.y)
	times := func(m, v tensor.Tensor) tensor.Tensor { return m.MatMul(v.Unsqueeze(1)) } // [rows 1]
	yy := times(h.y, y)
	h.sy = tensor.Where(down, times(h.y, s).T(), tensor.Where(right, times(h.s, y), h.sy))
	h.yy = tensor.Where(down, yy.T(), tensor.Where(right, yy, h.yy))
	h.pairs++
	return tensor.Eval(h.s, h.y, h.sy, h.yy)
}

// grow doubles the number of rows when all are in use, so that there are few shapes and few plans.
func (h *history) grow(like tensor.Tensor) {
	d, n := like.DType(), like.Len()
	if !h.s.IsValid() {
		rows := min(8, h.maxRows)
		h.s, h.y = tensor.ZerosOf(d, rows, n), tensor.ZerosOf(d, rows, n)
		h.sy, h.yy = tensor.ZerosOf(d, rows, rows), tensor.ZerosOf(d, rows, rows)
	}
	rows := h.s.Dim(0)
	if h.pairs < rows || rows == h.maxRows {
		return
	}
	more := min(rows, h.maxRows-rows)
	h.s, h.y = h.s.Pad(0, 0, more), h.y.Pad(0, 0, more)
	h.sy, h.yy = h.sy.Pad(0, 0, more).Pad(1, 0, more), h.yy.Pad(0, 0, more).Pad(1, 0, more)
}

// direction returns d = -H·g, where H is the inverse Hessian that the history implies; the
// slope d·g; and the size of d, its largest absolute element.
//
// The direction is a linear combination of g and the rows. The two loops of the algorithm
// compute its coefficients on the host, from products of rows: Chen, Wang, Zhou,
// "Large-scale L-BFGS using MapReduce", 2014.
func (h *history) direction(g tensor.Tensor) (d tensor.Tensor, slope, size float64, err error) {
	d = g.Neg()
	if h.pairs > 0 {
		d, err = h.product(g)
		if err != nil {
			return d, 0, 0, err
		}
	}
	scalars, err := numbers(d.Mul(g).Sum(), d.Abs().Max())
	if err != nil {
		return d, 0, 0, err
	}
	return d, scalars[0], scalars[1], tensor.Eval(d)
}

// product returns -H·g for a history with pairs.
func (h *history) product(g tensor.Tensor) (tensor.Tensor, error) {
	rows := h.s.Dim(0)
	column := g.Unsqueeze(1)
	all, err := numbers(h.sy.Reshape(-1), h.yy.Reshape(-1), h.s.MatMul(column).Reshape(-1), h.y.MatMul(column).Reshape(-1))
	if err != nil {
		return tensor.Tensor{}, err
	}
	n := rows * rows
	sy, yy, sg, yg := all[:n], all[n:2*n], all[2*n:2*n+rows], all[2*n+rows:]
	var order []int // of rows, from the oldest
	for k := max(0, h.pairs-min(rows, h.maxRows)); k < h.pairs; k++ {
		order = append(order, k%h.maxRows)
	}
	// The direction is -γ·g + inS·S + inY·Y. The first loop computes -g + inY·Y, before γ is known.
	inS, inY := make([]float64, rows), make([]float64, rows)
	alpha := make([]float64, rows)
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		product := -sg[i]
		for _, j := range order[k+1:] {
			product += inY[j] * sy[i*rows+j]
		}
		alpha[i] = product / sy[i*rows+i]
		inY[i] = -alpha[i]
	}
	last := order[len(order)-1] * (rows + 1)
	gamma := sy[last] / yy[last]
	for _, i := range order {
		inY[i] *= gamma
	}
	for k, i := range order {
		product := -gamma * yg[i]
		for _, j := range order {
			product += inY[j] * yy[i*rows+j]
		}
		for _, j := range order[:k] {
			product += inS[j] * sy[j*rows+i]
		}
		inS[i] = alpha[i] - product/sy[i*rows+i]
	}
	combine := func(weights []float64, m tensor.Tensor) tensor.Tensor {
		return tensor.New(weights, 1, rows).Cast(m.DType()).MatMul(m).Reshape(-1)
	}
	return combine(inS, h.s).Add(combine(inY, h.y)).Sub(g.Mul(gamma)), nil
}

// numbers reads tensors of one type, all at once.
func numbers(ts ...tensor.Tensor) ([]float64, error) {
	for i, t := range ts {
		ts[i] = t.Reshape(-1)
	}
	all := tensor.Cat(0, ts...)
	if all.DType() == tensor.Float64 {
		return tensor.Data[float64](all)
	}
	narrow, err := tensor.Data[float32](all.Cast(tensor.Float32))
	wide := make([]float64, len(narrow))
	for i, x := range narrow {
		wide[i] = float64(x)
	}
	return wide, err
}
