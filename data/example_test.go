package data_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/tensor"
)

// show prints the examples of an epoch.
func show[T any](s data.Stream[T]) {
	for x, err := range s(context.Background(), 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(x)
	}
}

// textFile writes a file of the example's name for it.
func textFile(text string) string {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("example-%d.txt", os.Getpid()))
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		panic(err)
	}
	return path
}

func ExampleSet() {
	type example struct{ X, Y tensor.Tensor }
	var set data.Set[example] = data.Of(example{
		X: tensor.New([]float32{1, 2, 3, 4}, 2, 2),
		Y: tensor.New([]int32{7, 8}),
	})
	second, err := set.At(1)
	if err != nil {
		panic(err)
	}
	fmt.Println(set.Len(), second.X, second.Y)
	// Output: 2 [3 4] 8
}

// A stream has no length: here it is read from a file, and its lines are changed on a worker.
func ExampleStream() {
	path := textFile("one\ntwo\nthree\n")
	defer os.Remove(path)
	upper := func(line string) (string, error) { return strings.ToUpper(line), nil }
	show(data.MapStream(data.Lines(path), 1, upper))
	// Output:
	// ONE
	// TWO
	// THREE
}

// An object with other fields is an error, and so is a line of more bytes than allowed.
func ExampleJSONLines() {
	path := textFile(`{"text": "a", "label": 1}` + "\n" + `{"text": "b", "label": 0}` + "\n")
	defer os.Remove(path)
	type example struct {
		Text  string
		Label int
	}
	show(data.JSONLines[example](path))
	show(data.JSONLinesUpTo[example](100, path))
	show(data.LinesUpTo(100, path))
	// Output:
	// {a 1}
	// {b 0}
	// {a 1}
	// {b 0}
	// {"text": "a", "label": 1}
	// {"text": "b", "label": 0}
}

// A window of three examples is shuffled: each is drawn from the next three.
func ExampleShuffleStream() {
	show(data.ShuffleStream(data.StreamOf(data.Slice([]int{1, 2, 3, 4, 5})), 3, 1))
	// Output:
	// 3
	// 1
	// 2
	// 5
	// 4
}

// Each window has the tokens and, one further, the tokens to predict.
func ExampleWindows() {
	set := data.Windows(tensor.Arange(8), 3, 2)
	for i := range set.Len() {
		var w data.Window
		var err error
		if w, err = set.At(i); err != nil {
			panic(err)
		}
		fmt.Println(w.X, w.Y)
	}
	// Output:
	// [0 1 2] [1 2 3]
	// [2 3 4] [3 4 5]
	// [4 5 6] [5 6 7]
}

func ExampleKFold() {
	var folds []data.Fold[int] = data.KFold(data.Slice([]int{1, 2, 3, 4, 5, 6}), 3, 1)
	for _, f := range folds {
		fmt.Println(f.Train.Len(), f.Test.Len())
	}
	// Output:
	// 4 2
	// 4 2
	// 4 2
}

// A Sampler chooses the examples of each batch: here texts of about one length.
func ExampleSampler() {
	lengths := []int{3, 9, 4, 10, 2, 8}
	var batches data.Sampler = data.ByLength(lengths, 3, 1)
	for _, batch := range batches(0) {
		for _, i := range batch {
			fmt.Println(lengths[i])
		}
	}
	// Output:
	// 2
	// 3
	// 4
	// 8
	// 9
	// 10
}

// Rare examples are drawn as often as frequent ones.
func ExampleWeighted() {
	labels := []int{0, 0, 0, 0, 0, 0, 0, 1}
	weights := []float64{1, 1, 1, 1, 1, 1, 1, 7}
	count := [2]int{}
	for _, batch := range data.Weighted(weights, 1000, 100, 1)(0) {
		for _, i := range batch {
			count[labels[i]]++
		}
	}
	fmt.Println(count)
	// Output: [468 532]
}

// Labels of padding are -100, which losses leave out.
func ExamplePadOptions() {
	type example struct{ X, Y tensor.Tensor }
	text := func(n int) example { return example{tensor.Ones(n), tensor.Arange(n)} }
	pad := data.Pad[example](&data.PadOptions{Values: map[string]float64{"y": -100}, Multiple: 4})
	batch, err := pad([]example{text(2), text(3)})
	if err != nil {
		panic(err)
	}
	fmt.Println(batch.X)
	fmt.Println(batch.Y)
	// Output:
	// [[1 1 0 0]
	//  [1 1 1 0]]
	// [[   0    1 -100 -100]
	//  [   0    1    2 -100]]
}
