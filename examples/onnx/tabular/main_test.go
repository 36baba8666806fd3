package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/modeltest"
)

const flowers = `species,petal,color
a,1.0,white
b,4.0,white
a,4.5,red
b,2.0,white
`

// forest writes a pipeline as scikit-learn exports it: a column of numbers that is scaled, one of words that becomes
// one-hot, and a tree with classes that are words. Petals above 3 are b, unless they are red.
func forest(t *testing.T) string {
	return modeltest.Model{
		Inputs: []modeltest.Value{
			{Name: "petal", Elem: modeltest.Float, Dims: []int{-1, 1}},
			{Name: "color", Elem: modeltest.String, Dims: []int{-1, 1}},
		},
		Outputs: []modeltest.Value{{Name: "label", Elem: modeltest.String, Dims: []int{-1}}, {Name: "probabilities", Elem: modeltest.Float, Dims: []int{-1, 2}}},
		Nodes: []modeltest.Node{
			modeltest.ML("Scaler", "scaled", "petal").With("offset", []float32{3}).With("scale", []float32{0.5}),
			modeltest.ML("OneHotEncoder", "hot3", "color").With("cats_strings", []string{"red", "white"}).With("zeros", 1),
			modeltest.Call("Flatten", "hot", "hot3"),
			modeltest.Call("Concat", "features", "scaled", "hot").With("axis", 1),
			{
				Op: "TreeEnsembleClassifier", Domain: "ai.onnx.ml", In: []string{"features"}, Out: []string{"label", "probabilities"},
				Attrs: map[string]any{
					"classlabels_strings": []string{"a", "b"}, "post_transform": "NONE",
					"nodes_treeids": []int{0, 0, 0, 0, 0}, "nodes_nodeids": []int{0, 1, 2, 3, 4},
					"nodes_modes":      []string{"BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"},
					"nodes_featureids": []int{0, 0, 1, 0, 0}, "nodes_values": []float32{0, 0, 0.5, 0, 0},
					"nodes_truenodeids": []int{1, 0, 3, 0, 0}, "nodes_falsenodeids": []int{2, 0, 4, 0, 0},
					"class_treeids": []int{0, 0, 0, 0, 0, 0}, "class_nodeids": []int{1, 1, 3, 3, 4, 4},
					"class_ids": []int{0, 1, 0, 1, 0, 1}, "class_weights": []float32{0.9, 0.1, 0.2, 0.8, 0.7, 0.3},
				},
			},
		},
	}.Write(t)
}

// The rows of a table get the classes of the tree, and those that are right are counted.
func TestClasses(t *testing.T) {
	*model, *target = forest(t), "species"
	*file = filepath.Join(t.TempDir(), "flowers.csv")
	if err := os.WriteFile(*file, []byte(flowers), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	want := `row 1: label a probabilities 0.9 0.1
row 2: label b probabilities 0.2 0.8
row 3: label a probabilities 0.7 0.3
row 4: label a probabilities 0.9 0.1
3 of 4 are right
`
	if out.String() != want {
		t.Errorf("the program writes\n%swant\n%s", out.String(), want)
	}
	*columns = "petal"
	if err := run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "leave out -columns") {
		t.Errorf("of columns that the model names itself: %v", err)
	}
	*columns = ""
}

// A model with one input of numbers, which is as many columns, has an error.
func TestNumbers(t *testing.T) {
	*model = modeltest.Model{
		Inputs:  []modeltest.Value{{Name: "x", Elem: modeltest.Float, Dims: []int{-1, 2}}},
		Outputs: []modeltest.Value{{Name: "variable", Elem: modeltest.Float, Dims: []int{-1, 1}}},
		Nodes: []modeltest.Node{
			modeltest.ML("LinearRegressor", "variable", "x").With("coefficients", []float32{2, -1}).With("intercepts", []float32{0.5}).With("targets", 1),
		},
	}.Write(t)
	*file, *target, *rows = filepath.Join(t.TempDir(), "numbers.csv"), "y", 1
	if err := os.WriteFile(*file, []byte("a,b,y\n1,2,0.5\n3,1,3.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	// 0.5 and 5.5: the errors are 0 and 2.
	if want := "row 1: variable 0.5\nroot of the mean squared error: 1.414\n"; out.String() != want {
		t.Errorf("the program writes %q, want %q", out.String(), want)
	}
	*columns = "a"
	if err := run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "has 1 columns for it") {
		t.Errorf("of too few columns: %v", err)
	}
}
