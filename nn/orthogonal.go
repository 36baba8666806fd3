package nn

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// Gains are factors of initial weights that keep the variance of a layer's outputs before an
// activation, PyTorch's calculate_gain. [XavierUniform] and [Orthogonal] have gain 1; those
// for tanh are nn.Orthogonal(rng, 8, 4).Mul(nn.GainTanh). [KaimingUniform] has GainReLU.
const (
	GainTanh = 5.0 / 3
	GainReLU = math.Sqrt2
	GainSELU = 3.0 / 4
)

// GainLeakyReLU returns the gain for a leaky ReLU of that slope.
func GainLeakyReLU(slope float64) float64 {
	setting("GainLeakyReLU", "the slope", slope, limits.Finite)
	return math.Sqrt(2 / (1 + slope*slope))
}

// Orthogonal returns a random weight of shape [out in spatial...], of rank 2 or more, which
// as a matrix [out in·spatial] has orthonormal rows, or columns if it has fewer of them. The
// distribution is uniform. It is computed on the host, in out²·in·spatial steps or fewer.
//
// Source: Saxe, McClelland, Ganguli, "Exact solutions to the nonlinear dynamics of learning in
// deep linear neural networks", 2013.
func Orthogonal(rng *tensor.RNG, shape ...int) tensor.Tensor {
	const op = "Orthogonal"
	fans(op, rng, shape)
	rows, cols := shape[0], graph.Len(shape[1:])
	tall := rows > cols
	if tall {
		rows, cols = cols, rows
	}
	run := func(out graph.HostArray, in []graph.HostArray) error {
		for i := range graph.Len(out.Shape[:len(out.Shape)-1]) {
			size := 4 * rows * cols
			orthonormalize(out.Data[i*size:][:size], in[0].Data[i*size:][:size], rows, cols)
		}
		return nil
	}
	q := tensor.Internal.HostCall(graph.Token{}, "nn."+op, rows*cols, [2]int{rows, cols}, run, rng.Normal(rows*cols).Cast(tensor.Float32))
	q = q.Reshape(rows, cols)
	if tall {
		q = q.T()
	}
	return q.Reshape(shape...).Keep()
}

// orthonormalize makes the rows of a matrix of float32 orthonormal, by the modified
// Gram-Schmidt process in float64. Normal numbers are far from linearly dependent, so one pass
// is as accurate as float32.
func orthonormalize(out, in []byte, rows, cols int) {
	a := make([]float64, rows*cols)
	for i := range a {
		a[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(in[4*i:])))
	}
	matrix := slices.Collect(slices.Chunk(a, max(cols, 1)))
	for i, x := range matrix {
		scale := 1 / math.Sqrt(dot(x, x))
		for k := range x {
			x[k] *= scale
		}
		for _, y := range matrix[i+1:] {
			f := dot(x, y)
			for k, v := range x {
				y[k] -= f * v
			}
		}
	}
	for i, v := range a {
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(float32(v)))
	}
}

func dot(x, y []float64) (sum float64) {
	for k, v := range x {
		sum += v * y[k]
	}
	return sum
}

// TruncNormal returns a random weight, normal of standard deviation sigma within ±2·sigma.
// PyTorch's trunc_normal_ cuts at ±2, whatever sigma is, which no weight reaches.
func TruncNormal(rng *tensor.RNG, sigma float64, shape ...int) tensor.Tensor {
	checkDraw("TruncNormal", rng, shape)
	setting("TruncNormal", "sigma", sigma, limits.NotNegative)
	return rng.TruncNormal(shape...).Mul(sigma).Keep()
}

// Fans returns the number of inputs of each output, and of outputs of each input, of a weight
// [out in spatial...]. With them any other distribution of initial weights is a line:
// rng.Normal(shape...).Mul(math.Sqrt(2/float64(out))) is PyTorch's kaiming_normal_ of
// mode="fan_out".
func Fans(shape ...int) (in, out int) {
	checkShape("Fans", shape)
	return fansOf("Fans", shape)
}
