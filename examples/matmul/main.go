// Command matmul multiplies two matrices in steps, by basic operations, and then in one
// call. Both have the same plan: one kernel, which stores no intermediate result.
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
	matmul(os.Stdout)
}

func matmul(w io.Writer) {
	show := func(expr string, t tensor.Tensor) { fmt.Fprintf(w, ">>> %s\n%v\n\n", expr, t) }

	l := tensor.Linspace(0, 11, 12).Reshape(3, 4)
	show("l := tensor.Linspace(0, 11, 12).Reshape(3, 4)", l)
	r := tensor.Linspace(12, 23, 12).Reshape(4, 3)
	show("r := tensor.Linspace(12, 23, 12).Reshape(4, 3)", r)

	// Every row of l times every column of r: [3 1 4] by [1 3 4].
	rows := l.Reshape(3, 1, 4)
	show("rows := l.Reshape(3, 1, 4)", rows)
	columns := r.Transpose(0, 1).Reshape(1, 3, 4)
	show("columns := r.Transpose(0, 1).Reshape(1, 3, 4)", columns)

	products := rows.Mul(columns)
	show("products := rows.Mul(columns)", products)
	sums := products.Sum(2)
	show("sums := products.Sum(2)", sums)
	result := sums.Squeeze(2)
	show("result := sums.Squeeze(2)", result)

	show("l.MatMul(r)", l.MatMul(r))
}
