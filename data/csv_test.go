package data_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tensorken/tensorken/data"
)

func TestReadCSV(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"1,2\n3,4\n", "[] [1 2]\n[3 4]"},
		{"a,b\n1,2\n", "[a b] [1 2]"},
		{"1,b\n1,2", "[1 b] [1 2]"},
		{"\uFEFFx\r\n1.5\r\n\r\n-2e3\r\n", "[x] [1.5  ]\n[-2000]"},
		{" 1 , \t2 \n", "[] [1 2]"},
		{"\"a, b\",\"c\nd\"\n1,2\n", "[a, b c\nd] [1 2]"},
		{"NaN,inf,-Inf\n", "[] [NaN inf -inf]"},
		{"a,b\n", "[a b] [] (shape [0 2])"},
		{"", "there is no line of numbers: the file is empty"},
		{"\n\n", "there is no line of numbers: the file is empty"},
		{"1,2\n3,x\n", `line 2, column 2: "x" is not a number`},
		{"a,b\n1,2\n3,\n", `line 3, column 2 (b): "" is not a number`},
		{"1,2\n3\n", "line 2 has 1 fields, line 1 has 2"},
		{"\na,b\n1,2,3\n", "line 3 has 3 fields, line 2 has 2"},
		{"1,1e99\n", "line 1, column 2: 1e99 is too large for float32"},
		{"1\n\"2\n", `line 2, character 4: extraneous or missing " in quoted-field`},
	} {
		columns, rows, err := data.ReadCSV(strings.NewReader(tt.in))
		got := fmt.Sprint(columns, " ", rows)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("ReadCSV(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	fault := errors.New("fault")
	if _, _, err := data.ReadCSV(iotest.ErrReader(fault)); !errors.Is(err, fault) {
		t.Errorf("ReadCSV of a failing reader = %v", err)
	}
}

func ExampleReadCSV() {
	columns, rows, err := data.ReadCSV(strings.NewReader("width,height\n1,2\n3.5,4\n"))
	fmt.Println(columns, rows.Shape(), err)
	fmt.Println(rows)
	// Output:
	// [width height] [2 2] <nil>
	// [1   2]
	// [3.5 4]
}
