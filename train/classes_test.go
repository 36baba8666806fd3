package train_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

// byHand computes metrics of classes one example at a time, as scikit-learn defines them.
func byHand(sets, truth [][]bool) map[string]float64 {
	n := len(truth[0])
	tp, fp, fn := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, row := range truth {
		for c, t := range row {
			switch p := sets[i][c]; {
			case p && t:
				tp[c]++
			case p:
				fp[c]++
			case t:
				fn[c]++
			}
		}
	}
	div := func(x, y float64) float64 {
		if y == 0 {
			return 0
		}
		return x / y
	}
	m, present, a, b := map[string]float64{}, 0.0, 0.0, 0.0
	for c := range n {
		if tp[c]+fp[c]+fn[c] == 0 {
			continue
		}
		present++
		m["F1"] += 2 * tp[c] / (2*tp[c] + fp[c] + fn[c])
		m["Precision"] += div(tp[c], tp[c]+fp[c])
		m["Recall"] += div(tp[c], tp[c]+fn[c])
		a, b = a+2*tp[c], b+2*tp[c]+fp[c]+fn[c]
	}
	for name := range m {
		m[name] /= present
	}
	m["F1Micro"] = div(a, b)
	return m
}

var classMetrics = map[string]func(pred, target tensor.Tensor) tensor.Tensor{
	"F1": train.F1, "F1Micro": train.F1Micro, "Precision": train.Precision, "Recall": train.Recall,
}

func TestClassMetrics(t *testing.T) {
	rng := tensor.NewRNG(1)
	for _, c := range []struct{ examples, classes, occurring int }{{1, 3, 3}, {37, 5, 5}, {30, 9, 4}, {64, 2, 2}} {
		scores := rng.Normal(c.examples, c.classes)
		labels := rng.Ints(c.occurring, c.examples)
		said, err1 := tensor.Data[int32](scores.ArgMax(-1))
		truth, err2 := tensor.Data[int32](labels)
		values, err3 := tensor.Data[float32](scores)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		one := func(classes []int32) (rows [][]bool) {
			for _, x := range classes {
				row := make([]bool, c.classes)
				row[x] = true
				rows = append(rows, row)
			}
			return rows
		}
		check := func(name string, got tensor.Tensor, want float64) {
			t.Helper()
			if g := got.Item(); got.Rank() != 0 || math.Abs(g-want) > 1e-6 {
				t.Errorf("%s of %d examples and %d classes = %v of shape %v, want %v", name, c.examples, c.classes, g, got.Shape(), want)
			}
		}
		for name, want := range byHand(one(said), one(truth)) {
			check(name, classMetrics[name](scores, labels), want)
			check(name+" of more axes", classMetrics[name](scores.Unsqueeze(0), labels.Cast(tensor.Int64).Unsqueeze(0)), want)
		}
		several, have := scores.Gt(0.3), rng.Bernoulli(tensor.Full(0.4, c.examples, c.classes)).Cast(tensor.Bool)
		rows := func(x tensor.Tensor) (rows [][]bool) {
			flat, err := tensor.Data[bool](x)
			if err != nil {
				t.Fatal(err)
			}
			for row := range slices.Chunk(flat, c.classes) {
				rows = append(rows, row)
			}
			return rows
		}
		for name, want := range byHand(rows(several), rows(have)) {
			check(name+" of several classes", classMetrics[name](several, have), want)
		}
		for k := 1; k <= c.classes; k++ {
			hits := 0.0
			for i, label := range truth {
				row := values[i*c.classes : (i+1)*c.classes]
				above := 0
				for _, x := range row {
					if x > row[label] {
						above++
					}
				}
				if above < k {
					hits++
				}
			}
			check(fmt.Sprint("TopK by ", k), train.TopK(scores, labels, k), hits/float64(c.examples))
		}
		matrix := make([]int32, c.classes*c.classes)
		total := 0.0
		for i := range truth {
			matrix[int(truth[i])*c.classes+int(said[i])]++
			row, sum := values[i*c.classes:(i+1)*c.classes], 0.0
			for _, x := range row {
				sum += math.Exp(float64(x))
			}
			total += math.Log(sum) - float64(row[truth[i]])
		}
		got, err := tensor.Data[int32](train.Confusion(scores, labels).Reshape(-1))
		if err != nil || !slices.Equal(got, matrix) {
			t.Errorf("Confusion = %v, %v, want %v", got, err, matrix)
		}
		want := math.Exp(total / float64(c.examples))
		check("Perplexity, relative", train.Perplexity(scores, labels).Div(want), 1)
	}
}

func TestAUC(t *testing.T) {
	rng := tensor.NewRNG(2)
	for _, c := range []struct {
		n, levels int // few levels make ties
	}{{2, 50}, {9, 3}, {100, 10}, {1000, 100000}} {
		scores := rng.Ints(c.levels, c.n).Cast(tensor.Float32)
		target := rng.Ints(2, c.n)
		target = target.Set(0, 0).Set(1, 1) // both classes occur
		x, err1 := tensor.Data[float32](scores)
		y, err2 := tensor.Data[int32](target)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		better, pairs := 0.0, 0.0
		for i := range x {
			for j := range x {
				if y[i] == 1 && y[j] == 0 {
					pairs++
					if x[i] > x[j] {
						better++
					} else if x[i] == x[j] {
						better += 0.5
					}
				}
			}
		}
		want := better / pairs
		for _, target := range []tensor.Tensor{target, target.Ne(0), target.Cast(tensor.Float32)} {
			if got := train.AUC(scores, target).Item(); got != float64(float32(want)) {
				t.Errorf("AUC of %d examples on %d levels, %v = %v, want %v", c.n, c.levels, target.DType(), got, want)
			}
		}
	}
	for _, n := range []int{10, 1000} { // a perfect ranking
		scores := tensor.Arange(0, float64(n), 1)
		for _, scores := range []tensor.Tensor{scores, scores.Cast(tensor.Float16), scores.Cast(tensor.Float64), scores.Cast(tensor.Int32).Add(1 << 30)} {
			if got := train.AUC(scores, scores.Ge(scores.Index(n*2/3))).Item(); got != 1 {
				t.Errorf("AUC of %d ranked examples of %v = %v, want 1", n, scores.DType(), got)
			}
		}
	}
	if got := train.AUC(tensor.Ones(3), tensor.Ones(3)).Item(); !math.IsNaN(got) {
		t.Errorf("AUC of one class = %v, want NaN", got)
	}
}

func TestClassMetricsMisuse(t *testing.T) {
	scores, labels := tensor.Ones(4, 3), tensor.New([]int32{0, 1, 2, 0})
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { train.TopK(scores, labels, 4) }, "want k of at least 1, and no more than there are classes"},
		{func() { train.TopK(scores, labels, 0) }, "want k of at least 1"},
		{func() { train.TopK(labels, labels, 1) }, "want one target for each row"},
		{func() { train.Confusion(scores, scores) }, "want one target for each row"},
		{func() { train.Perplexity(scores, labels.Slice(0, 0, 2)) }, "want one target for each row"},
		{func() { train.Recall(scores.Gt(0), labels) }, "predictions and targets differ in shape"},
		{func() { train.Precision(scores.Gt(0), scores) }, "want bool targets"},
		{func() { train.AUC(scores, labels) }, "predictions and targets differ in shape"},
		{func() { train.TopK(scores, labels.Cast(tensor.Float32), 1) }, "want labels that are integers or bool"},
		{func() { train.F1(scores, labels.Cast(tensor.Float32)) }, "want labels that are integers or bool"},
		{func() { train.Accuracy(tensor.From([]float32{0.9, 0.2}), tensor.From([]float32{1, 0})) }, "as probability.Gt(0.5)"},
		{func() { train.Accuracy(tensor.From([]float32{0.9, 0.2}), tensor.From([]int32{1, 0})) }, "as probability.Gt(0.5)"},
		{func() { train.Accuracy(scores, labels.OneHot(3)) }, "of one-hot targets take ArgMax(-1)"},
		{func() { train.Accuracy(tensor.Ones(4, 1), labels) }, "as logit.Squeeze(-1).Gt(0)"},
		{func() { train.Accuracy(scores, labels.Cast(tensor.Float32)) }, "want labels that are integers or bool"},
		{func() { train.Accuracy(labels, labels.Cast(tensor.Float32)) }, "want labels that are integers or bool"},
		{func() { train.Accuracy(labels, scores) }, "want one target for each row"},
	} {
		err := tensor.Try(c.f)
		if err == nil || !strings.HasPrefix(err.Error(), "classes_test.go:") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want classes_test.go:N: …%s", err, c.want)
		}
	}
	nan := tensor.From([]float32{1, float32(math.NaN()), 0, 2})
	for _, c := range []struct {
		op   string
		got  tensor.Tensor
		want string
	}{
		{"F1", train.F1(scores, labels.Add(1)), "label 3"},
		{"Confusion", train.Confusion(scores, labels.Sub(1)), "label -1"},
		{"Accuracy", train.Accuracy(scores, labels.Add(1)), "label 3"},
		{"Accuracy", train.Accuracy(scores, labels.Sub(1).Cast(tensor.Int64)), "label -1"},
		{"TopK", train.TopK(scores, labels.Sub(1), 2), "label -1"},
		{"AUC", train.AUC(nan, labels.Gt(0)), "score 1 is NaN"},
		{"AUC", train.AUC(tensor.Arange(0, 4, 1), labels), "target 2 is 2, want 0 or 1"},
		{"AUC", train.AUC(tensor.Arange(0, 4, 1), nan), "target 1 is NaN, want 0 or 1"},
	} {
		if err := tensor.Eval(c.got); err == nil || !strings.Contains(err.Error(), "train."+c.op) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s gave error %v, want one with %q", c.op, err, c.want)
		}
	}
}

func TestAccuracy(t *testing.T) {
	scores := tensor.From([][]float32{{3, 1}, {0, 2}, {1, 0}, {5, 4}})
	labels := tensor.From([]int32{0, 1, 1, 0})
	for name, got := range map[string]tensor.Tensor{
		"scores":                  train.Accuracy(scores, labels),
		"scores, bool":            train.Accuracy(scores, labels.Ne(0)),
		"classes":                 train.Accuracy(scores.ArgMax(-1), labels),
		"classes of another type": train.Accuracy(scores.ArgMax(-1).Cast(tensor.Uint8), labels.Cast(tensor.Int64)),
		"compared scores":         train.Accuracy(scores.Index(tensor.All, 0).Lt(0.5), labels),
		"several classes":         train.Accuracy(scores.Gt(2.5), tensor.From([][]bool{{true, true}, {false, false}, {true, false}, {true, true}})),
	} {
		if got.Rank() != 0 || got.Item() != 0.75 {
			t.Errorf("Accuracy of %s = %v, want 0.75", name, got)
		}
	}
}

func ExampleConfusion() {
	scores := tensor.From([][]float32{{3, 1}, {0, 2}, {1, 0}, {5, 4}})
	fmt.Println(train.Confusion(scores, tensor.New([]int32{0, 1, 1, 0})))
	// Output:
	// [[2 0]
	//  [1 1]]
}

// Classes of two types of integers are equal where their numbers are.
func TestAccuracyOfAllIntegers(t *testing.T) {
	numbers := tensor.New([]float64{-1 << 62, -1 << 31, -1 << 7, -1, 0, 1, 1<<7 - 1, 1 << 7, 1<<8 - 1, 1 << 31, 1<<32 - 1, 1 << 62})
	types := []tensor.DType{tensor.Bool, tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16, tensor.Int32, tensor.Uint32, tensor.Int64, tensor.Uint64}
	n := numbers.Len()
	for _, p := range types {
		for _, q := range types {
			pred, target := numbers.Cast(p).Unsqueeze(1).Expand(n, n).Keep(), numbers.Cast(q).Unsqueeze(0).Expand(n, n).Keep()
			want := pred.Cast(tensor.Float64).Eq(target.Cast(tensor.Float64)).Cast(tensor.Float64).Sum().Item()
			if got := train.Accuracy(pred, target).Item() * float64(n*n); math.Abs(got-want) > 1e-3 {
				t.Errorf("%v and %v: %v pairs are equal, want %v", p, q, got, want)
			}
		}
	}
}
