package data_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/tensor"
)

type example struct {
	X, Y tensor.Tensor
	Mask tensor.Tensor // absent
	Name string
}

// count returns n examples: x = [i -i] and y = i.
func count(n int) data.Set[example] {
	x := make([]float32, 0, 2*n)
	for i := range n {
		x = append(x, float32(i), -float32(i))
	}
	return data.Of(example{X: tensor.New(x, n, 2), Y: tensor.Arange(n), Name: "count"})
}

// other is a set whose batches are stacked.
func other(n int) data.Set[example] {
	return data.Map(count(n), func(e example) (example, error) { return e, nil })
}

// labels returns the y of a batch after checking x.
func labels(t *testing.T, b example) []int32 {
	t.Helper()
	y, err := tensor.Data[int32](b.Y)
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.Data[float32](b.X)
	if err != nil {
		t.Fatal(err)
	}
	if len(x) != 2*len(y) || b.Mask.IsValid() || b.Name != "count" {
		t.Fatalf("batch %v", b)
	}
	for i, v := range y {
		if x[2*i] != float32(v) || x[2*i+1] != -float32(v) {
			t.Errorf("x of %d is %v", v, x[2*i:2*i+2])
		}
	}
	return y
}

// epoch returns the rest of the loader's epoch as text.
func epoch(t *testing.T, l *data.Loader[example]) string {
	t.Helper()
	var all []string
	for b, err := range l.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(labels(t, b)))
	}
	return strings.Join(all, " ")
}

func TestOf(t *testing.T) {
	for _, s := range []data.Set[example]{count(3), other(3)} {
		e, err := s.At(2)
		if got := fmt.Sprint(s.Len(), e, err); got != "3 {[2 -2] 2 <absent> count} <nil>" {
			t.Errorf("At(2) of %T = %s", s, got)
		}
		for _, i := range []int{-1, 3} {
			if _, err := s.At(i); err == nil || err.Error() != fmt.Sprintf("there is no example %d among 3", i) {
				t.Errorf("At(%d) = %v", i, err)
			}
		}
	}
	on := data.Of(tensor.Arange(6).Reshape(3, 2).To(tensor.CPU()))
	for _, index := range [][]int{{0, 1}, {1, 2}} {
		l := data.Loader[tensor.Tensor]{Set: on, Batch: 2, Next: index[0] / 2}
		for b, err := range l.All(context.Background()) {
			if err != nil || b.Device() != tensor.CPU() {
				t.Errorf("batch %v, %v on %v", b, err, b.Device())
			}
		}
	}
}

// Batches of one size share one compiled program, whatever their offset.
func TestBatchesCompileOnce(t *testing.T) {
	x := tensor.Ones(64, 3).Mul(2)
	for _, set := range []data.Set[tensor.Tensor]{data.Of(x), data.Of(x.To(tensor.CPU()))} {
		for _, shuffle := range []bool{false, true} {
			l := data.Loader[tensor.Tensor]{Set: set, Batch: 8, Shuffle: shuffle}
			var plans []int
			for b, err := range l.All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				if got := b.Exp().Sum(); got.Item() == 0 {
					t.Errorf("sum of %v is %v", b, got)
				}
				plans = append(plans, tensor.Info().Plans)
			}
			if plans[len(plans)-1] != plans[1] { // the first of all differs in nothing but being the first
				t.Errorf("on %v, shuffle %v: plans after each batch %v", x.Device(), shuffle, plans)
			}
		}
	}
}

func TestOfMisuse(t *testing.T) {
	for _, tt := range []struct {
		tree any
		want string
	}{
		{example{X: tensor.Ones(2, 3), Y: tensor.Arange(3)}, `"y" has 3 examples, those before it 2`},
		{[2]tensor.Tensor{tensor.Ones(2, 3), tensor.Ones(3)}, "data.Of of a [2]tensor.Tensor: element 1 has 3 examples, those before it 2"},
		{tensor.Scalar(1), "data.Of of a tensor.Tensor: the tensor is a scalar: there is no axis 0"},
		{example{}, "data.Of of a data_test.example: it has no tensor"},
		{struct{ x tensor.Tensor }{}, "unexported field x"},
	} {
		err := tensor.Try(func() { data.Of(tt.tree) })
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Of(%T) panics with %v, want %s", tt.tree, err, tt.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		n        int
		fraction float64
		want     int
	}{{10, 0.8, 8}, {10, 0, 0}, {10, 1, 10}, {1797, 0.8, 1438}, {0, 0.5, 0}, {1, 0.5, 1}} {
		a, b := data.Split(other(tt.n), tt.fraction, 1)
		if a.Len() != tt.want || a.Len()+b.Len() != tt.n {
			t.Errorf("Split(%d, %v) = %d, %d", tt.n, tt.fraction, a.Len(), b.Len())
		}
	}
	part := func(seed uint64) string {
		a, b := data.Split(count(10), 0.5, seed)
		x, err1 := data.Whole(a)
		y, err2 := data.Whole(b)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		one, two := labels(t, x), labels(t, y)
		if both := slices.Sorted(slices.Values(append(slices.Clone(one), two...))); fmt.Sprint(both) != "[0 1 2 3 4 5 6 7 8 9]" {
			t.Errorf("Split gave %v and %v", one, two)
		}
		e, err := a.At(1)
		if err != nil || e.Y.Item() != float64(one[1]) {
			t.Errorf("At(1) of a part is %v, %v, want %d", e.Y, err, one[1])
		}
		return fmt.Sprint(one)
	}
	if a, b, c := part(1), part(1), part(2); a != b || a == c {
		t.Errorf("Split by seeds 1, 1, 2: %s, %s, %s", a, b, c)
	}
	if err := tensor.Try(func() { data.Split(count(2), 1.5, 0) }); err == nil {
		t.Error("Split at 1.5: no panic")
	}
}

func TestWhole(t *testing.T) {
	for _, s := range []data.Set[example]{count(4), other(4)} {
		b, err := data.Whole(s)
		if err != nil || fmt.Sprint(labels(t, b)) != "[0 1 2 3]" {
			t.Errorf("Whole(%T) = %v, %v", s, b, err)
		}
	}
	if _, err := data.Whole(other(0)); err == nil {
		t.Error("Whole of no examples that would be stacked: no error")
	}
}

func TestLoader(t *testing.T) {
	for _, tt := range []struct {
		l    data.Loader[example]
		n    int
		want string
	}{
		{data.Loader[example]{Batch: 2}, 5, "[0 1] [2 3] [4]"},
		{data.Loader[example]{Batch: 2, DropLast: true}, 5, "[0 1] [2 3]"},
		{data.Loader[example]{Batch: 9}, 5, "[0 1 2 3 4]"},
		{data.Loader[example]{Batch: 9, DropLast: true}, 5, ""},
		{data.Loader[example]{Batch: 2, Next: 2}, 5, "[4]"},
		{data.Loader[example]{Batch: 2, Next: 3}, 5, ""},
		{data.Loader[example]{Batch: 2}, 0, ""},
	} {
		for _, workers := range []int{0, 1, 3} {
			for _, set := range []func(int) data.Set[example]{count, other} {
				l := tt.l
				l.Set, l.Workers = set(tt.n), workers
				if got := epoch(t, &l); got != tt.want || l.Epoch != 1 || l.Next != 0 {
					t.Errorf("%+v gave %s, want %s", l, got, tt.want)
				}
			}
		}
	}
}

// The order depends only on seed and epoch, and a loader resumes at its position.
func TestLoaderOrder(t *testing.T) {
	run := func(seed uint64, workers, pause int) []string {
		l := &data.Loader[example]{Set: count(7), Batch: 2, Shuffle: true, Seed: seed, Workers: workers}
		var epochs []string
		for len(epochs) < 3 {
			var got []string
			for b, err := range l.All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(labels(t, b)))
				if pause > 0 && len(got) == pause { // and go on with a new one
					break
				}
			}
			if pause > 0 {
				l = &data.Loader[example]{Set: count(7), Batch: 2, Shuffle: true, Seed: seed, Workers: workers, Epoch: l.Epoch, Next: l.Next}
				got = append(got, epoch(t, l))
			}
			epochs = append(epochs, strings.TrimSpace(strings.Join(got, " ")))
		}
		return epochs
	}
	want := run(1, 0, 0)
	if want[0] == want[1] || want[1] == want[2] {
		t.Errorf("epochs are alike: %q", want)
	}
	if slices.Equal(want, run(2, 0, 0)) {
		t.Errorf("seeds 1 and 2 both gave %q", want)
	}
	for _, workers := range []int{0, 2} {
		for pause := range 5 {
			if got := run(1, workers, pause); !slices.Equal(got, want) {
				t.Errorf("with %d workers and a pause after %d: %q, want %q", workers, pause, got, want)
			}
		}
	}
}

func TestLoaderErrors(t *testing.T) {
	bad := errors.New("bad example")
	for _, workers := range []int{0, 2} {
		made := atomic.Int32{}
		l := data.Loader[example]{Batch: 2, Workers: workers, Set: data.Map(count(100), func(e example) (example, error) {
			made.Add(1)
			if e.Y.Item() == 5 {
				return e, bad
			}
			return e, nil
		})}
		var errs []error
		for _, err := range l.All(context.Background()) {
			errs = append(errs, err)
		}
		if len(errs) != 3 || !errors.Is(errs[2], bad) || errs[2].Error() != "example 5: bad example" || l.Next != 2 {
			t.Errorf("%d workers: errors %v, next %d", workers, errs, l.Next)
		}
		if n := made.Load(); n > 6+4*int32(workers) {
			t.Errorf("%d workers made %d examples after an error at 5", workers, n)
		}

		l = data.Loader[example]{Batch: 2, Workers: workers, Set: data.Map(count(4), func(e example) (example, error) {
			e.X = e.X.MatMul(e.Y) // misuse
			return e, nil
		})}
		var misuse *tensor.Error
		for _, err := range l.All(context.Background()) {
			if !errors.As(err, &misuse) || !strings.HasPrefix(misuse.Pos, "data_test.go:") {
				t.Errorf("%d workers: misuse gave %v", workers, err)
			}
		}

		l.Set = data.Map(count(4), func(e example) (example, error) {
			if e.Y.Item() == 1 {
				e.X = tensor.Ones(3)
			}
			return e, nil
		})
		for _, err := range l.All(context.Background()) {
			if want := `examples of one batch differ: "x" float32 [2] and "x" float32 [3]`; err == nil || err.Error() != want {
				t.Errorf("%d workers: unlike examples gave %v, want %s", workers, err, want)
			}
		}

		bare := data.Loader[tensor.Tensor]{Batch: 2, Workers: workers, Set: data.Map(count(4), func(e example) (tensor.Tensor, error) {
			return tensor.Ones(1 + int(e.Y.Item())), nil
		})}
		for _, err := range bare.All(context.Background()) {
			if want := `examples of one batch differ: the tensor float32 [1] and the tensor float32 [2]`; err == nil || err.Error() != want {
				t.Errorf("%d workers: unlike tensors gave %v, want %s", workers, err, want)
			}
		}

		stop := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		l = data.Loader[example]{Batch: 1, Workers: workers, Set: count(100)}
		errs = nil
		for _, err := range l.All(ctx) {
			errs = append(errs, err)
			cancel(stop)
		}
		if len(errs) != 2 || errs[1] != stop || l.Next != 1 {
			t.Errorf("%d workers: a cancelled context gave %v, next %d", workers, errs, l.Next)
		}
	}
	for _, l := range []data.Loader[example]{{Batch: 1}, {Set: count(1)}, {Set: count(1), Batch: 1, Next: -1}} {
		if err := tensor.Try(func() { l.All(context.Background()) }); err == nil {
			t.Errorf("All of %+v: no panic", l)
		}
	}
}

// A Next that no loop can have reached is an error, not an empty epoch.
func TestLoaderBeyond(t *testing.T) {
	for _, l := range []data.Loader[example]{
		{Set: count(5), Batch: 2, Epoch: 6, Next: 4},
		{Set: count(5), Batch: 2, Epoch: 6, Next: 4, Workers: 2},
		{Stream: data.StreamOf(count(5)), Batch: 2, Epoch: 6, Next: 4},
		{Stream: data.StreamOf(count(5)), Batch: 2, Epoch: 6, Next: 4, Workers: 2},
	} {
		n := 0
		for _, err := range l.All(t.Context()) {
			if n++; err == nil || !strings.Contains(err.Error(), "Loader.Next is 4: want at most 3, the number of batches of epoch 6") {
				t.Errorf("a Next beyond the batches gave error %v", err)
			}
		}
		if n != 1 || l.Epoch != 6 || l.Next != 4 {
			t.Errorf("a Next beyond the batches gave %d errors, then epoch %d, next %d", n, l.Epoch, l.Next)
		}
	}
}

func fails(value any) { panic(value) }

// A panic of Set.At panics in the loop; in a worker its value is an error with the
// worker's stack.
func TestLoaderPanics(t *testing.T) {
	fault := errors.New("fault")
	for _, workers := range []int{0, 2} {
		for _, value := range []any{"oh", fault} {
			l := data.Loader[example]{Batch: 2, Workers: workers, Set: data.Map(count(4), func(e example) (example, error) {
				fails(value)
				return e, nil
			})}
			var got any
			func() {
				defer func() { got = recover() }()
				for range l.All(context.Background()) {
				}
			}()
			err, ok := got.(error)
			switch {
			case workers == 0 && got != value:
				t.Errorf("without workers a panic of %v became %v", value, got)
			case workers > 0 && (!ok || !strings.HasPrefix(err.Error(), fmt.Sprint(value)) || !strings.Contains(err.Error(), "data_test.fails(")):
				t.Errorf("a worker's panic of %v became %v: want an error with that and the worker's stack", value, got)
			case value == fault && !errors.Is(err, fault):
				t.Errorf("%d workers: the panic %v does not wrap the error %v", workers, got, value)
			}
		}
	}
}

// If Set.At ends a worker's goroutine, the loop gets an error and does not hang.
func TestLoaderGoexit(t *testing.T) {
	l := data.Loader[example]{Batch: 2, Workers: 2, Set: data.Map(count(40), func(e example) (example, error) {
		runtime.Goexit()
		return e, nil
	})}
	for _, err := range l.All(context.Background()) {
		if err == nil || !strings.Contains(err.Error(), "runtime.Goexit") {
			t.Errorf("a batch of a worker that ended gave error %v", err)
		}
	}
}

func BenchmarkLoader(b *testing.B) {
	set := data.Of(example{X: tensor.Ones(10000, 64), Y: tensor.Arange(10000)})
	l := data.Loader[example]{Set: set, Batch: 64, Shuffle: true}
	b.SetBytes(10000 * 65 * 4)
	for b.Loop() {
		for _, err := range l.All(context.Background()) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func ExampleLoader() {
	type Example struct{ X, Y tensor.Tensor }
	all := data.Of(Example{
		X: tensor.New([]float32{0, 0, 0, 1, 1, 0, 1, 1}, 4, 2),
		Y: tensor.New([]int32{0, 1, 1, 0}),
	})
	l := data.Loader[Example]{Set: all, Batch: 3}
	for batch, err := range l.All(context.Background()) {
		if err != nil {
			panic(err)
		}
		fmt.Println(batch.X.Shape(), batch.Y)
	}
	// Output:
	// [3 2] [0 1 1]
	// [1 2] [0]
}

func ExampleSplit() {
	train, test := data.Split(data.Of(tensor.Arange(10)), 0.8, 1)
	held, err := data.Whole(test)
	fmt.Println(train.Len(), held.Shape(), err)
	// Output: 8 [2] <nil>
}

func ExampleMap() {
	numbers := data.Of(tensor.Arange(3))
	squares := data.Map(numbers, func(x tensor.Tensor) (tensor.Tensor, error) { return x.Square(), nil })
	fmt.Println(data.Whole(squares))
	// Output: [0 1 4] <nil>
}
