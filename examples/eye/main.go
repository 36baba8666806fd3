// Command eye makes the 3×3 identity matrix from the number 1 by movement operations
// only, as tensor.Eye does.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/tensor"
)

var on = flag.String("device", "", device.Usage)

func main() {
	flags.Parse()
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	eye(os.Stdout, 3)
}

// eye shows each step of Eye(n).
func eye(w io.Writer, n int) {
	show := func(expr string, t tensor.Tensor) { fmt.Fprintf(w, ">>> %s\n%v\n\n", expr, t) }

	one := tensor.Scalar(1).Reshape(1)
	show("one := tensor.Scalar(1).Reshape(1)", one)

	// A one and n zeros: when rows of length n+1 are read as rows of length n, the one
	// moves a column further in each row.
	row := one.Pad(0, 0, n)
	show("row := one.Pad(0, 0, n)", row)

	stacked := row.Reshape(1, n+1).Expand(n, n+1)
	show("stacked := row.Reshape(1, n+1).Expand(n, n+1)", stacked)

	flat := stacked.Reshape(n * (n + 1))
	show("flat := stacked.Reshape(n * (n + 1))", flat)

	cropped := flat.Slice(0, 0, n*n)
	show("cropped := flat.Slice(0, 0, n*n)", cropped)

	matrix := cropped.Reshape(n, n)
	show("matrix := cropped.Reshape(n, n)", matrix)

	show("tensor.Eye(n)", tensor.Eye(n))
}
