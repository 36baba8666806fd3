package tensor_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// A twoTensors computes something of two matrices of four rows and columns, with elements
// between 0.1 and 0.9.
type twoTensors = func(x, y tensor.Tensor) any

// untypedCalls has the calls of methods for which arguments by their type alone are not
// enough, or the receiver must have other elements.
var untypedCalls = map[string][]twoTensors{
	"Acosh":             {func(x, y tensor.Tensor) any { return x.Add(1.1).Acosh() }},
	"AdaptiveAvgPool":   {func(x, y tensor.Tensor) any { return images(x).AdaptiveAvgPool(3) }},
	"AdaptiveMaxPool":   {func(x, y tensor.Tensor) any { return images(x).AdaptiveMaxPool(3) }},
	"AddAt":             {func(x, y tensor.Tensor) any { return x.AddAt(y.Select(0, 1), ints(0, 0)) }, func(x, _ tensor.Tensor) any { return x.AddAt(0.3, ints(0, 0)) }},
	"All":               {func(x, y tensor.Tensor) any { return x.Gt(0.2).All(1) }},
	"And":               {func(x, y tensor.Tensor) any { return x.Gt(0.4).And(y.Gt(0.4)) }},
	"Any":               {func(x, y tensor.Tensor) any { return x.Gt(0.8).Any(1) }},
	"At":                {func(x, y tensor.Tensor) any { return x.At(1, 2) }},
	"AvgPool":           {func(x, y tensor.Tensor) any { return images(x).AvgPool(2, nil) }},
	"Bincount":          {func(x, y tensor.Tensor) any { return tenths(x).Bincount(10) }},
	"Cast":              {func(x, y tensor.Tensor) any { return x.Cast(tensor.Float64) }},
	"Conv":              {func(x, y tensor.Tensor) any { return images(x).Conv(images(y.Slice(1, 0, 3)), nil) }},
	"ConvTranspose":     {func(x, y tensor.Tensor) any { return images(x).ConvTranspose(images(y), nil) }},
	"Dot":               {func(x, y tensor.Tensor) any { return x.Select(0, 1).Dot(y.Select(0, 1)) }},
	"Expand":            {func(x, y tensor.Tensor) any { return x.Expand(3, -1, -1) }},
	"Fold":              {func(x, y tensor.Tensor) any { return x.Unfold(1, 2, 1).Fold(1, 4, 1) }},
	"GatherND":          {func(x, y tensor.Tensor) any { return x.GatherND(tensor.New([]int32{1, 2}, 1, 2)) }},
	"GridSample":        {func(x, y tensor.Tensor) any { return images(x).GridSample(y.Reshape(1, 2, 4, 2), nil) }},
	"Histogram":         {func(x, y tensor.Tensor) any { return x.Histogram(y.Flatten(0).Sort(0)) }},
	"Index":             {func(x, y tensor.Tensor) any { return x.Index(tensor.All, ints(3, 0)) }},
	"Kron":              {func(x, y tensor.Tensor) any { return x.Select(0, 0).Kron(y.Select(0, 0)) }},
	"MaskedFill":        {func(x, y tensor.Tensor) any { return x.MaskedFill(y.Gt(0.5), 0.3) }, func(x, y tensor.Tensor) any { return x.MaskedFill(ints(1, 0, 0, 1).Eq(1), y) }},
	"MaskedSelect":      {func(x, y tensor.Tensor) any { return x.MaskedSelect(y.Gt(0.5)) }},
	"MaxPool":           {func(x, y tensor.Tensor) any { return images(x).MaxPool(2, nil) }},
	"NormP":             {func(x, y tensor.Tensor) any { return x.NormP(3, 1) }, func(x, y tensor.Tensor) any { return x.NormP(2, 1) }, func(x, y tensor.Tensor) any { return x.NormP(0.3) }},
	"Not":               {func(x, y tensor.Tensor) any { return x.Gt(0.4).Not() }},
	"OIndex":            {func(x, y tensor.Tensor) any { return x.OIndex(ints(1, 0), ints(3, 0)) }},
	"OneHot":            {func(x, y tensor.Tensor) any { return tenths(x).OneHot(10) }},
	"Or":                {func(x, y tensor.Tensor) any { return x.Gt(0.4).Or(y.Gt(0.4)) }},
	"Outer":             {func(x, y tensor.Tensor) any { return x.Select(0, 0).Outer(y.Select(0, 0)) }},
	"PadMode":           {func(x, y tensor.Tensor) any { return x.PadMode(1, 1, 1, tensor.Reflect) }},
	"Permute":           {func(x, y tensor.Tensor) any { return x.Permute(1, 0) }},
	"PixelShuffle":      {func(x, y tensor.Tensor) any { return x.Reshape(1, 4, 2, 2).PixelShuffle(2) }},
	"PixelUnshuffle":    {func(x, y tensor.Tensor) any { return images(x).PixelUnshuffle(2) }},
	"Pow":               {func(x, y tensor.Tensor) any { return x.Pow(y) }, func(x, _ tensor.Tensor) any { return x.Pow(0.3) }, func(x, _ tensor.Tensor) any { return x.Pow(-0.5) }},
	"Put":               {func(x, y tensor.Tensor) any { return x.Put(0, ints(1, 2), y.Slice(0, 0, 2)) }},
	"Reshape":           {func(x, y tensor.Tensor) any { return x.Reshape(2, 8) }},
	"Resize":            {func(x, y tensor.Tensor) any { return images(x).Resize([]int{3, 5}, nil) }},
	"ResizeBicubic":     {func(x, y tensor.Tensor) any { return images(x).ResizeBicubic(3, 5) }},
	"ResizeBilinear":    {func(x, y tensor.Tensor) any { return images(x).ResizeBilinear(3, 5) }},
	"ResizeNearest":     {func(x, y tensor.Tensor) any { return images(x).ResizeNearest(3, 5) }},
	"Rot90":             {func(x, y tensor.Tensor) any { return x.Rot90(1, 0, 1) }},
	"ScatterAdd":        {func(x, y tensor.Tensor) any { return x.ScatterAdd(0, ints(1, 1).Unsqueeze(1), y.Slice(0, 0, 2)) }},
	"ScatterMax":        {func(x, y tensor.Tensor) any { return x.ScatterMax(0, ints(1, 1).Unsqueeze(1), y.Slice(0, 0, 2)) }},
	"ScatterMin":        {func(x, y tensor.Tensor) any { return x.ScatterMin(0, ints(1, 1).Unsqueeze(1), y.Slice(0, 0, 2)) }},
	"ScatterMul":        {func(x, y tensor.Tensor) any { return x.ScatterMul(0, ints(1, 1).Unsqueeze(1), y.Slice(0, 0, 2)) }},
	"ScatterND":         {func(x, y tensor.Tensor) any { return x.ScatterND(tensor.New([]int32{1, 2}, 2, 1), y.Slice(0, 0, 2)) }, func(x, _ tensor.Tensor) any { return x.ScatterND(tensor.New([]int32{1, 2}, 1, 2), 0.3) }},
	"ScatterSet":        {func(x, y tensor.Tensor) any { return x.ScatterSet(0, ints(1, 1).Unsqueeze(1), y.Slice(0, 0, 2)) }},
	"SearchSorted":      {func(x, y tensor.Tensor) any { return x.SearchSorted(y.Flatten(0).Sort(0)) }},
	"SearchSortedRight": {func(x, y tensor.Tensor) any { return x.SearchSortedRight(y.Flatten(0).Sort(0)) }},
	"Set":               {func(x, y tensor.Tensor) any { return x.Set(y.Select(0, 1), 2) }, func(x, y tensor.Tensor) any { return x.Set(0.3, 1, ints(1, 2)) }, func(x, y tensor.Tensor) any { return x.Set(0.3, y.Gt(0.5)) }},
	"Shl":               {func(x, y tensor.Tensor) any { return tenths(x).Shl(tenths(y)) }},
	"Shr":               {func(x, y tensor.Tensor) any { return tenths(x).Shr(tenths(y)) }},
	"Slice":             {func(x, y tensor.Tensor) any { return x.Slice(1, 0, 3, 2) }},
	"Split":             {func(x, y tensor.Tensor) any { return x.Split(1, 3, 1) }},
	"Squeeze":           {func(x, y tensor.Tensor) any { return x.Slice(0, 0, 1).Squeeze() }},
	"Take":              {func(x, y tensor.Tensor) any { return x.Take(1, ints(3, 0)) }, func(x, y tensor.Tensor) any { return x.Take(1, y.Select(0, 1).ArgSort(0)) }},
	"TakeAlong":         {func(x, y tensor.Tensor) any { return x.TakeAlong(1, y.ArgSort(1)) }},
	"TensorDot":         {func(x, y tensor.Tensor) any { return x.TensorDot(y, []int{1}, []int{0}) }},
	"To":                {func(x, y tensor.Tensor) any { return x.To(tensor.CPU()) }},
	"BottomK":           {func(x, y tensor.Tensor) any { v, i := x.Mul(y).BottomK(1, 2); return []tensor.Tensor{v, i} }},
	"HistogramBins":     {func(x, y tensor.Tensor) any { c, e := x.HistogramBins(7); return []tensor.Tensor{c, e} }, func(x, y tensor.Tensor) any { c, e := x.HistogramBins(7, 0.1, 0.7); return []tensor.Tensor{c, e} }},
	"Quantile":          {func(x, y tensor.Tensor) any { return x.Quantile(1, 0.3, 0.9) }},
	"TopK":              {func(x, y tensor.Tensor) any { v, i := x.Mul(y).TopK(1, 2); return []tensor.Tensor{v, i} }},
	"Transpose":         {func(x, y tensor.Tensor) any { return x.Transpose(0, 1) }},
	"Unfold":            {func(x, y tensor.Tensor) any { return x.Unfold(1, 2, 1) }},
	"Unsqueeze":         {func(x, y tensor.Tensor) any { return x.Unsqueeze(0) }},
	"VIndex":            {func(x, y tensor.Tensor) any { return x.VIndex(ints(1, 0), ints(3, 0)) }},
	"Xor":               {func(x, y tensor.Tensor) any { return x.Gt(0.4).Xor(y.Gt(0.4)) }},
}

// untypedFunctions has the functions of tensors that are no methods.
var untypedFunctions = map[string]twoTensors{
	"Attention":            func(x, y tensor.Tensor) any { return tensor.Attention(x, y, x.Add(y), nil) },
	"Attention, with Mask": func(x, y tensor.Tensor) any { return tensor.Attention(x, x, x, &tensor.AttentionOptions{Mask: y}) },
	"Cat":                  func(x, y tensor.Tensor) any { return tensor.Cat(0, x, y) },
	"Einsum":               func(x, y tensor.Tensor) any { return tensor.Einsum("ij,kj->ik", x, y) },
	"Interleave":           func(x, y tensor.Tensor) any { return tensor.Interleave(0, x, y) },
	"Meshgrid":             func(x, y tensor.Tensor) any { return tensor.Meshgrid(x.Select(0, 1), y.Select(0, 1)) },
	"Stack":                func(x, y tensor.Tensor) any { return tensor.Stack(0, x, y) },
	"Where":                func(x, y tensor.Tensor) any { return tensor.Where(x.Gt(y), x, y) },
	"Where, of a number":   func(x, y tensor.Tensor) any { return tensor.Where(x.Gt(y), 0.3, y) },
}

// images returns a matrix as a batch of one image with one channel.
func images(x tensor.Tensor) tensor.Tensor { return x.Unsqueeze(0, 1) }

func tenths(x tensor.Tensor) tensor.Tensor { return x.Mul(10).Cast(tensor.Int32) }

// defaultCalls returns calls of a method with arguments by their type: the other tensor and
// a number for an operand, 1 for an integer, 0.3 for a float64.
func defaultCalls(m reflect.Method) []twoTensors {
	call := func(operand func(y tensor.Tensor) any) twoTensors {
		return func(x, y tensor.Tensor) any {
			in := []reflect.Value{reflect.ValueOf(x)}
			for i := 1; i < m.Type.NumIn(); i++ {
				switch p := m.Type.In(i); {
				case m.Type.IsVariadic() && i == m.Type.NumIn()-1:
				case p == reflect.TypeFor[tensor.Tensor]():
					in = append(in, reflect.ValueOf(y))
				case p == reflect.TypeFor[tensor.Operand]():
					in = append(in, reflect.ValueOf(operand(y)))
				case p.Kind() == reflect.Int:
					in = append(in, reflect.ValueOf(1))
				case p.Kind() == reflect.Float64:
					in = append(in, reflect.ValueOf(0.3))
				default:
					panic(fmt.Sprintf("there is no argument of type %v", p))
				}
			}
			var all []tensor.Tensor
			for _, r := range m.Func.Call(in) {
				switch r := r.Interface().(type) {
				case tensor.Tensor:
					all = append(all, r)
				case []tensor.Tensor:
					all = append(all, r...)
				}
			}
			return all
		}
	}
	calls := []twoTensors{call(func(y tensor.Tensor) any { return y })}
	for i := 1; i < m.Type.NumIn(); i++ {
		if m.Type.In(i) == reflect.TypeFor[tensor.Operand]() {
			return append(calls, call(func(tensor.Tensor) any { return 0.3 }))
		}
	}
	return calls
}

// hasTensors reports whether a method has tensors among its results.
func hasTensors(m reflect.Method) bool {
	for i := range m.Type.NumOut() {
		if r := m.Type.Out(i); r == reflect.TypeFor[tensor.Tensor]() || r == reflect.TypeFor[[]tensor.Tensor]() {
			return true
		}
	}
	return false
}

// Every method keeps the digits of float64: of untyped constants whose result meets a
// float64 tensor, and of a constant and a float64 tensor.
func TestUntypedMethods(t *testing.T) {
	of := reflect.TypeFor[tensor.Tensor]()
	known := 0
	for i := range of.NumMethod() {
		m := of.Method(i)
		calls, ok := untypedCalls[m.Name]
		switch {
		case ok:
			known++
		case !hasTensors(m):
			continue
		default:
			calls = defaultCalls(m)
		}
		for i, f := range calls {
			checkUntyped(t, fmt.Sprintf("%s, call %d", m.Name, i), f)
		}
	}
	if known != len(untypedCalls) {
		t.Errorf("untypedCalls has %d names, of which %d are methods", len(untypedCalls), known)
	}
	for name, f := range untypedFunctions {
		checkUntyped(t, name, f)
	}
}

// checkUntyped compares f of untyped constants with f of float64 tensors.
func checkUntyped(t *testing.T, name string, f twoTensors) {
	t.Helper()
	constants := func() (x, y tensor.Tensor) {
		return tensor.Linspace(0.11, 0.89, 16).Reshape(4, 4), tensor.Linspace(0.83, 0.13, 16).Reshape(4, 4)
	}
	double := func(x tensor.Tensor) tensor.Tensor { return computed(x.Add(tensor.New([]float64{0}))) }
	a, b := constants()
	x, y := double(a), double(b)
	want, err := untypedResults(f, x, y)
	if err != nil {
		t.Errorf("%s of float64: %v: give it arguments in untypedCalls", name, err)
		return
	}
	for who, in := range map[string][2]tensor.Tensor{"both": {a, b}, "the first": {a, y}, "the second": {x, b}} {
		got, err := untypedResults(f, in[0], in[1])
		if err != nil {
			t.Errorf("%s, %s untyped: %v", name, who, err)
			continue
		}
		if !slices.EqualFunc(got, want, func(got, want float64) bool {
			return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-13*max(1, math.Abs(want))
		}) {
			t.Errorf("%s, %s untyped:\n%v, want\n%v", name, who, got, want)
		}
	}
}

// untypedResults returns the elements of f(x, y), floats in float64.
func untypedResults(f twoTensors, x, y tensor.Tensor) (all []float64, err error) {
	defer tensor.Catch(&err)
	result := f(x, y)
	ts, ok := result.([]tensor.Tensor)
	if !ok {
		ts = []tensor.Tensor{result.(tensor.Tensor)}
	}
	for _, r := range ts {
		if r.DType().IsFloat() {
			r = r.Add(tensor.New([]float64{0}))
		}
		v, err := tensor.Data[float64](r.Cast(tensor.Float64))
		if err != nil {
			return nil, err
		}
		all = append(all, v...)
	}
	return all, nil
}
