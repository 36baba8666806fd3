package ir

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"
)

// twoGuards is a load with two guards.
func twoGuards() *Kernel {
	guard := func(a int) Guard { return Guard{AffineExpr: AffineExpr{Coef: []int{a, 1 - a}}, Len: 3} }
	return &Kernel{
		Axes: []Axis{{4, Parallel}, {8, Parallel}},
		Args: []Arg{{Kind: In, DType: Float32}, {Kind: Out, DType: Float32, Len: 32}},
		Body: []Instr{
			{Op: Load, Type: Float32, View: &View{Coef: []int{8, 1}, Guards: []Guard{guard(0), guard(1)}}, Domain: 3},
			{Op: Store, Type: Float32, Arg: 1, Src: []int{0}, View: &View{Coef: []int{8, 1}}, Domain: 3},
		},
	}
}

// A packed kernel is equal, shares nothing that changes with a copy, and has one array of each type.
func TestPack(t *testing.T) {
	list := []func() *Kernel{twoGuards}
	for _, c := range kernels {
		list = append(list, c.kernel)
	}
	for _, kernel := range list {
		k, want := kernel(), kernel()
		p := *k
		p.Pack()
		if !reflect.DeepEqual(&p, want) {
			t.Errorf("packed it is\n%v, want\n%v", &p, want)
		}
		ends := map[reflect.Type]uintptr{}
		for i := range p.Body {
			in := &p.Body[i]
			follows(t, ends, in.Src)
			if in.View == nil {
				continue
			}
			follows(t, ends, unsafe.Slice(in.View, 1))
			follows(t, ends, in.View.Coef)
			follows(t, ends, in.View.Guards)
			for _, g := range in.View.Guards {
				follows(t, ends, g.Coef)
			}
		}
		for i := range p.Body {
			in := &p.Body[i]
			in.Src = append(in.Src, -1)
			if in.View != nil {
				in.View.Coef = append(in.View.Coef, -1)
				in.View.Fill++
			}
		}
		for i, in := range p.Body {
			if n := len(in.Src) - 1; !slices.Equal(in.Src[:n], want.Body[i].Src) {
				t.Errorf("instruction %d has the operands %v after others grew, want %v", i, in.Src[:n], want.Body[i].Src)
			}
		}
		if !reflect.DeepEqual(k, want) {
			t.Errorf("Pack of a copy changes it to\n%v, want\n%v", k, want)
		}
	}
}

// follows checks that a list begins where the last of its type ended, and notes its end.
func follows[T any](t *testing.T, ends map[reflect.Type]uintptr, list []T) {
	t.Helper()
	if len(list) == 0 {
		return
	}
	of := reflect.TypeFor[T]()
	begin := uintptr(unsafe.Pointer(&list[0]))
	if end, ok := ends[of]; ok && begin != end {
		t.Errorf("a list of %v begins %d bytes after the one before", of, int(begin-end))
	}
	ends[of] = begin + uintptr(len(list))*unsafe.Sizeof(list[0])
}
