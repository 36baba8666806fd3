package table_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

var nan = math.NaN()

// TestScalers compares with scikit-learn's StandardScaler, MinMaxScaler and RobustScaler.
func TestScalers(t *testing.T) {
	type fit func(tensor.Tensor) (table.Scaler, error)
	for _, tt := range []struct {
		name                string
		fit                 fit
		column              []float64
		offset, scale, last float64 // last is the last element scaled
	}{
		{"standard", table.StandardScaler, []float64{1, 2, 3, 4}, 2.5, math.Sqrt(1.25), 1.5 / math.Sqrt(1.25)},
		{"standard, missing", table.StandardScaler, []float64{1, nan, 2, 3, 4}, 2.5, math.Sqrt(1.25), 1.5 / math.Sqrt(1.25)},
		{"standard, constant", table.StandardScaler, []float64{.1, .1, .1, .1, .1}, .1, 1, 0},
		{"standard, one", table.StandardScaler, []float64{7}, 7, 1, 0},
		{"standard, small", table.StandardScaler, []float64{1e-30, 3e-30}, 2e-30, 1e-30, 1},
		{"standard, large", table.StandardScaler, []float64{1e30, 3e30}, 2e30, 1e30, 1},
		{"standard, both signs", table.StandardScaler, []float64{-3e38, 3e38}, 0, 3e38, 1},
		{"minmax", table.MinMaxScaler, []float64{3, -1, 5, 2}, -1, 6, .5},
		{"minmax, missing", table.MinMaxScaler, []float64{3, nan, 5}, 3, 2, 1},
		{"minmax, constant", table.MinMaxScaler, []float64{5, 5}, 5, 1, 0},
		{"robust", table.RobustScaler, []float64{1, 2, 3, 4, 100}, 3, 2, 48.5},
		{"robust, even", table.RobustScaler, []float64{1, 2, 3, 4}, 2.5, 1.5, 1},
		{"robust, quartiles equal", table.RobustScaler, []float64{1, 1, 1, 1, 9}, 1, 1, 8},
	} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
			x := tensor.New(tt.column).Cast(d).Unsqueeze(1)
			s, err := tt.fit(tensor.Cat(1, x, x.Mul(0).Add(1))) // a second column of ones
			if err != nil {
				t.Errorf("%s %v: %v", tt.name, d, err)
				continue
			}
			last := s.Apply(tensor.Cat(1, x, x)).At(-1, 0)
			for _, c := range []struct {
				what      string
				got, want float64
			}{{"Offset", s.Offset.At(0).Item(), tt.offset}, {"Scale", s.Scale.At(0).Item(), tt.scale}, {"Apply", last.Item(), tt.last}} {
				if tolerance := 1e-6 * math.Abs(c.want); !(math.Abs(c.got-c.want) <= tolerance) || s.Offset.DType() != d || s.Scale.DType() != d {
					t.Errorf("%s %v: %s is %v, want %v", tt.name, d, c.what, c.got, c.want)
				}
			}
			if back := s.Invert(s.Apply(tensor.Cat(1, x, x))).Select(1, 0); back.IsNaN().Eq(x.Squeeze(1).IsNaN()).All().Item() != 1 {
				t.Errorf("%s: NaN changes", tt.name)
			} else if ok, err := tensor.AllClose(back.NanToNum(), x.Squeeze(1).NanToNum(), 1e-5, 1e-5*math.Abs(tt.scale)); !ok || err != nil {
				t.Errorf("%s: Invert of Apply is %v, want %v", tt.name, back, tt.column)
			}
		}
	}
}

func TestScalerTypes(t *testing.T) {
	x := tensor.Arange(6).Reshape(3, 2).Mul(1000).Cast(tensor.BFloat16)
	s, err := table.StandardScaler(x)
	if err != nil {
		t.Fatal(err)
	}
	if y := s.Apply(x); y.DType() != tensor.BFloat16 || s.Scale.DType() != tensor.Float32 {
		t.Errorf("a Scaler of bfloat16 is %v and gives %v", s.Scale.DType(), y.DType())
	}
	rows, err := table.MinMaxScaler(tensor.Arange(4).Cast(tensor.Float32))
	if got := fmt.Sprint(rows.Offset.Shape(), rows.Apply(tensor.New([]float32{3, 6})), err); got != "[] [1 2] <nil>" {
		t.Errorf("a Scaler of one column without axis is %s", got)
	}
	if y := tree.Cast(s, tensor.Float64).Apply(tensor.OnesOf(tensor.Float32, 4, 1, 2)); fmt.Sprint(y.DType(), y.Shape()) != "float32 [4 1 2]" {
		t.Errorf("rows along two axes give %v %v", y.DType(), y.Shape())
	}
	here := "scaler_test.go"
	for _, tt := range []struct {
		name string
		f    func()
		want string
	}{
		{"ints", func() { table.StandardScaler(tensor.New([]int32{1})) }, "want floats with rows along axis 0, not int32 [1]"},
		{"scalar", func() { table.MinMaxScaler(tensor.Scalar(1)) }, "want floats with rows along axis 0"},
		{"absent", func() { table.RobustScaler(tensor.Tensor{}) }, "not an absent tensor"},
		{"empty", func() { table.Scaler{}.Apply(x) }, "the Scaler is empty: fit or load it first"},
		{"columns", func() { s.Apply(tensor.Ones(3, 1)) }, "want floats whose last axes are [2], those of a row, not float32 [3 1]"},
		{"invert", func() { s.Invert(tensor.Ones(3)) }, "want floats whose last axes are [2]"},
	} {
		if err := tensor.Try(tt.f); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), here) {
			t.Errorf("%s panics with %v, want …%s", tt.name, err, tt.want)
		}
	}
	for _, tt := range []struct {
		column []float64
		want   string
	}{
		{[]float64{nan}, "table.StandardScaler: column 0 has no value"},
		{[]float64{}, "table.StandardScaler: column 0 has no value"},
		{[]float64{1, math.Inf(-1)}, "table.StandardScaler: column 0 has an infinite value"},
	} {
		if _, err := table.StandardScaler(tensor.New(tt.column)); err == nil || err.Error() != tt.want {
			t.Errorf("StandardScaler(%v) gives error %v, want %s", tt.column, err, tt.want)
		}
	}
	if _, err := table.MinMaxScaler(tensor.New([]float32{-3e38, 3e38})); err == nil || !strings.Contains(err.Error(), "the range of column 0 is beyond float32") {
		t.Errorf("a range beyond float32 gives error %v", err)
	}
}

func TestEncoder(t *testing.T) {
	cities := []string{"Rome", "Oslo", "", "Rome", "a \"b\"\n<é>\x00"}
	for _, tt := range []struct {
		others bool
		values []string
		want   string
	}{
		{false, []string{"Rome", "Oslo"}, "[1 0] [Rome Oslo] 3"},
		{false, []string{"Rome", ""}, "table.Encoder.Codes: element 1 is missing: make the Encoder with a class for others"},
		{false, []string{"Bern\x1b"}, `table.Encoder.Codes: element 0, "Bern\x1b", is none of the 3 classes: make the Encoder of them all, or with a class for others`},
		{true, []string{"Rome", "", "Bern"}, "[1 3 3] [Rome  ] 4"},
	} {
		e, err := table.NewEncoder(cities, tt.others)
		if err != nil {
			t.Fatal(err)
		}
		// A file keeps the Encoder.
		path := filepath.Join(t.TempDir(), "e.safetensors")
		if err := safetensors.Save(path, struct{ City table.Encoder }{e}); err != nil {
			t.Fatal(err)
		}
		var loaded struct{ City table.Encoder }
		if err := safetensors.Load(path, &loaded); err != nil {
			t.Fatal(err)
		}
		e = loaded.City
		classes, err := e.Classes()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if codes, err := e.Codes(tt.values); err != nil {
			got = err.Error()
			if _, hot := e.OneHot(tt.values); hot == nil || hot.Error() != strings.Replace(got, "Codes", "OneHot", 1) {
				t.Errorf("OneHot gives error %v, Codes %v", hot, err)
			}
		} else {
			names, err := e.Decode(codes)
			if err != nil {
				t.Fatal(err)
			}
			got = fmt.Sprint(codes, " ", names, " ", len(classes))
			hot, err := e.OneHot(tt.values)
			if want := codes.OneHot(len(classes)).Cast(tensor.Float32); err != nil || hot.Eq(want).All().Item() != 1 || hot.DType() != tensor.Float32 {
				t.Errorf("OneHot(%q) is %v, %v, want %v", tt.values, hot, err, want)
			}
		}
		if got != tt.want {
			t.Errorf("codes of %q with others %v are %s, want %s", tt.values, tt.others, got, tt.want)
		}
	}
	e, err := table.NewEncoder([]string{"b", "a"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, codes := range []tensor.Tensor{tensor.New([]int32{0, 2}), tensor.New([]int64{0, -1}), tensor.New([]uint64{0, 1 << 63})} {
		if _, err := e.Decode(codes); err == nil || !strings.Contains(err.Error(), "element 1 is ") || !strings.Contains(err.Error(), "and there are 2 classes") {
			t.Errorf("Decode(%v) gives error %v", codes, err)
		}
	}
	for _, list := range []string{"", "[]", "{}", `["a","a"]`, `[null,"a"]`, `[null,null]`, `[1]`} {
		bad := table.Encoder{List: tensor.FromBytes(tensor.Uint8, []int{len(list)}, []byte(list))}
		if _, err := bad.Codes([]string{"a"}); err == nil || !strings.HasPrefix(err.Error(), "table: an Encoder's List ") {
			t.Errorf("the list %s gives error %v", list, err)
		}
	}
	if _, err := table.NewEncoder([]string{""}, false); err == nil {
		t.Error("an Encoder without classes is no error")
	}
	if _, err := table.NewEncoder([]string{"\xff"}, false); err == nil || !strings.Contains(err.Error(), "is not UTF-8") {
		t.Errorf("a name that is not UTF-8 gives error %v", err)
	}
	for _, f := range []func(){
		func() { table.Encoder{}.Codes(nil) },
		func() { e.Decode(tensor.Ones(2)) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), "scaler_test.go") {
			t.Errorf("misuse panics with %v", err)
		}
	}
}

// An Encoder in a printed model shows its names and not their bytes.
func TestEncoderString(t *testing.T) {
	many := make([]string, 22)
	for i := range many {
		many[i] = fmt.Sprintf("%02d", i)
	}
	for _, c := range []struct {
		column []string
		others bool
		want   string
	}{
		{[]string{"b", "a", ""}, false, `{"a", "b"}`},
		{[]string{"b", "\x1b[2J"}, true, `{"\x1b[2J", "b" and others}`},
		{nil, true, `{others}`},
		{many, true, `{"` + strings.Join(many[:20], `", "`) + `" and 2 more and others}`},
	} {
		e, err := table.NewEncoder(c.column, c.others)
		if got := fmt.Sprint(struct{ City table.Encoder }{e}); err != nil || got != c.want {
			t.Errorf("%q: %s, %v; want %s", c.column, got, err, c.want)
		}
	}
	if got := fmt.Sprint(table.Encoder{}); got != "no classes" {
		t.Error(got)
	}
}
