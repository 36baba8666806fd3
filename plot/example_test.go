package plot_test

import (
	"fmt"
	"os"

	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

func ExampleHeatmap() {
	position := tensor.Arange(16)
	distance := position.Unsqueeze(1).Sub(position).Abs() // [16 16]
	f := plot.Heatmap(distance)
	f.Title = "distances"
	if err := f.Print(os.Stdout); err != nil { // Save("distances.png") writes a file
		fmt.Println(err)
	}
	// Output:
	// distances
	//  0 │    ..::::--====++****##%%%%@@@@
	//    │      ..::::--====++****##%%%%@@
	//    │..      ..::::--====++****##%%%%
	//    │::..      ..::::--====++****##%%
	//    │::::..      ..::::--====++****##
	//    │--::::..      ..::::--====++****
	//    │==--::::..      ..::::--====++**
	//    │====--::::..      ..::::--====++
	//    │++====--::::..      ..::::--====
	//    │**++====--::::..      ..::::--==
	//    │****++====--::::..      ..::::--
	//    │##****++====--::::..      ..::::
	//    │%%##****++====--::::..      ..::
	//    │%%%%##****++====--::::..      ..
	//    │@@%%%%##****++====--::::..
	// 15 │@@@@%%%%##****++====--::::..
	//    └────────────────────────────────
	//     0                             15
	// 0   ..::--==++**##%%@@ 15
}

// A confusion matrix has the number of each pair of classes in its elements.
func ExampleHeatmap_numbers() {
	classes := []string{"cat", "dog", "horse"}
	f := plot.Heatmap(tensor.From([][]int32{{50, 2, 0}, {1, 47, 4}, {0, 5, 44}}))
	f.X.Names, f.X.Label = classes, "predicted"
	f.Y.Names, f.Y.Label = classes, "class"
	f.Numbers = "%.0f"
	if err := f.Print(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	//   cat │    50     2     0
	//   dog │     1    47     4
	// horse │     0     5    44
	//       └──────────────────
	//         cat   dog  horse
	// class by predicted
	// 0   ..::--==++**##%%@@ 50
}
