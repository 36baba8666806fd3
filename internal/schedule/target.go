package schedule

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/contraction"
)

type (
	// A Target is the GPU that a kernel is scheduled for.
	Target = build.Target
	// A Family is a kind of adapter.
	Family = build.Family
	// A Choice is a way to compute a product.
	Choice = contraction.Choice
)

// The families. Integrated also stands for adapters of no known kind.
const (
	Integrated = build.Integrated
	Discrete   = build.Discrete
	Software   = build.Software
)

// PartsAdvice is advice on tensors that are too large for a device.
const PartsAdvice = build.PartsAdvice
