// Package tensor provides immutable n-dimensional arrays and operations on them. Operations
// record a graph, which is compiled and computed, on the CPU or on a GPU, when elements are
// read. Tensors are made of Go slices, numbers, files or random draws, and are read as Go
// slices. Read tensor.go first, then elementwise.go and eval.go.
//
// # Terms
//
// A [Tensor] has a shape, the lengths of its axes, and elements of one [DType]. A tensor
// of rank 0, without axes, is a scalar; lengths may be 0. The zero Tensor is absent.
//
// Negative axes and positions count from the end. An axis or position out of range is an
// error and is never clamped.
//
// An [Operand] of a method is a Tensor of the same type or a Go number, which takes the
// tensor's type. Other conversions need [Tensor.Cast]. Shapes broadcast as in NumPy: they
// are aligned at the last axis, and a missing axis, or one of length 1, is repeated.
//
// Zeros, Ones, Full, Scalar, Eye, Arange, Linspace and results computed from them alone are untyped
// constants, as 1.5 is in Go: they are float32 (Arange int32) by themselves, and take the type of the first
// typed tensor that they are combined with, so that a mask or a table of positions works in a model of any
// precision. Positions become floats or integers of at least 32 bits, unsigned ones unless one is negative;
// others floats. In float64 they have the digits of float64, unless their elements were read before. Cast
// fixes a type; New, From, files and random draws have one.
//
// Reductions keep the reduced axes with length 1, so that p.Div(p.Sum(1)) normalizes
// rows; without axes they reduce all axes to a scalar. ArgMax and ArgMin drop their axis.
// [Tensor.Squeeze] drops axes of length 1.
//
// A tree is any Go value made of tensors: a Tensor, or structs, slices, arrays, maps,
// pointers and interfaces that hold tensors, in exported fields.
//
// # Evaluation
//
// Operations are lazy: they record a graph. Reading elements, by [Data], [Tensor.Item],
// [Eval] or printing, computes the graph in as few kernels as possible. The tensors that
// were read are stored; intermediate ones are not, and are computed again if they are
// needed again. In a loop, call Eval on the tensors that the next iteration uses, or
// Keep them. To time an operation, Eval its result before the clock is read, and on a GPU
// call [Device.Sync] too: before that nothing has been computed.
//
// Each device keeps up to 1024 plans, which are compiled graphs, and 2048 programs, which
// are compiled kernels; beyond, it evicts the half used least recently. A plan is for
// certain shapes; Go numbers are its arguments. So a loop over more shapes than that
// compiles in every round: pad to few lengths. [Info] counts both.
//
// Tensors made from numbers or Go slices are not committed to a device: they are
// computed where they are needed, or on the [Default] device. [Tensor.To] commits a
// tensor, and results of a committed tensor are on its device. One operation cannot mix
// two devices.
//
// Elementary and special functions are accurate to some units in the last place of the
// result, near 0, 1 and zeros that their comments name as well as for large arguments: angles
// of any size are reduced exactly. In 16 bits, float32 is computed and rounded.
//
// The last bits of elementary functions, the order of sums and subnormal numbers depend
// on the device. A GPU may treat a subnormal number as 0; Log and Pow of it are then
// inexact, and Rem by it may be NaN.
//
// # Functions by subject
//
//   - Creation: [New], [From], [FromBytes], [Zeros], [Ones], [Full], [Scalar], [Arange],
//     [Linspace], [Logspace], [Eye], [ZerosLike], [OnesLike], [FullLike], [ZerosOf],
//     [OnesOf], [FullOf], [Meshgrid], [TrilIndices], [TriuIndices]; random: [NewRNG],
//     [KeyRNG]
//   - Properties and values: [Tensor.Shape], [Tensor.Rank], [Tensor.Dim], [Tensor.Len],
//     [Tensor.DType], [Tensor.Device], [Tensor.IsValid], [Tensor.Item], [Data],
//     [Tensor.Bytes], [Eval], [Tensor.Keep], [Tensor.String], [Tensor.Format],
//     [Tensor.MarshalJSON], [Tensor.UnmarshalJSON], [AllClose], [Explain], [Profile]
//   - Types and devices: [Tensor.Cast], [Tensor.To], [CPU], [NewCPU], [Default],
//     [SetDefault], [NewDevice], [Info], [ToF16], [ToBF16]
//   - Arithmetic: [Tensor.Add], [Tensor.Sub], [Tensor.Mul], [Tensor.Div],
//     [Tensor.FloorDiv], [Tensor.Rem], [Tensor.Mod], [Tensor.Pow], [Tensor.Neg],
//     [Tensor.Abs], [Tensor.Sign], [Tensor.Reciprocal], [Tensor.Square], [Tensor.Sqrt],
//     [Tensor.Rsqrt], [Tensor.Maximum], [Tensor.Minimum], [Tensor.Clamp], [Tensor.Lerp],
//     [Tensor.Hypot], [Tensor.Copysign]
//   - Exponentials and logarithms: [Tensor.Exp], [Tensor.Exp2], [Tensor.Expm1],
//     [Tensor.Log], [Tensor.Log2], [Tensor.Log10], [Tensor.Log1p], [Tensor.LogAddExp],
//     [Tensor.Logit]
//   - Trigonometry: [Tensor.Sin], [Tensor.Cos], [Tensor.Tan], [Tensor.Asin],
//     [Tensor.Acos], [Tensor.Atan], [Tensor.Atan2], [Tensor.Sinh], [Tensor.Cosh],
//     [Tensor.Tanh], [Tensor.Asinh], [Tensor.Acosh], [Tensor.Atanh], [Tensor.Sinc]
//   - Special functions: [Tensor.Erf], [Tensor.Erfc], [Tensor.ErfInv], [Tensor.Lgamma],
//     [Tensor.Digamma]
//   - Rounding: [Tensor.Floor], [Tensor.Ceil], [Tensor.Round], [Tensor.Trunc]
//   - Comparison and choice: [Tensor.Eq], [Tensor.Ne], [Tensor.Lt], [Tensor.Le],
//     [Tensor.Gt], [Tensor.Ge], [Where], [Tensor.IsNaN], [Tensor.IsInf],
//     [Tensor.IsFinite], [Tensor.SignBit], [Tensor.NanToNum]
//   - Logic and bits: [Tensor.Not], [Tensor.And], [Tensor.Or], [Tensor.Xor], [Tensor.Shl],
//     [Tensor.Shr]
//   - Activations: [Tensor.ReLU], [Tensor.LeakyReLU], [Tensor.ELU], [Tensor.SELU],
//     [Tensor.CELU], [Tensor.GELU], [Tensor.GELUTanh], [Tensor.SiLU], [Tensor.Sigmoid],
//     [Tensor.HardSigmoid], [Tensor.LogSigmoid], [Tensor.Softplus], [Tensor.Softsign],
//     [Tensor.Mish], [Tensor.HardSwish], [Tensor.Softmax], [Tensor.LogSoftmax]
//   - Reductions: [Tensor.Sum], [Tensor.Mean], [Tensor.Var], [Tensor.Std], [Tensor.Max],
//     [Tensor.Min], [Tensor.Prod], [Tensor.LogSumExp], [Tensor.Norm], [Tensor.NormP],
//     [Tensor.Any], [Tensor.All], [Tensor.CountNonZero], [Tensor.ArgMax], [Tensor.ArgMin];
//     without NaN: [Tensor.NanSum], [Tensor.NanMean], [Tensor.NanVar], [Tensor.NanStd],
//     [Tensor.NanMax], [Tensor.NanMin], [Tensor.NanProd]
//   - Ordered operations: [Tensor.CumSum], [Tensor.CumProd], [Tensor.CumMax],
//     [Tensor.CumMin], [Tensor.LogCumSumExp], [Tensor.Sort], [Tensor.ArgSort],
//     [Tensor.TopK], [Tensor.BottomK], [Tensor.Median], [Tensor.Quantile], [Tensor.Unique], [Tensor.UniqueAll],
//     [Tensor.NonZero], [Tensor.SearchSorted], [Tensor.SearchSortedRight],
//     [Tensor.Histogram], [Tensor.HistogramBins], [Tensor.Bincount]
//   - Shape: [Tensor.Reshape], [Tensor.Flatten], [Tensor.Squeeze], [Tensor.Unsqueeze],
//     [Tensor.Expand], [Tensor.Tile], [Tensor.Repeat], [Tensor.Permute],
//     [Tensor.Transpose], [Tensor.T], [Tensor.Flip], [Tensor.Roll], [Tensor.Rot90]
//   - Joining and cutting: [Cat], [Stack], [Interleave], [Tensor.Split], [Tensor.Chunk],
//     [Tensor.Unstack], [Tensor.Slice], [Tensor.At], [Tensor.Rows], [Tensor.Pad],
//     [Tensor.PadMode]
//   - Indexing: [Tensor.Index], [Tensor.OIndex], [Tensor.VIndex], [Tensor.Select],
//     [Tensor.Set], [Tensor.AddAt], [Tensor.MaskedSelect], [Tensor.MaskedFill],
//     [Tensor.GatherND], [Tensor.ScatterND], [Span], [Tensor.Take], [Tensor.TakeAlong],
//     [Tensor.OneHot], [Tensor.Put], [Tensor.ScatterSet], [Tensor.ScatterAdd],
//     [Tensor.ScatterMul], [Tensor.ScatterMax], [Tensor.ScatterMin]
//   - Matrices: [Tensor.MatMul], [Tensor.Dot], [Tensor.Outer], [Tensor.Kron],
//     [Tensor.TensorDot], [Einsum], [Tensor.Diag], [Tensor.DiagEmbed], [Tensor.Trace],
//     [Tensor.Tril], [Tensor.Triu], [Tensor.Cdist], [Tensor.CosineSimilarity], [Attention]
//   - Windows and images: [Tensor.Conv], [Tensor.ConvTranspose], [Tensor.MaxPool],
//     [Tensor.AvgPool], [Tensor.AdaptiveMaxPool], [Tensor.AdaptiveAvgPool],
//     [Tensor.Unfold], [Tensor.Fold], [Tensor.Resize], [Tensor.ResizeNearest],
//     [Tensor.ResizeBilinear], [Tensor.ResizeBicubic], [Tensor.GridSample],
//     [Tensor.PixelShuffle], [Tensor.PixelUnshuffle]
//   - Kernels of one's own: [Kernel.Call], [Elements]
//   - Memory: [Donate], [Scope]
//   - Errors: [Try], [Catch]
//
// # Errors
//
// Misuse, such as shapes that do not fit, panics with an [*Error] that names the caller's
// line, so that calls can be chained. [Catch] and [Try] turn the panic into an error.
// Failures that depend on the machine or on the values of indices are returned by the
// function that computes, or panic with a [*DeviceError] if it returns no error.
//
// An index out of range in a tensor of indices is found when elements are read. The
// [*Error] names the operation that uses the index, its line, the index, and its position
// in the tensor of indices.
//
// A Tensor may be used by any number of goroutines at once.
package tensor
