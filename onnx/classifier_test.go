package onnx

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// Labels and scores of classifiers are onnxruntime's, 1.30.
func TestClassifiers(t *testing.T) {
	floats := func(name string, v ...float32) *proto.Attr {
		return &proto.Attr{Name: name, Type: proto.AttrFloats, Floats: v}
	}
	ints := func(name string, v ...int64) *proto.Attr {
		return &proto.Attr{Name: name, Type: proto.AttrInts, Ints: v}
	}
	text := func(name, v string) *proto.Attr { return &proto.Attr{Name: name, Type: proto.AttrString, S: v} }
	two, three := ints("classlabels_ints", 4, 2), ints("classlabels_ints", 4, 2, 7)
	stump := stump()
	rbf := []*proto.Attr{text("kernel_type", "RBF"), floats("kernel_params", 0.5, 0, 3)}
	for i, c := range []struct {
		op     string
		attrs  []*proto.Attr
		labels string
		scores []float64
	}{
		{"SVMClassifier", append(rbf, two, floats("coefficients", 0.19, -0.33, -1.19, -0.2), floats("rho", -0.36), ints("vectors_per_class", 2, 2),
			floats("support_vectors", 0.44, -0.33, 2.43, -0.25, 0.11, 1.58, -0.91, -0.59)),
			"[2 2 2]", []float64{0.354748, -0.354748, 0.662352, -0.662352, 1.184656, -1.184656}},
		{"SVMClassifier", append(rbf, two, text("post_transform", "LOGISTIC"), floats("coefficients", -0.86, -0.87, -0.42, 1), floats("rho", 0.71), ints("vectors_per_class", 2, 2),
			floats("support_vectors", 0.6, -1.66, -0.7, 1.15, 1.86, -1.51, 0.64, -0.98)),
			"[4 4 2]", []float64{0.305007, 0.694993, 0.322891, 0.677109, 0.523036, 0.476964}},
		{"SVMClassifier", append(rbf, two, text("post_transform", "SOFTMAX"), floats("coefficients", -0.05, 0.25, 0.2, 1.33), floats("rho", -0.09), ints("vectors_per_class", 2, 2),
			floats("support_vectors", 0.06, -0.36, 0, -0.11, 0.79, -0.63, -0.01, -0.1)),
			"[4 4 4]", []float64{0.020529, 0.979471, 0.833366, 0.166634, 0.757212, 0.242788}},
		{"SVMClassifier", append(rbf, three, floats("coefficients", 0.22, -1.31, -0.69, -0.58, 1.15, -0.11, 2.26, 0.66, 0.12, -0.44, 0.97, -0.24),
			floats("rho", -0.82, 0.57, 0.01), ints("vectors_per_class", 2, 2, 2), floats("prob_a", -1.2, -0.8, -1.5), floats("prob_b", 0.1, -0.2, 0.3),
			floats("support_vectors", 1.56, -0.31, -0.48, 0.1, 0.36, 0.27, 1.29, 1.14, 0.49, -0.34, -0.1, 1.41)),
			"[2 2 4]", []float64{0.151753, 0.711266, 0.136982, 0.256447, 0.519238, 0.224315, 0.221666, 0.438195, 0.340139}},
		{"LinearClassifier", []*proto.Attr{two, floats("coefficients", 1.5, -0.5), floats("intercepts", 0.25)},
			"[2 2 4]", []float64{-0.5, 1.5, -2.125, 3.125, 2.625, -1.625}},
		{"LinearClassifier", []*proto.Attr{two, floats("coefficients", 1.5, -0.5)},
			"[2 2 4]", []float64{-0.25, 1.25, -1.875, 2.875, 2.875, -1.875}},
		{"TreeEnsembleClassifier", append(stump, ints("classlabels_int64s", 4, 2), text("post_transform", "LOGISTIC"), ints("class_treeids", 0, 0), ints("class_nodeids", 1, 2),
			ints("class_ids", 0, 0), floats("class_weights", 0.25, 2)),
			"[4 2 4]", []float64{0.437823, 0.562177, 0.119203, 0.880797, 0.437823, 0.562177}},
	} {
		m := sketch{domain: "ai.onnx.ml", inputs: []*proto.ValueInfo{float("x", 3, 2)}, outputs: []*proto.ValueInfo{typed("l", op.Int64, -1), float("s", -1, -1)},
			nodes: []*proto.Node{{Op: c.op, Domain: "ai.onnx.ml", Inputs: []string{"x"}, Outputs: []string{"l", "s"}, Attrs: c.attrs}}}.model(t)
		out, err := m.Run(t.Context(), map[string]tensor.Tensor{"x": tensor.New([]float32{0.5, -1, 2, 0.25, -0.75, 1.5}, 3, 2)})
		if err != nil {
			t.Errorf("case %d: %v", i, err)
			continue
		}
		labels, err := tensor.Data[int64](out["l"])
		if err != nil {
			t.Fatal(err)
		}
		scores, err := tensor.Data[float32](out["s"])
		if err != nil {
			t.Fatal(err)
		}
		worst := math.Inf(1)
		if len(scores) == len(c.scores) {
			worst = 0
			for k, want := range c.scores {
				worst = max(worst, math.Abs(float64(scores[k])-want))
			}
		}
		if fmt.Sprint(labels) != c.labels || !(worst < 1e-5) {
			t.Errorf("case %d: labels %v, scores %v, want %s, %v", i, labels, scores, c.labels, c.scores)
		}
	}
}

// A file's negative number of vectors is its fault.
func TestClassifierWithNegativeClass(t *testing.T) {
	floats := func(name string, v ...float32) *proto.Attr {
		return &proto.Attr{Name: name, Type: proto.AttrFloats, Floats: v}
	}
	ints := func(name string, v ...int64) *proto.Attr {
		return &proto.Attr{Name: name, Type: proto.AttrInts, Ints: v}
	}
	m := sketch{domain: "ai.onnx.ml", inputs: []*proto.ValueInfo{float("x", 3, 2)}, outputs: []*proto.ValueInfo{typed("l", op.Int64, -1), float("s", -1, -1)},
		nodes: []*proto.Node{{Op: "SVMClassifier", Domain: "ai.onnx.ml", Inputs: []string{"x"}, Outputs: []string{"l", "s"}, Attrs: []*proto.Attr{
			ints("classlabels_ints", 4, 2), floats("coefficients", 1, 2), floats("rho", 1), ints("vectors_per_class", -1, 3), floats("support_vectors", 1, 2, 3, 4)}}}}.model(t)
	if _, err := m.Run(t.Context(), map[string]tensor.Tensor{"x": tensor.New(make([]float32, 6), 3, 2)}); err == nil || !strings.Contains(err.Error(), "-1 vectors of a class") {
		t.Error(err)
	}
}

// stump has the nodes of a tree that asks whether feature 0 is at most 1.
func stump() []*proto.Attr {
	ints := attrInts
	return []*proto.Attr{
		ints("nodes_treeids", 0, 0, 0), ints("nodes_nodeids", 0, 1, 2), ints("nodes_featureids", 0, 0, 0), ints("nodes_truenodeids", 1, 0, 0), ints("nodes_falsenodeids", 2, 0, 0),
		{Name: "nodes_values", Type: proto.AttrFloats, Floats: []float32{1, 0, 0}},
		{Name: "nodes_modes", Type: proto.AttrStrings, Strings: []string{"BRANCH_LEQ", "LEAF", "LEAF"}},
	}
}

// Results of other operators of ai.onnx.ml are onnxruntime's too, where it has the operator for the type.
func TestFeatures(t *testing.T) {
	f := func(s []int, v ...float32) op.Value { return op.Of(tensor.New(v, s...)) }
	for _, c := range []struct {
		op    string
		attrs []*proto.Attr
		in    []op.Value
		want  string
	}{
		{"Binarizer", []*proto.Attr{{Name: "threshold", Type: proto.AttrFloat, F: 0.5}}, []op.Value{op.Of(tensor.New([]int64{0, 1}, 2))}, "int64[2] [0 1]"},
		{"Normalizer", nil, []op.Value{f([]int{3, 2}, -4, 2, -4, -2, 0, 0)}, "float[3 2] [[-2 1] [ 2 1] [ 0 0]]"},
		{"Normalizer", []*proto.Attr{{Name: "norm", Type: proto.AttrString, S: "L2"}}, []op.Value{op.Of(tensor.New([]float64{3e200, 4e200}, 2))}, "float[2] [0.6 0.8]"},
		{"Normalizer", []*proto.Attr{{Name: "norm", Type: proto.AttrString, S: "L1"}}, []op.Value{op.Of(tensor.New([]int64{1, -3}, 2))}, "float[2] [0.25 -0.75]"},
		{"FeatureVectorizer", []*proto.Attr{attrInts("inputdimensions", 1, 3)}, []op.Value{f([]int{1, 2}, 1, 2), f([]int{1, 2}, 3, 4)}, "float[1 4] [[1 3 4 0]]"},
		{"FeatureVectorizer", []*proto.Attr{attrInts("inputdimensions", 2, 1)}, []op.Value{f([]int{2}, 1, 2), f([]int{1}, 3)}, "float[1 3] [[1 2 3]]"},
		{"TreeEnsembleRegressor", append(stump(), attrInt("n_targets", 2), &proto.Attr{Name: "aggregate_function", Type: proto.AttrString, S: "MIN"},
			attrInts("target_treeids", 0, 0), attrInts("target_nodeids", 1, 2), attrInts("target_ids", 0, 1), &proto.Attr{Name: "target_weights", Type: proto.AttrFloats, Floats: []float32{5, 7}}),
			[]op.Value{f([]int{2, 1}, 0, 3)}, "float[2 2] [[5 0] [0 7]]"},
	} {
		m := sketch{domain: "ai.onnx.ml", outputs: []*proto.ValueInfo{{Name: "y"}}}
		n := &proto.Node{Op: c.op, Domain: m.domain, Outputs: []string{"y"}, Attrs: c.attrs}
		in := map[string]op.Value{}
		for i, v := range c.in {
			name := fmt.Sprint("x", i)
			in[name] = v
			n.Inputs, m.inputs = append(n.Inputs, name), append(m.inputs, &proto.ValueInfo{Name: name, Type: &proto.Type{Kind: proto.KindTensor, Elem: int64(v.Elem)}})
		}
		m.nodes = []*proto.Node{n}
		out, err := m.model(t).RunValues(t.Context(), in)
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		if got := out["y"].String() + " " + text(out["y"]); got != c.want {
			t.Errorf("%s of %v: %s, want %s", c.op, c.in, got, c.want)
		}
	}
}
