package table

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/tensor"
)

// A Scaler maps each column of a table, x, to (x - Offset)/Scale. It is part of a model: files
// have its two tensors, and optimizers leave them.
//
//	m.Scaler, err = table.StandardScaler(train.X)
//	y := m.Net.Apply(m.Scaler.Apply(x))
type Scaler struct {
	Offset, Scale tensor.Tensor `tensor:",state"` // of the shape of a row; Scale is above 0
}

// StandardScaler returns a Scaler to mean 0 and standard deviation 1 (dividing by n) of each
// column of x. x is [rows columns] or any tensor of floats with rows along axis 0.
//
// NaN, a missing value, is left out of the statistics, which are computed in float64. Where all
// values of a column are equal, Scale is 1. It is an error if a column has no value or an
// infinite one, or if a statistic is beyond the type of x.
func StandardScaler(x tensor.Tensor) (Scaler, error) {
	return fit("StandardScaler", x, func(column []float64) (offset, scale float64) {
		mean, squares := 0.0, 0.0
		for i, v := range column {
			mean += (v - mean) / float64(i+1)
		}
		for _, v := range column {
			squares += (v - mean) * (v - mean) / float64(len(column))
		}
		return mean, math.Sqrt(squares)
	})
}

// MinMaxScaler returns a Scaler of each column of x to the range from 0 to 1. See
// [StandardScaler] for x, NaN and errors.
func MinMaxScaler(x tensor.Tensor) (Scaler, error) {
	return fit("MinMaxScaler", x, func(column []float64) (offset, scale float64) {
		lo := slices.Min(column)
		return lo, slices.Max(column) - lo
	})
}

// RobustScaler returns a Scaler of each column of x to median 0 and a distance of 1 between the
// quartiles, so that a few wild values change nothing. Quartiles are interpolated, as by
// [tensor.Tensor.Quantile]; where they are equal, Scale is 1. See [StandardScaler] for x, NaN and
// errors.
func RobustScaler(x tensor.Tensor) (Scaler, error) {
	return fit("RobustScaler", x, func(column []float64) (offset, scale float64) {
		slices.Sort(column)
		at := func(q float64) float64 {
			whole, part := math.Modf(q * float64(len(column)-1))
			i := int(whole)
			return column[i] + part*(column[min(i+1, len(column)-1)]-column[i])
		}
		return at(0.5), at(0.75) - at(0.25)
	})
}

// fit returns the Scaler of a statistic of each column.
func fit(op string, x tensor.Tensor, statistic func(column []float64) (offset, scale float64)) (s Scaler, err error) {
	if !x.IsValid() || x.Rank() == 0 || !x.DType().IsFloat() {
		misuse(op, fmt.Sprintf("want floats with rows along axis 0, not %s", describe(x)))
	}
	defer tensor.Catch(&err)
	row, n, width := x.Shape()[1:], x.Dim(0), 1
	for _, d := range row {
		width *= d
	}
	columns, err := tensor.Data[float64](x.To(tensor.CPU()).Cast(tensor.Float64).Reshape(x.Dim(0), width).T())
	if err != nil {
		return s, err
	}
	offset, scale := make([]float64, width), make([]float64, width)
	for c := range width {
		column := slices.DeleteFunc(columns[c*n:(c+1)*n], math.IsNaN)
		if len(column) == 0 {
			return s, fmt.Errorf("table.%s: column %d has no value", op, c)
		}
		if slices.ContainsFunc(column, func(v float64) bool { return math.IsInf(v, 0) }) {
			return s, fmt.Errorf("table.%s: column %d has an infinite value", op, c)
		}
		offset[c], scale[c] = scaled(column, statistic)
		if wide := x.DType() == tensor.Float64; !fits(offset[c], wide) || !fits(scale[c], wide) {
			return s, fmt.Errorf("table.%s: the range of column %d is beyond %v: divide it first", op, c, x.DType())
		}
	}
	if x.DType() == tensor.Float64 {
		return Scaler{tensor.New(offset, row...), tensor.New(notZero(scale), row...)}, nil
	}
	return Scaler{tensor.New(narrow(offset), row...), tensor.New(notZero(narrow(scale)), row...)}, nil
}

// fits reports whether a number is finite, as a float32 if it is not to be wide.
func fits(x float64, wide bool) bool {
	if !wide {
		x = float64(float32(x))
	}
	return !math.IsInf(x, 0)
}

func narrow(all []float64) []float32 {
	out := make([]float32, len(all))
	for i, x := range all {
		out[i] = float32(x)
	}
	return out
}

// notZero sets scales of 0 to 1.
func notZero[E float32 | float64](scales []E) []E {
	for i, x := range scales {
		if x == 0 {
			scales[i] = 1
		}
	}
	return scales
}

// scaled returns a statistic of numbers that is computed of them divided by a power of two, so
// that no square is beyond the range of float64.
func scaled(column []float64, statistic func([]float64) (offset, scale float64)) (offset, scale float64) {
	lo, hi := slices.Min(column), slices.Max(column)
	if lo == hi {
		return lo, 0
	}
	_, e := math.Frexp(max(-lo, hi))
	for i, v := range column {
		column[i] = math.Ldexp(v, -e)
	}
	offset, scale = statistic(column)
	return math.Ldexp(offset, e), math.Ldexp(scale, e)
}

// Apply returns (x - Offset)/Scale for a row or for rows along any axes before it, in the type of
// x. NaN stays NaN.
func (s Scaler) Apply(x tensor.Tensor) tensor.Tensor {
	return s.compute("Scaler.Apply", x, func(x, offset, scale tensor.Tensor) tensor.Tensor { return x.Sub(offset).Div(scale) })
}

// Invert returns x·Scale + Offset, which undoes Apply.
func (s Scaler) Invert(x tensor.Tensor) tensor.Tensor {
	return s.compute("Scaler.Invert", x, func(x, offset, scale tensor.Tensor) tensor.Tensor { return x.Mul(scale).Add(offset) })
}

// compute returns f in the type of x, of 16 bits in float32.
func (s Scaler) compute(op string, x tensor.Tensor, f func(x, offset, scale tensor.Tensor) tensor.Tensor) tensor.Tensor {
	if !s.Offset.IsValid() || !s.Scale.IsValid() {
		misuse(op, "the Scaler is empty: fit or load it first")
	}
	row := s.Offset.Shape()
	if !x.IsValid() || !x.DType().IsFloat() || x.Rank() < len(row) || !slices.Equal(x.Shape()[x.Rank()-len(row):], row) {
		misuse(op, fmt.Sprintf("want floats whose last axes are %v, those of a row, not %s", row, describe(x)))
	}
	d := x.DType()
	if d.Size() == 2 {
		d = tensor.Float32
	}
	return f(x.Cast(d), s.Offset.Cast(d), s.Scale.Cast(d)).Cast(x.DType())
}

// describe returns the type and shape of a tensor.
func describe(x tensor.Tensor) string {
	if !x.IsValid() {
		return "an absent tensor"
	}
	return fmt.Sprintf("%v %v", x.DType(), x.Shape())
}
