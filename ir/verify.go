package ir

import (
	"errors"
	"fmt"
	"slices"
)

// Verify checks all that the documentation of [Kernel] and its parts
// promises. It does not check which elements are read: only the caller of a
// kernel knows the lengths of its buffers.
func Verify(k *Kernel) error {
	for _, check := range []func(*Kernel) error{verifyHead, verifyBody, verifyIndices, verifyOutputs} {
		if err := check(k); err != nil {
			return fmt.Errorf("ir: %v kernel: %w", k.Template, err)
		}
	}
	if err := templates[k.Template].verify(k); err != nil {
		return fmt.Errorf("ir: %v kernel: %w", k.Template, err)
	}
	return nil
}

// templates has the roles that the axes of a template may have, and its other promises.
var templates = [...]struct {
	name   string
	roles  []Role
	verify func(*Kernel) error
}{
	Pointwise:   {"pointwise", []Role{Parallel}, verifyPointwise},
	Reduce:      {"reduce", []Role{Parallel, Reduced}, verifyReduce},
	Contraction: {"contraction", []Role{Batch, M, N, K}, verifyContraction},
	Routine:     {"routine", []Role{Parallel, Reduced}, verifyRoutine},
	Attention:   {"attention", []Role{Batch, M, N, K, Width}, verifyAttention},
}

func verifyHead(k *Kernel) error {
	if k.Template == 0 || int(k.Template) >= len(templates) {
		return errors.New("unknown template")
	}
	if len(k.Axes) > MaxAxes {
		return fmt.Errorf("%d axes, more than %d", len(k.Axes), MaxAxes)
	}
	for i, a := range k.Axes {
		if a.Len < 0 || !slices.Contains(templates[k.Template].roles, a.Role) {
			return fmt.Errorf("axis %d: %v of length %d", i, a.Role, a.Len)
		}
	}
	status := false
	for i, a := range k.Args {
		switch {
		case a.Kind < In || a.Kind > Status || !a.DType.Valid() && (a.Kind != In || a.DType.Format() == nil):
			return fmt.Errorf("argument %d: %v %v", i, a.Kind, a.DType)
		case a.Kind == Out && a.Len < 0:
			return fmt.Errorf("argument %d: length %d", i, a.Len)
		case a.Part && a.Kind != Out:
			return fmt.Errorf("argument %d: %v that is a part", i, a.Kind)
		case a.Undefined && a.Kind != In:
			return fmt.Errorf("argument %d: %v that is undefined", i, a.Kind)
		case a.Kept && (i != 0 || k.Routine() != Scatter):
			return fmt.Errorf("argument %d: %v that is kept, and no result of a Scatter", i, a.Kind)
		case a.Kind == Status && (a.DType != Int32 || status):
			return fmt.Errorf("argument %d: a status of %v, or the second", i, a.DType)
		}
		status = status || a.Kind == Status
	}
	return nil
}

// Varies computes the Domain of instruction i from its operands' Domains.
func (k *Kernel) Varies(i int) AxisSet {
	in := &k.Body[i]
	var s AxisSet
	for _, j := range in.Src {
		s |= k.Body[j].Domain
	}
	if Routines[in.Op] != nil { // every point counts, whatever its operands vary over
		return 1<<len(k.Axes) - 1
	}
	if in.Op.Class() == Reduction {
		s &^= in.Axes
	}
	return s | in.Positions()
}

// Positions returns the axes whose positions an instruction uses directly,
// not through its operands.
func (in *Instr) Positions() AxisSet {
	var s AxisSet
	if in.Op == Index {
		s |= 1 << in.Axis
	}
	if in.View != nil {
		if in.Op != InBounds {
			s |= varying(in.View.Coef)
		}
		s |= in.View.guardAxes()
	}
	return s
}

// guardAxes is the axes that the view's guards vary over.
func (v *View) guardAxes() AxisSet {
	var s AxisSet
	for _, g := range v.Guards {
		s |= varying(g.Coef)
	}
	return s
}

// varying is the axes with a coefficient other than 0.
func varying(coef []int) AxisSet {
	var s AxisSet
	for a, c := range coef {
		if c != 0 {
			s |= 1 << a
		}
	}
	return s
}

// A rule checks an instruction whose operands have the types src.
type rule func(k *Kernel, in *Instr, src []DType) error

var rules = [Ops]rule{
	Const:    func(_ *Kernel, in *Instr, _ []DType) error { return verifyNumber(in.Type, in.Num) },
	Scalar:   func(k *Kernel, in *Instr, _ []DType) error { return verifyArg(k, in, Value) },
	Load:     verifyLoad,
	Index:    verifyIndex,
	InBounds: verifyInBounds,
	Store:    verifyStore,
}

// ruleOf returns the rule for an op, nil if kernels have no such op.
func ruleOf(op Op) rule {
	if r := Routines[op]; r != nil {
		return r.Verify
	}
	switch op.Class() {
	case Elementwise:
		return verifyElementwise
	case Reduction:
		return verifyReduction
	}
	return rules[op]
}

func verifyBody(k *Kernel) error {
	for i := range k.Body {
		if err := verifyInstr(k, i); err != nil {
			return fmt.Errorf("instruction %d: %w", i, err)
		}
	}
	return nil
}

func verifyInstr(k *Kernel, i int) error {
	in := &k.Body[i]
	if int(in.Op) >= Ops || ruleOf(in.Op) == nil {
		return fmt.Errorf("op %d in a kernel", in.Op)
	}
	if !in.Type.Valid() || in.Type.IsHalf() {
		return fmt.Errorf("%v of type %v", in.Op, in.Type)
	}
	if arity := Table[in.Op].Arity; Routines[in.Op] == nil && arity >= 0 && len(in.Src) != arity {
		return fmt.Errorf("%v of %d operands", in.Op, len(in.Src))
	}
	src := make([]DType, len(in.Src))
	for n, j := range in.Src {
		if j < 0 || j >= i || k.Body[j].Op == Store || Routines[k.Body[j].Op] != nil {
			return fmt.Errorf("%v of instruction %d, which is no value yet", in.Op, j)
		}
		src[n] = k.Body[j].Type
	}
	if err := ruleOf(in.Op)(k, in, src); err != nil {
		return fmt.Errorf("%v: %w", in.Op, err)
	}
	if want := k.Varies(i); in.Domain != want {
		return fmt.Errorf("%v varies over %v, not %v", in.Op, want, in.Domain)
	}
	return nil
}

func verifyElementwise(k *Kernel, in *Instr, src []DType) error {
	last := src[len(src)-1]
	for n, d := range src {
		want := last
		if in.Op == Where && n == 0 {
			want = Bool
		} else if !Table[in.Op].Types.Has(d) {
			return fmt.Errorf("operand of type %v", d)
		}
		if d != want {
			return fmt.Errorf("operands of types %v", src)
		}
	}
	if in.Op == Bitcast && last.Size() != in.Type.Size() {
		return fmt.Errorf("of %v to %v", last, in.Type)
	}
	return verifyResult(in, src)
}

func verifyReduction(k *Kernel, in *Instr, src []DType) error {
	if in.Axes == 0 || in.Axes>>len(k.Axes) != 0 {
		return fmt.Errorf("over axes %v", in.Axes)
	}
	if !Table[in.Op].Types.Has(src[0]) {
		return fmt.Errorf("operand of type %v", src[0])
	}
	return verifyResult(in, src)
}

func verifyResult(in *Instr, src []DType) error {
	if want := in.Op.ResultDType(in.Type, src...); in.Type != want {
		return fmt.Errorf("result of type %v, not %v", in.Type, want)
	}
	return nil
}

// verifyNumber checks that x is an element of type d: rounded or wrapped to it.
func verifyNumber(d DType, x Number) error {
	if y := x.Convert(d, d); y != x && x.Float64(d) == x.Float64(d) {
		return fmt.Errorf("%#x is no %v", uint64(x), d)
	}
	return nil
}

// verifyArg checks the kind and type of an instruction's argument.
func verifyArg(k *Kernel, in *Instr, kind ArgKind) error {
	if in.Arg < 0 || in.Arg >= len(k.Args) || k.Args[in.Arg].Kind != kind {
		return fmt.Errorf("argument %d is not %v", in.Arg, kind)
	}
	if d := k.Args[in.Arg].DType; d.ComputeType() != in.Type {
		return fmt.Errorf("argument %d is of type %v, not %v", in.Arg, d, in.Type)
	}
	return nil
}

func verifyIndex(k *Kernel, in *Instr, src []DType) error {
	if in.Axis < 0 || in.Axis >= len(k.Axes) {
		return fmt.Errorf("axis %d", in.Axis)
	}
	return verifyResult(in, src)
}

func verifyInBounds(k *Kernel, in *Instr, src []DType) error {
	if in.View == nil {
		return errors.New("no view")
	}
	if err := verifyGuards(k, in.View); err != nil {
		return err
	}
	return verifyResult(in, src)
}

func verifyLoad(k *Kernel, in *Instr, src []DType) error {
	if err := verifyView(k, in.View); err != nil {
		return err
	}
	kind := In
	if loadsOld(k, in) {
		kind = Out
	}
	if err := verifyArg(k, in, kind); err != nil {
		return err
	}
	switch len(src) {
	case 0:
	case 1:
		if err := verifyAt(k, in.View, src[0]); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%d operands", len(src))
	}
	return verifyNumber(in.Type, in.View.Fill)
}

// loadsOld reports whether a Load reads the elements that the only Store of its argument writes, each at
// the same point, in a template that may. In a Reduce they vary over all axes, rows of one element left
// out: all threads of a row need its single values, also after one of them has stored.
func loadsOld(k *Kernel, load *Instr) bool {
	stores := 0
	for i := range k.Body {
		in := &k.Body[i]
		if in.Arg != load.Arg || in.Op != Store {
			continue
		}
		if stores++; in.View == nil || in.View.Off != load.View.Off || !slices.Equal(in.View.Coef, load.View.Coef) {
			return false
		}
	}
	axes := varying(load.View.Coef) & k.long()
	every := k.Template == Reduce && axes == k.long() && axes&k.Roles(Reduced) != 0
	return (k.Template == Pointwise || k.Template == Contraction || every) && stores == 1 && len(load.View.Guards) == 0 && len(load.Src) == 0
}

// verifyIndices checks that no index depends on elements that are replaced: devices compute a bad one
// again after the stores, to report it.
func verifyIndices(k *Kernel) error {
	old := make([]bool, len(k.Body))
	for i := range k.Body {
		in := &k.Body[i]
		if in.UsesIndex() && old[in.Src[0]] {
			return fmt.Errorf("instruction %d: %v by an index that the kernel replaces", i, in.Op)
		}
		old[i] = in.Op == Load && k.Args[in.Arg].Kind == Out || slices.ContainsFunc(in.Src, func(j int) bool { return old[j] })
	}
	return nil
}

func verifyStore(k *Kernel, in *Instr, src []DType) error {
	if n := len(src); n == 0 || n > 2 || n == 2 && (src[1] != Bool || !src[0].IsFloat()) {
		return fmt.Errorf("operands of types %v", src)
	}
	if err := verifyArg(k, in, Out); err != nil {
		return err
	}
	if err := verifyUnguarded(k, in.View); err != nil {
		return err
	}
	return verifyResult(in, src[:1])
}

func verifyView(k *Kernel, v *View) error {
	if v == nil || len(v.Coef) != len(k.Axes) {
		return fmt.Errorf("no view, or not of %d axes", len(k.Axes))
	}
	return verifyGuards(k, v)
}

func verifyUnguarded(k *Kernel, v *View) error {
	if v != nil && len(v.Guards) > 0 {
		return errors.New("a guarded view")
	}
	return verifyView(k, v)
}

func verifyGuards(k *Kernel, v *View) error {
	for i, g := range v.Guards {
		if len(g.Coef) != len(k.Axes) || g.Div < 1 || g.Len < 0 || g.Div == 1 && g.Stride != 0 {
			return fmt.Errorf("guard %d: %d axes, division by %d, length %d, stride %d", i, len(g.Coef), g.Div, g.Len, g.Stride)
		}
	}
	return nil
}

// verifyAt checks a view whose position depends on an index of type d.
func verifyAt(k *Kernel, v *View, d DType) error {
	if !IndexTypes.Has(d) || v.Len < 0 {
		return fmt.Errorf("an index of type %v, length %d", d, v.Len)
	}
	if !slices.ContainsFunc(k.Args, func(a Arg) bool { return a.Kind == Status }) {
		return errors.New("an index but no status argument")
	}
	return nil
}
