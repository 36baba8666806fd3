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
