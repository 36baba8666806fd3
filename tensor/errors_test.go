package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"

	"github.com/tensorken/tensorken/tensor"
)

// misuses panic with the messages in testdata/errors.golden.
var misuses = []struct {
	name string
	f    func()
}{
	{"absent", func() { tensor.Tensor{}.Exp() }},
	{"absent operand", func() { tensor.Ones(2).Add(tensor.Tensor{}) }},
	{"absent shape", func() { tensor.Tensor{}.Shape() }},
	{"New: too few", func() { tensor.New([]float32{1, 2, 3}, 2, 2) }},
	{"New: negative", func() { tensor.New([]float32{1}, -1) }},
	{"From: ragged", func() { tensor.From([][]float32{{1, 2}, {3}}) }},
	{"From: ragged, deeper", func() { tensor.From([][][]float32{{{1}}, {{1}, {2}}}) }},
	{"From: uint", func() { tensor.From([]uint{1}) }},
	{"From: nil", func() { tensor.From(nil) }},
	{"Zeros: negative", func() { tensor.Zeros(2, -3) }},
	{"Zeros: huge", func() { tensor.Zeros(1<<40, 1<<40) }},
	{"Arange: negative", func() { tensor.Arange(-1) }},
	{"Eye: negative", func() { tensor.Eye(-1) }},
	{"Meshgrid: rank", func() { tensor.Meshgrid(tensor.Ones(2, 2)) }},
	{"Dim", func() { tensor.Ones(2).Dim(1) }},
	{"Cast: no type", func() { tensor.Ones(2).Cast(0) }},
	{"To: nil", func() { tensor.Ones(2).To(nil) }},

	{"Add: shapes", func() { tensor.Ones(2, 3).Add(tensor.Ones(2)) }},
	{"Add: a negative constant", func() { tensor.New([]uint32{1}).Add(tensor.Arange(-1, 1)) }},
	{"Add: types", func() { tensor.Ones(2).Add(ints(1, 2)) }},
	{"Add: 0.5 and int32", func() { ints(1).Add(0.5) }},
	{"Add: 300 and uint8", func() { tensor.New([]uint8{1}).Add(300) }},
	{"Add: too large for float32", func() { tensor.Ones(2).Add(1e300) }},
	{"Add: a string", func() { tensor.Ones(2).Add("1") }},
	{"Add: nil", func() { tensor.Ones(2).Add(nil) }},
	{"Add: bool to float32", func() { tensor.Ones(2).Add(true) }},
	{"Add: bools", func() { bools(true).Add(bools(true)) }},
	{"And: floats", func() { tensor.Ones(2).And(tensor.Ones(2)) }},
	{"Add: huge", func() { tensor.Ones(1<<40, 1).Add(tensor.Ones(1, 1<<40)) }},
	{"Exp: int32", func() { ints(1, 2).Exp() }},
	{"GELU: int32", func() { ints(1, 2).GELU() }},
	{"Pow: 0.5 and int32", func() { ints(4).Pow(0.5) }},
	{"Clamp: 0.5 and int32", func() { ints(4).Clamp(0.5, 2) }},
	{"Where: no bools", func() { tensor.Where(tensor.Ones(2), 1, 2) }},
	{"Where: types", func() { tensor.Where(bools(true), tensor.Ones(1), ints(1)) }},
	{"Where: shapes", func() { tensor.Where(bools(true, false), tensor.Ones(3), 0) }},

	{"Sum: axis", func() { tensor.Ones(2, 3).Sum(2) }},
	{"Sum: axis twice", func() { tensor.Ones(2, 3).Sum(1, -1) }},
	{"Mean: int32", func() { ints(1, 2).Mean() }},
	{"Prod: bool", func() { bools(true).Prod() }},
	{"ArgMax: empty", func() { tensor.Ones(2, 0).ArgMax(1) }},
	{"Softmax: axis", func() { tensor.Ones(2, 3).Softmax(-3) }},
	{"Softmax: int32", func() { ints(1, 2).Softmax(0) }},

	{"Reshape: count", func() { tensor.Ones(2, 3).Reshape(4, 2) }},
	{"Reshape: no multiple", func() { tensor.Ones(2, 3).Reshape(4, -1) }},
	{"Reshape: -1 twice", func() { tensor.Ones(2, 3).Reshape(-1, -1) }},
	{"Reshape: -1 and 0", func() { tensor.Ones(0, 3).Reshape(-1, 0) }},
	{"Expand", func() { tensor.Ones(2, 3).Expand(4, 3) }},
	{"Expand: fewer axes", func() { tensor.Ones(1, 3).Expand(3) }},
	{"Permute: count", func() { tensor.Ones(2, 3).Permute(0) }},
	{"Permute: twice", func() { tensor.Ones(2, 3).Permute(1, 1) }},
	{"T", func() { tensor.Ones(2).T() }},
	{"Squeeze", func() { tensor.Ones(2, 1).Squeeze(0) }},
	{"Pad", func() { tensor.Ones(2).Pad(0, -1, 0) }},
	{"Slice: stop", func() { tensor.Ones(3).Slice(0, 0, 4) }},
	{"Slice: start", func() { tensor.Ones(3).Slice(0, -4, 2) }},
	{"Slice: order", func() { tensor.Ones(3).Slice(0, 2, 1) }},
	{"Slice: backwards", func() { tensor.Ones(3).Slice(0, 0, 2, -1) }},
	{"Slice: step 0", func() { tensor.Ones(3).Slice(0, 0, 2, 0) }},
	{"Slice: two steps", func() { tensor.Ones(3).Slice(0, 0, 2, 1, 1) }},
	{"Span: step 0", func() { tensor.Span(0, 2, 0) }},
	{"Split", func() { tensor.Ones(3).Split(0, 1, 1) }},
	{"Cat: shapes", func() { tensor.Cat(0, tensor.Ones(2, 3), tensor.Ones(2, 2)) }},
	{"Cat: types", func() { tensor.Cat(0, tensor.Ones(2), ints(1)) }},
	{"Cat: nothing", func() { tensor.Cat(0) }},
	{"Stack: shapes", func() { tensor.Stack(0, tensor.Ones(2), tensor.Ones(3)) }},
	{"At: position", func() { tensor.Ones(2, 3).At(0, 3) }},
	{"At: rank", func() { tensor.Ones(2).At(0, 0) }},
	{"Rows", func() { tensor.Scalar(1).Rows() }},
	{"Diag", func() { tensor.Ones(2, 2).Diag(3) }},
	{"Diag: lowest", func() { tensor.Ones(2, 2).Diag(math.MinInt) }},
	{"Tile", func() { tensor.Ones(2).Tile(-1) }},

	{"Chunk", func() { tensor.Ones(4).Chunk(0, 0) }},
	{"Arange: no float", func() { tensor.Arange(0, math.NaN(), 1) }},
	{"Arange: too many", func() { tensor.Arange(0, 1, 1e-12) }},
	{"HistogramBins: no bins", func() { tensor.Ones(2).HistogramBins(0) }},
	{"HistogramBins: limits", func() { tensor.Ones(2).HistogramBins(2, 1, 0) }},
	{"BottomK", func() { tensor.Ones(2).BottomK(0, 3) }},
	{"Quantile: no q", func() { tensor.Ones(2).Quantile(0) }},
	{"Interleave: nothing", func() { tensor.Interleave(0) }},
	{"Arange: no number", func() { tensor.Arange[int]() }},
	{"Arange: step 0", func() { tensor.Arange(0, 3, 0) }},
	{"Arange: int32", func() { tensor.Arange(0, 1<<40) }},
	{"FullOf: 300", func() { tensor.FullOf(tensor.Uint8, 300) }},
	{"FullLike: 70000", func() { tensor.FullLike(tensor.New([]tensor.F16{0}), 70000) }},
	{"Mul: 0.5", func() { tensor.Arange(3).Mul(0.5) }},
	{"Add: 300", func() { tensor.New([]uint8{1}).Add(300) }},
	{"Add: 1e300", func() { floats(1).Add(1e300) }},
	{"Data: int", func() { tensor.Data[int](tensor.Arange(3)) }},
	{"Data: halves", func() { tensor.Data[float32](tensor.New([]tensor.BF16{0})) }},
	{"FullOf: 0.5", func() { tensor.FullOf(tensor.Int32, 0.5, 2) }},
	{"ZerosOf: no type", func() { tensor.ZerosOf(0, 2) }},
	{"Outer: scalar", func() { tensor.Ones(2).Outer(tensor.Scalar(1)) }},
	{"TensorDot: pairs", func() { tensor.Ones(2).TensorDot(tensor.Ones(2), []int{0}, nil) }},
	{"TensorDot: twice", func() { tensor.Ones(2, 2).TensorDot(tensor.Ones(2, 2), []int{0, 0}, []int{0, 1}) }},
	{"TensorDot: lengths", func() { tensor.Ones(2).TensorDot(tensor.Ones(3), []int{0}, []int{0}) }},
	{"DiagEmbed: scalar", func() { tensor.Scalar(1).DiagEmbed(0) }},
	{"Rot90: one axis", func() { tensor.Ones(2, 2).Rot90(1, 0, -2) }},
	{"PadMode: reflect", func() { tensor.Ones(2).PadMode(0, 2, 0, tensor.Reflect) }},
	{"PadMode: mode", func() { tensor.Ones(2).PadMode(0, 1, 0, 9) }},
	{"PadMode: negative", func() { tensor.Ones(2).PadMode(0, -1, 0, tensor.Circular) }},
	{"Fold: length", func() { tensor.Ones(3, 4).Fold(0, 5, 2) }},
	{"Fold: step", func() { tensor.Ones(3, 4).Fold(0, 5, math.MaxInt) }},
	{"Fold: last axis", func() { tensor.Ones(3, 4).Fold(1, 5, 2) }},
	{"ConvTranspose: rank", func() { tensor.Ones(1, 2, 3).ConvTranspose(tensor.Ones(2, 1), nil) }},
	{"ConvTranspose: channels", func() { tensor.Ones(1, 2, 3).ConvTranspose(tensor.Ones(3, 1, 2), nil) }},
	{"ConvTranspose: padding", func() {
		tensor.Ones(1, 1, 1).ConvTranspose(tensor.Ones(1, 1, 2), &tensor.ConvOptions{Padding: []int{1}})
	}},
	{"ConvTranspose: output padding", func() {
		tensor.Ones(1, 1, 3).ConvTranspose(tensor.Ones(1, 1, 2), &tensor.ConvOptions{OutputPadding: []int{1}})
	}},
	{"PixelShuffle", func() { tensor.Ones(1, 6, 2, 2).PixelShuffle(2) }},
	{"PixelUnshuffle", func() { tensor.Ones(1, 1, 3, 2).PixelUnshuffle(2) }},
	{"Resize: rank", func() { tensor.Ones(2, 3).ResizeNearest(2) }},
	{"Resize: sizes", func() { tensor.Ones(1, 1, 2, 3).ResizeBilinear(2, 2, 2) }},
	{"Resize: zero", func() { tensor.Ones(1, 1, 2).Resize([]int{0}, nil) }},
	{"Resize: corners", func() { tensor.Ones(1, 1, 2).Resize([]int{3}, &tensor.ResizeOptions{AlignCorners: true}) }},
	{"Resize: mode", func() { tensor.Ones(1, 1, 2).Resize([]int{3}, &tensor.ResizeOptions{Mode: 9}) }},
	{"Resize: int32", func() { ints(1, 2).Reshape(1, 1, 2).ResizeBilinear(3) }},
	{"AdaptiveAvgPool: int32", func() { ints(1, 2).Reshape(1, 1, 2).AdaptiveAvgPool(3) }},
	{"GridSample: coordinates", func() { tensor.Ones(1, 1, 2, 2).GridSample(tensor.Ones(1, 3, 3), nil) }},
	{"GridSample: mode", func() {
		tensor.Ones(1, 1, 2).GridSample(tensor.Ones(1, 3, 1), &tensor.GridOptions{Mode: tensor.Cubic})
	}},
	{"Put: shapes", func() { tensor.Ones(2, 3).Put(0, ints(0, 1), tensor.Ones(3, 3)) }},
	{"Put: float32", func() { tensor.Ones(2, 3).Put(0, tensor.Ones(1), tensor.Ones(3)) }},
	{"ScatterSet: types", func() { tensor.Ones(2).ScatterSet(0, ints(0), ints(1)) }},
	{"NormP: NaN", func() { tensor.Ones(2).NormP(math.NaN()) }},
	{"Cdist: lengths", func() { tensor.Ones(2, 3).Cdist(tensor.Ones(2, 2), 2) }},
	{"CosineSimilarity: int32", func() { ints(1).CosineSimilarity(ints(1), 0) }},
	{"Hypot: int32", func() { ints(3).Hypot(4) }},
	{"FloorDiv: bool", func() { bools(true).FloorDiv(true) }},
	{"CELU: alpha", func() { tensor.Ones(2).CELU(0) }},

	{"Attention: width", func() { tensor.Attention(tensor.Ones(2, 3), tensor.Ones(2, 4), tensor.Ones(2, 4), nil) }},
	{"Attention: heads", func() { tensor.Attention(tensor.Ones(3, 2, 4), tensor.Ones(2, 2, 4), tensor.Ones(2, 2, 4), nil) }},
	{"Attention: values", func() { tensor.Attention(tensor.Ones(2, 3), tensor.Ones(2, 3), tensor.Ones(4, 3), nil) }},
	{"Attention: mask", func() {
		tensor.Attention(tensor.Ones(2, 3), tensor.Ones(2, 3), tensor.Ones(2, 3), &tensor.AttentionOptions{Mask: bools(true, false, true)})
	}},
	{"Attention: SoftCap", func() {
		tensor.Attention(tensor.Ones(2, 3), tensor.Ones(2, 3), tensor.Ones(2, 3), &tensor.AttentionOptions{SoftCap: -1})
	}},
	{"Attention: Offset", func() {
		tensor.Attention(tensor.Ones(2, 3), tensor.Ones(2, 3), tensor.Ones(2, 3), &tensor.AttentionOptions{Causal: true, Offset: 0.5})
	}},
	{"Attention: Offset of floats", func() {
		tensor.Attention(tensor.Ones(2, 3), tensor.Ones(2, 3), tensor.Ones(2, 3), &tensor.AttentionOptions{Causal: true, Offset: tensor.Ones(2)})
	}},
	{"Attention: Window", func() {
		tensor.Attention(tensor.Ones(2, 3), tensor.Ones(2, 3), tensor.Ones(2, 3), &tensor.AttentionOptions{Window: -1})
	}},
	{"Attention: Dropout", func() {
		tensor.Attention(tensor.Ones(2, 3), tensor.Ones(2, 3), tensor.Ones(2, 3), &tensor.AttentionOptions{Dropout: 1})
	}},
	{"Attention: mask of int32", func() {
		tensor.Attention(tensor.Ones(2, 3), tensor.Ones(2, 3), tensor.Ones(2, 3), &tensor.AttentionOptions{Mask: ints(1, 0)})
	}},

	{"Index: position", func() { tensor.Ones(2, 3).Index(all, 3) }},
	{"Index: too many", func() { tensor.Ones(2, 3).Index(0, 0, 0) }},
	{"Index: Ellipsis twice", func() { tensor.Ones(2, 3).Index(tensor.Ellipsis, tensor.Ellipsis) }},
	{"Index: a float", func() { tensor.Ones(2, 3).Index(1.5) }},
	{"Index: range", func() { tensor.Ones(2, 3).Index(span(0, 9)) }},
	{"Index: float32 tensor", func() { tensor.Ones(2, 3).Index(tensor.Ones(1)) }},
	{"Index: do not broadcast", func() { tensor.Ones(2, 3).Index(ints(0, 1), ints(0, 1, 2)) }},
	{"Index: mask", func() { tensor.Ones(2, 3).Index(bools(true, false, true)) }},
	{"OIndex: too many axes", func() { tensor.Ones(2, 3).OIndex(0, tensor.Ones(2, 3).Gt(0)) }},
	{"VIndex: a string", func() { tensor.Ones(2, 3).VIndex("0:1") }},
	{"Set: shape", func() { tensor.Ones(2, 3).Set(tensor.Ones(2), 0) }},
	{"Set: by a mask", func() { tensor.Ones(2, 3).Set(tensor.Ones(2, 3), all, bools(true, false, true)) }},
	{"Set: type", func() { tensor.Ones(2, 3).Set(ints(1), 0) }},
	{"Set: number", func() { ints(1, 2).Set(0.5, 0) }},
	{"AddAt: bools", func() { bools(true).AddAt(true, 0) }},
	{"Select", func() { tensor.Ones(2, 3).Select(1, 3) }},
	{"MaskedSelect: mask", func() { tensor.Ones(2, 3).MaskedSelect(tensor.Ones(2, 3)) }},
	{"MaskedSelect: shapes", func() { tensor.Ones(2, 3).MaskedSelect(bools(true, false)) }},
	{"MaskedFill: shapes", func() { tensor.Ones(3).MaskedFill(tensor.Ones(2, 3).Gt(0), 1) }},
	{"GatherND: last axis", func() { tensor.Ones(2, 3).GatherND(ints(0, 1, 2)) }},
	{"GatherND: float32", func() { tensor.Ones(2, 3).GatherND(tensor.Ones(2)) }},
	{"ScatterND: shape", func() { tensor.Ones(2, 3).ScatterND(ints(0, 1).Reshape(2, 1), tensor.Ones(3, 3)) }},
	{"Take: float32", func() { tensor.Ones(2, 3).Take(0, tensor.Ones(1)) }},
	{"Take: bools", func() { tensor.Ones(2, 3).Take(0, bools(true, false)) }},
	{"TakeAlong: rank", func() { tensor.Ones(2, 3).TakeAlong(0, ints(0)) }},
	{"TakeAlong: shapes", func() { tensor.Ones(2, 3).TakeAlong(0, tensor.Arange(2).Reshape(1, 2)) }},
	{"OneHot: float32", func() { tensor.Ones(2).OneHot(3) }},
	{"ScatterAdd: shapes", func() { tensor.Ones(2).ScatterAdd(0, ints(0, 1, 1), tensor.Ones(2)) }},
	{"ScatterAdd: other axes", func() { tensor.Ones(2, 3).ScatterAdd(1, ints(0, 1, 1).Reshape(3, 1), tensor.Ones(3, 1)) }},

	{"MatMul", func() { tensor.Ones(2, 3).MatMul(tensor.Ones(2, 3)) }},
	{"MatMul: batches", func() { tensor.Ones(2, 2, 3).MatMul(tensor.Ones(3, 3, 2)) }},
	{"MatMul: scalar", func() { tensor.Ones(2, 3).MatMul(tensor.Scalar(1)) }},
	{"MatMul: types", func() { iota(2, 3).MatMul(tensor.Ones(3, 2).Cast(tensor.Float16)) }},
	{"MatMul: bools", func() { bools(true).MatMul(bools(true)) }},
	{"Dot", func() { tensor.Ones(2, 3).Dot(tensor.Ones(2)) }},
	{"Einsum: count", func() { tensor.Einsum("ij,jk->ik", tensor.Ones(2, 3)) }},
	{"Einsum: rank", func() { tensor.Einsum("ijk->i", tensor.Ones(2, 3)) }},
	{"Einsum: lengths", func() { tensor.Einsum("ij,jk", tensor.Ones(2, 3), tensor.Ones(2, 3)) }},
	{"Einsum: result", func() { tensor.Einsum("ij->ik", tensor.Ones(2, 3)) }},
	{"Einsum: result twice", func() { tensor.Einsum("ij->ii", tensor.Ones(2, 3)) }},
	{"Einsum: letter", func() { tensor.Einsum("i1->i", tensor.Ones(2, 3)) }},
	{"Einsum: diagonal", func() { tensor.Einsum("ii", tensor.Ones(2, 3)) }},
	{"Conv: ranks", func() { tensor.Ones(1, 2, 5).Conv(tensor.Ones(1, 2, 3, 3), nil) }},
	{"Conv: channels", func() { tensor.Ones(1, 2, 5).Conv(tensor.Ones(1, 3, 3), nil) }},
	{"Conv: groups", func() { tensor.Ones(1, 2, 5).Conv(tensor.Ones(3, 1, 3), &tensor.ConvOptions{Groups: 2}) }},
	{"Conv: too small", func() { tensor.Ones(1, 2, 5).Conv(tensor.Ones(1, 2, 7), nil) }},
	{"Conv: options", func() { tensor.Ones(1, 2, 5).Conv(tensor.Ones(1, 2, 3), &tensor.ConvOptions{Stride: []int{1, 2}}) }},
	{"Conv: stride", func() { tensor.Ones(1, 2, 5).Conv(tensor.Ones(1, 2, 3), &tensor.ConvOptions{Stride: []int{-1}}) }},
	{"MaxPool: rank", func() { tensor.Ones(2, 3).MaxPool(2, nil) }},
	{"MaxPool: size", func() { tensor.Ones(1, 1, 3).MaxPool(0, nil) }},
	{"MaxPool: padding", func() { tensor.Ones(1, 1, 3).MaxPool(2, &tensor.ConvOptions{Padding: []int{2}}) }},
	{"Unfold", func() { tensor.Ones(3).Unfold(0, 4, 1) }},

	{"Data: type", func() { tensor.Data[int32](tensor.Ones(2)) }},
	{"Item", func() { tensor.Ones(2).Item() }},
	{"Eval: absent is fine, a field is not", func() { tensor.Eval(struct{ x tensor.Tensor }{}) }},
	{"Eval: a number", func() { tensor.Eval(tensor.Ones(1), 3, "x") }},
	{"Explain: numbers", func() { tensor.Explain([]float32{1}) }},
	{"Item: index out of range", func() { tensor.Ones(2).Take(0, ints(2)).Item() }},
	{"Item: index from the end out of range", func() { tensor.Ones(2).Take(0, ints(-3)).Item() }},
	{"KeyRNG", func() { tensor.KeyRNG(tensor.Ones(2)) }},
	{"Normal: no RNG", func() { (*tensor.RNG)(nil).Normal(2) }},
	{"Perm: no RNG", func() { (*tensor.RNG)(nil).Perm(2) }},
	{"Keys: no RNG", func() { (*tensor.RNG)(nil).Keys(2) }},
	{"Bernoulli: no RNG", func() { (*tensor.RNG)(nil).Bernoulli(tensor.Ones(2)) }},
	{"Ints", func() { tensor.NewRNG(1).Ints(0, 2) }},
	{"Uniform: a long axis", func() { tensor.NewRNG(1).Uniform(3 << 30) }},
	{"Bernoulli", func() { tensor.NewRNG(1).Bernoulli(ints(1)) }},
	{"Categorical", func() { tensor.NewRNG(1).Categorical(tensor.Scalar(1)) }},
}

func TestMisuse(t *testing.T) {
	var out strings.Builder
	for _, m := range misuses {
		err := tensor.Try(m.f)
		var e *tensor.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: the error is %#v, want an *Error", m.name, err)
			continue
		}
		if !strings.HasPrefix(e.Pos, "errors_test.go:") {
			t.Errorf("%s: the position is %q, want one in errors_test.go", m.name, e.Pos)
		}
		if e.Error() != e.Pos+": "+e.Msg || !strings.HasPrefix(e.Msg, e.Op) {
			t.Errorf("%s: the error is %q of position %q, operation %q, message %q", m.name, e, e.Pos, e.Op, e.Msg)
		}
		fmt.Fprintf(&out, "%s\n", e.Msg)
	}
	goldentext.Check(t, "testdata/errors.golden", out.String())
}

func TestCatch(t *testing.T) {
	matmul := func(x tensor.Tensor) (y tensor.Tensor, err error) {
		defer tensor.Catch(&err)
		return x.MatMul(tensor.Ones(3, 1)), nil
	}
	if _, err := matmul(tensor.Ones(2, 3)); err != nil {
		t.Errorf("MatMul: %v", err)
	}
	if _, err := matmul(tensor.Ones(2, 2)); err == nil {
		t.Error("MatMul of [2 2] and [3 1]: no error")
	}
	device := &tensor.DeviceError{Device: "gpu", Op: "Data", Err: os.ErrClosed}
	if err := tensor.Try(func() { panic(device) }); !errors.Is(err, os.ErrClosed) || err.Error() != "gpu: Data: file already closed" {
		t.Errorf("Try of a DeviceError: %v", err)
	}
	defer func() {
		if r := recover(); r != "other" {
			t.Errorf("another panic came out as %v", r)
		}
	}()
	tensor.Try(func() { panic("other") })
}

func TestIndexErrors(t *testing.T) {
	x := tensor.Ones(2, 3)
	for _, c := range []struct {
		name string
		y    tensor.Tensor
	}{
		{"Take", x.Take(1, ints(0, 3))},
		{"Take from the end", x.Take(0, ints(-3))},
		{"Take by uint32", x.Take(0, tensor.New([]uint32{maxU}))},
		{"Take by int64", x.Take(0, tensor.New([]int64{1 << 32}))},
		{"TakeAlong", x.TakeAlong(1, ints(7).Reshape(1, 1))},
		{"ScatterAdd", x.ScatterAdd(0, ints(0, 2).Reshape(2, 1), tensor.Ones(1, 1))},
	} {
		_, err := tensor.Data[float32](c.y)
		var e *tensor.Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, "out of range") {
			t.Errorf("%s: Data: %v, want an *Error that says an index is out of range", c.name, err)
		}
		if err := tensor.Eval(c.y.Add(1)); !errors.As(err, &e) {
			t.Errorf("%s: Eval of what is computed from it: %v, want an *Error", c.name, err)
		}
	}
	if err := tensor.Eval(x.Take(0, ints(1))); err != nil {
		t.Errorf("Eval of another tensor after that: %v", err)
	}
}

func TestNilFunctions(t *testing.T) {
	for name, f := range map[string]func(){
		"Try":     func() { panic(tensor.Try(nil)) },
		"Profile": func() { tensor.Profile(nil) },
	} {
		var e *tensor.Error
		if err := tensor.Try(f); !errors.As(err, &e) || e.Op != name || !strings.HasPrefix(e.Pos, "errors_test.go:") {
			t.Errorf("%s(nil): %v, want an error with the line", name, err)
		}
	}
}
