package ir

import (
	"slices"
	"strings"
	"testing"
)

func TestVerifyRejects(t *testing.T) {
	for _, c := range []struct {
		name   string
		kernel func() *Kernel
		spoil  func(k *Kernel)
		want   string
	}{
		{"no template", padded, func(k *Kernel) { k.Template = 0 }, "unknown template"},
		{"great template", padded, func(k *Kernel) { k.Template = 9 }, "unknown template"},
		{"no routine", padded, func(k *Kernel) { k.Template = Routine }, "no routine"},
		{"too many axes", padded, func(k *Kernel) { k.Axes = make([]Axis, 65) }, "65 axes, more than 64"},
		{"axis length", padded, func(k *Kernel) { k.Axes[0].Len = -1 }, "axis 0: parallel of length -1"},
		{"axis role of map", padded, func(k *Kernel) { k.Axes[0].Role = Reduced }, "axis 0: reduced"},
		{"axis role of row", softmax, func(k *Kernel) { k.Axes[0].Role = M }, "axis 0: m"},
		{"axis role of contract", matmul, func(k *Kernel) { k.Axes[1].Role = Parallel }, "axis 1: parallel"},
		{"no axis role", matmul, func(k *Kernel) { k.Axes[1].Role = 0 }, "axis 1: no role"},
		{"argument kind", padded, func(k *Kernel) { k.Args[0].Kind = 0 }, "argument 0: no kind"},
		{"argument type", padded, func(k *Kernel) { k.Args[0].DType = 0 }, "argument 0: in DType(0)"},
		{"argument length", padded, func(k *Kernel) { k.Args[2].Len = -1 }, "argument 2: length -1"},
		{"status type", take, func(k *Kernel) { k.Args[0].DType = Int64 }, "argument 0: a status of int64"},
		{"two status", take, func(k *Kernel) { k.Args = append(k.Args, k.Args[0]) }, "argument 4: a status"},

		{"graph op", padded, func(k *Kernel) { k.Body[1].Op = Reshape }, "instruction 1: op"},
		{"unknown op", padded, func(k *Kernel) { k.Body[1].Op = 255 }, "instruction 1: op 255"},
		{"half", softmax, func(k *Kernel) { k.Body[2].Type = Float16 }, "instruction 2: Sub of type float16"},
		{"arity", softmax, func(k *Kernel) { k.Body[2].Src = []int{0} }, "Sub of 1 operands"},
		{"order", softmax, func(k *Kernel) { k.Body[2].Src[1] = 2 }, "Sub of instruction 2"},
		{"negative operand", softmax, func(k *Kernel) { k.Body[2].Src[1] = -1 }, "Sub of instruction -1"},
		{"store as operand", softmax, func(k *Kernel) { k.Body = append(k.Body, Instr{Op: Neg, Type: Float32, Src: []int{6}, Domain: 3}) }, "Neg of instruction 6"},
		{"operand types", padded, func(k *Kernel) { k.Body[2].Src = []int{0, 0}; k.Body[0].Type = Int64; k.Args[0].DType = Int64 }, "Mul: result of type int32, not int64"},
		{"mixed types", padded, func(k *Kernel) { k.Args[1].DType, k.Body[1].Type = Int64, Int64 }, "Mul: operands of types [int32 int64]"},
		{"type of op", padded, func(k *Kernel) { k.Body[2].Op = Atan; k.Body[2].Src = []int{0} }, "Atan: operand of type int32"},
		{"condition", padded, func(k *Kernel) { k.Body[5].Src[0] = 2 }, "Where: operands of types [int32 int32 int32]"},
		{"bitcast", softmax, func(k *Kernel) { k.Body[3].Op, k.Body[3].Type = Bitcast, Int64 }, "Bitcast: of float32 to int64"},
		{"result type", softmax, func(k *Kernel) { k.Body[2].Type = Float64 }, "Sub: result of type float64, not float32"},
		{"over of elementwise", softmax, func(k *Kernel) { k.Body[2].Domain = 1 }, "Sub varies over {0 1}, not {0}"},
		{"over of load", softmax, func(k *Kernel) { k.Body[0].Domain = 7 }, "Load varies over {0 1}, not {0 1 2}"},
		{"over of reduction", softmax, func(k *Kernel) { k.Body[1].Domain = 3 }, "ReduceMax varies over {0}, not {0 1}"},
		{"over of guards", padded, func(k *Kernel) { k.Body[0].Domain = 0 }, "Load varies over {0}, not {}"},
		{"over of index", scatterAdd, func(k *Kernel) { k.Body[1].Domain = 1 }, "Index varies over {1}, not {0}"},
		{"over of scatter", scatterAdd, func(k *Kernel) { k.Body[3].Domain = 1 }, "Scatter varies over {0 1}, not {0}"},

		{"const", padded, func(k *Kernel) { k.Body[4].Num = 1 << 40 }, "Const: 0x10000000000 is no int32"},
		{"bool const", padded, func(k *Kernel) { k.Body[4] = Instr{Op: Const, Type: Bool, Num: 2} }, "Const: 0x2 is no bool"},
		{"scalar argument", padded, func(k *Kernel) { k.Body[1].Arg = 0 }, "Scalar: argument 0 is not value"},
		{"argument number", padded, func(k *Kernel) { k.Body[1].Arg = 3 }, "Scalar: argument 3 is not value"},
		{"scalar type", padded, func(k *Kernel) { k.Body[1].Type = Int64 }, "Scalar: argument 1 is of type int32, not int64"},
		{"load of output", padded, func(k *Kernel) { k.Body[0].Arg = 2 }, "Load: argument 2 is not in"},
		{"load of other elements of the output", matmul, func(k *Kernel) { k.Body[4].Arg = 3 }, "Load: argument 3 is not in"},
		{"load type", padded, func(k *Kernel) { k.Body[0].Type = Float32 }, "Load: argument 0 is of type int32, not float32"},
		{"no view", softmax, func(k *Kernel) { k.Body[0].View = nil }, "Load: no view"},
		{"view axes", softmax, func(k *Kernel) { k.Body[0].View = &View{Coef: []int{1}} }, "not of 2 axes"},
		{"fill", padded, func(k *Kernel) { k.Body[0].View.Fill = 1 << 40 }, "Load: 0x10000000000 is no int32"},
		{"guard division", padded, func(k *Kernel) { k.Body[0].View.Guards[0].Div = 0 }, "Load: guard 0: 1 axes, division by 0"},
		{"guard stride", padded, func(k *Kernel) { k.Body[0].View.Guards[0].Div = 1 }, "Load: guard 0: 1 axes, division by 1, length 3, stride 1"},
		{"guard axes", padded, func(k *Kernel) { k.Body[0].View.Guards[0].Coef = nil }, "Load: guard 0: 0 axes"},
		{"inside without view", padded, func(k *Kernel) { k.Body[3].View = nil }, "InBounds: no view"},
		{"index type", take, func(k *Kernel) { k.Body[0].Type, k.Args[2].DType = Float32, Float32 }, "Load: an index of type float32"},
		{"no status", take, func(k *Kernel) { k.Args[0] = Arg{Kind: Value, DType: Int32} }, "Load: an index but no status"},
		{"two indices", take, func(k *Kernel) { k.Body[1].Src = []int{0, 0} }, "Load: 2 operands"},
		{"index axis", scatterAdd, func(k *Kernel) { k.Body[1].Axis = 2 }, "Index: axis 2"},
		{"reduction without axes", softmax, func(k *Kernel) { k.Body[1].Axes = 0 }, "ReduceMax: over axes {}"},
		{"reduction of other axes", softmax, func(k *Kernel) { k.Body[1].Axes = 4 }, "ReduceMax: over axes {2}"},
		{"scatter kind", scatterAdd, func(k *Kernel) { k.Body[3].Kind = Sub }, "Scatter: combines float32"},
		{"scatter update", scatterAdd, func(k *Kernel) { k.Body[3].Src[1] = 1 }, "Scatter: an update of type int32"},
		{"scatter guards", scatterAdd, func(k *Kernel) { k.Body[3].View.Guards = make([]Guard, 1) }, "Scatter: a guarded view"},

		{"store guards", padded, func(k *Kernel) { k.Body[6].View.Guards = k.Body[0].View.Guards }, "Store: a guarded view"},
		{"store to input", padded, func(k *Kernel) { k.Body[6].Arg = 0 }, "Store: argument 0 is not out"},
		{"store under a number", padded, func(k *Kernel) { k.Body[6].Src = []int{k.Body[6].Src[0], k.Body[6].Src[0]} }, "Store: operands of types"},
		{"store of nothing", padded, func(k *Kernel) { k.Body[6].Src = nil }, "Store: operands of types"},
		{"undefined output", padded, func(k *Kernel) { k.Args[2].Undefined = true }, "argument 2: out that is undefined"},
		{"store of another type", padded, func(k *Kernel) { k.Body[6].Type = Float32 }, "Store: argument 2 is of type int32, not float32"},
		{"no store", padded, func(k *Kernel) { k.Body = k.Body[:6] }, "argument 2: 0 elements stored, of 8"},
		{"store past the end", padded, func(k *Kernel) { k.Body[6].View.Off = 1 }, "Store: elements 1 to 8 of 8"},
		{"store before the start", padded, func(k *Kernel) { k.Body[6].View.Coef = []int{-1} }, "Store: elements -7 to 0 of 8"},
		{"store twice", softmax, func(k *Kernel) { k.Body[6].View = &View{Coef: []int{7, 1}} }, "written twice"},
		{"store over fewer axes", softmax, func(k *Kernel) { k.Body[6].View = &View{Coef: []int{1, 0}} }, "written twice"},
		{"two stores of all", padded, func(k *Kernel) { k.Body = append(k.Body, k.Body[6]) }, "instruction 7: Store: an element is written twice"},
		{"stores of more than all", padded, func(k *Kernel) {
			k.Args[2].Len, k.Body[6].View.Coef = 15, []int{2}
			k.Body = append(k.Body, k.Body[6])
			k.Body[7].View = &View{Off: 1, Coef: []int{1}}
		}, "argument 2: 16 elements stored, of 15"},

		{"map that reduces", take, func(k *Kernel) {
			k.Body = append(k.Body[:2], Instr{Op: Sum, Type: Float32, Src: []int{1}, Axes: 2, Domain: 1},
				Instr{Op: Store, Type: Float32, Src: []int{2}, Arg: 3, View: &View{Coef: []int{3, 1}}, Domain: 3})
		}, "Sum over {1}, not {}"},
		{"map store of part", take, func(k *Kernel) {
			k.Body[2] = Instr{Op: Store, Type: Float32, Src: []int{1}, Arg: 3, View: &View{Coef: []int{1, 0}}, Domain: 1}
			k.Body[1] = Instr{Op: Const, Type: Float32}
		}, "Store over {0}, not [{0 1}]"},
		{"scatter in a map", scatterAdd, func(k *Kernel) { k.Template = Pointwise }, "instruction 3: Scatter"},
		{"row that reduces nothing", take, func(k *Kernel) { k.Template = Reduce }, "no reduction"},
		{"row that reduces other axes", softmax, func(k *Kernel) { k.Axes[1].Role = Parallel }, "ReduceMax over {1}, not {}"},
		{"row store of part", softmax, func(k *Kernel) {
			k.Body[6] = Instr{Op: Store, Type: Float32, Src: []int{5}, Arg: 1, View: &View{Coef: []int{0, 1}}, Domain: 2}
			k.Body[5] = Instr{Op: Index, Type: Int32, Axis: 1, Domain: 2}
			k.Args[1].DType, k.Body[6].Type = Int32, Int32
		}, "Store over {1}, not [{0} {0 1}]"},
		{"contract of two sums", matmul, func(k *Kernel) { k.Body[6] = k.Body[3] }, "2 reductions"},
		{"contract of a max", matmul, func(k *Kernel) { k.Body[3].Op = ReduceMax }, "ReduceMax of Mul, not Sum of Mul"},
		{"contract of a sum", matmul, func(k *Kernel) { k.Body[2].Op = Add }, "Sum of Add, not Sum of Mul"},
		{"contract of wide factors", matmul, func(k *Kernel) {
			k.Body[1] = k.Body[0]
			k.Body[1].View = &View{Coef: []int{0, 1, 1, 1}}
			k.Body[1].Domain = 0b1110
		}, "a product over {0 1 3} and {1 2 3}"},
		{"contract that uses a factor", matmul, func(k *Kernel) {
			k.Body = append(k.Body, Instr{Op: Neg, Type: Float32, Src: []int{0}, Domain: 0b1011})
		}, "instruction 9: Neg over {0 1 3} is no part of a factor"},
		{"contract store of part", matmul, func(k *Kernel) {
			k.Body[8].Src[0] = 4
			k.Body[8].View = &View{Coef: []int{0, 0, 1, 0}}
			k.Body[8].Domain = 4
		}, "Store over {2}, not [{0 1 2}]"},
		{"scatter without base", scatterAdd, func(k *Kernel) { k.Args[1].DType = Int32 }, "argument 1 is not a base"},
		{"scatter elsewhere", scatterAdd, func(k *Kernel) { k.Body[3].Arg = 1 }, "argument 0 is not its result"},
		{"scatter from no constant", scatterAdd, func(k *Kernel) { k.Body[3].Src = []int{0, 2, 2} }, "starts from no constant"},
		{"scatter from a constant to what is kept", scatterAdd, func(k *Kernel) {
			k.Args[0].Kept = true
			k.Body[3] = Instr{Op: Const, Type: Float32}
			k.Body = append(k.Body, scatterAdd().Body[3])
			k.Body[4].Src = []int{0, 2, 3}
		}, "starts from no constant"},
		{"base kept", scatterAdd, func(k *Kernel) { k.Args[1].Kept = true }, "argument 1: in that is kept"},
		{"map kept", padded, func(k *Kernel) { k.Args[0].Kept = true }, "argument 0: in that is kept"},
		{"two scatters", scatterAdd, func(k *Kernel) { k.Body = append(k.Body, k.Body[3]) }, "instruction 3: Scatter"},
	} {
		k := c.kernel()
		c.spoil(k)
		err := Verify(k)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Verify(%s) = %v, want %q", c.name, err, c.want)
		}
	}
}

func TestVerifyAccepts(t *testing.T) {
	for _, c := range []struct {
		name   string
		kernel func() *Kernel
		change func(k *Kernel)
	}{
		{"load of what a store replaces", matmul, func(k *Kernel) { k.Body[4].Arg, k.Body[4].View, k.Body[4].Domain = 3, k.Body[8].View, 7 }},
		{"axes of length 1 not stored", padded, func(k *Kernel) {
			k.Axes = append(k.Axes, Axis{1, Parallel})
			for i := range k.Body {
				if v := k.Body[i].View; v != nil && len(v.Coef) == 1 {
					v.Coef = append(v.Coef, 0)
				}
			}
			k.Body[0].View.Guards[0].Coef = []int{-1, 0} // InBounds's too
		}},
		{"factors in the other order", matmul, func(k *Kernel) { k.Body[2].Src = []int{1, 0} }},
		{"empty", padded, func(k *Kernel) { k.Axes[0].Len, k.Args[2].Len = 0, 0 }},
		{"output with gaps", padded, func(k *Kernel) { k.Body[6].View.Coef[0], k.Args[2].Len = 2, 15 }},
		{"backward output", padded, func(k *Kernel) { k.Body[6].View = &View{Off: 7, Coef: []int{-1}} }},
		{"NaN", softmax, func(k *Kernel) { k.Body[0].View = &View{Coef: []int{8, 1}, Fill: 0x7ff8000000000001} }},
		{"two stores to one output", padded, func(k *Kernel) {
			k.Body = append(k.Body, k.Body[6])
			k.Body[7].View, k.Args[2].Len = &View{Off: 8, Coef: []int{1}}, 16
		}},
	} {
		k := c.kernel()
		c.change(k)
		if err := Verify(k); err != nil {
			t.Errorf("Verify(%s) = %v", c.name, err)
		}
	}
}

// Every op that graphs and kernels share, or that kernels alone have, can be
// verified; no alias, no movement op, no recurrence can, and of calls of the host collectives alone.
func TestRules(t *testing.T) {
	for op := Op(1); int(op) < Ops; op++ {
		want := op.Class() != Alias && op.Class() != Movement && op.Class() != Repeated && op != Iota && op != Buffer && op != Gather
		if got := ruleOf(op) != nil; got != want {
			t.Errorf("%v has a rule: %v, want %v", op, got, want)
		}
	}
}

// Stores to one argument write different elements: all pairs of small ones, compared
// with the elements that they list.
func TestStoreRanges(t *testing.T) {
	elements := func(r storeRange) []int {
		list := []int{r.lo}
		for _, l := range r.loops {
			var next []int
			for x := range l.len {
				for _, e := range list {
					next = append(next, e+x*l.stride)
				}
			}
			list = next
		}
		return list
	}
	for _, loops := range [][]loop{
		nil,
		{{1, 4}},
		{{3, 4}},
		{{1, 2}, {2, 3}},
		{{1, 2}, {5, 3}},
		{{2, 3}, {7, 2}},
		{{2, 2}, {3, 2}, {6, 2}, {14, 3}},
		{{1, 2}, {3, 3}, {10, 2}, {21, 2}},
	} {
		r := storeRange{lo: 50, loops: loops}
		list := elements(r)
		r.hi = list[len(list)-1] + 1
		for lo := range 100 {
			s := storeRange{lo, lo + r.hi - r.lo, loops}
			want := slices.ContainsFunc(elements(s), func(e int) bool { return slices.Contains(list, e) })
			if got := r.overlaps(s); got != want {
				t.Errorf("%v from %d and from %d: overlaps is %v, want %v", loops, r.lo, lo, got, want)
			}
		}
	}
	row, gaps := storeRange{0, 4, []loop{{1, 4}}}, storeRange{1, 10, []loop{{4, 3}}}
	if row.overlaps(gaps) {
		t.Error("a range with gaps, beside another: overlaps is true, though it is not known")
	}
	if block := (storeRange{3, 9, []loop{{1, 2}, {2, 3}}}); !row.overlaps(block) {
		t.Error("two dense ranges: overlaps is false")
	}
}
