package tensor

import "github.com/tensorken/tensorken/driver"

func newCPU() driver.Device { return nil }
