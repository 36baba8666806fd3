package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/modeltest"
	"github.com/tensorken/tensorken/tensor"
)

// encoderOf writes a model that looks up a vector for each token.
func encoderOf(t *testing.T, texts, length int) string {
	integers := func(name string) modeltest.Value {
		return modeltest.Value{Name: name, Elem: modeltest.Int64, Dims: []int{texts, length}}
	}
	return modeltest.Model{
		Inputs:    []modeltest.Value{integers("input_ids"), integers("attention_mask")},
		Outputs:   []modeltest.Value{{Name: "last_hidden_state", Elem: modeltest.Float, Dims: []int{texts, length, 32}}},
		Nodes:     []modeltest.Node{modeltest.Call("Gather", "last_hidden_state", "table", "input_ids")},
		Constants: map[string]tensor.Tensor{"table": tensor.NewRNG(1).Normal(1500, 32)},
	}.Write(t)
}

// The text that has the query's words is found first, the same one has a cosine of 1, and neither padding nor the
// number of texts in a call changes anything.
func TestRun(t *testing.T) {
	lines := "the function returns an error\n\nfiles are read in pieces\nan error that the function returns, and a longer text after it\nnumbers\n"
	*texts = filepath.Join(t.TempDir(), "texts.txt")
	if err := os.WriteFile(*texts, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	*tokens, *query, *top = "../../../tokenizer/testdata/bert_wordpiece.json", "the function returns an error", 3
	first := ""
	for _, c := range []struct{ texts, length, batch int }{{-1, -1, 16}, {-1, -1, 1}, {2, 24, 16}, {-1, 32, 3}} {
		*model, *batch = encoderOf(t, c.texts, c.length), c.batch
		var out bytes.Buffer
		if err := run(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		got := strings.Split(out.String(), "\n")
		if first == "" {
			first = out.String()
		}
		if len(got) != 4 || got[0] != "1.0000  "+*query || !strings.Contains(got[1], "an error that") || out.String() != first {
			t.Errorf("%+v: the program writes\n%s", c, out.String())
		}
	}
	*pool = "cls" // the vectors of the first token, which is the same in all texts
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil || strings.Count(out.String(), "1.0000") != 3 {
		t.Errorf("by the first token: %v\n%s", err, out.String())
	}
	*model = modeltest.Model{
		Inputs:  []modeltest.Value{{Name: "input_ids", Elem: modeltest.Int64, Dims: []int{-1, -1}}},
		Outputs: []modeltest.Value{{Name: "y", Elem: modeltest.Int64, Dims: []int{-1, -1}}},
		Nodes:   []modeltest.Node{modeltest.Call("Identity", "y", "input_ids")},
	}.Write(t)
	if err := run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "without attention_mask") {
		t.Errorf("of a model without a mask: %v", err)
	}
}
