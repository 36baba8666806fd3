package device_test

import (
	"fmt"
	"os"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/tensor"
)

func ExampleOpen() {
	d, _, err := device.Open("cpu")
	fmt.Println(d, err)
	// Output: cpu <nil>
}

// A program's flag names the device: flag.String("device", "", device.Usage).
func ExampleUse() {
	if err := device.Use("cpu", os.Stdout); err != nil {
		fmt.Println(err)
	}
	fmt.Println(tensor.Default())
	// Output:
	// device cpu
	// cpu
}
