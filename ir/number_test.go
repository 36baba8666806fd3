package ir

import (
	"fmt"
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		d    DType
		x    float64
		want string
	}{
		{Bool, 0, "false"}, {Bool, 1, "true"},
		{Uint8, 1.9, "1"}, {Uint8, -1, "0"}, {Uint8, 256, "255"}, {Uint8, nan, "0"},
		{Int8, 127.9, "127"}, {Int8, -129, "-128"}, {Int8, inf, "127"}, {Int8, nan, "0"},
		{Uint16, 65535.9, "65535"}, {Uint16, -1, "0"}, {Int16, 32767.9, "32767"}, {Int16, -32769, "-32768"},
		{Int32, -1.9, "-1"}, {Int32, inf, "2147483647"}, {Int32, -inf, "-2147483648"}, {Int32, 1 << 31, "2147483647"},
		{Uint32, 1 << 31, "2147483648"}, {Uint32, inf, "4294967295"},
		{Int64, 1 << 53, "9007199254740992"}, {Int64, 1 << 63, "9223372036854775807"}, {Int64, -inf, "-9223372036854775808"},
		{Uint64, 1 << 63, "9223372036854775808"}, {Uint64, 1<<64 - 1<<11, "18446744073709549568"}, {Uint64, inf, "18446744073709551615"}, {Uint64, -1, "0"}, {Uint64, nan, "0"},
		{Float16, 0.1, "0.099975586"}, {Float16, 65520, "+Inf"}, {Float16, 65519, "65504"}, {Float16, nan, "NaN"},
		{BFloat16, 0.1, "0.100097656"}, {BFloat16, -inf, "-Inf"},
		{Float32, 0.1, "0.1"}, {Float32, 1e39, "+Inf"}, {Float32, math.Copysign(0, -1), "-0"}, {Float32, 1e-45, "1e-45"},
		{Float64, 0.1, "0.1"}, {Float64, 1e39, "1e+39"},
	} {
		if got := Float(c.d, c.x).Text(c.d); got != c.want {
			t.Errorf("Float(%v, %v) = %s, want %s", c.d, c.x, got, c.want)
		}
	}
}

// An element is the same after a way through memory.
func TestAppend(t *testing.T) {
	for _, c := range []struct {
		d    DType
		x    float64
		want string
	}{
		{Bool, 1, "01"}, {Uint8, 255, "ff"}, {Int8, -2, "fe"}, {Uint16, 1<<16 - 2, "fe ff"}, {Int16, -2, "fe ff"},
		{Int32, -2, "fe ff ff ff"}, {Uint32, 1 << 31, "00 00 00 80"},
		{Int64, -2, "fe ff ff ff ff ff ff ff"}, {Uint64, 1 << 63, "00 00 00 00 00 00 00 80"},
		{Float16, -1, "00 bc"}, {BFloat16, -1, "80 bf"},
		{Float32, -1, "00 00 80 bf"}, {Float64, -1, "00 00 00 00 00 00 f0 bf"},
	} {
		b := Float(c.d, c.x).Append([]byte("x"), c.d)
		if got := fmt.Sprintf("% x", b); got != "78 "+c.want || len(b) != 1+c.d.Size() {
			t.Errorf("%v as %v appended to 78 is %s, want 78 %s", c.x, c.d, got, c.want)
		}
		if got, want := Decode(c.d, b[1:]), Float(c.d, c.x); got != want {
			t.Errorf("Decode(%v, % x) = %s, want %s", c.d, b[1:], got.Text(c.d), want.Text(c.d))
		}
	}
}

func TestInt(t *testing.T) {
	for _, c := range []struct {
		d    DType
		x    int64
		want string
	}{
		{Bool, 7, "true"}, {Bool, 0, "false"},
		{Uint8, 257, "1"}, {Uint8, -1, "255"}, {Int8, 128, "-128"}, {Int8, 511, "-1"}, {Uint16, -1, "65535"}, {Int16, 32768, "-32768"}, {Int16, 131071, "-1"},
		{Int32, 1 << 31, "-2147483648"}, {Int32, -1, "-1"},
		{Uint32, -1, "4294967295"}, {Uint32, 1 << 32, "0"},
		{Int64, math.MinInt64, "-9223372036854775808"}, {Uint64, -1, "18446744073709551615"},
		{Float32, 1<<60 + 1<<36 + 1, "1.1529216e+18"}, // rounded once, not to float64 before
		{Float32, 1<<24 + 1, "1.6777216e+07"}, {Float16, 2049, "2048"}, {BFloat16, -3, "-3"}, {Float64, 5, "5"},
	} {
		if got := Int(c.d, c.x).Text(c.d); got != c.want {
			t.Errorf("Int(%v, %d) = %s, want %s", c.d, c.x, got, c.want)
		}
	}
}

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		x        Number
		from, to DType
		want     string
	}{
		{Float(Float32, -2.7), Float32, Int32, "-2"},
		{Float(Float64, 1e300), Float64, Float32, "+Inf"},
		{Float(Float64, 1e300), Float64, Int64, "9223372036854775807"},
		{Float(Float32, math.NaN()), Float32, Bool, "true"},
		{Float(Float32, math.NaN()), Float32, Int64, "0"},
		{Float(Float32, 0.1), Float32, Bool, "true"},
		{Float(Float32, math.Copysign(0, -1)), Float32, Bool, "false"},
		{Int(Int32, -1), Int32, Uint32, "4294967295"},
		{Int(Int32, -1), Int32, Uint8, "255"},
		{Int(Int32, 256), Int32, Bool, "true"},
		{Int(Uint32, -1), Uint32, Int32, "-1"},
		{Int(Uint32, -1), Uint32, Float64, "4.294967295e+09"},
		{Int(Int64, 1<<62+1), Int64, Int64, "4611686018427387905"},
		{1, Bool, BFloat16, "1"},
		{1<<63 + 1, Uint64, Uint64, "9223372036854775809"},
		{1<<63 + 1, Uint64, Int64, "-9223372036854775807"},
		{1<<63 + 1, Uint64, Float64, "9.223372036854776e+18"},
		{1<<63 + 1<<39 + 1, Uint64, Float32, "9.223373e+18"}, // rounded once
		{Int(Int32, -1), Int32, Uint64, "18446744073709551615"},
		{Float(Float32, 1<<63), Float32, Uint64, "9223372036854775808"},
		{Float(Float64, 1<<64), Float64, Uint64, "18446744073709551615"},
	} {
		if got := c.x.Convert(c.from, c.to).Text(c.to); got != c.want {
			t.Errorf("%s.Convert(%v, %v) = %s, want %s", c.x.Text(c.from), c.from, c.to, got, c.want)
		}
	}
}

func TestInt64(t *testing.T) {
	for _, c := range []struct {
		d    DType
		x    Number
		want int64
	}{
		{Float32, Float(Float32, -1.5), -1},
		{Float64, Float(Float64, math.Inf(1)), math.MaxInt64},
		{Uint32, Int(Uint32, -1), math.MaxUint32},
		{Uint64, 1 << 63, math.MaxInt64},
		{Int32, Int(Int32, -1), -1},
		{Bool, 1, 1},
	} {
		if got := c.x.Int64(c.d); got != c.want {
			t.Errorf("%s.Int64(%v) = %d, want %d", c.x.Text(c.d), c.d, got, c.want)
		}
	}
}

func TestCeilDiv(t *testing.T) {
	for _, c := range []struct{ a, b, want int }{
		{0, 3, 0}, {1, 3, 1}, {3, 3, 1}, {4, 3, 2}, {-1, 3, 0}, {-3, 3, -1}, {-4, 3, -1}, {math.MaxInt, 2, 1 << 62}, {math.MaxInt, math.MaxInt, 1},
	} {
		if got := CeilDiv(c.a, c.b); got != c.want {
			t.Errorf("CeilDiv(%d, %d) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if got := CeilDiv[uint64](math.MaxUint64, 8); got != 1<<61 {
		t.Errorf("CeilDiv of the greatest uint64 and 8 = %d, want 1<<61", got)
	}
}
