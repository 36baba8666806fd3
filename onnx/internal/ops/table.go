// Package ops has the table of operators. Read table.go first.
package ops

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/ops/core"
	"github.com/tensorken/tensorken/onnx/internal/ops/host"
	"github.com/tensorken/tensorken/onnx/internal/ops/image"
	"github.com/tensorken/tensorken/onnx/internal/ops/ml"
	"github.com/tensorken/tensorken/onnx/internal/ops/neural"
	"github.com/tensorken/tensorken/onnx/internal/ops/quant"
	"github.com/tensorken/tensorken/onnx/internal/ops/signal"
)

// families are the tables of the packages of operators.
var families = [][]op.Row{
	core.Math, core.Reductions, core.Shapes, core.Selections, core.Products, core.Constants,
	neural.Activations, neural.Convolutions, neural.Pools, neural.Norms, neural.Losses, neural.Recurrent, neural.Attentions, neural.Optimizers,
	image.Files, image.Sizes, image.Samples, image.Boxes, quant.Rows, signal.Rows,
	host.Control, host.Random, host.Selections, host.Sequences, host.Texts,
	ml.Encoders, ml.Linear, ml.Trees,
}

// Newest is the newest version of the standard's operators that the table knows.
const Newest = 28

// Oldest is the oldest version.
const Oldest = 1

var byName = sync.OnceValue(func() map[[2]string][]op.Row {
	m := map[[2]string][]op.Row{}
	for _, f := range families {
		for _, r := range f {
			key := [2]string{r.Domain, r.Name}
			m[key] = append(m[key], r)
		}
	}
	return m
})

// Find returns the row of an operator for a version.
func Find(domain, name string, version int) (r op.Row, ok bool) {
	rows := byName()[[2]string{domain, name}]
	i := slices.IndexFunc(rows, func(r op.Row) bool {
		return version >= r.Since && (r.Until == 0 || version <= r.Until)
	})
	if i < 0 {
		return r, false
	}
	return rows[i], true
}

// All returns the rows.
func All() []op.Row { return slices.Concat(families...) }
