package ml

import (
	"math"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Linear has the linear models and support vector machines.
var Linear = []op.Row{
	op.New("LinearClassifier", linearClassifier).Of(domain),
	op.New("LinearRegressor", op.One(linearRegressor)).Of(domain),
	op.New("SVMClassifier", svmClassifier).Of(domain),
	op.New("SVMRegressor", op.One(svmRegressor)).Of(domain),
}

// transform applies a post_transform to scores.
func transform(c *op.Call, y T, name string) T {
	switch name {
	case "NONE":
		return y
	case "SOFTMAX":
		return y.Softmax(-1)
	case "LOGISTIC":
		return y.Sigmoid()
	case "SOFTMAX_ZERO": // scores of 0 stay 0
		e := tensor.Where(y.Eq(0), tensor.ZerosLike(y), y.Sub(y.Max(-1)).Exp())
		return e.Div(e.Sum(-1))
	case "PROBIT":
		return y.Mul(2).Sub(1).ErfInv().Mul(math.Sqrt2)
	}
	c.Fail("there is no post_transform %q", name)
	return y
}

// labelsOf returns the classes of a classifier.
func labelsOf(c *op.Call) column {
	for _, names := range [][2]string{{"classlabels_strings", "classlabels_int64s"}, {"", "classlabels_ints"}} {
		if a := c.Attr(names[0]); a != nil && len(a.Strings) > 0 {
			return column{strings: a.Strings}
		}
		if a := c.Attr(names[1]); a != nil && len(a.Ints) > 0 {
			return column{ints: a.Ints}
		}
	}
	c.Fail("it has no class labels")
	return column{}
}

// choose returns the labels at positions.
func choose(c *op.Call, labels column, at T) op.Value {
	if labels.ints != nil {
		return op.Of(tensor.New(labels.ints, len(labels.ints)).Take(0, at))
	}
	d := *c
	d.In = []op.Value{op.Of(at)}
	out := make([]string, at.Len())
	for i, p := range d.Ints(0) {
		out[i] = labels.strings[p]
	}
	return op.Texts(out, at.Shape()...)
}

// classify returns the label of the greatest score, and the scores after the transformation.
func classify(c *op.Call, labels column, y T) []op.Value {
	return []op.Value{choose(c, labels, y.ArgMax(-1)), op.Of(transform(c, y, c.String("post_transform", "NONE")).Cast(tensor.Float32))}
}

// binary is classify of the score of the second of two classes, [rows 1]. Positive scores are probabilities. The
// first class has 1 less them, or less any score if complement is set; else, and always before LOGISTIC and PROBIT,
// their opposite.
func binary(c *op.Call, labels column, y T, positive, complement bool) []op.Value {
	limit := 0.0
	if positive {
		limit = 0.5
	}
	label := choose(c, labels, y.Gt(limit).Cast(tensor.Int32).Squeeze(-1))
	post := c.String("post_transform", "NONE")
	first := y.Neg()
	if post != "LOGISTIC" && post != "PROBIT" {
		if post = "NONE"; positive || complement {
			first = first.Add(1)
		}
	}
	return []op.Value{label, op.Of(transform(c, tensor.Cat(-1, first, y), post).Cast(tensor.Float32))}
}

// products returns x times the rows of coefficients, plus intercepts.
func products(c *op.Call, targets int) T {
	x := features(c)
	w := floatsOf(c, "coefficients")
	if targets < 1 || len(w)%targets != 0 {
		c.Fail("%d coefficients for %d targets", len(w), targets)
	}
	y := x.MatMul(tensor.New(w, targets, len(w)/targets).Cast(x.DType()).T())
	return addBase(c, y, "intercepts")
}

func linearRegressor(c *op.Call) T {
	return transform(c, products(c, c.Int("targets", 1)), c.String("post_transform", "NONE")).Cast(tensor.Float32)
}

func linearClassifier(c *op.Call) []op.Value {
	labels := labelsOf(c)
	rows := labels.len()
	if width := features(c).Dim(-1); rows == 2 && len(floatsOf(c, "coefficients")) == width { // of the second class
		rows = 1
	}
	y := products(c, rows)
	if rows == 1 && labels.len() == 2 {
		return binary(c, labels, y, false, true)
	}
	return classify(c, labels, y)
}

// kernel returns the similarities of rows of x with rows of w, [rows of x, rows of w].
func kernel(c *op.Call, x, w T) T {
	p := floatsOf(c, "kernel_params")
	p = append(p, make([]float64, max(3-len(p), 0))...) // gamma, coef0, degree
	switch name := c.String("kernel_type", "LINEAR"); name {
	case "LINEAR":
		return x.MatMul(w.T())
	case "POLY":
		return x.MatMul(w.T()).Mul(p[0]).Add(p[1]).Pow(p[2])
	case "SIGMOID":
		return x.MatMul(w.T()).Mul(p[0]).Add(p[1]).Tanh()
	case "RBF":
		return x.Unsqueeze(1).Sub(w).Square().Sum(-1).Squeeze(-1).Mul(-p[0]).Exp()
	default:
		c.Fail("there is no kernel_type %q", name)
		return T{}
	}
}

// vectors returns the support vectors, as rows.
func vectors(c *op.Call, n int, d tensor.DType) T {
	v := floatsOf(c, "support_vectors")
	if n < 1 || len(v)%n != 0 {
		c.Fail("%d elements for %d support vectors", len(v), n)
	}
	return tensor.New(v, n, len(v)/n).Cast(d)
}

func svmRegressor(c *op.Call) T {
	x := features(c)
	coefficients := floatsOf(c, "coefficients")
	rho := floatsOf(c, "rho")
	n := c.Int("n_supports", 0)
	var y T
	if n > 0 {
		y = kernel(c, x, vectors(c, n, x.DType())).MatMul(tensor.New(coefficients, n, 1).Cast(x.DType()))
	} else {
		y = kernel(c, x, tensor.New(coefficients, 1, len(coefficients)).Cast(x.DType()))
	}
	if len(rho) > 0 {
		y = y.Add(rho[0])
	}
	if c.Bool("one_class", false) {
		y = tensor.Where(y.Gt(0), tensor.OnesLike(y), tensor.OnesLike(y).Neg())
	}
	return transform(c, y, c.String("post_transform", "NONE")).Cast(tensor.Float32)
}

// svmClassifier votes between each two classes, by libsvm's layout of coefficients. Without support
// vectors it is linear.
func svmClassifier(c *op.Call) []op.Value {
	x, labels := features(c), labelsOf(c)
	d := x.DType()
	coefficients, rho := floatsOf(c, "coefficients"), floatsOf(c, "rho")
	per := c.IntsAttr("vectors_per_class")
	if len(per) == 0 {
		k := labels.len()
		y := kernel(c, x, tensor.New(coefficients, k, len(coefficients)/k).Cast(d))
		if len(rho) > 0 {
			y = y.Add(rho[0])
		}
		return classify(c, labels, y)
	}
	n := 0
	starts := make([]int, len(per)+1)
	for i, m := range per {
		if m < 0 {
			c.Fail("%d vectors of a class", m)
		}
		n += m
		starts[i+1] = n
	}
	k := kernel(c, x, vectors(c, n, d))
	if len(coefficients) != n*(len(per)-1) || len(rho) < len(per)*(len(per)-1)/2 || labels.len() != len(per) {
		c.Fail("%d coefficients, %d offsets and %d classes", len(coefficients), len(rho), len(per))
	}
	part := func(class, row int) T { // of the products of a class's vectors
		from, to := starts[class], starts[class+1]
		w := tensor.New(coefficients[row*n+from:row*n+to], to-from, 1).Cast(d)
		return k.Slice(1, from, to).MatMul(w)
	}
	votes := make([]T, len(per))
	for i := range votes {
		votes[i] = tensor.ZerosOf(d, x.Dim(0), 1)
	}
	var scores []T
	for i := range per {
		for j := i + 1; j < len(per); j++ {
			s := part(i, j-1).Add(part(j, i)).Add(rho[len(scores)])
			scores = append(scores, s)
			won := s.Gt(0).Cast(d)
			votes[i], votes[j] = votes[i].Add(won), votes[j].Add(won.Neg().Add(1))
		}
	}
	label := choose(c, labels, tensor.Cat(1, votes...).ArgMax(1)) // with probabilities too, as libsvm
	y, post := tensor.Cat(1, scores...), c.String("post_transform", "NONE")
	switch a, b := floatsOf(c, "prob_a"), floatsOf(c, "prob_b"); {
	case len(a) > 0 && len(a) == len(scores) && len(b) == len(a):
		y = coupled(c, labels.len(), y, a, b)
	case len(scores) == 1 && post != "NONE" && post != "LOGISTIC":
		y, post = tensor.Cat(1, y.Neg().Add(1), y), "NONE"
	case len(scores) == 1:
		y = tensor.Cat(1, y.Neg(), y)
	}
	return []op.Value{label, op.Of(transform(c, y, post).Cast(tensor.Float32))}
}

// coupled returns probabilities of classes from scores between each two, after Wu, Lin and Weng, "Probability
// Estimates for Multi-class Classification by Pairwise Coupling", 2004, on the host.
func coupled(c *op.Call, n int, scores T, a, b []float64) T {
	d := *c
	d.In = []op.Value{op.Of(scores)}
	all := d.Floats(0)
	rows := len(all) / len(a)
	out := make([]float32, 0, rows*n)
	for ; len(all) > 0; all = all[len(a):] {
		r := make([][]float64, n) // the probability of i rather than j
		for i := range r {
			r[i] = make([]float64, n)
		}
		k := 0
		for i := range n {
			for j := i + 1; j < n; j++ {
				p := 1 / (1 + math.Exp(all[k]*a[k]+b[k]))
				p = min(max(p, 1e-7), 1-1e-7)
				r[i][j], r[j][i] = p, 1-p
				k++
			}
		}
		for _, p := range couple(r) {
			out = append(out, float32(p))
		}
	}
	return tensor.New(out, rows, n)
}

// couple iterates the second of the paper's methods, as far as libsvm does.
func couple(r [][]float64) []float64 {
	n := len(r)
	p, q := make([]float64, n), make([][]float64, n)
	for i := range q {
		p[i], q[i] = 1/float64(n), make([]float64, n)
		for j := range n {
			if j != i {
				q[i][i] += r[j][i] * r[j][i]
				q[i][j] = -r[j][i] * r[i][j]
			}
		}
	}
	for range max(100, n) {
		qp, all := make([]float64, n), 0.0 // the products q·p and p·q·p
		for i := range n {
			for j := range n {
				qp[i] += q[i][j] * p[j]
			}
			all += p[i] * qp[i]
		}
		worst := 0.0
		for _, x := range qp {
			worst = max(worst, math.Abs(x-all))
		}
		if worst < 0.005/float64(n) {
			break
		}
		for t := range n {
			step := (all - qp[t]) / q[t][t]
			p[t] += step
			all = (all + step*(step*q[t][t]+2*qp[t])) / (1 + step) / (1 + step)
			for j := range n {
				qp[j] = (qp[j] + step*q[t][j]) / (1 + step)
				p[j] /= 1 + step
			}
		}
	}
	return p
}
