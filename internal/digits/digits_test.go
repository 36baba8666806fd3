package digits

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

func TestCSV(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(CSV)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1797 || len(rows[0]) != 65 {
		t.Errorf("CSV has %d rows of %d fields, want 1797 of 65", len(rows), len(rows[0]))
	}
}

func TestLoad(t *testing.T) {
	images, labels, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		got  any
		want string
	}{
		{"the shape of images", images.Shape(), "[1797 1 8 8]"},
		{"the least pixel", images.Min().Item(), "0"},
		{"the greatest pixel", images.Max().Item(), "1"},
		{"a row", images.At(0, 0, 0), "[0.0000 0.0000 0.3125 0.8125 0.5625 0.0625 0.0000 0.0000]"}, // 0,0,5,13,9,1,0,0
		{"the labels", labels.Slice(0, 0, 4), "[0 1 2 3]"},
		{"the digits of each kind", labels.OneHot(10).Cast(tensor.Int32).Sum(0).At(0), "[178 182 177 183 181 182 181 179 174 180]"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s = %s, want %s", c.name, got, c.want)
		}
	}
}
