package ml

import (
	"math"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Trees has the ensembles of decision trees.
var Trees = []op.Row{
	op.New("TreeEnsemble", op.One(treeEnsemble)).Of(domain),
	op.New("TreeEnsembleClassifier", treeClassifier).Of(domain),
	op.New("TreeEnsembleRegressor", op.One(treeRegressor)).Of(domain),
}

// Modes of nodes, by the codes of version 5.
const (
	leq = iota
	lt
	gte
	gt
	eq
	neq
	member
)

// modeNames has the names of older versions.
var modeNames = map[string]int{"BRANCH_LEQ": leq, "BRANCH_LT": lt, "BRANCH_GTE": gte, "BRANCH_GT": gt, "BRANCH_EQ": eq, "BRANCH_NEQ": neq}

// A forest is trees in one list of nodes, the leaves among them. A leaf leads to itself, so that all rows
// walk as many steps as the deepest tree has.
type forest struct {
	feature, mode, yes, no []int32
	split                  []float64
	missingYes             []bool
	sets                   map[int32][]float64 // of the members of a node
	roots                  []int32
	weights                []map[int]float64 // of a leaf, by target
	targets                int
}

// add adds a node that is a leaf until it is changed.
func (f *forest) add() int32 {
	i := int32(len(f.feature))
	f.feature, f.mode, f.split = append(f.feature, 0), append(f.mode, leq), append(f.split, 0)
	f.yes, f.no, f.missingYes = append(f.yes, i), append(f.no, i), append(f.missingYes, false)
	f.weights = append(f.weights, nil)
	return i
}

// depth returns the length of the longest path, or -1 if a path does not end.
func (f *forest) depth() int {
	level := append([]int32{}, f.roots...)
	for d := range len(f.feature) + 1 {
		seen := map[int32]bool{}
		var next []int32
		for _, n := range level {
			for _, m := range []int32{f.yes[n], f.no[n]} {
				if m != n && !seen[m] {
					seen[m] = true
					next = append(next, m)
				}
			}
		}
		if len(next) == 0 {
			return d
		}
		level = next
	}
	return -1
}

// leaves returns the leaf of each row in each tree.
func (f *forest) leaves(c *op.Call, x T) T {
	steps := f.depth()
	if steps < 0 {
		c.Fail("a tree has a cycle")
	}
	for _, k := range f.feature {
		if k < 0 || int(k) >= x.Dim(1) {
			c.Fail("a tree asks for feature %d of %d", k, x.Dim(1))
		}
	}
	ints := func(v []int32) T { return tensor.New(v, len(v)) }
	feature, mode, yes, no := ints(f.feature), ints(f.mode), ints(f.yes), ints(f.no)
	split := tensor.New(f.split, len(f.split)).Cast(x.DType())
	at := ints(f.roots).Unsqueeze(0).Expand(x.Dim(0), len(f.roots))
	for range steps {
		v := x.TakeAlong(1, feature.Take(0, at))
		m := mode.Take(0, at)
		cond := f.holds(x, v, split.Take(0, at), m, at)
		if missing := v.IsNaN(); f.tracksMissing() {
			flags := tensor.New(f.missingYes, len(f.missingYes)).Take(0, at)
			cond = cond.Or(missing.And(flags))
		}
		at = tensor.Where(cond, yes.Take(0, at), no.Take(0, at))
	}
	return at
}

func (f *forest) tracksMissing() bool {
	for _, m := range f.missingYes {
		if m {
			return true
		}
	}
	return false
}

// holds compares features with splits by the modes that occur.
func (f *forest) holds(x, v, split, mode, at T) T {
	compare := []func(T, tensor.Operand) T{leq: T.Le, lt: T.Lt, gte: T.Ge, gt: T.Gt, eq: T.Eq, neq: T.Ne}
	used := map[int32]bool{}
	for i, m := range f.mode {
		if f.yes[i] != int32(i) {
			used[m] = true
		}
	}
	y := tensor.ZerosOf(tensor.Bool, v.Shape()...)
	for code, test := range compare {
		switch {
		case !used[int32(code)]:
		case len(used) == 1:
			return test(v, split)
		default:
			y = tensor.Where(mode.Eq(code), test(v, split), y)
		}
	}
	for n, set := range f.sets {
		in := v.Unsqueeze(-1).Eq(tensor.New(set, len(set)).Cast(v.DType())).Any(-1).Squeeze(-1)
		y = tensor.Where(at.Eq(int(n)), in, y)
	}
	return y
}

// aggregates combine the trees, of which a leaf has weights for some targets.
var aggregates = map[string]struct {
	absent float64 // the weight of a target that a leaf has not
	f      func(T, ...int) T
}{
	"SUM":     {0, T.Sum},
	"AVERAGE": {0, T.Sum},
	"MIN":     {math.Inf(1), T.Min},
	"MAX":     {math.Inf(-1), T.Max},
}

// scores returns the aggregate of the weights of each row, [rows targets].
func (f *forest) scores(c *op.Call, x T, how string) T {
	a, ok := aggregates[how]
	if !ok {
		c.Fail("there is no aggregate function %q", how)
	}
	table := make([]float64, c.Count("a table", len(f.weights)*c.Count("a row", f.targets)))
	for i := range table {
		table[i] = a.absent
	}
	for n, w := range f.weights {
		for k, v := range w {
			if k < 0 || k >= f.targets {
				c.Fail("a leaf has target %d of %d", k, f.targets)
			}
			table[n*f.targets+k] = v
		}
	}
	d := x.DType()
	w := tensor.New(table, len(f.weights), f.targets).Cast(d)
	y := a.f(w.Take(0, f.leaves(c, x)), 1).Squeeze(1)
	if how == "AVERAGE" {
		y = y.Div(len(f.roots))
	}
	if a.absent != 0 { // a target that no leaf of the row has is 0
		y = tensor.Where(y.Eq(a.absent), tensor.ZerosLike(y), y)
	}
	return y
}

// floatsOf returns an attribute of numbers, as floats or as the tensor of another name.
func floatsOf(c *op.Call, name string) []float64 {
	if a := c.Attr(name + "_as_tensor"); a != nil && a.T != nil {
		return columnOfValue(c, c.Decode(a.T)).floats
	}
	a := c.Attr(name)
	if a == nil {
		return nil
	}
	if a.T != nil {
		return columnOfValue(c, c.Decode(a.T)).floats
	}
	var out []float64
	for _, x := range a.Floats {
		out = append(out, float64(x))
	}
	return out
}

// oldForest reads the nodes of versions 1 to 4, and weights of the given kind, "class" or "target".
func oldForest(c *op.Call, kind string) *forest {
	f := &forest{sets: map[int32][]float64{}}
	trees, ids := c.IntsAttr("nodes_treeids"), c.IntsAttr("nodes_nodeids")
	features, values := c.IntsAttr("nodes_featureids"), floatsOf(c, "nodes_values")
	yes, no := c.IntsAttr("nodes_truenodeids"), c.IntsAttr("nodes_falsenodeids")
	missing := c.IntsAttr("nodes_missing_value_tracks_true")
	modes := c.Attr("nodes_modes")
	n := len(ids)
	if modes == nil || len(trees) != n || len(features) != n || len(values) != n || len(yes) != n || len(no) != n || len(modes.Strings) != n {
		c.Fail("lists of nodes differ in length")
	}
	number := map[[2]int]int32{}
	for i := range n {
		number[[2]int{trees[i], ids[i]}] = f.add()
		if i == 0 || trees[i] != trees[i-1] {
			f.roots = append(f.roots, int32(i))
		}
	}
	child := func(tree, id int) int32 {
		k, ok := number[[2]int{tree, id}]
		if !ok {
			c.Fail("tree %d has no node %d", tree, id)
		}
		return k
	}
	for i := range n {
		name := modes.Strings[i]
		mode, ok := modeNames[name]
		switch {
		case name == "LEAF":
			continue
		case !ok:
			c.Fail("there is no mode %q", name)
		}
		f.mode[i], f.feature[i], f.split[i] = int32(mode), int32(features[i]), values[i]
		f.yes[i], f.no[i] = child(trees[i], yes[i]), child(trees[i], no[i])
		f.missingYes[i] = i < len(missing) && missing[i] != 0
	}
	treeOf, nodeOf, target, weight := c.IntsAttr(kind+"_treeids"), c.IntsAttr(kind+"_nodeids"), c.IntsAttr(kind+"_ids"), floatsOf(c, kind+"_weights")
	if len(treeOf) != len(nodeOf) || len(treeOf) != len(target) || len(treeOf) != len(weight) {
		c.Fail("lists of weights differ in length")
	}
	for i, t := range target {
		k := child(treeOf[i], nodeOf[i])
		if f.weights[k] == nil {
			f.weights[k] = map[int]float64{}
		}
		f.weights[k][t] += weight[i]
	}
	return f
}

// newForest reads the nodes and leaves of version 5.
func newForest(c *op.Call) *forest {
	f := &forest{sets: map[int32][]float64{}, targets: c.Int("n_targets", 1)}
	features, splits := c.IntsAttr("nodes_featureids"), floatsOf(c, "nodes_splits")
	yes, no := c.IntsAttr("nodes_truenodeids"), c.IntsAttr("nodes_falsenodeids")
	yesLeaf, noLeaf := c.IntsAttr("nodes_trueleafs"), c.IntsAttr("nodes_falseleafs")
	missing := c.IntsAttr("nodes_missing_value_tracks_true")
	var modes []int64
	if a := c.Attr("nodes_modes"); a != nil {
		modes = columnOfValue(c, c.Decode(a.T)).ints
	}
	n := len(features)
	if len(splits) != n || len(modes) != n || len(yes) != n || len(no) != n || len(yesLeaf) != n || len(noLeaf) != n {
		c.Fail("lists of nodes differ in length")
	}
	targets, weights := c.IntsAttr("leaf_targetids"), floatsOf(c, "leaf_weights")
	if len(targets) != len(weights) {
		c.Fail("lists of leaves differ in length")
	}
	for range n + len(targets) {
		f.add()
	}
	for k, t := range targets {
		f.weights[n+k] = map[int]float64{t: weights[k]}
	}
	child := func(i, leaf int) int32 {
		if leaf != 0 {
			i += n
		}
		if i < 0 || i >= len(f.feature) {
			c.Fail("there is no node %d", i)
		}
		return int32(i)
	}
	members := floatsOf(c, "membership_values")
	for i := range n {
		f.feature[i], f.mode[i], f.split[i] = int32(features[i]), int32(modes[i]), splits[i]
		f.yes[i], f.no[i] = child(yes[i], yesLeaf[i]), child(no[i], noLeaf[i])
		f.missingYes[i] = i < len(missing) && missing[i] != 0
		if modes[i] == member { // its set is up to the next NaN
			var set []float64
			for len(members) > 0 && !math.IsNaN(members[0]) {
				set, members = append(set, members[0]), members[1:]
			}
			members = members[min(1, len(members)):]
			f.sets[int32(i)] = set
		}
	}
	for _, r := range c.IntsAttr("tree_roots") {
		f.roots = append(f.roots, child(r, 0))
	}
	return f
}

func treeEnsemble(c *op.Call) T {
	how := []string{"AVERAGE", "SUM", "MIN", "MAX"}
	k := c.Int("aggregate_function", 1)
	post := []string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}
	p := c.Int("post_transform", 0)
	if k < 0 || k >= len(how) || p < 0 || p >= len(post) {
		c.Fail("aggregate_function is %d and post_transform %d", k, p)
	}
	return transform(c, newForest(c).scores(c, c.Tensor(0), how[k]), post[p])
}

// features returns input 0 as floats.
func features(c *op.Call) T {
	x := c.Tensor(0)
	if x.Rank() == 1 {
		x = x.Unsqueeze(0)
	}
	if !x.DType().IsFloat() {
		x = x.Cast(tensor.Float32)
	}
	return x
}

func treeRegressor(c *op.Call) T {
	f := oldForest(c, "target")
	f.targets = c.Int("n_targets", 1)
	y := f.scores(c, features(c), c.String("aggregate_function", "SUM"))
	return transform(c, addBase(c, y, "base_values"), c.String("post_transform", "NONE")).Cast(tensor.Float32)
}

// addBase adds values of an attribute by target.
func addBase(c *op.Call, y T, name string) T {
	base := floatsOf(c, name)
	if len(base) == 0 {
		return y
	}
	return y.Add(tensor.New(base, len(base)).Cast(y.DType()))
}

func treeClassifier(c *op.Call) []op.Value {
	f := oldForest(c, "class")
	labels := labelsOf(c)
	f.targets = labels.len()
	one, positive := true, true // one class alone has weights, and they are positive
	target := -1
	for _, w := range f.weights {
		for k, v := range w {
			one = one && (target < 0 || target == k)
			target = k
			positive = positive && v >= 0
		}
	}
	if f.targets == 2 && one && target >= 0 {
		for i, w := range f.weights {
			if v, ok := w[target]; ok {
				f.weights[i] = map[int]float64{0: v}
			}
		}
		f.targets = 1
		y := f.scores(c, features(c), "SUM")
		if base := floatsOf(c, "base_values"); len(base) > 0 {
			y = y.Add(base[len(base)-1])
		}
		return binary(c, labels, y, positive, false)
	}
	y := addBase(c, f.scores(c, features(c), "SUM"), "base_values")
	return classify(c, labels, y)
}
