package plot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

// show draws a figure as text, with a title; Save writes PNG or SVG files.
func show(title string, f *plot.Figure) {
	f.Title = title
	if err := f.Print(os.Stdout); err != nil {
		fmt.Println(err)
	}
}

func ExampleLine() {
	show("squares", plot.Line(tensor.New([]float32{0, 1, 4, 9, 16})))
	// Output:
	// squares
	//    16 │                                                              ⡠⠔⠊
	//       │                                                          ⢀⡠⠔⠉
	//       │                                                       ⢀⡠⠒⠁
	// 11.64 │                                                     ⡠⠎⠁
	//       │                                                 ⢀⡠⠒⠉
	//       │                                             ⢀⡠⠔⠒⠁
	// 7.273 │                                         ⣀⠤⠒⠊⠁
	//       │                                    ⢀⡠⠔⠒⠉
	//       │                                ⢀⠤⠒⠊⠁
	// 2.909 │                         ⣀⡠⠤⠔⠒⠊⠉⠁
	//       │                 ⢀⣀⠤⠤⠒⠒⠉⠉
	//     0 │⣀⣀⣀⠤⠤⠤⠤⠤⠔⠒⠒⠒⠒⠒⠉⠉⠉⠁
	//       └─────────────────────────────────────────────────────────────────
	//        0                                                               4
}

// A Series has points of one color, with a name in the legend.
func ExampleSeries() {
	train := plot.Series{Name: "training", Y: tensor.New([]float32{4, 2, 1, 0.5})}
	test := plot.Series{Name: "test", Y: tensor.New([]float32{4, 3, 2.5, 2}), Dashed: true}
	show("losses", plot.Lines(train, test))
	// Output:
	// losses
	//     4 │o⠲⢦⠤x⣀
	//       │   ⠉⠢⢄⡉⠑⠒⠤⢄⣀x
	//       │      ⠈⠒o⡀  ⠈⠉⠒⠢⠤⣀⡀
	// 3.045 │         ⠈⠑⠤⡀     ⠈⠉x⠒⠤⠤⠤⣀⣀⣀x
	//       │            ⠈⠑⠢⣀            ⠈⠉⠉⠑⠒⠒⠒⠤x⠤⣀⣀⣀
	//       │                o⠢⢄                      ⠉⠉⠉x⠒⠒⠢⠤⠤⠤⣀x⣀
	// 2.091 │                   ⠉⠢⢄⣀                               ⠉⠉⠉⠒⠒⠒x⠤⠤⢄⣀
	//       │                       ⠉o⠒⠤⢄⣀
	//       │                             ⠉⠉⠒o⠤⣀⡀
	// 1.136 │                                   ⠈⠉⠒⠒⠤o⣀
	//       │                                          ⠉⠉⠒⠒⠒⠤o⠤⢄⣀⣀⣀
	//   0.5 │                                                     ⠈⠉⠉o⠒⠒⠒⠤⠤⠤⣀o
	//       └─────────────────────────────────────────────────────────────────
	//        0                                                               3
	// o training  x test
}

// An Axis has a label, ends and a scale.
func ExampleAxis() {
	f := plot.Line(tensor.New([]float32{1, 10, 100}))
	f.Y = plot.Axis{Label: "loss", Min: 1, Max: 1000, Log: true}
	show("loss", f)
	// Output:
	// loss
	//  1000 │
	//       │
	//       │
	//   152 │
	//       │                                                         ⣀⣀⠤⠤⠒⠒⠉⠉
	//       │                                                ⢀⣀⡠⠤⠔⠒⠊⠉⠉
	//  23.1 │                                        ⣀⣀⡠⠤⠔⠒⠊⠉⠁
	//       │                                ⢀⣀⠤⠤⠒⠒⠉⠉
	//       │                        ⣀⣀⠤⠤⠔⠒⠊⠉⠁
	// 3.511 │                ⣀⣀⠤⠤⠒⠒⠉⠉
	//       │       ⢀⣀⡠⠤⠔⠒⠊⠉⠉
	//     1 │⣀⡠⠤⠔⠒⠊⠉⠁
	//       └─────────────────────────────────────────────────────────────────
	//        0                                                               2
	// loss
}

func ExampleHistogram() {
	show("counts", plot.Histogram(tensor.New([]float32{1, 2, 2, 3, 3, 3}), 3))
	// Output:
	// counts
	// 1.333 │█████████████████████ 1
	//     2 │██████████████████████████████████████████ 2
	// 2.667 │███████████████████████████████████████████████████████████████ 3
	// elements
}

// Measurements, and a line through them.
func ExampleOverlay() {
	x := tensor.New([]float32{0, 1, 2, 3})
	points := plot.Scatter(plot.Series{X: x, Y: tensor.New([]float32{0.2, 0.8, 2.3, 2.9})})
	show("fit", plot.Overlay(points, plot.Lines(plot.Series{X: x, Y: x})))
	// Output:
	// fit
	//      3 │                                                           ⣀x⠔⠒o
	//        │                                                     ⢀⣀⠤⠒⠊⠉
	//        │                                          o     ⣀⡠⠔⠒x⠁
	//  2.182 │                                           ⣀x⠔⠒⠉
	//        │                                     ⢀⣀⠤⠒⠊⠉
	//        │                                ⣀⡠⠔⠒x⠁
	//  1.364 │                          ⢀⣀x⠔⠊⠉
	//        │                     ⣀⡠⠤⠒⠉⠁
	//        │                ⣀⠤⠔⠊xo
	// 0.5455 │          ⢀⣀x⠔⠊⠉
	//        │     ⣀⡠⠤⠒⠉⠁
	//      0 │o⠤⠔⠊x
	//        └────────────────────────────────────────────────────────────────
	//         0                                                              3
}

// Figures side by side are a figure.
func ExampleGrid() {
	small := func(n int) *plot.Figure { return plot.Image(tensor.Eye(n)) }
	var f *plot.Figure = plot.Grid(2, small(2), small(3))
	show("two matrices", f)
	// Output:
	// two matrices
	// @@@@@@@@@@@@@@@@
	// @@@@@@@@@@@@@@@@
	// @@@@@@@@@@@@@@@@
	// @@@@@@@@@@@@@@@@
	// @@@@@@@@@@@@@@@@
	// @@@@@@@@@@@@@@@@
	// @@@@@@@@@@@@@@@@
	// @@@@@@@@@@@@@@@@
	//                 @@@@@@@@@@@@@@@@
	//                 @@@@@@@@@@@@@@@@
	//                 @@@@@@@@@@@@@@@@
	//                 @@@@@@@@@@@@@@@@
	//                 @@@@@@@@@@@@@@@@
	//                 @@@@@@@@@@@@@@@@
	//                 @@@@@@@@@@@@@@@@
	//                 @@@@@@@@@@@@@@@@
	//
	// @@@@@@@@@@
	// @@@@@@@@@@
	// @@@@@@@@@@
	// @@@@@@@@@@
	// @@@@@@@@@@
	//           @@@@@@@@@@
	//           @@@@@@@@@@
	//           @@@@@@@@@@
	//           @@@@@@@@@@
	//           @@@@@@@@@@
	//                     @@@@@@@@@@
	//                     @@@@@@@@@@
	//                     @@@@@@@@@@
	//                     @@@@@@@@@@
	//                     @@@@@@@@@@
}

// Watch draws the metrics of a training loop, as they are so far.
func ExampleWatchFiles() {
	dir, err := os.MkdirTemp("", "plot")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.svg")
	watch := plot.WatchFiles[map[string]float64](path) // for the field Watch of train.Loop
	err = watch([]map[string]float64{{"loss": 2}, {"loss": 1}})
	svg, _ := os.ReadFile(path)
	fmt.Println(err, strings.Contains(string(svg), "loss"))
	// Output: <nil> true
}

func ExampleMetrics() {
	show("training", plot.Metrics([]map[string]float64{{"loss": 2}, {"loss": 1}, {"loss": 0.6}}))
	// Output:
	// training
	//      2 │⠑⠢⢄⡀
	//        │   ⠈⠑⠢⢄⡀
	//        │       ⠈⠑⠢⢄
	//  1.618 │           ⠉⠒⠤⣀
	//        │               ⠉⠒⠤⣀
	//        │                   ⠉⠢⢄⡀
	//  1.236 │                      ⠈⠑⠢⢄⡀
	//        │                          ⠈⠑⠢⢄⡀
	//        │                              ⠈⠒⠤⠤⣀⣀⡀
	// 0.8545 │                                    ⠈⠉⠑⠒⠒⠤⠤⢄⣀⣀
	//        │                                              ⠉⠉⠑⠒⠢⠤⠤⣀⣀⡀
	//    0.6 │                                                       ⠈⠉⠉⠒⠒⠤⠤⢄⣀
	//        └────────────────────────────────────────────────────────────────
	//         1                                                              3
	// epoch
	// ⠒ loss
}

func ExampleColor() {
	fmt.Println(plot.Color(0), plot.CheckName("figure.gif") != nil)
	// Output: {30 113 250 255} true
}

// Table is HTML, for notebooks: Show displays it.
func ExampleTable() {
	html, err := plot.Table(tensor.Eye(2))
	fmt.Println(strings.Count(html, "<td"), "elements", err)
	// Output: 4 elements <nil>
}
