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
		{"1,2\n3,4\n", "[] [1 2 3 4] [2 2]"},
		{"a;b\r\n1;2\r\n", "[a b] [1 2] [1 2]"},
		{"\uFEFF 1 , -2e3 \n\n", "[] [1 -2000] [1 2]"},
		{"1,2\n3,x\n", `line 2, column 2: "x" is not a number: package table reads columns of text and dates, too`},
		{"a,b\n1,2\n3,\n", `line 3, column 2 is empty: write a number there, or use package table, which reads NaN`},
		{"NaN,inf,-Inf\n", "[] [NaN inf -inf] [1 3]"},
		{"1,2\n3,NA\n", `line 2, column 2: "NA" is not a number: package table reads columns of text and dates, too`},
		{"1,2\n3\n", "line 2 has 1 field, line 1 has 2"},
		{"1,1e99\n", `line 1, column 2: "1e99" is too large for float32`},
		{"", "there are no rows: the file is empty"},
		{"150,4,setosa\n1,2,3\n", `line 1 may be a header or data: "setosa" in column 3 is a name above other values, but "150" in column 1 is a value as those below it: ` +
			"by package table, say by Header whether it has the names of the columns, leave it out by Skip, or add what stands for a missing value to Missing"},
	} {
		columns, rows, err := data.ReadCSV(strings.NewReader(tt.in))
		var got string
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(columns, " ", rows.Reshape(-1), " ", rows.Shape())
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
	// [[1.0 2.0]
	//  [3.5 4.0]]
}
