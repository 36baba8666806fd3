package tensor_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func getBytes(t *testing.T, x tensor.Tensor) []byte {
	t.Helper()
	b, err := x.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every type comes back from its bytes, which are not copied.
func TestBytes(t *testing.T) {
	for _, d := range ir.DTypes {
		x := tensor.New([]int32{0, 1, -1, 100, 200, 300}, 2, 3).Cast(d)
		b := getBytes(t, x)
		if len(b) != 6*d.Size() {
			t.Errorf("%v: Bytes gives %d bytes", d, len(b))
			continue
		}
		y := tensor.FromBytes(d, []int{2, 3}, b)
		if fmt.Sprintf("%+v", y) != fmt.Sprintf("%+v", x) {
			t.Errorf("%v: FromBytes(Bytes) = %v, want %v", d, y, x)
		}
		if again := getBytes(t, y); address(again) != address(b) {
			t.Errorf("%v: FromBytes or Bytes copies", d)
		}
		if row := getBytes(t, y.At(1)); address(row) != address(b)+uintptr(3*d.Size()) || len(row) != 3*d.Size() || cap(row) != len(row) {
			t.Errorf("%v: Bytes of a row copies, or has %d bytes of capacity %d", d, len(row), cap(row))
		}
	}
	columns := tensor.New([]uint8{1, 2, 3, 4, 5, 6}, 2, 3).T()
	if got := getBytes(t, columns); !bytes.Equal(got, []byte{1, 4, 2, 5, 3, 6}) {
		t.Errorf("Bytes of a transpose = %v", got)
	}
	if got := getBytes(t, tensor.Full(1, 3).Cast(tensor.Uint8)); !bytes.Equal(got, []byte{1, 1, 1}) {
		t.Errorf("Bytes of a constant = %v", got)
	}
	if got := getBytes(t, tensor.Zeros(2, 0)); len(got) != 0 {
		t.Errorf("Bytes of no elements = %v", got)
	}
}

// Bytes stay valid when their tensor is gone and its memory would be used again.
func TestBytesOutlive(t *testing.T) {
	if testing.Short() {
		t.Skip("collects often")
	}
	const n = 1 << 16
	for _, device := range []*tensor.Device{tensor.CPU(), tensor.NewCPU(nil)} {
		b := getBytes(t, tensor.Full(1, n).To(device).Add(1).Cast(tensor.Uint8))
		for i := range 20 {
			runtime.GC()
			if err := tensor.Eval(tensor.Full(float64(i), n).To(device).Add(10).Cast(tensor.Uint8)); err != nil {
				t.Fatal(err)
			}
		}
		if got := bytes.Count(b, []byte{2}); got != n {
			t.Errorf("%d of %d bytes changed", n-got, n)
		}
	}
}

func TestFromBytes(t *testing.T) {
	data := make([]byte, 17)
	data[1] = 7
	for off := range 2 { // at an odd address too
		x := tensor.FromBytes(tensor.Int32, []int{4}, data[off:][:16])
		if want := []string{"[1792 0 0 0]", "[7 0 0 0]"}[off]; fmt.Sprint(x) != want {
			t.Errorf("FromBytes at offset %d = %v, want %s", off, x, want)
		}
	}
	flags := []byte{0, 1, 7, 255}
	if x := tensor.FromBytes(tensor.Bool, []int{4}, flags); fmt.Sprint(x, x.Sum()) != "[false true true true] 3" || flags[2] != 7 {
		t.Errorf("FromBytes of bools = %v, from %v", x, flags)
	}
	if x := tensor.FromBytes(tensor.Uint8, nil, []byte{3}); x.Item() != 3 || x.Rank() != 0 {
		t.Errorf("FromBytes of a scalar = %v", x)
	}
	for _, tt := range []struct {
		d     tensor.DType
		shape []int
		want  string
	}{
		{tensor.Float32, []int{2, 2}, "FromBytes: 17 bytes cannot make shape [2 2] of float32, which needs 16"},
		{tensor.Float32, []int{1 << 40, 1 << 40}, "FromBytes: shape [1099511627776 1099511627776] has more than"},
		{tensor.Uint8, []int{-1}, "FromBytes: shape [-1] has a length of -1"},
		{99, []int{17}, "FromBytes: no such type as DType(99)"},
	} {
		err := tensor.Try(func() { tensor.FromBytes(tt.d, tt.shape, data) })
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("FromBytes(%v, %v, 17 bytes): %v, want %s", tt.d, tt.shape, err, tt.want)
		}
	}
	err := tensor.Try(func() { tensor.Tensor{}.Bytes() })
	if err == nil || !strings.Contains(err.Error(), "Bytes: the tensor is absent") {
		t.Errorf("Bytes of an absent tensor: %v", err)
	}
}
