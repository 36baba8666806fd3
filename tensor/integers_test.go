package tensor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/tensor"
)

// Numbers of uint64 are exact where float64 and int64 would round or wrap them.
func TestUint64(t *testing.T) {
	const top = 1 << 63
	u := func(x ...uint64) tensor.Tensor { return tensor.New(x) }
	x := u(top+1, 3, math.MaxUint64, 1<<53+1, top)
	second := func(_, x tensor.Tensor) tensor.Tensor { return x }
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		want string
	}{
		{"New", x, "[9223372036854775809 3 18446744073709551615 9007199254740993 9223372036854775808]"},
		{"From", tensor.From([][]uint64{{top + 1}, {7}}), "[[9223372036854775809] [7]]"},
		{"Add of a number", x.Add(uint64(top + 1)), "[2 9223372036854775812 9223372036854775808 9232379236109516802 1]"},
		{"Sub", x.Sub(1), "[9223372036854775808 2 18446744073709551614 9007199254740992 9223372036854775807]"},
		{"Div", x.Div(2), "[4611686018427387904 1 9223372036854775807 4503599627370496 4611686018427387904]"},
		{"FloorDiv", x.FloorDiv(uint64(math.MaxUint64)), "[0 0 1 0 0]"},
		{"Rem", x.Rem(10), "[9 3 5 3 8]"},
		{"Mod", x.Mod(uint64(top)), "[1 3 9223372036854775807 9007199254740993 0]"},
		{"Pow", u(3, 2).Pow(u(40, 63)), "[12157665459056928801 9223372036854775808]"},
		{"Shr", x.Shr(u(63)), "[1 0 1 0 1]"},
		{"Not", u(0).Not(), "[18446744073709551615]"},
		{"Lt", x.Lt(uint64(top + 1)), "[false true false true true]"},
		{"Eq", x.Eq(float64(top)), "[false false false false true]"},
		{"Maximum", x.Maximum(uint64(top)), "[9223372036854775809 9223372036854775808 18446744073709551615 9223372036854775808 9223372036854775808]"},
		{"Max", x.Max(), "18446744073709551615"},
		{"Min", x.Min(), "3"},
		{"Max of nothing", u().Max(), "0"},
		{"Min of nothing", u().Min(), "18446744073709551615"},
		{"Sum", x.Sum(), "9007199254740996"},
		{"Prod", u(1<<32+1, 1<<31).Prod(), "9223372039002259456"},
		{"ArgMax", x.ArgMax(0), "2"},
		{"ArgMin", x.ArgMin(0), "1"},
		{"Sort", x.Sort(0), "[3 9007199254740993 9223372036854775808 9223372036854775809 18446744073709551615]"},
		{"ArgSort", x.ArgSort(0), "[1 3 4 0 2]"},
		{"positions of TopK", second(x.TopK(0, 2)), "[2 0]"},
		{"Median", x.Median(0), "[9223372036854775808]"},
		{"Unique", tensor.Cat(0, x, x).Unique(), "[3 9007199254740993 9223372036854775808 9223372036854775809 18446744073709551615]"},
		{"SearchSorted", u(top, 4).SearchSorted(u(3, 4, top-1, top)), "[3 1]"},
		{"CumSum", x.CumSum(0), "[9223372036854775809 9223372036854775812 9223372036854775811 9232379236109516804 9007199254740996]"},
		{"CumMax", x.CumMax(0), "[9223372036854775809 9223372036854775809 18446744073709551615 18446744073709551615 18446744073709551615]"},
		{"Abs", x.Abs(), "[9223372036854775809 3 18446744073709551615 9007199254740993 9223372036854775808]"},
		{"Sign", x.Sign(), "[1 1 1 1 1]"},
		{"FullOf", tensor.FullOf(tensor.Uint64, uint64(math.MaxUint64), 1), "[18446744073709551615]"},
		{"Arange", tensor.Arange(3).Mul(u(top + 1)), "[0 9223372036854775809 2]"},
		{"Cast to int64", x.Cast(tensor.Int64), "[-9223372036854775807 3 -1 9007199254740993 -9223372036854775808]"},
		{"Cast from int32", ints(-1, 5).Cast(tensor.Uint64), "[18446744073709551615 5]"},
		{"Cast from float64", tensor.New([]float64{top, -1, math.NaN(), math.Inf(1), 1<<53 + 2}).Cast(tensor.Uint64), "[9223372036854775808 0 0 18446744073709551615 9007199254740994]"},
		{"Cast to float32, rounded once", u(top + 1<<39 + 1).Cast(tensor.Float32), "[9.223e+18]"},
	} {
		if got := strings.ReplaceAll(strings.Join(strings.Fields(fmt.Sprint(c.got)), " "), "[ ", "["); got != c.want {
			t.Errorf("%s = %s, want %s", c.name, got, c.want)
		}
	}
	if got := u(top).Item(); got != top {
		t.Errorf("Item = %v, want 2^63", got)
	}
	if got := fmt.Sprintf("%x %5d", u(math.MaxUint64), u(7)); got != "[ffffffffffffffff] [    7]" {
		t.Errorf("formatted: %s", got)
	}
	close, err := tensor.AllClose(u(top), u(top+1), 0, 0)
	if close || err != nil {
		t.Errorf("AllClose of 2^63 and 2^63+1 = %v, %v", close, err)
	}
	y := u(0)
	for text, want := range map[string]string{
		"18446744073709551615": "[18446744073709551615]", "1844674407370955161.50e1": "[18446744073709551615]", "1e19": "[10000000000000000000]",
		"-0": "[0]", "-1": "", "18446744073709551616": "", "2e19": "", "1e20": "", "0.5": "",
	} {
		y, got := u(0), ""
		if err := json.Unmarshal([]byte(`{"shape":[1],"values":[`+text+`]}`), &y); err == nil {
			got = fmt.Sprint(y)
		}
		if got != want {
			t.Errorf("%s from JSON is %q, want %q", text, got, want)
		}
	}
	b, err := json.Marshal(x)
	if err == nil {
		err = json.Unmarshal(b, &y)
	}
	if err != nil || fmt.Sprint(y) != fmt.Sprint(x) {
		t.Errorf("%s from JSON is %v, %v", b, y, err)
	}
}

// Integers of 16 bits wrap in their own type; their sums are int32.
func TestIntegersOf16Bits(t *testing.T) {
	i := func(x ...int16) tensor.Tensor { return tensor.New(x) }
	u := func(x ...uint16) tensor.Tensor { return tensor.New(x) }
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		d    tensor.DType
		want string
	}{
		{"Add", i(32767, -32768).Add(1), tensor.Int16, "[-32768 -32767]"},
		{"Neg", u(1, 0).Neg(), tensor.Uint16, "[65535 0]"},
		{"Mul", u(256, 300).Mul(u(256, 300)), tensor.Uint16, "[0 24464]"},
		{"Div", i(-32768, -7).Div(i(-1, 2)), tensor.Int16, "[-32768 -3]"},
		{"Shr", u(65535, 8).Shr(u(15, 16)), tensor.Uint16, "[1 0]"},
		{"Lt", i(-1, 1).Lt(0), tensor.Bool, "[true false]"},
		{"Sum", u(65535, 65535).Sum(), tensor.Int64, "131070"},
		{"Sum of int16", i(-32768, -32768).Sum(), tensor.Int64, "-65536"},
		{"MatMul", i(32767, -32768).Reshape(1, 2).MatMul(i(2, 1).Reshape(2, 1)), tensor.Int32, "[[32766]]"},
		{"Prod", i(256, 128).Prod(), tensor.Int64, "32768"},
		{"Max", i(-5, -7).Max(), tensor.Int16, "-5"},
		{"Max of nothing", i().Max(), tensor.Int16, "-32768"},
		{"Sort", i(3, -1, -32768, 32767).Sort(0), tensor.Int16, "[-32768 -1 3 32767]"},
		{"Sort of uint16", u(3, 65535, 0).Sort(0), tensor.Uint16, "[0 3 65535]"},
		{"ArgMax", u(1, 65535, 2).ArgMax(0), tensor.Int32, "1"},
		{"CumSum", u(65535, 2).CumSum(0), tensor.Int64, "[65535 65537]"},
		{"CumMax", i(-3, 5, 4).CumMax(0), tensor.Int16, "[-3 5 5]"},
		{"Cast", floats(-32768.9, 32767.9, 1e9, nan).Cast(tensor.Int16), tensor.Int16, "[-32768 32767 32767 0]"},
		{"Cast to uint16", ints(-1, 65536, 7).Cast(tensor.Uint16), tensor.Uint16, "[65535 0 7]"},
		{"Where", tensor.Where(bools(true, false), i(1, 2), i(-1, -2)), tensor.Int16, "[1 -2]"},
		{"Index", u(7, 8, 9).Take(0, ints(2, 0)), tensor.Uint16, "[9 7]"},
		{"ScatterAdd", u(65535, 1).ScatterAdd(0, ints(0, 1, 0), u(1, 2, 3)), tensor.Uint16, "[3 3]"},
		{"a number", i(1).Add(-32768), tensor.Int16, "[-32767]"},
	} {
		if got := fmt.Sprint(c.got); got != c.want || c.got.DType() != c.d {
			t.Errorf("%s = %v %s, want %v %s", c.name, c.got.DType(), got, c.d, c.want)
		}
	}
}

// A device without a type says so, and takes it once it is cast.
func TestTypeOfNoGPU(t *testing.T) {
	gpu := tensor.NewDevice(gpuTypes{cpu.New(cpu.Options{})})
	defer gpu.Close()
	x := tensor.New([]float64{-3})
	err := tensor.Eval(x.To(gpu).Add(x))
	if want := "float64: element type not supported: cast it to another, or compute with it on the CPU"; !errors.Is(err, driver.ErrType) || fmt.Sprint(errors.Unwrap(err)) != want {
		t.Errorf("Add on a GPU: %v, want %s", err, want)
	}
	if y, err := tensor.Data[float32](x.To(gpu).Cast(tensor.Float32).Neg()); err != nil || y[0] != 3 {
		t.Errorf("-3 cast to float32 on the host and negated: %v, %v, want 3", y, err)
	}
}
