package tensor_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/hostmem/memtest"
	"github.com/tensorken/tensorken/tensor"
)

func TestJSON(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, tt := range []struct {
		t    tensor.Tensor
		want string
	}{
		{tensor.Tensor{}, `null`},
		{tensor.Scalar(2), `{"shape":[],"values":[2]}`},
		{tensor.New([]float32{1, 2.5, -0.1}, 3, 1), `{"shape":[3,1],"values":[1,2.5,-0.1]}`},
		{tensor.New([]float64{0.1, 1e300, 1e-9, nan, inf, -inf}), `{"shape":[6],"values":[0.1,1e+300,1e-09,"NaN","Inf","-Inf"]}`},
		{tensor.New([]bool{true, false}), `{"shape":[2],"values":[true,false]}`},
		{tensor.New([]int64{math.MaxInt64, math.MinInt64}), `{"shape":[2],"values":[9223372036854775807,-9223372036854775808]}`},
		{tensor.New([]uint8{0, 255}), `{"shape":[2],"values":[0,255]}`},
		{tensor.New([]uint32{math.MaxUint32}), `{"shape":[1],"values":[4294967295]}`},
		{tensor.New([]int32{-7}), `{"shape":[1],"values":[-7]}`},
		{tensor.New([]tensor.F16{tensor.ToF16(0.5)}), `{"shape":[1],"values":[0.5]}`},
		{tensor.New([]tensor.BF16{tensor.ToBF16(0.1)}), `{"shape":[1],"values":[0.100097656]}`},
		{tensor.New([]float32{}, 0, 3), `{"shape":[0,3],"values":[]}`},
		{tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3).T(), `{"shape":[3,2],"values":[1,4,2,5,3,6]}`},
	} {
		b, err := json.Marshal(tt.t)
		if string(b) != tt.want || err != nil {
			t.Errorf("Marshal(%v) = %s, %v, want %s", tt.t, b, err, tt.want)
			continue
		}
		back := tensor.Tensor{}
		if tt.t.IsValid() {
			back = tensor.Zeros().Cast(tt.t.DType())
		}
		err = json.Unmarshal(b, &back)
		if got, want := fmt.Sprintf("%+v", back), fmt.Sprintf("%+v", tt.t); got != want || err != nil {
			t.Errorf("Unmarshal(%s) = %s, %v, want %s", b, got, err, want)
		}
	}
}

func TestUnmarshalJSON(t *testing.T) {
	absent, ints, floats := tensor.Tensor{}, tensor.New([]int32{1}), tensor.New([]float64{1})
	longs := tensor.New([]int64{1})
	for _, tt := range []struct {
		json string
		into tensor.Tensor
		want string // the tensor, or the error
	}{
		{`{"shape":[2],"values":[1,2]}`, absent, "[1 2] (float32 [2]"},
		{`{"shape":[2],"values":[1.0,2e3]}`, ints, "[1 2000] (int32 [2]"},
		{`{"shape":[2],"values":[1,2]}`, floats, "[1 2] (float64 [2]"},
		{`{"shape":[2],"values":[true,false]}`, ints, "[true false] (bool [2]"},
		{`{"values":["NaN","-Inf"],"shape":[1,2]}`, absent, "[[NaN -inf]] (float32 [1 2]"},
		{`{"shape":[2],"values":[1,true]}`, absent, "value 0: 1 is no bool"},
		{`{"shape":[2],"values":[9007199254740993.0,900719925474099.3E1]}`, longs, "[9007199254740993 9007199254740993] (int64 [2]"},
		{`{"shape":[3],"values":[-9223372036854775808,9223372036854775807000e-3,-0.00005e+5]}`, longs, "[-9223372036854775808 9223372036854775807 -5] (int64 [3]"},
		{`{"shape":[4],"values":[0,-0.0,0e99999999999999999999,1e18]}`, longs, "[0 0 0 1000000000000000000] (int64 [4]"},
		{`{"shape":[1],"values":[-9223372036854775809]}`, longs, "value 0: -9223372036854775809 is no int64"},
		{`{"shape":[1],"values":[9223372036854775808.0]}`, longs, "value 0: 9223372036854775808.0 is no int64"},
		{`{"shape":[1],"values":[1e19]}`, longs, "value 0: 1e19 is no int64"},
		{`{"shape":[1],"values":[1e999999999]}`, longs, "value 0: 1e999999999 is no int64"},
		{`{"shape":[1],"values":[1e99999999999999999999]}`, longs, "is no int64"},
		{`{"shape":[1],"values":[1e-9223372036854775808]}`, longs, "is no int64"},
		{`{"shape":[1],"values":[12e-1]}`, longs, "value 0: 12e-1 is no int64"},
		{`{"shape":[1],"values":[null]}`, longs, "value 0: null is no int64"},
		{`{"shape":[1],"values":["1"]}`, longs, `value 0: "1" is no int64`},
		{`{"shape":[1],"values":[[]]}`, longs, "value 0: [] is no int64"},
		{`{"shape":[1],"values":[0.5]}`, ints, "value 0: 0.5 is no int32"},
		{`{"shape":[1],"values":[2147483648]}`, ints, "value 0: 2147483648 is no int32"},
		{`{"shape":[1],"values":[1e39]}`, absent, "value 0: 1e39 is no float32"},
		{`{"shape":[1],"values":["NaN"]}`, ints, `value 0: "NaN" is no int32`},
		{`{"shape":[1],"values":[null]}`, absent, "value 0: null is no float32"},
		{`{"shape":[1],"values":[[1]]}`, absent, "value 0: [1] is no float32"},
		{`{"shape":[2],"values":[1]}`, absent, "1 value cannot make shape [2]"},
		{`{"shape":[-1],"values":[1]}`, absent, "shape [-1] has"},
		{`{"shape":[4294967296,4294967296],"values":[]}`, absent, "shape [4294967296 4294967296] has"},
		{`{"shape":[1]}`, absent, `want {"shape":[…],"values":[…]}`},
		{`{"shape":1,"values":[1]}`, absent, `want {"shape":[…],"values":[…]}`},
		{`{"shape":null,"values":[1]}`, absent, `want {"shape":[…],"values":[…]}`},
		{`{"shape":[1.5],"values":[1]}`, absent, `want {"shape":[…],"values":[…]}`},
		{`{"shape":[ 1 , 2 ],"values":[ 1 ,` + "\n\t" + `2 ]}`, absent, "[[1 2]] (float32 [1 2]"},
		{`{"shape":[ ],"values":[3]}`, absent, "3 (float32 []"},
		{`{"shape":[0],"values":[ ]}`, absent, "(float32 [0]"},
		{`{"shape":[2],"values":["a,]\"\\",1]}`, absent, `value 0: "a,]\"\\" is no float32`},
		{`{"shape":[2],"values":[{"a":[1,"]"]},1]}`, absent, `value 0: {"a":[1,"]"]} is no float32`},
		{`{"shape":[1],"values":["` + "\u009b2J" + `"]}`, absent, `value 0: "\"\u009b2J\"" is no float32`},
		{`{"shape":[1],"values":["` + strings.Repeat("x", 1000) + `"]}`, absent, `value 0: "` + strings.Repeat("x", 39) + " is no float32"},
		{`{"shape":[` + strings.Repeat("1,", 64) + `1],"values":[1]}`, absent, "has more than 64 axes"},
		{`{"shape":[` + strings.Repeat("1,", 63) + `1],"values":[1]}`, absent, "1"},
		{`[]`, absent, `tensor from JSON: want {"shape":[…],"values":[…]}`},
		{`"x"`, absent, `tensor from JSON: want {"shape":[…],"values":[…]}`},
	} {
		got := tt.into
		err := json.Unmarshal([]byte(tt.json), &got)
		s := fmt.Sprintf("%+v", got)
		if err != nil {
			s = err.Error()
		}
		if !strings.Contains(s, tt.want) {
			t.Errorf("Unmarshal(%s) = %s, want %s", tt.json, s, tt.want)
		}
	}
}

// Text is refused, or becomes a tensor that is the same when it is written and read again. It
// takes memory in proportion to the text.
func FuzzUnmarshalJSON(f *testing.F) {
	for _, text := range []string{
		`{"shape":[2],"values":[1,-2.5e3]}`, `{"shape":[1,2],"values":["NaN","-Inf"]}`, `{"shape":[1],"values":[true]}`,
		`{"shape":[],"values":["a,]\"\\"]}`, `{"shape":[` + strings.Repeat("1,", 5000) + `1],"values":[` + strings.Repeat("1,", 5000) + `1]}`,
		`{"shape":[99999999999],"values":[]}`, `{"shape":[0,99999999999],"values":[]}`, `null`,
		`{"shape":[100000],"values":[` + strings.Repeat("1,", 99_999) + `1]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Int64, tensor.BFloat16} {
			x := tensor.Zeros(1).Cast(d)
			var err error
			memtest.Bound(t, len(text), func() { err = json.Unmarshal(text, &x) })
			if err != nil {
				continue
			}
			b, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			again := x
			if err := json.Unmarshal(b, &again); err != nil || fmt.Sprint(again.Shape()) != fmt.Sprint(x.Shape()) {
				t.Fatalf("Unmarshal(%s) gives shape %v, want %v, %v", b, again.Shape(), x.Shape(), err)
			}
		}
	})
}

func ExampleTensor_MarshalJSON() {
	b, _ := json.Marshal(map[string]tensor.Tensor{"w": tensor.Eye(2)})
	fmt.Println(string(b))
	// Output:
	// {"w":{"shape":[2,2],"values":[1,0,0,1]}}
}

func ExampleTensor_UnmarshalJSON() {
	var point struct{ X tensor.Tensor }
	err := json.Unmarshal([]byte(`{"X":{"shape":[2],"values":[0.5,"NaN"]}}`), &point)
	fmt.Println(point.X, err)
	// Output:
	// [0.5 NaN] <nil>
}
