package ir

import "testing"

func TestTable(t *testing.T) {
	names := map[string]bool{}
	for op := Op(1); int(op) < Ops; op++ {
		row := Table[op]
		if row.Name == "" || names[row.Name] || row.Class == 0 || row.Types == 0 || row.Result == 0 || row.Diff == 0 {
			t.Errorf("row %d is not filled in, or its name is not its own: %+v", op, row)
		}
		if (row.Diff == Zero) != (row.Why != "") {
			t.Errorf("%v: derivative %d, because %q", op, row.Diff, row.Why)
		}
		if row.Arity == 0 && row.Class != Source && row.Class != KernelOnly {
			t.Errorf("%v takes no operands", op)
		}
		if row.Class == Elementwise && row.Cost == 0 {
			t.Errorf("%v costs nothing", op)
		}
		names[row.Name] = true
	}
}

func TestResultDType(t *testing.T) {
	for _, c := range []struct {
		op       Op
		attr     DType
		operands []DType
		want     DType
	}{
		{Add, 0, []DType{Int32, Int32}, Int32},
		{Where, 0, []DType{Bool, Float32, Float32}, Float32},
		{Lt, 0, []DType{Float32, Float32}, Bool},
		{Cast, Int64, []DType{Float32}, Int64},
		{ArgMax, 0, []DType{Float32}, Int32},
		{Sum, 0, []DType{Bool}, Int32},
		{Sum, 0, []DType{Uint8}, Int32},
		{Sum, 0, []DType{Int8}, Int32},
		{Sum, 0, []DType{Uint16}, Int32},
		{Sum, 0, []DType{Int16}, Int32},
		{Sum, 0, []DType{Uint32}, Uint32},
		{Sum, 0, []DType{Uint64}, Uint64},
		{Gather, 0, []DType{Float32, Int32}, Float32},
		{Scatter, 0, []DType{Float32, Int32, Float32}, Float32},
	} {
		if got := c.op.ResultDType(c.attr, c.operands...); got != c.want {
			t.Errorf("%v.ResultDType(%v, %v) = %v, want %v", c.op, c.attr, c.operands, got, c.want)
		}
	}
}

// The identity of a reduction leaves every other number as it is.
func TestIdentity(t *testing.T) {
	for _, c := range []struct {
		op   Op
		d    DType
		want string
	}{
		{Sum, Float32, "0"}, {Add, Int32, "0"}, {Prod, Int32, "1"}, {Mul, Float64, "1"},
		{ReduceMax, Float16, "-Inf"}, {ReduceMax, Int32, "-2147483648"}, {ReduceMax, Bool, "false"}, {Max, Uint8, "0"}, {Max, Int8, "-128"}, {Min, Int8, "127"}, {Max, Uint16, "0"}, {Min, Uint16, "65535"}, {Max, Int16, "-32768"}, {Min, Int16, "32767"},
		{Min, Float32, "+Inf"}, {Min, Int64, "9223372036854775807"}, {Min, Bool, "true"},
		{Max, Uint64, "0"}, {Min, Uint64, "18446744073709551615"},
	} {
		if got := Identity(c.op, c.d).Text(c.d); got != c.want {
			t.Errorf("Identity(%v, %v) = %s, want %s", c.op, c.d, got, c.want)
		}
	}
}

func TestDTypes(t *testing.T) {
	if len(DTypes) != int(numDTypes)-1 {
		t.Errorf("DTypes has %d types, want %d", len(DTypes), numDTypes-1)
	}
	for i, c := range []struct {
		d                        DType
		name                     string
		size                     int
		float, int, signed, half bool
	}{
		{Bool, "bool", 1, false, false, false, false},
		{Uint8, "uint8", 1, false, true, false, false},
		{Int8, "int8", 1, false, true, true, false},
		{Uint16, "uint16", 2, false, true, false, false},
		{Int16, "int16", 2, false, true, true, false},
		{Int32, "int32", 4, false, true, true, false},
		{Uint32, "uint32", 4, false, true, false, false},
		{Int64, "int64", 8, false, true, true, false},
		{Uint64, "uint64", 8, false, true, false, false},
		{Float16, "float16", 2, true, false, false, true},
		{BFloat16, "bfloat16", 2, true, false, false, true},
		{Float32, "float32", 4, true, false, false, false},
		{Float64, "float64", 8, true, false, false, false},
	} {
		d := DTypes[i]
		if d != c.d || d.String() != c.name || d.Size() != c.size || d.IsFloat() != c.float || d.IsInt() != c.int || d.IsSigned() != c.signed || d.IsHalf() != c.half {
			t.Errorf("%v is not as in %+v", d, c)
		}
		want := d
		if c.half {
			want = Float32
		}
		if d.ComputeType() != want {
			t.Errorf("%v.ComputeType() = %v, want %v", d, d.ComputeType(), want)
		}
	}
	for _, d := range DTypes {
		if got, want := d.IsInt(), integers.Has(d); got != want {
			t.Errorf("ir/dtype.go: %v.IsInt() = %v, in the set integers: %v", d, got, want)
		}
		if got, want := d.IsFloat(), floats.Has(d); got != want {
			t.Errorf("ir/dtype.go: %v.IsFloat() = %v, in the set floats: %v", d, got, want)
		}
	}
	if s := DType(77).String(); s != "DType(77)" || DType(77).Valid() || DType(0).Valid() || anyType.Has(77) {
		t.Errorf("DType(77) is %s, or valid, or in a set", s)
	}
}
