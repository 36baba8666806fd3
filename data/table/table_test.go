package table_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/internal/files/filestest"
	"github.com/tensorken/tensorken/tensor"
)

// TestRead compares the description of a table, or the error.
func TestRead(t *testing.T) {
	const say = "say by Header whether it has the names of the columns"
	both := ": " + say + ", leave it out by Skip, or add what stands for a missing value to Missing"
	long := func(s string) string { return strings.Repeat(s, 60) }
	cut := func(s string) string { return strings.Repeat(s, 40) + "…" }
	for _, tt := range []struct {
		in   string
		o    *table.Options
		want string // columns as name kind missing, after the separator and header or data
	}{
		// Headers.
		{"a,b\n1,x\n", nil, `',' header a int 0|b text 0|`},
		{"1,x\n2,y\n", nil, `',' data column1 int 0|column2 text 0|`},
		{"a,,b\n1,2,3\n", nil, `',' header a int 0|column2 int 0|b int 0|`},
		{"day,n\n2026-01-02,x\n", nil, `',' header day date 0|n text 0|`},
		{"150,4,setosa,versicolor,virginica\n5.1,3.5,1.4,0.2,0\n", nil,
			`line 1 may be a header or data: "setosa" in column 3 is a name above other values, but "150" in column 1 is a value as those below it` + both},
		{"150,4,setosa,versicolor,virginica\n5.1,3.5,1.4,0.2,0\n", &table.Options{Skip: 1},
			`',' data column1 float 0|column2 float 0|column3 float 0|column4 float 0|column5 int 0|`},
		{"id,2019,2020\n1,2,3\n", nil, `line 1 may be a header or data: "id" in column 1 is a name above other values, but "2019" in column 2 is a value as those below it` + both},
		{"id,2019,2020\n1,2,3\n", &table.Options{Header: table.Present}, `',' header id int 0|2019 int 0|2020 int 0|`},
		{"5.1,?,0\n4.9,3,1\n", nil, `line 1 may be a header or data: "?" in column 2 is a name above other values, but "5.1" in column 1 is a value as those below it` + both},
		{"5.1,?,0\n4.9,3,1\n", &table.Options{Missing: []string{"?"}}, `',' data column1 float 0|column2 int 1|column3 int 0|`},
		{"name,city\nAnn,Rome\n", nil, `line 1 may be a header or data, as no column has numbers or dates: ` + say},
		{"name,city\nAnn,Rome\n", &table.Options{Header: table.Present}, `',' header name text 0|city text 0|`},
		{"Ann,Rome\n", &table.Options{Header: table.Absent, Names: []string{"name", "city"}}, `',' data name text 0|city text 0|`},
		{"a,b\n", nil, `line 1 may be a header or data, as no column has numbers or dates: ` + say},
		{"a b\n1 2\n", nil, `line 1 may be a header or data, as no column has numbers or dates: ` + say +
			", and the separator by Comma if there is another than a comma, semicolon or tab"},
		{"a,b\n", &table.Options{Header: table.Present}, `',' header a float 0|b float 0|`},
		{"x,when\n1,02.01.2026\n", &table.Options{Dates: map[string]string{"when": "02.01.2006"}}, `',' header x int 0|when date 0|`},
		{"a,a\n1,2\n", nil, `line 1: columns 1 and 2 are both named "a": give others by Names`},
		{"a,a\n1,2\n", &table.Options{Names: []string{"a", "b"}}, `',' header a int 0|b int 0|`},
		{"a,b\n1,2\n", &table.Options{Names: []string{"a"}}, `line 1 has 2 fields, but there are 1 Names`},
		{"a,b\n1,2\n", &table.Options{Dates: map[string]string{"c": ""}}, `for a layout in Dates there is no column "c", only "a", "b"`},
		{"land,2019\nCH,1\n", &table.Options{Dates: map[string]string{"when": ""}},
			`for a layout in Dates there is no column "when", only "column1", "column2", as line 1 is data: "2019" in column 2 is a value as those below it; Header and Names say otherwise`},
		// Missing values.
		{"a,b\nNA,\n1,null\n", nil, `',' header a int 1|b float 2|`},
		{"a\nNA\nN/A\nn/a\n#NA\n#N/A\n#N/A N/A\n<NA>\nNaN\nnan\n-NaN\n-nan\nNULL\nnull\nNone\n1.#IND\n-1.#IND\n1.#QNAN\n-1.#QNAN\n1\n", nil, `',' header a int 18|`},
		{"a,b\nNA,x\n1,none\n", nil, `',' header a int 1|b text 0|`},
		{"a,b\nNA,x\n-9,y\n", &table.Options{Missing: []string{"-9"}, Header: table.Present}, `',' header a text 1|b text 0|`},
		// Kinds.
		{"1,1.5,1e400,9223372036854775808,inf,0x1p2,1_0\n", nil, `',' data column1 int 0|column2 float 0|column3 float 0|column4 float 0|column5 float 0|column6 text 0|column7 text 0|`},
		{"2026-01-02,2026-01-02T10:00:00.5+02:00,2026-01-02 10:00,2026-13-02\n", nil, `',' data column1 date 0|column2 date 0|column3 date 0|column4 text 0|`},
		{"x\n1\n2026-01-02\n", &table.Options{Header: table.Present}, `',' header x text 0|`},
		// Separators, quotes, ends of lines.
		{"\uFEFFa;b\r\n1;2\r\n\r\n3;4", nil, `';' header a int 0|b int 0|`},
		{"a\tb\n\t2\n", nil, `'\t' header a float 1|b int 0|`},
		{"a;b\n1,5;2,5\n", &table.Options{Header: table.Present}, `';' header a text 0|b text 0|`},
		{"1,5;2,5\n3,5;4,5\n", nil, `line 1 is divided by "," (3 fields) and by ";" (2 fields): set Options.Comma to the separator, and Options.Decimal to ',' if numbers have a decimal comma`},
		{"1,5;2,5\n3;4,5\n", &table.Options{Decimal: ','}, `';' data column1 float 0|column2 float 0|`},
		{"sep=;\r\na;b\r\n1;2\r\n", nil, `';' header a int 0|b int 0|`},
		{"sep=|\n1|x\n", nil, `'|' data column1 int 0|column2 text 0|`},
		{"sep=\"\na,b\n1,2\n", nil, `line 1 says that '"' separates fields, which cannot be: set Comma, or take the line away`},
		{"sep=,\na,b\n1,2\n", &table.Options{Decimal: ','}, "line 1 says that ',' separates fields, which cannot be: set Comma, or take the line away"},
		{"sep=\r\n1\r\n", nil, "',' header sep= int 0|"},
		{"sep=\nx\n", &table.Options{Header: table.Absent}, `',' data column1 text 0|`},
		{"sep=,,\n1,2,3\n", nil, `',' header sep= int 0|column2 int 0|column3 int 0|`},
		{"sep=;\na;b\n1\n", nil, "line 3 has 1 field, line 2 has 2"},
		{"a|b\n1|2\n", &table.Options{Comma: '|'}, `'|' header a int 0|b int 0|`},
		{"\"a, \"\"b\"\"\" , \"c\nd\"\n1,2\n3\n", nil, "line 4 has 1 field, line 1 has 2"},
		{"\"a, \"\"b\"\"\" , \"c\nd\"\n1,2\n", nil, `',' header a, "b" int 0|c` + "\n" + `d int 0|`},
		{"# made by hand\na,b\n# 3\n1,2\n", &table.Options{Comment: '#'}, `',' header a int 0|b int 0|`},
		{"a,b\n1,2,3\n", nil, "line 2 has more than 2 fields"},
		{"Sales\na,b\n1,2\n", nil, "line 2 has more than 1 field, as line 1 has: leave that out by Skip or Comment if it is not data"},
		{"a;b\n1,5;2,5\n3;4,5\n", nil, "line 1 may be a header or data, as no column has numbers or dates: " + say + ", and Decimal if the comma is before decimals"},
		{"x\n\"2\n", nil, `line 2, column 1: a quote " has no end`},
		{"x\n\"2\"3\n", nil, `line 2, column 1: text after the quoted "2": write a quote in a field twice`},
		{"n\n5'11\"\n", &table.Options{Header: table.Present}, `',' header n text 0|`},
		{"", nil, "there are no rows: the file is empty"},
		{"\n \n", nil, "there are no rows: the file is empty"},
		{"a,b\r1,2\r", nil, "its lines end in CR: save it with lines that end in LF or CRLF"},
		{"\xff\xfe1\x00,\x002\x00", nil, "the text is UTF-16: save it as UTF-8"},
		{"1\x00,\x002\x00", nil, "the text is UTF-16: save it as UTF-8"},
		{"a,b\n1,caf\xe9\n", nil, `line 2: "1,caf\xe9\n" is not UTF-8: save the text as UTF-8`},
		// Quoted text is short and harmless to a terminal.
		{"\x1b[2J,a\n1,1\n\x1b[2J,1,1\n", nil, "line 3 has more than 2 fields"},
		{long("é") + ",1\n1,1\n", nil, `line 1 may be a header or data: "` + cut("é") + `" in column 1 is a name above other values, but "1" in column 2 is a value as those below it` + both},
	} {
		f, err := table.Read(strings.NewReader(tt.in), tt.o)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			separator := strings.Split(f.String(), "separated by ")[1]
			got = separator[:strings.Index(separator, ";")]
			if separator[:3] == "';'" {
				got = "';'"
			}
			got += map[bool]string{true: " header ", false: " data "}[first(f.Header())]
			for _, c := range f.Columns() {
				got += fmt.Sprintf("%s %v %d|", c.Name, c.Kind, c.Missing)
			}
		}
		if got != tt.want {
			t.Errorf("Read(%q, %+v)\n is %s\nwant %s", tt.in, tt.o, got, tt.want)
		}
	}
	fault := errors.New("fault")
	if _, err := table.Read(iotest.ErrReader(fault), nil); !errors.Is(err, fault) {
		t.Errorf("Read of a failing reader = %v", err)
	}
	if f, err := table.Read(iotest.OneByteReader(strings.NewReader("a\n1\n")), nil); err != nil || f.Len() != 1 {
		t.Errorf("Read of a slow reader = %v, %v", f, err)
	}
}

func first[A, B any](a A, _ B) A { return a }

// column returns a column as text, or the error.
func column[E table.Value](f *table.Frame, name string) string {
	c, err := table.Column[E](f, name)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(c)
}

func TestColumn(t *testing.T) {
	const text = "n,x,zip,on,day,city\n1,1.5,007,yes,2026-01-02,Rome\n-2,NA,010,0,1970-01-01T12:00:00Z,Oslo\n3.0,1e39,\"12, 3\",TRUE,,\n"
	f, err := table.Read(strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	const missing = ": read it as float32, string or Labels"
	for _, tt := range []struct{ name, got, want string }{
		{"float32 n", column[float32](f, "n"), "[1 -2 3]"},
		{"int64 n", column[int64](f, "n"), "[1 -2 3]"},
		{"int32 n", column[int32](f, "n"), "[1 -2 3]"},
		{"string n", column[string](f, "n"), "[1 -2 3.0]"},
		{"float64 x", column[float64](f, "x"), "[1.5 NaN 1e+39]"},
		{"float32 x", column[float32](f, "x"), `line 4, column 2 (x): "1e39" is too large for float32`},
		{"int64 x", column[int64](f, "x"), `line 2, column 2 (x): "1.5" is not a whole number`},
		{"string zip", column[string](f, "zip"), "[007 010 12, 3]"},
		{"float32 zip", column[float32](f, "zip"), `line 4, column 3 (zip): "12, 3" is not a number`},
		{"bool on", column[bool](f, "on"), "[true false true]"},
		{"bool x", column[bool](f, "x"), `line 2, column 2 (x): "1.5" is not true or false`},
		{"float64 day", column[float64](f, "day"), "[20455 0.5 NaN]"},
		{"time day", column[time.Time](f, "day"), "[2026-01-02 00:00:00 +0000 UTC 1970-01-01 12:00:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC]"},
		{"time n", column[time.Time](f, "n"), `line 2, column 1 (n): "1" is not a date such as 2006-01-02 or 2006-01-02T15:04:05Z`},
		{"int32 day", column[int32](f, "day"), `line 2, column 5 (day): "2026-01-02" is not a number`},
		{"string city", column[string](f, "city"), "[Rome Oslo ]"},
		{"none", column[string](f, "town"), `there is no column "town", only "n", "x", "zip", "on", "day", "city"`},
	} {
		if tt.got != tt.want {
			t.Errorf("column %s is %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	l, err := f.Labels("city")
	if got := fmt.Sprint(l.Codes, l.Names, err); got != "[1 0 -1] [Oslo Rome] <nil>" {
		t.Errorf("labels are %s", got)
	}
	x, err := f.Tensor(tensor.Float64, "day", "n")
	if got := fmt.Sprint(x.Shape(), x.At(0), " ", x.At(1), err); got != "[3 2] [20455 1] [0.5 -2.0] <nil>" {
		t.Errorf("the tensor is %s", got)
	}
	for _, tt := range []struct{ in, want string }{
		{"a\nNA\n1\n", `line 2, column 1 (a): "NA" is a missing value, which this type cannot hold` + missing},
		{"a\n3000000000\n", `line 2, column 1 (a): "3000000000" is too large for int32`},
		{"a\n1e10\n", `line 2, column 1 (a): "1e10" is too large for int32`},
		{"a;b\n1,5;1\n", `line 2, column 1 (a): "1,5" is not a number: set Decimal if the comma is before decimals`},
		{"a\n1e400\n", `line 2, column 1 (a): "1e400" is too large for int32`},
		{"1\n99999999999999999999\n", `line 2, column 1: "99999999999999999999" is too large for int32`},
	} {
		f, err := table.Read(strings.NewReader(tt.in), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := column[int32](f, f.Columns()[0].Name); got != tt.want {
			t.Errorf("int32 of %q is %s, want %s", tt.in, got, tt.want)
		}
	}
	german, err := table.Read(strings.NewReader("d;x\n02.01.2026;1,5\n31.12.1969;-1e3\n"),
		&table.Options{Decimal: ',', Dates: map[string]string{"d": "02.01.2006"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := column[float64](german, "d") + column[float64](german, "x"); got != "[20455 -1][1.5 -1000]" {
		t.Errorf("German dates and numbers are %s", got)
	}
	typo, err := table.Read(strings.NewReader("d\n02.01.2026\n1.2.26\n"), &table.Options{Dates: map[string]string{"d": "02.01.2006"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := column[float64](typo, "d"), `line 3, column 1 (d): "1.2.26" is not a date such as "02.01.2006"`; got != want {
		t.Errorf("a false date gives %s, want %s", got, want)
	}
}

func TestInto(t *testing.T) {
	const text = "area,Year Built,city,sold,id,open\n50,1990,Rome,2026-01-02,07,y\n75.5,2001,Oslo,,08,n\n"
	f, err := table.Read(strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Area   tensor.Tensor
		Built  tensor.Tensor `table:"Year Built,int64"`
		City   table.Labels
		Sold   []time.Time
		Days   []float32 `table:"sold"`
		ID     []string
		Number []int32 `table:"id"`
		Open   []bool
		Other  chan int `table:"-"`
		hidden int
	}
	if err := f.Into(&got); err != nil {
		t.Fatal(err)
	}
	_ = got.hidden
	want := "[50.0 75.5] float32 [1990 2001] int64 [1 0] [Oslo Rome] 2 true [20455 NaN] [07 08] [7 8] [true false]"
	if s := fmt.Sprint(got.Area, got.Area.DType(), got.Built, got.Built.DType(), got.City.Codes, got.City.Names, len(got.Sold), got.Sold[1].IsZero(),
		got.Days, got.ID, got.Number, got.Open); strings.Join(strings.Fields(s), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("Into gives %s, want %s", s, want)
	}
	var bad struct {
		Area tensor.Tensor
		City []float32
	}
	if err := f.Into(&bad); err == nil || err.Error() != `line 2, column 3 (city): "Rome" is not a number` || bad.Area.IsValid() {
		t.Errorf("Into a false field gives %v, %v", bad, err)
	}
	for _, tt := range []struct {
		v    any
		want string
	}{
		{struct{}{}, "want a pointer to a struct, not a struct {}"},
		{(*struct{})(nil), "want a pointer to a struct"},
		{&struct{ Area []int }{}, "field Area is a []int: want a tensor, Labels or a slice"},
		{&struct {
			area []float32 `table:"area"`
		}{}, "field area has a tag and is not exported"},
	} {
		if err := tensor.Try(func() { f.Into(tt.v) }); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "table_test.go") {
			t.Errorf("Into(%v) panics with %v, want …%s", reflect.TypeOf(tt.v), err, tt.want)
		}
	}
	twice, err := table.Read(strings.NewReader("A,a\n1,2\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var x struct{ A []float32 }
	if err := twice.Into(&x); err != nil || x.A[0] != 1 {
		t.Errorf("a name as written gives %v, %v", x, err)
	}
	var y struct{ B []float32 }
	if err := twice.Into(&y); err == nil || err.Error() != `there is no column "B", only "A", "a"` {
		t.Errorf("a field without column gives %v", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := table.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := column[float32](f, "b"), path+`: line 2, column 2 (b): "x" is not a number`; got != want {
		t.Errorf("a false column gives %s, want %s", got, want)
	}
	strange := filepath.Join(dir, "a\x1b]0;x\a\n.csv")
	if err := os.WriteFile(strange, []byte("a\n1\n"), 0o600); err != nil {
		t.Skip(err)
	}
	if f, err = table.Load(strange, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := column[float32](f, "b"), strconv.Quote(strange)+`: there is no column "b", only "a"`; got != want {
		t.Errorf("a strange name gives %s, want %s", got, want)
	}
	for name, want := range map[string]string{dir: "not a regular file", filepath.Join(dir, "none"): filestest.NoFile(t)} {
		if _, err := table.Load(name, nil); err == nil || err.Error() != name+": "+want {
			t.Errorf("Load(%s) = %v, want …%s", name, err, want)
		}
	}
}

// TestOptions walks all settings.
// Of more lines than there are, all are left out, at once.
func TestSkipAll(t *testing.T) {
	for _, n := range []int{2, 3, math.MaxInt} {
		if _, err := table.Read(strings.NewReader("1\n2"), &table.Options{Skip: n}); err == nil || !strings.Contains(err.Error(), "no rows") {
			t.Errorf("Skip %d of 2 lines: %v, want an error", n, err)
		}
	}
	if got := fmt.Sprint(table.Kind(-1), table.Kind(9), table.Date); got != "Kind(-1) Kind(9) date" {
		t.Errorf("kinds print as %s", got)
	}
	if err := tensor.Try(func() { table.Column[float64](nil, "x") }); err == nil {
		t.Error("Column of a nil Frame: no error")
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		o    table.Options
		want string
	}{
		{table.Options{Comma: '\n'}, `the Comma '\n' cannot separate fields`},
		{table.Options{Comma: '"'}, `the Comma '"' cannot separate fields`},
		{table.Options{Comma: -1}, `cannot separate fields`},
		{table.Options{Comma: 0x7fffffff}, `cannot separate fields`},
		{table.Options{Comment: '\r'}, `the Comment '\r' cannot begin a line`},
		{table.Options{Comment: '#', Comma: '#'}, `Comma and Comment are both '#'`},
		{table.Options{Decimal: ';'}, `Decimal is ';', want '.' or ','`},
		{table.Options{Decimal: ',', Comma: ','}, `Comma and Decimal are both ','`},
		{table.Options{Header: 3}, `Header is 3, want Found, Present or Absent`},
		{table.Options{Header: -1}, `Header is -1, want Found, Present or Absent`},
		{table.Options{Skip: -1}, `Skip is -1, want a number of lines`},
		{table.Options{Names: []string{"a", ""}}, `one of the Names is empty`},
		{table.Options{Names: []string{"a", "a"}}, `two of the Names are "a"`},
	} {
		for _, read := range []func(){
			func() { table.Read(strings.NewReader("1\n"), &tt.o) },
			func() { table.Load("none", &tt.o) },
		} {
			if err := tensor.Try(read); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "table_test.go") {
				t.Errorf("reading with %+v panics with %v, want …%s", tt.o, err, tt.want)
			}
		}
	}
}
