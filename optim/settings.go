package optim

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// must panics on behalf of op unless v is within the limits.
func must(op, name string, v float64, l limits.Limits) {
	if err := l.Check(name, v); err != nil {
		tensor.Internal.Misuse(graph.Token{}, "optim."+op, err.Error())
	}
}

// settings are the names of fields of rules, [LBFGS], [Scaling] and [Plateau] by their limits.
// 0, which stands for the default, is always allowed.
var settings = []struct {
	limits.Limits
	names []string
}{
	{limits.NotNegative, []string{
		"Alpha", "Cooldown", "Eps", "Initial", "Interval", "LR", "LRDecay", "Lambda", "MaxEval", "MaxIter", "MaxStep",
		"MinStep", "Momentum", "MomentumDecay", "T0", "Threshold", "TolChange", "TolGrad", "WeightDecay",
	}},
	{limits.BelowOne, []string{"Backoff", "Beta1", "Beta2", "Decay", "EtaMinus", "Factor", "Rho"}},
	{limits.AtMostOne, []string{"Floor"}},
	{limits.AtLeastOne, []string{"EtaPlus", "Growth"}},
	{limits.Count, []string{"History"}},
	{limits.Limits{Least: -1, Most: math.MaxInt, Want: "at least -1"}, []string{"Patience"}},
}

// limitsOf returns the limits of a field, which allow 0 alone if settings has no such name.
func limitsOf(name string) limits.Limits {
	for _, s := range settings {
		if slices.Contains(s.names, name) {
			return s.Limits
		}
	}
	return limits.Limits{}
}

// checkSettings returns an error if a number in v, a struct of this package or a pointer to
// one, is out of its limits. Other values have no limits.
func checkSettings(v any) error {
	s := reflect.Indirect(reflect.ValueOf(v))
	if s.Kind() != reflect.Struct || s.Type().PkgPath() != reflect.TypeFor[Optimizer]().PkgPath() {
		return nil
	}
	return limits.Fields(v, limitsOf)
}

// bounded returns a gradient whose square is in the type's range: greater numbers, such as
// infinite ones, count as the bound. NaN stays NaN.
func bounded(g tensor.Tensor) tensor.Tensor {
	most := 0x1p56
	if g.DType() == tensor.Float64 {
		most = 0x1p500
	}
	return g.Maximum(-most).Minimum(most)
}

// epsilon returns the ε that is added to roots of squares of g, zero if v is 0, but no less
// than the root of the least normal number of g's type.
func epsilon(g tensor.Tensor, v, zero float64) float64 {
	return max(cmp.Or(v, zero), math.Sqrt(least(g)))
}

// least returns the least normal number of g's type. Smaller ones are 0 on some devices.
func least(g tensor.Tensor) float64 {
	if g.DType() == tensor.Float64 {
		return 0x1p-1022
	}
	return 0x1p-126
}
