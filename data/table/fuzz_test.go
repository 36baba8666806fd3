package table_test

import (
	"encoding/csv"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/tensor"
)

// FuzzRead reads texts with several options: columns have all rows whatever they are read as, and
// texts without quotes have the fields that encoding/csv finds.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "150,4,setosa\n5.1,3.5,1\n", "\uFEFFx;y\r\n1,5;NA\r\n", "d\tc\n2026-01-02T10:00Z\t\"a \"\"b\"\"\n,\"\n",
		"", ",,\n,,\n", "# c\n1\n\n2", "\"", "1e999,-0x1,inf,9223372036854775808\n", "\xff\xfe1\x00", "a\rb\r", "é,\x00\n1,2\n",
	} {
		for options := range 6 {
			f.Add(text, uint8(options))
		}
	}
	all := []table.Options{
		{}, {Header: table.Present}, {Header: table.Absent, Comma: ','}, {Comma: ';', Decimal: ',', Comment: '#'},
		{Skip: 1, Header: table.Absent}, {Header: table.Absent, Comma: '\t', Missing: []string{"1"}},
	}
	f.Fuzz(func(t *testing.T, text string, options uint8) {
		o := all[int(options)%len(all)]
		frame, err := table.Read(strings.NewReader(text), &o)
		if err != nil {
			return
		}
		if _, err := frame.Tensor(tensor.Float32); err != nil && !strings.Contains(err.Error(), "line ") {
			t.Fatalf("an error without line: %v", err)
		}
		for _, c := range frame.Columns() {
			l, err := frame.Labels(c.Name)
			if err != nil || l.Codes.Dim(0) != frame.Len() || len(l.Names) > frame.Len() {
				t.Fatalf("labels of %q: %v", c.Name, err)
			}
			missing := 0
			for _, code := range must(tensor.Data[int32](l.Codes)) {
				if code < 0 {
					missing++
				}
			}
			if missing != c.Missing || (c.Missing > 0) != (c.MissingLine > 0) {
				t.Fatalf("%q has %d missing values, its Info says %d from line %d", c.Name, missing, c.Missing, c.MissingLine)
			}
			if _, err := table.Column[float64](frame, c.Name); (err == nil) != (c.Kind != table.Text) && !strings.Contains(fmt.Sprint(err), "too large") {
				t.Fatalf("%q is %v, as float64: %v", c.Name, c.Kind, err)
			}
			if _, err := table.Column[int64](frame, c.Name); c.Kind == table.Int && (err == nil) != (c.Missing == 0) {
				t.Fatalf("%q is %v, as int64: %v", c.Name, c.Kind, err)
			}
			if _, err := table.Column[time.Time](frame, c.Name); c.Kind == table.Date && err != nil {
				t.Fatalf("%q is %v, as time: %v", c.Name, c.Kind, err)
			}
		}
		if o.Comma != ',' || strings.ContainsAny(text, "\"\r\uFEFF") {
			return
		}
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord = -1 // a line of spaces is a record there
		for row := 0; ; {
			want, err := r.Read()
			if err == io.EOF {
				if row != frame.Len() {
					t.Fatalf("%d rows, want %d", frame.Len(), row)
				}
				return
			}
			if err != nil {
				t.Fatalf("encoding/csv fails: %v", err)
			}
			if strings.TrimSpace(strings.Join(want, ",")) == "" {
				continue // an empty line but for spaces
			}
			for i, c := range frame.Columns() {
				if got := must(table.Column[string](frame, c.Name))[row]; got != strings.TrimSpace(want[i]) && got != "" {
					t.Fatalf("row %d of %q is %q, want %q", row, c.Name, got, want[i])
				}
			}
			row++
		}
	})
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// endless repeats a text.
type endless string

func (e endless) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		n += copy(b[n:], e)
	}
	return n, nil
}

// TestMemory reads texts that are made to take much memory: at most four times their bytes and 1 MiB,
// besides the columns.
func TestMemory(t *testing.T) {
	const size = 512 << 10
	for _, tt := range []struct {
		name, text string
	}{
		{"digits", "1,2\n"}, {"short rows", "1\n"}, {"a quote", "\""}, {"quotes", `"a""b",1` + "\n"},
		{"one field", "x"}, {"blank lines", "\n"}, {"blank after a row", "1\n\n\n\n\n\n\n\n"},
	} {
		text := strings.Repeat(tt.text, size/len(tt.text))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f, err := table.Read(strings.NewReader(text), &table.Options{Header: table.Absent})
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 4*size+1<<20 {
			t.Errorf("%s: Read takes %d bytes of %d: %v", tt.name, taken, size, err)
		}
		if err != nil {
			continue
		}
		if c := f.Columns(); c[0].Kind == table.Int {
			runtime.ReadMemStats(&before)
			x := must(f.Tensor(tensor.Float32))
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > uint64(4*x.Len())+1<<20 {
				t.Errorf("%s: Tensor takes %d bytes for %d elements", tt.name, taken, x.Len())
			}
		}
	}
	if _, err := table.Read(endless(strings.Repeat("x", 1<<16)), nil); err == nil || err.Error() != "line 1 has more than 64 MiB: this is no table" {
		t.Errorf("a line without end gives error %v", err)
	}
}
