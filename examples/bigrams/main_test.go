package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/examples/internal/names"
)

// TestOutput also compares the heat map with the picture in the documentation.
func TestOutput(t *testing.T) {
	*draw = filepath.Join(t.TempDir(), "bigrams.png")
	defer func() { *draw = "" }()
	exampletest.Check(t, main)
	exampletest.CheckPicture(t, *draw, "../../docs/bigrams.png", 0)
}

// TestMakemore compares with makemore's results for its list of names, which is not part
// of this module.
func TestMakemore(t *testing.T) {
	path := os.Getenv("TENSORKEN_NAMES")
	if path == "" {
		t.Skip("TENSORKEN_NAMES does not name makemore's names.txt")
	}
	list, err := names.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 32033 {
		t.Errorf("%s has %d names, want 32033", path, len(list))
	}
	pairs := pairsOf(list)
	if pairs.Len() != 228146 {
		t.Errorf("%s has %d pairs, want 228146", path, pairs.Len())
	}
	counts := count(pairs)
	for _, c := range []struct {
		pair string
		want float64
	}{
		{"n.", 6763}, {"a.", 6640}, {"an", 5438}, {".a", 4410}, {"e.", 3983},
		{"ar", 3264}, {"el", 3248}, {"ri", 3033}, {"na", 2977}, {".k", 2963},
	} {
		i, j := strings.Index(names.Alphabet, c.pair[:1]), strings.Index(names.Alphabet, c.pair[1:])
		if got := counts.At(i, j).Item(); got != c.want {
			t.Errorf("the pair %s occurs %v times, want %v", c.pair, got, c.want)
		}
	}

	p := probabilities(counts)
	// Computed in float64, the loss is 2.45457682.
	if got, want := loss(p, pairs).Item(), 2.45457682; math.Abs(got-want) > 1e-6 {
		t.Errorf("loss = %.8g, want %.8g", got, want)
	}
	// makemore adds float32 numbers in sequence.
	got, err := oneByOne(p, pairs)
	if err != nil {
		t.Fatal(err)
	}
	if want := float32(2.4543562); math.Abs(float64(got-want)) > 1e-6 {
		t.Errorf("loss summed in makemore's way = %.8g, want %.8g", got, want)
	}
}
