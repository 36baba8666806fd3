package onnx

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

func attrInt(name string, v int64) *proto.Attr {
	return &proto.Attr{Name: name, Type: proto.AttrInt, I: v}
}

func attrInts(name string, v ...int64) *proto.Attr {
	return &proto.Attr{Name: name, Type: proto.AttrInts, Ints: v}
}

// Forms of operators that the public cases of the suite do not have.
func TestVariants(t *testing.T) {
	f := func(v ...float32) Value { return op.Of(tensor.New(v, len(v))) }
	i := func(v ...int64) Value { return op.Of(tensor.New(v, len(v))) }
	b := func(v ...bool) Value { return op.Of(tensor.New(v, len(v))) }
	scalar := func(v Value) Value { return op.As(v.Elem, v.Tensor.Reshape()) }
	attrs := func(a ...*proto.Attr) []*proto.Attr { return a }
	cube := func(n int, v ...float32) Value { return op.Of(tensor.New(v, n, 1, 1)) }
	none := func(lengths ...int) Value { return op.Of(tensor.New([]float32{}, lengths...)) }
	matrix := func(v ...float32) Value { return op.Of(tensor.New(v, 2, 2)) }
	f2 := func(a, b float32) Value { return op.Of(tensor.New([]float32{a, b}, 1, 2)) }
	s := func(v ...string) Value { return op.Texts(v, len(v)) }
	half := func(v ...float32) Value { return op.Of(f(v...).Tensor.Cast(tensor.Float16)) }
	for _, c := range []struct {
		op    string
		opset int64
		attrs []*proto.Attr
		in    []Value
		want  string
	}{
		{"TopK", 11, nil, []Value{op.Of(tensor.New([]uint64{3, 1, 1 << 63, 2}, 4)), i(2)}, "uint64[2] [9223372036854775808 3] | int64[2] [2 0]"},
		{"TopK", 1, attrs(attrInt("k", 1)), []Value{f(3, 5, 1)}, "float[1] [5] | int64[1] [1]"},
		{"ReduceMax", 20, attrs(attrInt("keepdims", 0)), []Value{b(false, true)}, "bool[] true"},
		{"ReduceMin", 20, nil, []Value{b(false, true)}, "bool[1] [false]"},
		{"ReduceMax", 20, attrs(attrInt("keepdims", 0)), []Value{f()}, "float[] -inf"},
		{"ReduceProd", 18, attrs(attrInt("keepdims", 0)), []Value{f()}, "float[] 1"},
		{"ReduceSum", 13, attrs(attrInt("noop_with_empty_axes", 1)), []Value{f(1, 2)}, "float[2] [1 2]"},
		{"ReduceSum", 11, attrs(attrInts("axes", 0), attrInt("keepdims", 0)), []Value{i(1, 2)}, "int64[] 3"},
		{"Split", 18, nil, []Value{f(), i(0, 0)}, "float[0] [] | float[0] []"},
		{"Split", 18, attrs(attrInt("num_outputs", 2)), []Value{f(1, 2, 3)}, "float[2] [1 2] | float[1] [3]"},
		{"Split", 2, attrs(attrInts("split", 1, 2)), []Value{f(1, 2, 3)}, "float[1] [1] | float[2] [2 3]"},
		{"StringConcat", 20, nil, []Value{op.Texts([]string{"a"}), op.Texts([]string{"b"})}, `string[] ["ab"]`},
		{"StringSplit", 20, nil, []Value{s()}, `string[0 0] [] | int64[0] []`},
		{"Slice", 13, nil, []Value{f(1, 2, 3, 4), i(-1), i(-1000), i(0), i(-2)}, "float[2] [4 2]"},
		{"Slice", 13, nil, []Value{f(1, 2, 3, 4), i(1), i(1 << 62), i(-1)}, "float[3] [2 3 4]"},
		{"Slice", 13, nil, []Value{f(1, 2, 3, 4), i(3), i(1)}, "float[0] []"},
		{"Slice", 13, nil, []Value{f(1, 2, 3, 4), i(-9), i(-9), i(0), i(-1)}, "float[1] [1]"}, // a start is an element, an end may be none
		{"Slice", 13, nil, []Value{f(), i(-9), i(-9), i(0), i(-1)}, "float[0] []"},
		{"Slice", 1, attrs(attrInts("starts", 1), attrInts("ends", 3)), []Value{f(1, 2, 3, 4)}, "float[2] [2 3]"},
		{"Pad", 19, attrs(&proto.Attr{Name: "mode", Type: proto.AttrString, S: "wrap"}), []Value{f(1, 2), i(3, 2)}, "float[7] [2 1 2 1 2 1 2]"},
		{"Pad", 13, nil, []Value{f(1, 2, 3), i(-1, 1), scalar(f(9))}, "float[3] [2 3 9]"},
		{"Pad", 2, attrs(attrInts("pads", 1, 0), &proto.Attr{Name: "value", Type: proto.AttrFloat, F: 7}), []Value{f(1)}, "float[2] [7 1]"},
		{"Clip", 13, nil, []Value{scalar(f(3)), f(1), f(2)}, "float[] 2"},
		{"Clip", 6, attrs(&proto.Attr{Name: "max", Type: proto.AttrFloat, F: 2}), []Value{f(1, 5)}, "float[2] [1 2]"},
		{"Cast", 13, attrs(attrInt("to", int64(op.String))), []Value{f(0.5, 1e-7, 0, 16777216, 1234567.5, 3e16)}, `string[6] ["0.5" "1e-07" "0" "16777216" "1234567.5" "3e+16"]`},
		{"Cast", 13, attrs(attrInt("to", int64(op.Float))), []Value{s("1.5", "-INF", "NaN", "1e2")}, "float[4] [1.5 -inf NaN 100.0]"},
		{"BitCast", 26, attrs(attrInt("to", int64(op.Float16))), []Value{op.Of(tensor.New([]int16{0x3c00}, 1))}, "float16[1] [1]"},
		{"BitCast", 26, attrs(attrInt("to", int64(op.Uint8))), []Value{b(true, false)}, "uint8[2] [1 0]"},
		{"Range", 11, nil, []Value{scalar(i(5)), scalar(i(1)), scalar(i(-2))}, "int64[2] [5 3]"},
		{"Gather", 13, nil, []Value{s("a", "b", "c"), i(2, 0)}, `string[2] ["c" "a"]`},
		{"Concat", 13, attrs(attrInt("axis", 0)), []Value{s("a"), s("b", "a")}, `string[3] ["a" "b" "a"]`},
		{"Where", 16, nil, []Value{b(true, false), s("a"), s("b")}, `string[2] ["a" "b"]`},
		{"Unsqueeze", 11, attrs(attrInts("axes", 0, -1)), []Value{f(1, 2)}, "float[1 2 1] [[[1] [2]]]"},
		{"Mod", 13, nil, []Value{i(-4, 7, 5), i(2, -3, 8)}, "int64[3] [0 -2 5]"},
		{"Pow", 15, nil, []Value{i(2, 3), f(2, 2)}, "int64[2] [4 9]"},
		{"NonZero", 13, nil, []Value{b(true, false, true)}, "int64[1 2] [[0 2]]"},
		{"Compress", 11, nil, []Value{f(1, 2, 3), b(false, true)}, "float[1] [2]"},
		{"Unique", 11, attrs(attrInt("sorted", 0)), []Value{f(2, 1, 2)}, "float[2] [2 1] | int64[2] [0 1] | int64[3] [0 1 0] | int64[2] [2 1]"},
		{"ArgMax", 12, attrs(attrInt("axis", -1), attrInt("select_last_index", 1)), []Value{scalar(f(2))}, "int64[] 0"},
		{"ArgMax", 12, attrs(attrInt("select_last_index", 1), attrInt("keepdims", 0)), []Value{f(2, 2, 1)}, "int64[] 1"},
		{"EyeLike", 9, attrs(attrInt("k", 1)), []Value{op.Of(tensor.ZerosOf(tensor.Int32, 2, 2))}, "int32[2 2] [[0 1] [0 0]]"},
		{"Reshape", 14, attrs(attrInt("allowzero", 1)), []Value{f(), i(0, 3)}, "float[0 3] []"},
		{"Scatter", 9, nil, []Value{f(0, 0, 0), i(1), f(5)}, "float[3] [0 5 0]"},
		{"ScatterElements", 18, attrs(&proto.Attr{Name: "reduction", Type: proto.AttrString, S: "add"}), []Value{f(1, 1, 1), i(1, 1), f(5, 2)}, "float[3] [1 8 1]"},
		{"Add", 6, attrs(attrInt("broadcast", 1), attrInt("axis", 0)), []Value{matrix(0, 0, 0, 0), f(1, 2)}, "float[2 2] [[1 1] [2 2]]"},
		{"Pow", 6, attrs(attrInt("broadcast", 1), attrInt("axis", 0)), []Value{matrix(2, 3, 2, 3), f(1, 2)}, "float[2 2] [[2 3] [4 9]]"},
		{"PRelu", 6, nil, []Value{op.Of(tensor.New([]float32{-1, -1, -1, -1}, 1, 2, 2)), f(1, 2)}, "float[1 2 2] [[[-1 -1] [-2 -2]]]"},
		{"GlobalLpPool", 20, attrs(attrInt("p", 1)), []Value{op.Of(tensor.New([]float32{1, 2, -3}, 1, 1, 3))}, "float[1 1 1] [[[6]]]"},
		{"LpPool", 1, attrs(attrInts("kernel_shape", 2), &proto.Attr{Name: "p", Type: proto.AttrFloat, F: 1}), []Value{op.Of(tensor.New([]float32{1, -2}, 1, 1, 2))}, "float[1 1 1] [[[3]]]"},
		{"MaxPool", 12, attrs(attrInts("kernel_shape", 2), attrInts("pads", 1, 0)), []Value{op.Of(tensor.New([]int32{-5, -4}, 1, 1, 2))}, "int32[1 1 2] [[[-5 -4]]]"},
		{"MaxPool", 12, attrs(attrInts("kernel_shape", 3), attrInts("pads", 2, 2)), []Value{op.Of(tensor.New([]float32{1, 2, 3}, 1, 1, 3))}, "float[1 1 5] [[[1 2 3 3 3]]]"},
		{"Resize", 11, attrs(&proto.Attr{Name: "coordinate_transformation_mode", Type: proto.AttrString, S: "tf_half_pixel_for_nn"}), []Value{f(1, 2, 3, 4), f(), f(0.5)}, "float[2] [2 4]"},
		{"Cast", 13, attrs(attrInt("to", int64(op.Int64))), []Value{s("9007199254740993", " -7")}, "int64[2] [9007199254740993 -7]"},
		{"Unique", 11, nil, []Value{i(1<<53+1, 1<<53, -1)}, "int64[3] [-1 9007199254740992 9007199254740993]"},
		{"Unique", 11, nil, []Value{f(float32(math.NaN()), 1, -2, 0, float32(math.Copysign(0, -1)))}, "float[4] [-2 0 1 NaN]"},
		{"Slice", 13, nil, []Value{f(1, 2, 3, 4), i(3), i(math.MinInt64), i(0), i(math.MinInt64)}, "float[1] [4]"},
		{"Cast", 13, attrs(attrInt("to", int64(op.String))), []Value{op.Of(tensor.New([]uint64{math.MaxUint64}, 1))}, `string[1] ["18446744073709551615"]`},
		{"Cast", 13, attrs(attrInt("to", int64(op.Uint64))), []Value{s("18446744073709551613", "+9007199254740993")}, "uint64[2] [18446744073709551613 9007199254740993]"},
		{"Dropout", 7, nil, []Value{f(3)}, "float[1] [3] | float[1] [1]"},
		{"Shrink", 9, attrs(&proto.Attr{Name: "lambd", Type: proto.AttrFloat, F: 1.5}), []Value{i(-2, -1, 2)}, "int64[3] [-2 0 2]"},
		{"Unique", 11, nil, []Value{s("b", "", "b", "a")}, `string[3] ["" "a" "b"] | int64[3] [1 3 0] | int64[4] [2 0 2 1] | int64[3] [1 1 2]`},
		{"RNN", 14, attrs(attrInt("hidden_size", 1), &proto.Attr{Name: "direction", Type: proto.AttrString, S: "bidirectional"},
			&proto.Attr{Name: "activations", Type: proto.AttrStrings, Strings: []string{"Relu", "LeakyRelu"}}, &proto.Attr{Name: "activation_alpha", Type: proto.AttrFloats, Floats: []float32{0.5}}),
			[]Value{cube(1, -1), cube(2, 1, 1), cube(2, 0, 0)}, "float[1 2 1 1] [[[[ 0.0]] [[-0.5]]]]"},
		{"Resize", 13, attrs(&proto.Attr{Name: "nearest_mode", Type: proto.AttrString, S: "floor"}), []Value{f(1, 2, 3, 4), f(), f(0.6)}, "float[2] [1 3]"},
		{"Resize", 13, attrs(&proto.Attr{Name: "coordinate_transformation_mode", Type: proto.AttrString, S: "align_corners"}, &proto.Attr{Name: "nearest_mode", Type: proto.AttrString, S: "floor"}),
			[]Value{f(0, 1, 2, 3, 4, 5, 6), f(), f(), i(29)}, "float[29] [0 0 0 0 0 1 1 1 1 1 2 2 2 2 3 3 3 3 3 4 4 4 4 4 5 5 5 5 6]"},
		{"Resize", 13, attrs(&proto.Attr{Name: "coordinate_transformation_mode", Type: proto.AttrString, S: "pytorch_half_pixel"}),
			[]Value{f(7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3), f(), f(), i(1)}, "float[1] [7]"},
		{"Resize", 13, attrs(&proto.Attr{Name: "mode", Type: proto.AttrString, S: "linear"}), []Value{op.Of(tensor.New([]uint8{0, 1, 1, 2}, 2, 2)), f(), f(), i(3, 3)},
			"uint8[3 3] [[0 0 1] [0 1 1] [1 1 2]]"},
		{"DepthToSpace", 13, attrs(attrInt("blocksize", 2)), []Value{op.Of(tensor.New([]float32{}, 1, 0, 2, 3))}, "float[1 0 4 6] []"},
		{"Cast", 1, attrs(&proto.Attr{Name: "to", Type: proto.AttrString, S: "INT32"}), []Value{f(1.5)}, "int32[1] [1]"},
		{"Pad", 1, attrs(attrInts("paddings", 1, 0)), []Value{f(1)}, "float[2] [0 1]"},
		{"Tile", 1, nil, []Value{matrix(1, 2, 3, 4), i(2), i(1)}, "float[2 4] [[1 2 1 2] [3 4 3 4]]"},
		{"Upsample", 1, attrs(&proto.Attr{Name: "height_scale", Type: proto.AttrFloat, F: 1}, &proto.Attr{Name: "width_scale", Type: proto.AttrFloat, F: 2}), []Value{op.Of(tensor.New([]float32{3}, 1, 1, 1, 1))}, "float[1 1 1 2] [[[[3 3]]]]"},
		{"Resize", 13, attrs(&proto.Attr{Name: "mode", Type: proto.AttrString, S: "linear"}), []Value{f(1), f(), f(0.5)}, "float[0] []"},
		{"Hardmax", 13, nil, []Value{f()}, "float[0] []"},
		{"Hardmax", 11, attrs(attrInt("axis", 1)), []Value{none(2, 0, 1)}, "float[2 0 1] []"},
		{"Hardmax", 13, attrs(attrInt("axis", 0)), []Value{none(2, 0)}, "float[2 0] []"},
		{"Resize", 10, nil, []Value{f(1, 2, 3, 4), f(0.6)}, "float[2] [1 3]"},
		{"GridSample", 20, attrs(&proto.Attr{Name: "mode", Type: proto.AttrString, S: "cubic"}, &proto.Attr{Name: "padding_mode", Type: proto.AttrString, S: "border"}, attrInt("align_corners", 1)),
			[]Value{op.Of(tensor.New([]float32{0, 0, 0, 1}, 1, 1, 1, 4)), op.Of(tensor.New([]float32{1.2, 0}, 1, 1, 1, 2))}, "float[1 1 1 1] [[[[1.1103]]]]"},
		{"Resize", 13, nil, []Value{f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), f(), f(0.7)}, "float[7] [1 3 4 5 7 8 10]"},
		{"Cast", 13, attrs(attrInt("to", int64(op.Int64))), []Value{s("9007199254740993", "-1.5", "1e3")}, "int64[3] [9007199254740993 -1 1000]"},
		{"Cast", 13, attrs(attrInt("to", int64(op.Float))), []Value{s("1e400", "-1e400")}, "float[2] [inf -inf]"},
		{"NonMaxSuppression", 11, nil, []Value{op.Of(tensor.New([]float32{0, 0, 10, 1, 0, 0, 7, 1}, 1, 2, 4)), op.Of(tensor.New([]float32{2, 1}, 1, 1, 2)), i(2), f(0.7)}, "int64[2 3] [[0 0 0] [0 0 1]]"},
		{"Range", 27, nil, []Value{scalar(i(1 << 62)), scalar(i(1<<62 + 3)), scalar(i(2))}, "int64[2] [4611686018427387904 4611686018427387906]"},
		{"Range", 27, nil, []Value{scalar(i(math.MaxInt64)), scalar(i(math.MinInt64)), scalar(i(math.MinInt64))}, "int64[2] [9223372036854775807 -1]"},
		{"ScatterND", 18, nil, []Value{f(1, 2), op.Of(tensor.ZerosOf(tensor.Int64, 1, 0)), op.Of(tensor.New([]float32{5, 6}, 1, 2))}, "float[2] [5 6]"},
		{"QuantizeLinear", 23, attrs(attrInt("output_dtype", 0)), []Value{f(2), scalar(f(1))}, "uint8[1] [2]"},
		{"QuantizeLinear", 23, nil, []Value{op.Of(tensor.New([]int32{7}, 1)), scalar(op.Of(tensor.New([]int32{2}, 1)))}, "uint8[1] [4]"},
		{"RMSNormalization", 23, nil, []Value{half(1, 1), f(2, 3)}, "float[2] [2.0000 3.0000]"},
		{"MaxPool", 12, attrs(attrInts("kernel_shape", 1, 2), attrInts("pads", 0, 1, 0, 0)), []Value{op.Of(tensor.New([]uint8{0, 0}, 1, 1, 2, 1))}, "uint8[1 1 2 1] [[[[0] [0]]]] | int64[1 1 2 1] [[[[0] [1]]]]"},
		{"RegexFullMatch", 20, attrs(&proto.Attr{Name: "pattern", Type: proto.AttrString, S: `a|\Qa.b`}), []Value{s("a.b", "a", "axb", "a.b.")}, "bool[4] [true true false false]"},
		{"StringSplit", 20, nil, []Value{s("a\u3000b\u00a0c\x1cd ")}, `string[1 4] ["a" "b" "c" "d"] | int64[1] [4]`},
		{"StringSplit", 20, attrs(attrInt("maxsplit", 1)), []Value{s(" a b  ")}, `string[1 2] ["a" "b  "] | int64[1] [2]`},
		{"MaxPool", 12, attrs(attrInts("kernel_shape", 2), attrInts("dilations", 2), attrInts("pads", 1, 1)), []Value{op.Of(tensor.New([]float32{1, 2}, 1, 2, 1))}, "float[1 2 1] [[[-inf] [-inf]]] | int64[1 2 1] [[[0] [1]]]"},
		{"Cast", 25, attrs(attrInt("to", int64(op.Float6E2M3))), []Value{f(0.3, 25, -0.06, -7.4)}, "float6e2m3[4] [0.25 7.50 -0.00 -7.50]"},
		{"Mod", 28, nil, []Value{f(0, 0, 3), f(-2, 2, -2)}, "float[3] [-0 0 -1]"},
		{"AffineGrid", 20, attrs(attrInt("align_corners", 1)), []Value{op.Of(tensor.New([]float32{1, 0, 0, 0, 1, 0}, 1, 2, 3)), i(1, 1, 1, 3)}, "float[1 1 3 2] [[[[-1 0] [ 0 0] [ 1 0]]]]"},
		{"MaxRoiPool", 1, attrs(attrInts("pooled_shape", 1, 2), &proto.Attr{Name: "spatial_scale", Type: proto.AttrFloat, F: 0.5}),
			[]Value{op.Of(tensor.New([]float32{1, 2, 3, 9, 5, 6}, 1, 1, 2, 3)), op.Of(tensor.New([]float32{0, 0, 0, 4, 1, 0, 8, 0, 9, 0}, 2, 5))}, "float[2 1 1 2] [[[[9 6]]] [[[0 0]]]]"},
		{"BatchNormalization", 7, attrs(attrInt("spatial", 0), &proto.Attr{Name: "epsilon", Type: proto.AttrFloat}),
			[]Value{op.Of(tensor.New([]float32{1, 2, 3, 4}, 1, 2, 2)), matrix(1, 2, 3, 4), matrix(0, 0, 0, 1), matrix(0, 1, 1, 1), matrix(1, 1, 4, 1)}, "float[1 2 2] [[[ 1 2] [ 3 13]]]"},
		{"BatchNormalization", 7, attrs(attrInt("spatial", 0), &proto.Attr{Name: "momentum", Type: proto.AttrFloat}, &proto.Attr{Name: "epsilon", Type: proto.AttrFloat, F: 1}),
			[]Value{op.Of(tensor.New([]float32{1, 2, 3, 8}, 2, 1, 2)), f2(1, 1), f2(0, 5), f2(0, 0), f2(1, 1)},
			"float[2 1 2] [[[-0.7071 4.0513]] [[ 0.7071 5.9487]]] | float[1 2] [[2 5]] | float[1 2] [[1 9]] | float[1 2] [[2 5]] | float[1 2] [[1 9]]"},
		{"BatchNormalization", 9, attrs(&proto.Attr{Name: "momentum", Type: proto.AttrFloat, F: 0.75}, &proto.Attr{Name: "epsilon", Type: proto.AttrFloat}),
			[]Value{cube(2, 1, 5), f(3), f(1), f(7), f(8)}, "float[2 1 1] [[[-2]] [[ 4]]] | float[1] [6] | float[1] [7] | float[1] [3] | float[1] [4]"},
		{"GroupNormalization", 21, attrs(attrInt("num_groups", 2)), []Value{none(0, 4, 2), f(1, 1, 1, 1), f(0, 0, 0, 0)}, "float[0 4 2] []"},
		{"MaxPool", 12, attrs(attrInts("kernel_shape", 2)), []Value{none(0, 1, 2)}, "float[0 1 1] [] | int64[0 1 1] []"},
		{"Attention", 23, attrs(attrInt("q_num_heads", 2), attrInt("kv_num_heads", 2)), []Value{none(0, 3, 4), none(0, 5, 4), none(0, 5, 4)}, "float[0 3 4] []"},
		{"RotaryEmbedding", 23, attrs(attrInt("num_heads", 2)), []Value{none(1, 0, 8), none(1, 0, 2), none(1, 0, 2)}, "float[1 0 8] []"},
		{"GridSample", 20, attrs(&proto.Attr{Name: "mode", Type: proto.AttrString, S: "cubic"}), []Value{none(0, 2, 3, 3), none(0, 4, 5, 2)}, "float[0 2 4 5] []"},
		{"DeformConv", 19, nil, []Value{none(0, 1, 2, 2), op.Of(tensor.New([]float32{1}, 1, 1, 1, 1)), none(0, 2, 2, 2)}, "float[0 1 2 2] []"},
		{"Cast", 25, attrs(attrInt("to", int64(op.Float8E8M0))), []Value{f(3, float32(math.Inf(1)), 3e38)}, "float8e8m0[3] [4.000e+00 NaN 1.701e+38]"},
		{"Cast", 25, attrs(attrInt("to", int64(op.Float6E3M2))), []Value{f(0.3, 25, -0.03, -100)}, "float6e3m2[4] [0.3125 24.0000 -0.0000 -28.0000]"},
	} {
		m := sketch{opset: c.opset}
		n := &proto.Node{Op: c.op, Attrs: c.attrs}
		in := map[string]Value{}
		for k, v := range c.in {
			name := string(rune('a' + k))
			var dims []int64
			for _, d := range v.Dims() {
				dims = append(dims, int64(d))
			}
			m.inputs, n.Inputs, in[name] = append(m.inputs, typed(name, v.Elem, dims...)), append(n.Inputs, name), v
		}
		results := 1
		for _, x := range c.want {
			if x == '|' {
				results++
			}
		}
		for k := range results {
			name := fmt.Sprint("y", k)
			n.Outputs, m.outputs = append(n.Outputs, name), append(m.outputs, &proto.ValueInfo{Name: name})
		}
		m.nodes = []*proto.Node{n}
		out, err := m.model(t).RunValues(context.Background(), in)
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		got := ""
		for k := range results {
			v := out[fmt.Sprint("y", k)]
			if k > 0 {
				got += " | "
			}
			got += v.String() + " " + text(v)
		}
		if got != c.want {
			t.Errorf("%s of %v: %s, want %s", c.op, c.in, got, c.want)
		}
	}
}

// text prints elements in one line.
func text(v Value) string {
	if v.Kind == op.StringKind {
		return fmt.Sprintf("%q", v.Strings)
	}
	if v.Tensor.Len() == 0 {
		return "[]"
	}
	return regexp.MustCompile(`\s+`).ReplaceAllString(fmt.Sprint(v.Tensor), " ")
}

// Derivatives are by inputs of nodes before, whose names and values may have no other reader.
func TestGradient(t *testing.T) {
	texts := func(name string, v ...string) *proto.Attr {
		return &proto.Attr{Name: name, Type: proto.AttrStrings, Strings: v}
	}
	model := func(y string) sketch {
		gradient := &proto.Node{Op: "Gradient", Domain: "ai.onnx.preview.training", Inputs: []string{"x", "other"}, Outputs: []string{"dx"},
			Attrs: []*proto.Attr{texts("xs", "x"), texts("zs", "z"), {Name: "y", Type: proto.AttrString, S: y}}}
		return sketch{
			inputs: []*proto.ValueInfo{float("x", 2), float("z", 2), float("other", 2)}, outputs: []*proto.ValueInfo{float("dx", 2)},
			nodes:  []*proto.Node{call("Mul", "square", "x", "x"), call("Exp", "unused", "z"), call("Mul", "y", "square", "z"), gradient},
			domain: "ai.onnx.preview.training",
		}
	}
	in := map[string]tensor.Tensor{
		"x": tensor.New([]float32{1, 2}, 2), "z": tensor.New([]float32{5, 7}, 2), "other": tensor.New([]float32{3, 10}, 2),
	}
	m := model("y").model(t)
	for range 3 { // interpreted, and recorded
		out, err := m.Run(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(out["dx"]); !regexp.MustCompile(`6.* 40`).MatchString(got) {
			t.Errorf("got %s, want 2·x·other", got)
		}
	}
	early := model("y")
	early.nodes = append(early.nodes[3:], early.nodes[:3]...)
	if out, err := early.model(t).Run(context.Background(), in); err != nil || !regexp.MustCompile(`6.* 40`).MatchString(fmt.Sprint(out["dx"])) {
		t.Errorf("before the nodes of y in the file: %v, %v", out["dx"], err)
	}
	random := model("y")
	random.nodes[0] = call("RandomUniformLike", "square", "x")
	if _, err := random.model(t).Run(context.Background(), in); err == nil || !regexp.MustCompile(`draws random numbers`).MatchString(err.Error()) {
		t.Errorf("random: %v", err)
	}
	if _, err := model("none").model(t).Run(context.Background(), in); err == nil || !regexp.MustCompile(`no node before.*"none"`).MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
}

// In version 8 each sequence of a batch is scanned to its own end, and results after it are 0.
func TestScanLengths(t *testing.T) {
	body := &proto.Graph{Name: "body", Inputs: []*proto.ValueInfo{float("s"), float("e")}, Outputs: []*proto.ValueInfo{float("t"), float("u")},
		Nodes: []*proto.Node{call("Add", "t", "s", "e"), call("Identity", "u", "t")}}
	scan := &proto.Node{Op: "Scan", Inputs: []string{"lengths", "init", "x"}, Outputs: []string{"last", "sums"},
		Attrs: []*proto.Attr{attrInt("num_scan_inputs", 1), {Name: "body", Type: proto.AttrGraph, G: body}}}
	m := sketch{opset: 8, nodes: []*proto.Node{scan}, outputs: []*proto.ValueInfo{float("last", 2), float("sums", 2, 3)},
		inputs: []*proto.ValueInfo{typed("lengths", op.Int64, 2), float("init", 2), float("x", 2, 3)}}.model(t)
	run := func(lengths ...int64) (map[string]tensor.Tensor, error) {
		return m.Run(context.Background(), map[string]tensor.Tensor{
			"lengths": tensor.New(lengths, 2), "init": tensor.New([]float32{0, 10}, 2), "x": tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3),
		})
	}
	for range 3 { // interpreted, and recorded
		out, err := run(2, 3)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := text(op.Of(out["last"]))+" "+text(op.Of(out["sums"])), "[3 25] [[ 1 3 0] [14 19 25]]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if _, err := run(2, 4); err == nil || !regexp.MustCompile(`sequence_lens are \[2 4\]`).MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
}

// Maps become rows.
func TestMaps(t *testing.T) {
	s := func(name, v string) *proto.Attr { return &proto.Attr{Name: name, Type: proto.AttrString, S: v} }
	words := &proto.Attr{Name: "string_vocabulary", Type: proto.AttrStrings, Strings: []string{"b", "c", "a"}}
	for _, c := range []struct {
		op    string
		attrs []*proto.Attr
		in    map[any]any
		want  string // a result, or an error
	}{
		{"DictVectorizer", []*proto.Attr{words}, map[any]any{"a": float32(1), "b": float32(2), "other": float32(3)}, "float[1 3] [[2 0 1]]"},
		{"DictVectorizer", []*proto.Attr{words}, map[any]any{"other": int64(1)}, "int64[1 3] [[0 0 0]]"},
		{"DictVectorizer", []*proto.Attr{words}, map[any]any{"c": "x"}, `string[1 3] ["" "x" ""]`},
		{"DictVectorizer", []*proto.Attr{attrInts("int64_vocabulary", 7, 5)}, map[any]any{int64(5): 1.5}, "double[1 2] [[0.0 1.5]]"},
		{"DictVectorizer", []*proto.Attr{words}, map[any]any{"a": float32(1), "b": "2"}, "another of type"},
		{"CastMap", nil, map[any]any{int64(9): "1.5", int64(2): "-3"}, "float[1 2] [[-3.0 1.5]]"},
		{"CastMap", []*proto.Attr{s("cast_to", "TO_INT64"), s("map_form", "SPARSE"), attrInt("max_map", 4)}, map[any]any{int64(2): float32(3)}, "int64[1 4] [[0 0 3 0]]"},
		{"CastMap", []*proto.Attr{s("map_form", "SPARSE"), attrInt("max_map", 4)}, map[any]any{int64(2): "3"}, "float[1 4] [[0 0 3 0]]"},
		{"DictVectorizer", []*proto.Attr{attrInts("int64_vocabulary", 5)}, map[any]any{5: float32(1)}, "key 5 is of type int, want int64"},
		{"DictVectorizer", nil, map[any]any{int64(5): float32(1)}, "there is no vocabulary"},
		{"DictVectorizer", []*proto.Attr{attrInts("int64_vocabulary", 5)}, map[any]any{int64(5): float32(1), int64(6): "x"}, "another of type"},
		{"CastMap", []*proto.Attr{s("map_form", "SPARSE")}, map[any]any{int64(2): float32(3)}, "key 2, and max_map is 1"},
	} {
		m := sketch{domain: "ai.onnx.ml", inputs: []*proto.ValueInfo{{Name: "x"}}, outputs: []*proto.ValueInfo{{Name: "y"}},
			nodes: []*proto.Node{{Op: c.op, Domain: "ai.onnx.ml", Inputs: []string{"x"}, Outputs: []string{"y"}, Attrs: c.attrs}}}.model(t)
		for _, in := range []map[any]any{c.in, c.in, {}, c.in} {
			out, err := m.RunValues(context.Background(), map[string]Value{"x": {Kind: MapKind, Map: in}})
			if len(in) == 0 {
				continue
			}
			got := fmt.Sprint(err)
			if err == nil {
				got = out["y"].String() + " " + text(out["y"])
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s of %v: %s, want %s", c.op, c.in, got, c.want)
			}
		}
	}
}
