package drivertest_test

import (
	"fmt"

	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// The oracle counts the work of a program: here one kernel, although there are two operations.
func ExampleReference() {
	var o *drivertest.Reference = drivertest.Oracle()
	d := tensor.NewDevice(o)
	defer d.Close()
	x := tensor.New([]float32{1, 2, 3}).To(d)
	fmt.Println(x.Add(1).Square())
	fmt.Println(o.Compiled, "kernel,", o.Ran, "call,", o.Uploaded, "bytes up,", o.Downloaded, "down")
	// Output:
	// [4 9 16]
	// 1 kernel, 1 call, 12 bytes up, 12 down
}

// Prepare replaces the oracle's interpreter, to test a compiler on the host: here one that
// only sets the result to zeros.
func ExampleProgram() {
	o := drivertest.Oracle()
	o.Prepare = func(k *ir.Kernel) (drivertest.Program, error) {
		run := func(args []drivertest.HostArg) error {
			for i, a := range k.Args {
				if a.Kind == ir.Out {
					clear(args[i].Bytes)
				}
			}
			return nil
		}
		return drivertest.Program{Run: run, Text: "zeros"}, nil
	}
	d := tensor.NewDevice(o)
	defer d.Close()
	fmt.Println(tensor.New([]float32{1, 2, 3}).To(d).Add(1))
	// Output: [0 0 0]
}
