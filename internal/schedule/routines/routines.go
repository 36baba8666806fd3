// Package routines schedules work on whole buffers: scatter, scan and sort. Read routines.go
// first.
package routines

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/ir"
)

var routines = [ir.Ops]func(*build.Builder){
	ir.Scatter: addScatter,
	ir.Scan:    addScan,
	ir.Sort:    addSort,
}

// Compile adds the passes of a routine.
func Compile(c *build.Builder) { routines[c.Nest.Routine()](c) }
