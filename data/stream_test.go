package data_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/internal/files/filestest"
	"github.com/tensorken/tensorken/tensor"
)

// counted is a stream of n examples that differ from epoch to epoch.
func counted(n int) data.Stream[tensor.Tensor] {
	return func(_ context.Context, epoch int) iter.Seq2[tensor.Tensor, error] {
		return func(yield func(tensor.Tensor, error) bool) {
			for i := range n {
				if !yield(tensor.New([]int32{int32(100*epoch + i)}).Reshape(), nil) {
					return
				}
			}
		}
	}
}

// batches returns at most n batches of the rest of a loader's epoch as text.
func batches(t *testing.T, l *data.Loader[tensor.Tensor], n int) (all []string) {
	t.Helper()
	for b, err := range l.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(b))
		if len(all) == n {
			break
		}
	}
	return all
}

func TestStream(t *testing.T) {
	for _, tt := range []struct {
		l    data.Loader[tensor.Tensor]
		want string
	}{
		{data.Loader[tensor.Tensor]{Stream: counted(5), Batch: 2}, "[0 1] [2 3] [4]"},
		{data.Loader[tensor.Tensor]{Stream: counted(5), Batch: 2, Epoch: 1}, "[100 101] [102 103] [104]"},
		{data.Loader[tensor.Tensor]{Stream: counted(5), Batch: 2, DropLast: true}, "[0 1] [2 3]"},
		{data.Loader[tensor.Tensor]{Stream: counted(5), Batch: 2, Next: 1}, "[2 3] [4]"},
		{data.Loader[tensor.Tensor]{Stream: counted(5), Batch: 2, Next: 2}, "[4]"},
		{data.Loader[tensor.Tensor]{Stream: counted(5), Batch: 2, Next: 3}, ""},
		{data.Loader[tensor.Tensor]{Stream: counted(0), Batch: 2}, ""},
		{data.Loader[tensor.Tensor]{Stream: data.StreamOf(data.Of(tensor.Arange(3))), Batch: 2}, "[0 1] [2]"},
	} {
		for _, workers := range []int{0, 1, 3} {
			l := tt.l
			l.Workers = workers
			if n := l.Steps(); n != -1 {
				t.Errorf("Steps of a stream = %d, want -1", n)
			}
			if got := strings.Join(batches(t, &l, -1), " "); got != tt.want || l.Epoch != tt.l.Epoch+1 || l.Next != 0 {
				t.Errorf("%d workers, from %d: %s, then at %d, %d; want %s", workers, tt.l.Next, got, l.Epoch, l.Next, tt.want)
			}
		}
	}
}

// A loader of any kind goes on from its position as one that was not interrupted.
func TestLoadersResume(t *testing.T) {
	long := func(n int) []int {
		lengths := make([]int, n)
		for i := range lengths {
			lengths[i] = i % 7
		}
		return lengths
	}
	numbers := data.Of(tensor.Arange(40))
	endless := func(ctx context.Context, epoch int) iter.Seq2[tensor.Tensor, error] {
		return counted(1<<30)(ctx, epoch)
	}
	square := func(x tensor.Tensor) (tensor.Tensor, error) { return x.Square(), nil }
	for name, l := range map[string]data.Loader[tensor.Tensor]{
		"shuffled set":      {Set: numbers, Batch: 7, Shuffle: true, Seed: 5},
		"weighted":          {Set: numbers, Sampler: data.Weighted([]float64{1, 0, 3}, 40, 7, 2)},
		"by length":         {Set: numbers, Sampler: data.ByLength(long(40), 7, 2)},
		"stream":            {Stream: counted(40), Batch: 7},
		"endless":           {Stream: endless, Batch: 7},
		"shuffled stream":   {Stream: data.ShuffleStream(counted(40), 9, 3), Batch: 7},
		"mapped in workers": {Stream: data.MapStream(data.ShuffleStream(counted(40), 9, 3), 3, square), Batch: 7},
		"padded":            {Set: numbers, Batch: 7, Collate: data.Pad[tensor.Tensor](nil)},
	} {
		for _, workers := range []int{0, 2} {
			whole := l
			whole.Workers = workers
			want := batches(t, &whole, 5)
			for pause := 1; pause < 5; pause++ {
				part := l
				part.Workers = workers
				got := batches(t, &part, pause)
				again := l
				again.Epoch, again.Next = part.Epoch, part.Next
				got = append(got, batches(t, &again, 5-pause)...)
				if !slices.Equal(got, want) {
					t.Errorf("%s, %d workers, a pause after %d: %v, want %v", name, workers, pause, got, want)
				}
			}
		}
	}
}

func TestShuffleStream(t *testing.T) {
	read := func(seed uint64, epoch, window int) []string {
		s := data.ShuffleStream(data.StreamOf(data.Of(tensor.Arange(20))), window, seed)
		var got []string
		for x, err := range s(context.Background(), epoch) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, x.String())
		}
		return got
	}
	a := read(1, 0, 5)
	if slices.Equal(a, read(1, 1, 5)) || slices.Equal(a, read(2, 0, 5)) || !slices.Equal(a, read(1, 0, 5)) {
		t.Errorf("the order %v does not depend on seed and epoch alone", a)
	}
	for place, x := range a {
		var i int
		fmt.Sscan(x, &i)
		if i > place+5 {
			t.Errorf("example %d is at %d, more than a window of 5 early", i, place)
		}
	}
	slices.Sort(a)
	if b := read(1, 0, 100); len(slices.Compact(a)) != 20 || slices.Equal(b, read(1, 0, 1)) {
		t.Errorf("%d of 20 examples; a window larger than the stream gives %v", len(a), b)
	}
}

// Streams and their workers pass on errors and panics in order.
func TestStreamErrors(t *testing.T) {
	bad := errors.New("bad")
	fail := func(at int32, f func()) func(x tensor.Tensor) (tensor.Tensor, error) {
		return func(x tensor.Tensor) (tensor.Tensor, error) {
			if x.Item() == float64(at) {
				f()
				return x, bad
			}
			return x, nil
		}
	}
	broken := func(ctx context.Context, epoch int) iter.Seq2[tensor.Tensor, error] {
		return func(yield func(tensor.Tensor, error) bool) {
			for x := range counted(5)(ctx, epoch) {
				if !yield(x, nil) {
					return
				}
			}
			yield(tensor.Tensor{}, bad)
		}
	}
	for _, tt := range []struct {
		name   string
		stream data.Stream[tensor.Tensor]
		want   string // of the last error or panic
		after  int    // good batches before
	}{
		{"an error of the stream", broken, "bad", 2},
		{"an error of f", data.MapStream(counted(9), 0, fail(5, func() {})), "bad", 2},
		{"an error of f in a worker", data.MapStream(counted(9), 3, fail(5, func() {})), "bad", 2},
		{"misuse in f", data.MapStream(counted(9), 2, fail(5, func() { tensor.Ones(2).MatMul(tensor.Ones(3)) })), "MatMul of", 2},
		{"a panic of f in a worker", data.MapStream(counted(9), 2, fail(5, func() { panic("oh") })), "oh", 2},
		{"a worker that ends itself", data.MapStream(counted(9), 2, fail(5, runtime.Goexit)), "runtime.Goexit", 2},
	} {
		for _, workers := range []int{0, 2} {
			got, good := "", 0
			func() {
				defer func() {
					if p := recover(); p != nil {
						got = fmt.Sprint(p)
					}
				}()
				l := data.Loader[tensor.Tensor]{Stream: tt.stream, Batch: 2, Workers: workers}
				for _, err := range l.All(context.Background()) {
					if err != nil {
						got = err.Error()
						continue
					}
					good++
				}
			}()
			if !strings.Contains(got, tt.want) || good != tt.after {
				t.Errorf("%s, %d workers: %d batches, then %q; want %d, then %s", tt.name, workers, good, got, tt.after, tt.want)
			}
		}
	}
}

// No goroutine is left by a loader that is cancelled, or whose loop ends early, whatever it
// waits for.
func TestCancelledLoadersLeaveNothing(t *testing.T) {
	slow := func(x tensor.Tensor) (tensor.Tensor, error) {
		time.Sleep(50 * time.Microsecond)
		return x, nil
	}
	waiting := func(ctx context.Context, _ int) iter.Seq2[tensor.Tensor, error] { // for ctx
		return func(yield func(tensor.Tensor, error) bool) {
			if !yield(tensor.Scalar(1), nil) || !yield(tensor.Scalar(2), nil) {
				return
			}
			<-ctx.Done()
			yield(tensor.Tensor{}, ctx.Err())
		}
	}
	before := runtime.NumGoroutine()
	for round := range 120 {
		for name, l := range map[string]*data.Loader[tensor.Tensor]{
			"set":      {Set: data.Map(data.Of(tensor.Arange(100)), slow), Batch: 2, Workers: 3},
			"endless":  {Stream: counted(1 << 30), Batch: 2, Workers: 2},
			"parallel": {Stream: data.MapStream(data.ShuffleStream(counted(1<<30), 3, 1), 3, slow), Batch: 2, Workers: 2},
			"waiting":  {Stream: data.MapStream(waiting, 2, slow), Batch: 1, Workers: 2},
			"in turn":  {Stream: data.MapStream(counted(1<<30), 2, slow), Batch: 2},
		} {
			ctx, cancel := context.WithCancel(context.Background())
			n := 0
			if round%3 == 0 {
				time.AfterFunc(time.Duration(round)*time.Microsecond, cancel)
			}
			for _, err := range l.All(ctx) {
				if n++; err != nil {
					if ctx.Err() == nil {
						t.Fatalf("%s: %v", name, err)
					}
					break
				}
				if round%3 == 1 && n == 2 {
					cancel()
				}
				if round%3 == 2 && n == 2 {
					break
				}
			}
			cancel()
		}
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; { // timers and pools may be late
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

func TestLoaderMisuse(t *testing.T) {
	set := data.Of(tensor.Arange(3))
	one := func(int) [][]int { return [][]int{{0}} }
	for _, tt := range []struct {
		l    data.Loader[tensor.Tensor]
		want string
	}{
		{data.Loader[tensor.Tensor]{Batch: 1}, "want a Set or a Stream"},
		{data.Loader[tensor.Tensor]{Set: set, Stream: counted(1), Batch: 1}, "not both"},
		{data.Loader[tensor.Tensor]{Set: set}, "Batch is 0, want at least 1"},
		{data.Loader[tensor.Tensor]{Set: set, Batch: 1, Workers: -1}, "Workers -1"},
		{data.Loader[tensor.Tensor]{Stream: counted(1), Batch: 1, Shuffle: true}, "use ShuffleStream"},
		{data.Loader[tensor.Tensor]{Stream: counted(1), Batch: 1, Sampler: one}, "a Sampler needs a Set"},
		{data.Loader[tensor.Tensor]{Set: set, Batch: 1, Sampler: one}, "the Sampler chooses the batches"},
	} {
		for _, call := range []func(){func() { tt.l.All(context.Background()) }, func() { tt.l.Steps() }} {
			if err := tensor.Try(call); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "stream_test.go:") {
				t.Errorf("%+v panics with %v, want %s", tt.l, err, tt.want)
			}
		}
	}
}

// Batches are on the loader's device.
func TestLoaderDevice(t *testing.T) {
	for _, workers := range []int{0, 2} {
		for _, l := range []*data.Loader[tensor.Tensor]{
			{Set: data.Of(tensor.Arange(6)), Batch: 2},
			{Stream: counted(6), Batch: 2},
		} {
			l.Workers, l.Device = workers, tensor.CPU()
			n := 0
			for b, err := range l.All(context.Background()) {
				if n++; err != nil || b.Device() != tensor.CPU() {
					t.Errorf("%v, %v on %v, want it on the CPU", b, err, b.Device())
				}
			}
			if n != 3 {
				t.Errorf("%d batches, want 3", n)
			}
		}
	}
}

func TestLines(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	type record struct {
		Name string
		X    tensor.Tensor `json:"x"`
	}
	a, b := write("a.txt", "one\r\ntwo\n\nthree"), write("b.txt", "four\n")
	good := write("a.jsonl", `{"name": "p", "x": {"shape": [2], "values": [1, 2]}}`+"\n \n"+`{"name": "q"}`)
	bad := write("b.jsonl", "{}\n{")
	folder := dir + string(filepath.Separator)
	quoted := strconv.Quote(folder)
	names := strings.NewReplacer(folder, "", quoted[1:len(quoted)-1], "")
	read := func(s any) string {
		var out []string
		add := func(x any, err error) bool {
			if err != nil {
				x = names.Replace(err.Error())
			}
			out = append(out, fmt.Sprint(x))
			return len(out) < 9
		}
		switch s := s.(type) {
		case data.Stream[string]:
			s(context.Background(), 0)(func(x string, err error) bool { return add(x, err) })
		case data.Stream[record]:
			s(context.Background(), 0)(func(x record, err error) bool { return add(x, err) })
		}
		return strings.Join(out, "|")
	}
	for _, tt := range []struct {
		stream any
		want   string
	}{
		{data.Lines(a, b), "one|two||three|four"},
		{data.Lines(), ""},
		{data.Lines(b, filepath.Join(dir, "none.txt")), "four|none.txt: " + filestest.NoFile(t)},
		{data.JSONLines[record](good), "{p [1 2]}|{q <absent>}"},
		{data.JSONLines[record](good, bad), "{p [1 2]}|{q <absent>}|{ <absent>}|b.jsonl:2: unexpected end of JSON input"},
		{data.JSONLines[record](write("mark.jsonl", "\ufeff{\"name\":\"p\"}\r\n\r\n{}")), "{p <absent>}|{ <absent>}"},
		{data.JSONLines[record](write("wide.jsonl", "\xff\xfe{\x00}\x00")), "wide.jsonl:1: the file begins with the byte order mark of UTF-16: convert it to UTF-8"},
		{data.Lines(write("mark.txt", "\ufeffone\ufeff\n\n")), "one\ufeff|"},
		{data.Lines(write("only mark.txt", "\ufeff")), ""},
		{data.Lines(write("empty.txt", "")), ""},
		{data.Lines(write("returns.txt", "a\rb\r\r\n\r\n")), "a\rb\r|"},
		{data.Lines(write("big.txt", "\xfe\xff\x00a")), "big.txt:1: the file begins with the byte order mark of UTF-16: convert it to UTF-8"},
		{data.Lines(write("wider.txt", "\xff\xfe\x00\x00a\x00\x00\x00")), "wider.txt:1: the file begins with the byte order mark of UTF-32: convert it to UTF-8"},
		{data.Lines(write("n\u200bx.txt", "\xfe\xff")), `"n\u200bx.txt":1: the file begins with the byte order mark of UTF-16: convert it to UTF-8`},
		{data.LinesUpTo(3, write("long.txt", "abc\r\nabcd\nx")), "abc|long.txt:2: the line has more than 3 B: data.LinesUpTo takes longer ones"},
		{data.JSONLinesUpTo[record](3, write("long.jsonl", "{}\n{   }\n")), "{ <absent>}|long.jsonl:2: the line has more than 3 B: data.JSONLinesUpTo takes longer ones"},
	} {
		if got := read(tt.stream); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
