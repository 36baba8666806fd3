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
	const noHeader = ", and a line with more numbers than names is no header: write a number there, or add a line of column names"
	long := func(s string) string { return strings.Repeat(s, 60) }
	cut := func(s string) string { return strings.Repeat(s, 40) + "…" }
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
		// A hole in the first line does not make a header of it.
		{"5.1,?,0\n4.9,3,1\n", `line 1, column 2: "?" is not a number` + noHeader},
		{",1,0\n", `line 1, column 1: "" is not a number` + noHeader},
		{"1, na \n", `line 1, column 2: "na " is not a number` + noHeader},
		{"5.1,3.S,0,setosa\n", `line 1, column 2: "3.S" is not a number` + noHeader},
		{"?,?,1\n", `line 1, column 1: "?" is not a number` + noHeader},
		{"id,2019,2020\n1,2,3\n", "[id 2019 2020] [1 2 3]"},
		{",a,1\n0,1,2\n", "[ a 1] [0 1 2]"},
		{"%,$\n1,2\n", "[% $] [1 2]"},
		// Other separators and encodings.
		{"1;2;3\n", `line 1, column 1: "1;2;3" is not a number: the separator seems to be ";", want ","`},
		{"1,5;2,5\n", `line 1, column 2: "5;2" is not a number: the separator seems to be ";", want ","`},
		{"a;b\n1;2\n", `line 2, column 1 (a;b): "1;2" is not a number: the separator seems to be ";", want ","`},
		{"a;b\n1,5;2,5\n", `line 2 has 3 fields, line 1 has 1: the separator seems to be ";", want ","`},
		{"a\tb\n1\t2\n", `line 2, column 1 (a\tb): "1\t2" is not a number: the separator seems to be a tab, want ","`},
		{"\xff\xfe1\x00,\x002\x00", "the text is UTF-16: save it as UTF-8"},
		{"\xfe\xff\x001", "the text is UTF-16: save it as UTF-8"},
		{"1\x00,\x002\x00", "the text is UTF-16: save it as UTF-8"},
		{"\x001\x00,\x002", "the text is UTF-16: save it as UTF-8"},
		// What is quoted is short and harmless to a terminal.
		{"a\x1b[2Jb\n\x1b[2J\n", `line 2, column 1 (a\x1b[2Jb): "\x1b[2J" is not a number`},
		{"1\n" + long("é") + "\n", `line 2, column 1: "` + cut("é") + `" is not a number`},
		{"1\n" + long("9") + "\n", "line 2, column 1: " + cut("9") + " is too large for float32"},
		{long("a") + "\nx\n", "line 2, column 1 (" + cut("a") + `): "x" is not a number`},
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
