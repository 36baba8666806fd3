package device_test

import (
	"fmt"

	"github.com/tensorken/tensorken/device"
)

func ExampleOpen() {
	d, _, err := device.Open("cpu")
	fmt.Println(d, err)
	// Output: cpu <nil>
}
