package cpu_test

import (
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/internal/cpu"
)

func open() (driver.Device, error) { return cpu.New(cpu.Options{Threads: 4, Memory: 1 << 30}), nil }

func TestRandomGraphs(t *testing.T) { drivertest.Random(t, open, 1000, 1) }
