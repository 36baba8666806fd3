package data_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/tensor"
)

func TestWeighted(t *testing.T) {
	const n = 10000
	draw := data.Weighted([]float64{1, 0, 3, 0}, n, 7, 1)
	counts := make([]int, 4)
	for _, batch := range draw(0) {
		for _, i := range batch {
			counts[i]++
		}
	}
	if p := float64(counts[0]) / n; counts[1] != 0 || counts[3] != 0 || math.Abs(p-0.25) > 0.02 {
		t.Errorf("weights 1, 0, 3, 0 were drawn %v times of %d", counts, n)
	}
	if b := draw(0); len(b) != 1429 || len(b[1428]) != 4 || !slices.Equal(b[3], draw(0)[3]) || slices.Equal(b[3], draw(1)[3]) {
		t.Errorf("%d batches, the last of %d; want 1429, 4, equal for one epoch", len(b), len(b[len(b)-1]))
	}
}

func TestByLength(t *testing.T) {
	lengths := make([]int, 1003)
	for i := range lengths {
		lengths[i] = i * 7919 % 100
	}
	s := data.ByLength(lengths, 10, 1)
	spread, seen := 0, []int{}
	for _, batch := range s(0) {
		low, high := math.MaxInt, 0
		for _, i := range batch {
			low, high = min(low, lengths[i]), max(high, lengths[i])
		}
		spread += high - low
		seen = append(seen, batch...)
	}
	slices.Sort(seen)
	if seen = slices.Compact(seen); len(seen) != 1003 {
		t.Errorf("%d of 1003 examples", len(seen))
	}
	if spread > 101*4 { // of random batches it would be about 101·80
		t.Errorf("lengths in a batch differ by %d on average", spread/101)
	}
	if a, b := s(0), s(1); slices.EqualFunc(a, b, slices.Equal) || slices.IsSortedFunc(a, func(x, y []int) int { return lengths[x[0]] - lengths[y[0]] }) {
		t.Error("the batches of two epochs are equal, or sorted by length")
	}
}

func TestKFold(t *testing.T) {
	for _, tt := range []struct{ n, k int }{{10, 3}, {10, 2}, {5, 5}} {
		var tested []int32
		for _, f := range data.KFold(count(tt.n), tt.k, 1) {
			train, err1 := data.Whole(f.Train)
			test, err2 := data.Whole(f.Test)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			a, b := labels(t, train), labels(t, test)
			if len(b) != tt.n/tt.k && len(b) != tt.n/tt.k+1 || len(a)+len(b) != tt.n {
				t.Errorf("a fold of %d in %d has %d and %d examples", tt.n, tt.k, len(a), len(b))
			}
			for _, i := range b {
				if slices.Contains(a, i) {
					t.Errorf("example %d is in both parts of a fold", i)
				}
			}
			tested = append(tested, b...)
		}
		slices.Sort(tested)
		if len(slices.Compact(tested)) != tt.n {
			t.Errorf("%d folds of %d test %v", tt.k, tt.n, tested)
		}
	}
}

// text returns a tensor on one line, as JSON has its values.
func text(t *testing.T, x tensor.Tensor) string {
	t.Helper()
	b, err := json.Marshal(x.Cast(tensor.Float32))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPad(t *testing.T) {
	type sentence struct {
		X, Y tensor.Tensor
		None tensor.Tensor
		Name string
	}
	matrix := func(rows, columns int) tensor.Tensor { return tensor.Ones(rows, columns).Cast(tensor.Float16) }
	set := data.Slice([]sentence{
		{X: tensor.New([]int32{1, 2, 3}), Y: matrix(1, 2), Name: "a"},
		{X: tensor.New([]int32{4}), Y: matrix(2, 1), Name: "b"},
	})
	for _, tt := range []struct {
		o    *data.PadOptions
		want string
	}{
		{nil, `{"shape":[2,3],"values":[1,2,3,4,0,0]} {"shape":[2,2,2],"values":[1,1,0,0,1,0,1,0]} a`},
		{&data.PadOptions{Value: -1}, `{"shape":[2,3],"values":[1,2,3,4,-1,-1]} {"shape":[2,2,2],"values":[1,1,-1,-1,1,-1,1,-1]} a`},
		{&data.PadOptions{Value: 9, Values: map[string]float64{"x": -100}, Multiple: 4},
			`{"shape":[2,4],"values":[1,2,3,-100,4,-100,-100,-100]} {"shape":[2,4,2],"values":[1,1,9,9,9,9,9,9,1,9,1,9,9,9,9,9]} a`},
	} {
		for _, workers := range []int{0, 2} {
			l := data.Loader[sentence]{Set: set, Batch: 2, Workers: workers, Collate: data.Pad[sentence](tt.o)}
			for b, err := range l.All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				got := text(t, b.X) + " " + text(t, b.Y) + " " + b.Name
				if got != tt.want || b.X.DType() != tensor.Int32 || b.Y.DType() != tensor.Float16 || b.None.IsValid() {
					t.Errorf("Pad(%+v) = %s, want %s", tt.o, got, tt.want)
				}
			}
		}
	}
	for _, tt := range []struct {
		other tensor.Tensor
		want  string
	}{
		{tensor.Ones(1, 1).Cast(tensor.Int32), `examples of one batch differ: "x" int32 [3] and "x" int32 [1 1]`},
		{tensor.New([]float32{1}), `"x" int32 [3] and "x" float32 [1]`},
		{tensor.Tensor{}, `"x" int32 [3] and "x" absent`},
	} {
		l := data.Loader[sentence]{Batch: 2, Collate: data.Pad[sentence](nil),
			Set: data.Slice([]sentence{{X: tensor.New([]int32{1, 2, 3})}, {X: tt.other}})}
		for _, err := range l.All(context.Background()) {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Pad of %v gave error %v, want %s", tt.other, err, tt.want)
			}
		}
	}
}

func TestWindows(t *testing.T) {
	text := tensor.Arange(8).Add(10)
	for _, tt := range []struct {
		length, stride int
		want           string
	}{
		{3, 1, "[10 11 12]>[11 12 13] [11 12 13]>[12 13 14] [12 13 14]>[13 14 15] [13 14 15]>[14 15 16] [14 15 16]>[15 16 17]"},
		{3, 3, "[10 11 12]>[11 12 13] [13 14 15]>[14 15 16]"},
		{7, 2, "[10 11 12 13 14 15 16]>[11 12 13 14 15 16 17]"},
	} {
		s := data.Windows(text, tt.length, tt.stride)
		var got []string
		for i := range s.Len() {
			w, err := s.At(i)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%v>%v", w.X, w.Y))
		}
		if all := strings.Join(got, " "); all != tt.want {
			t.Errorf("windows of %d by %d are %s, want %s", tt.length, tt.stride, all, tt.want)
		}
		b, err := data.Whole(s)
		if err != nil || b.Y.Index(-1, -1).Item() != b.X.Index(-1, -1).Item()+1 || b.X.Dim(0) != s.Len() {
			t.Errorf("Whole of windows: %v, %v", b, err)
		}
		if _, err := s.At(s.Len()); err == nil {
			t.Error("there is a window after the last")
		}
	}
}

func TestSampleMisuse(t *testing.T) {
	for _, tt := range []struct {
		call func()
		want string
	}{
		{func() { data.Weighted([]float64{1, -1}, 1, 1, 0) }, "the weight of example 1 is -1"},
		{func() { data.Weighted([]float64{math.NaN()}, 1, 1, 0) }, "the weight of example 0 is NaN"},
		{func() { data.Weighted([]float64{0}, 1, 1, 0) }, "the sum of the weights is 0"},
		{func() { data.Weighted(nil, 1, 1, 0) }, "the sum of the weights is 0"},
		{func() { data.Weighted([]float64{1}, -1, 1, 0) }, "a negative number of examples"},
		{func() { data.Weighted([]float64{1}, 1, 0, 0) }, "a batch of at least 1"},
		{func() { data.ByLength([]int{1}, 0, 0) }, "a batch of at least 1"},
		{func() { data.KFold(count(3), 1, 0) }, "1 folds of 3 examples"},
		{func() { data.KFold(count(3), 4, 0) }, "4 folds of 3 examples"},
		{func() { data.Pad[example](&data.PadOptions{Multiple: -1}) }, "Multiple is -1, want 0 to 1073741824"},
		{func() { data.Windows(tensor.Arange(3), 3, 1) }, "need a longer text"},
		{func() { data.Windows(tensor.Ones(3, 3), 1, 1) }, "want tokens of one axis"},
		{func() { data.Windows(tensor.Arange(3), 1, 0) }, "a length and a stride of at least 1"},
		{func() { data.MapStream(counted(1), -1, func(x tensor.Tensor) (tensor.Tensor, error) { return x, nil }) }, "-1 workers: want 0 to 65536"},
		{func() { data.ShuffleStream(counted(1), 0, 0) }, "a window of at least 1"},
		{func() { data.Weighted([]float64{math.Inf(1)}, 1, 1, 0) }, "the weight of example 0 is +Inf"},
		{func() { data.Weighted([]float64{math.MaxFloat64, math.MaxFloat64}, 1, 1, 0) }, "the sum of the weights is +Inf"},
		{func() { data.ByLength([]int{1, -1}, 1, 0) }, "the length of example 1 is -1"},
		{func() { data.Split(count(3), math.NaN(), 0) }, "the fraction NaN is not between 0 and 1"},
		{func() { data.Split(count(3), math.Inf(1), 0) }, "the fraction +Inf is not between 0 and 1"},
		{func() { data.Split(count(3), -0.1, 0) }, "the fraction -0.1 is not between 0 and 1"},
		{func() { data.Split(negative{}, 0.5, 0) }, "the Set has -1 examples"},
		{func() { data.Whole(negative{}) }, "the Set has -1 examples"},
		{func() { data.KFold(negative{}, 2, 0) }, "the Set has -1 examples"},
		{func() { all(&data.Loader[example]{Set: negative{}, Batch: 1}) }, "the Set has -1 examples"},
		{func() { (&data.Loader[example]{Set: negative{}, Batch: 1}).Steps() }, "the Set has -1 examples"},
		{func() { data.Pad[example](&data.PadOptions{Multiple: math.MaxInt}) }, "Multiple is 9223372036854775807, want 0 to 1073741824"},
		{func() { data.MapStream(counted(1), math.MaxInt, identity) }, "workers: want 0 to 65536"},
		{func() { all(&data.Loader[example]{Set: count(1), Batch: 1, Workers: math.MaxInt}) }, "Workers is 9223372036854775807, want at most 65536"},
		{func() { all(&data.Loader[example]{Set: count(1), Batch: 1, Workers: -1}) }, "want no negative field"},
		{func() { all(&data.Loader[example]{Set: count(1), Batch: 1, Epoch: -1}) }, "want no negative field"},
		{func() { all(&data.Loader[example]{Set: count(1), Batch: 1, Next: -1}) }, "want no negative field"},
		{func() { all(&data.Loader[example]{Set: count(1)}) }, "Batch is 0, want at least 1"},
		{func() { all(&data.Loader[example]{Batch: 1}) }, "want a Set or a Stream"},
		{func() { data.Weighted([]float64{1}, 1<<50, 1, 0)(0) }, "an order of examples"},
		{func() { data.Windows(tensor.Arange(3), -1, 1) }, "a length and a stride of at least 1"},
		// Nil sets, streams and functions.
		{func() { data.Map[int](nil, func(int) (int, error) { return 0, nil }) }, "data.Map: a nil argument"},
		{func() { data.Map[example, int](count(1), nil) }, "data.Map: a nil argument"},
		{func() { data.Split[int](nil, 0.5, 0) }, "data.Split: a nil argument"},
		{func() { data.KFold[int](nil, 2, 0) }, "data.KFold: a nil argument"},
		{func() { data.Whole[int](nil) }, "data.Whole: a nil argument"},
		{func() { data.StreamOf[int](nil) }, "data.StreamOf: a nil argument"},
		{func() { data.MapStream(nil, 0, identity) }, "data.MapStream: a nil argument"},
		{func() { data.MapStream[tensor.Tensor, int](counted(1), 0, nil) }, "data.MapStream: a nil argument"},
		{func() { data.ShuffleStream[int](nil, 1, 0) }, "data.ShuffleStream: a nil argument"},
		{func() { data.Of[*example](nil) }, "it has no tensor"},
	} {
		if err := tensor.Try(tt.call); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "sample_test.go:") && !strings.HasPrefix(err.Error(), "host: ") {
			t.Errorf("panics with %v, want %s", err, tt.want)
		}
	}
}

// Functions that collate nothing, and collect from a reader of none, fail.
func TestPadOfNone(t *testing.T) {
	if _, err := data.Pad[example](nil)(nil); err == nil || !strings.Contains(err.Error(), "no examples") {
		t.Errorf("Pad of no examples: %v", err)
	}
}

// A negative is a set with a false length.
type negative struct{}

func (negative) Len() int                      { return -1 }
func (negative) At(int) (e example, err error) { return e, nil }

func identity(x tensor.Tensor) (tensor.Tensor, error) { return x, nil }

// all reads an epoch, and returns the error that ends it.
func all[T any](l *data.Loader[T]) (err error) {
	for _, e := range l.All(context.Background()) {
		err = e
	}
	return err
}

// TestSamplerChecked has a Sampler choose examples that there are not.
func TestSamplerChecked(t *testing.T) {
	for _, tt := range []struct {
		batches [][]int
		want    string
	}{
		{[][]int{{0}, {3}}, "data: the Sampler's batch 1 of epoch 0: there is no example 3 among 3"},
		{[][]int{{-1}}, "data: the Sampler's batch 0 of epoch 0: there is no example -1 among 3"},
		{[][]int{{}}, "data: the Sampler's batch 0 of epoch 0 is empty"},
	} {
		for _, workers := range []int{0, 2} {
			l := data.Loader[example]{Set: count(3), Workers: workers, Sampler: func(int) [][]int { return tt.batches }}
			if err := all(&l); err == nil || err.Error() != tt.want {
				t.Errorf("a Sampler of %v gives error %v, want %s", tt.batches, err, tt.want)
			}
		}
	}
}

// TestPadValue pads with values that the type of the tensors has not.
func TestPadValue(t *testing.T) {
	for _, tt := range []struct {
		value float64
		d     tensor.DType
		ok    bool
	}{
		{-100, tensor.Int32, true}, {-1, tensor.Uint8, false}, {0.5, tensor.Int32, false}, {math.NaN(), tensor.Int32, false},
		{math.Inf(1), tensor.Int64, false}, {1, tensor.Bool, true}, {2, tensor.Bool, false}, {math.NaN(), tensor.Float32, true}, {math.Inf(-1), tensor.BFloat16, true},
	} {
		x := tensor.Ones(1).Cast(tt.d)
		_, err := data.Pad[tensor.Tensor](&data.PadOptions{Value: tt.value})([]tensor.Tensor{x, tensor.Ones(2).Cast(tt.d)})
		if (err == nil) != tt.ok {
			t.Errorf("padding %v with %v gives error %v, want one: %v", tt.d, tt.value, err, !tt.ok)
		}
	}
}

func numbers(n int) data.Set[tensor.Tensor] { return data.Of(tensor.Arange(n).Cast(tensor.Float32)) }

// TestAugment changes examples at random: equal for any number of workers, for a Set and a Stream,
// and from any place of an epoch; different in each place and epoch.
func TestAugment(t *testing.T) {
	fault := errors.New("fault")
	augment := func(x tensor.Tensor, rng *rand.Rand) (tensor.Tensor, error) { return x.Add(rng.Float64()), nil }
	read := func(l data.Loader[tensor.Tensor]) (values []string) {
		l.Batch, l.Seed, l.Augment = 2, 7, augment
		for l.Epoch < 2 {
			for b, err := range l.All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, fmt.Sprint(b))
			}
		}
		return values
	}
	want := read(data.Loader[tensor.Tensor]{Set: numbers(5)})
	if slices.Sort(want[:3]); len(want) != 6 || len(slices.Compact(slices.Clone(want))) != 6 {
		t.Errorf("the batches of two epochs are %q", want)
	}
	want = read(data.Loader[tensor.Tensor]{Set: numbers(5)})
	for name, l := range map[string]data.Loader[tensor.Tensor]{
		"workers":        {Set: numbers(5), Workers: 3},
		"stream":         {Stream: data.StreamOf(numbers(5))},
		"stream workers": {Stream: data.StreamOf(numbers(5)), Workers: 2},
	} {
		if got := read(l); !slices.Equal(got, want) {
			t.Errorf("%s: batches are %q, want %q", name, got, want)
		}
		if l.Next = 1; !slices.Equal(read(l), want[1:]) {
			t.Errorf("%s: from batch 1 on they are %q, want %q", name, read(l), want[1:])
		}
	}
	l := data.Loader[tensor.Tensor]{Set: numbers(3), Batch: 3, Augment: func(tensor.Tensor, *rand.Rand) (tensor.Tensor, error) { return tensor.Tensor{}, fault }}
	if err := all(&l); !errors.Is(err, fault) {
		t.Errorf("a failing Augment gives error %v", err)
	}
}

func ExamplePad() {
	type Example struct{ Tokens, Label tensor.Tensor }
	l := data.Loader[Example]{
		Set: data.Slice([]Example{
			{tensor.New([]int32{5, 6, 7}), tensor.New([]int32{1}).Reshape()},
			{tensor.New([]int32{8}), tensor.New([]int32{0}).Reshape()},
		}),
		Batch:   2,
		Collate: data.Pad[Example](nil),
	}
	for batch, err := range l.All(context.Background()) {
		if err != nil {
			panic(err)
		}
		fmt.Println(batch.Tokens, batch.Label)
	}
	// Output:
	// [[5 6 7]
	//  [8 0 0]] [1 0]
}
