// Command autodiff shows package grad: gradients, derivatives of higher order, Jacobians
// and Hessians, products with them, gradients of each example, Newton's method, and custom
// derivatives. Each step prints an expression and its value.
//
// It follows JAX's Autodiff Cookbook and its page on custom derivatives, in other words
// and in Go, and prints the same values.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
)

var on = flag.String("device", "", device.Usage)

func main() {
	flags.Parse()
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	cookbook(os.Stdout)
}

func cookbook(w io.Writer) {
	setup()
	p := printer{w}
	gradients(p)
	regression(p)
	differences(p)
	jacobians(p)
	forward(p)
	reverse(p)
	hessianProducts(p)
	newtonSteps(p)
	batches(p)
	branches(p)
	stops(p)
	customs(p)
	jaxPoint(p)
}

// A printer prints the steps of the cookbook.
type printer struct{ w io.Writer }

// title begins a part.
func (p printer) title(text string) { fmt.Fprintf(p.w, "# %s\n\n", text) }

// say prints a paragraph.
func (p printer) say(text string) { fmt.Fprintf(p.w, "%s\n\n", text) }

// show prints an expression and its value.
func (p printer) show(expr string, value any) { fmt.Fprintf(p.w, ">>> %s\n%v\n\n", expr, value) }
