package blockwise

import (
	"reflect"
	"runtime"
	"slices"
	"testing"
	"unsafe"
	"weak"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/internal/simplify"
	"github.com/tensorken/tensorken/ir"
)

// guarded is a kernel whose views have guards.
func guarded() *ir.Kernel {
	guard := func(a int) ir.Guard {
		return ir.Guard{AffineExpr: ir.AffineExpr{Coef: []int{a, 1 - a}}, Len: 3}
	}
	return &ir.Kernel{
		Axes: []ir.Axis{{Len: 4, Role: ir.Parallel}, {Len: 8, Role: ir.Parallel}},
		Args: []ir.Arg{{Kind: ir.In, DType: ir.Float32}, {Kind: ir.Out, DType: ir.Float32, Len: 32}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Float32, View: &ir.View{Coef: []int{8, 1}, Guards: []ir.Guard{guard(0), guard(1)}}, Domain: 3},
			{Op: ir.Load, Type: ir.Float32, View: &ir.View{Coef: []int{8, 1}, Guards: []ir.Guard{guard(1)}}, Domain: 3},
			{Op: ir.Add, Type: ir.Float32, Src: []int{0, 1}, Domain: 3},
			{Op: ir.Store, Type: ir.Float32, Arg: 1, Src: []int{2}, View: &ir.View{Coef: []int{8, 1}}, Domain: 3},
		},
	}
}

// A packed kernel is equal, shares nothing that changes with a copy, and has one array of each type.
func TestPackKernel(t *testing.T) {
	k, want := guarded(), guarded()
	p := *k
	compile.Pack(&p)
	if !reflect.DeepEqual(&p, want) {
		t.Errorf("packed it is\n%v, want\n%v", &p, want)
	}
	isPacked(t, &p)
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
		t.Errorf("to pack a copy changes it to\n%v, want\n%v", k, want)
	}
}

// isPacked checks that a kernel has one array of each type.
func isPacked(t *testing.T, k *ir.Kernel) {
	t.Helper()
	ends := map[reflect.Type]uintptr{}
	for i := range k.Body {
		in := &k.Body[i]
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

// A plan with a loop does not keep its fuser.
func TestFuserIsFreed(t *testing.T) {
	const rows, columns, width = 48, 64, 8
	q, k, v := given(0, 1, rows, width), given(1, 1, columns, width), given(2, 1, columns, width)
	plan, err := compile.Graph(simplify.Nodes([]*graph.Node{product(softmax(product(q, k)), turned(v))}), kernelize.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &fuser{p: plan, limits: ir.LoopLimits{Bytes: 1 << 12, Rows: 4, Columns: columns}}
	if !f.next(map[*ir.Kernel]bool{}) {
		t.Fatal("there is no loop")
	}
	kept := weak.Make(f)
	f = nil
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the plan keeps the fuser")
	}
	runtime.KeepAlive(plan)
}

// A plan is the same once it is packed, and so are the kernels of its loops.
func TestPack(t *testing.T) {
	const batch, rows, columns, width = 2, 48, 64, 8
	q, k, v := given(0, batch, rows, width), given(1, batch, columns, width), given(2, batch, columns, width)
	out := product(softmax(product(q, k)), turned(v))
	plan, err := compile.Graph(simplify.Nodes([]*graph.Node{out, graph.Unary(ir.Tanh, q)}), kernelize.Options{}, nil)
	if err == nil {
		err = Fuse(plan, ir.LoopLimits{Bytes: 1 << 12, Rows: 4, Columns: columns}, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := plan.String()
	plan.Pack()
	if got := plan.String(); got != text {
		t.Errorf("the packed plan is\n%s, want\n%s", got, text)
	}
	n, ends := 0, map[reflect.Type]uintptr{}
	for _, o := range plan.Outputs {
		follows(t, ends, o.Strides)
	}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		follows(t, ends, s.Args)
		list := s.Kernels()
		for j := range s.Stages {
			list = append(list, s.Stages[j].Kernel)
		}
		for _, k := range list {
			isPacked(t, k)
		}
		n += len(list)
	}
	if n < 5 {
		t.Errorf("the plan has %d kernels, want a loop and another:\n%s", n, text)
	}
}
