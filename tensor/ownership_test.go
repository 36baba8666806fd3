package tensor_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// wantGone fails the test unless reading t is an error that names op and a line of this file.
func wantGone(t *testing.T, x tensor.Tensor, op string) {
	t.Helper()
	_, err := tensor.Data[float32](x)
	var misuse *tensor.Error
	if !errors.As(err, &misuse) || !strings.Contains(err.Error(), op+" at ownership_test.go:") {
		t.Errorf("reading a tensor that is gone: %v, want an *Error that names a line of %s", err, op)
	}
}

func wantData(t *testing.T, x tensor.Tensor, want ...float32) {
	t.Helper()
	got, err := tensor.Data[float32](x)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func float32s(x ...float32) tensor.Tensor { return tensor.New(x, len(x)) }

func TestDonate(t *testing.T) {
	x := computed(float32s(1, 2, 3).Mul(2))
	view := computed(x.Reshape(3, 1))
	tensor.Donate(x)
	wantData(t, x.Add(1), 3, 5, 7)
	wantGone(t, x, "tensor.Donate")
	wantGone(t, view.Flatten(0), "tensor.Donate")
	wantGone(t, x.Mul(3), "tensor.Donate")
}

// A donated tensor whose memory others may read is copied.
func TestDonateViewed(t *testing.T) {
	x := computed(tensor.Full(1, 100, 100).Mul(float32s(2)))
	seen, err := x.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	before := string(seen)
	tensor.Donate(x)
	y := computed(x.Add(1))
	if string(seen) != before {
		t.Error("a donation has changed a view of the memory")
	}
	got, err := tensor.Data[float32](y)
	if err != nil || got[0] != 3 {
		t.Errorf("the result has %v, %v, want 3", got[0], err)
	}
}

// A result that is a view of a donated tensor has its elements.
func TestDonateToView(t *testing.T) {
	x := computed(float32s(1, 2, 3, 4).Mul(2))
	tensor.Donate(x)
	y := computed(x.Reshape(2, 2))
	wantData(t, y, 2, 4, 6, 8)
	wantGone(t, x, "tensor.Donate")
}

// A product may be computed in the memory of a matrix that is added to it, also where a function of the matrix follows.
func TestDonateToProduct(t *testing.T) {
	const n, depth = 150, 600
	a, b := computed(tensor.Arange(float64(n*depth)).Rem(7).Reshape(n, depth)), computed(tensor.Arange(float64(depth*n)).Rem(5).Reshape(depth, n))
	bias := computed(tensor.Arange(float64(n)).Rem(3))
	for i, f := range []func(x tensor.Tensor) tensor.Tensor{
		func(x tensor.Tensor) tensor.Tensor { return a.MatMul(b).Add(x) },
		func(x tensor.Tensor) tensor.Tensor { return a.MatMul(b).Add(x).Maximum(2500) },
		func(x tensor.Tensor) tensor.Tensor { return a.MatMul(b).Add(bias).Add(x) },
		func(x tensor.Tensor) tensor.Tensor { return a.MatMul(b).Add(x).Mul(x) },
		func(x tensor.Tensor) tensor.Tensor { return a.MatMul(b).Add(bias).Maximum(x) },
	} {
		x := computed(tensor.Arange(float64(n*n)).Rem(11).Reshape(n, n))
		want, err := tensor.Data[float32](f(x))
		if err != nil {
			t.Fatal(err)
		}
		tensor.Donate(x)
		got, err := tensor.Data[float32](f(x))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("function %d of a donated matrix is wrong, %v", i, err)
		}
	}
}

func TestScope(t *testing.T) {
	x := computed(float32s(1, 2).Mul(1))
	before := computed(x.Add(1))
	pending := x.Add(2)
	var leak, view tensor.Tensor
	y := tensor.Scope(func() tensor.Tensor {
		leak = computed(x.Mul(3))
		view = computed(x.Reshape(2, 1))
		computed(pending)
		inner := tensor.Scope(func() tensor.Tensor { return computed(leak.Add(1)) })
		return computed(leak.Add(inner))
	})
	wantData(t, y, 7, 13)
	wantData(t, before, 2, 3)
	wantData(t, pending, 3, 4)
	wantData(t, x, 1, 2)
	wantData(t, view.Flatten(0), 1, 2)
	wantGone(t, leak, "tensor.Scope")
}

// Operands of a pending result stay until it is computed.
func TestScopeOfPending(t *testing.T) {
	y := tensor.Scope(func() tensor.Tensor {
		z := computed(float32s(1, 2).Mul(2))
		return z.Add(1)
	})
	wantData(t, y, 3, 5)
}

// A loop of Scopes has memory for one iteration.
func TestScopeReusesMemory(t *testing.T) {
	x := computed(tensor.Full(1, 1<<18).Mul(float32s(1)))
	held := tensor.Info().Held
	for range 100 {
		tensor.Scope(func() struct{} {
			computed(x.Mul(2))
			return struct{}{}
		})
		if now := tensor.Info().Held; now > held {
			t.Fatalf("%d bytes are held after a Scope, %d before", now, held)
		}
	}
}

// A tensor that was made before a Scope stays, also if one that was made in it has the same memory.
func TestScopeOfEqual(t *testing.T) {
	x := computed(float32s(1, 2, 3, 4).Reshape(2, 2).Mul(1))
	before, same := x.Mul(2), x.Mul(3)
	tensor.Scope(func() error { return tensor.Eval(before, before.T(), same, x.Mul(3)) })
	wantData(t, before.Flatten(0), 2, 4, 6, 8)
	wantData(t, same.Flatten(0), 3, 6, 9, 12)
}

// To donate a tensor leaves one that was computed with it and is equal.
func TestDonateEqual(t *testing.T) {
	x := computed(float32s(1, 2).Mul(1))
	a, b := x.Mul(2), x.Mul(2)
	if err := tensor.Eval(a, b); err != nil {
		t.Fatal(err)
	}
	tensor.Donate(a)
	wantData(t, a.Add(1), 3, 5)
	wantData(t, b, 2, 4)
	wantGone(t, a, "tensor.Donate")
}
