// Package ml has the operators of ai.onnx.ml, which scikit-learn and makers of tree ensembles export. A table
// of each file lists its operators. Read encode.go first.
package ml

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// T is a tensor.
type T = tensor.Tensor

// domain is the domain of these operators.
const domain = "ai.onnx.ml"

// Encoders has the operators that change features.
var Encoders = []op.Row{
	op.New("ArrayFeatureExtractor", op.Move(arrayFeatureExtractor)).Of(domain),
	op.New("Binarizer", op.One(binarizer)).Of(domain),
	op.New("CastMap", castMap).Of(domain),
	op.New("CategoryMapper", categoryMapper).Of(domain),
	op.New("DictVectorizer", dictVectorizer).Of(domain),
	op.New("FeatureVectorizer", op.One(featureVectorizer)).Of(domain),
	op.New("Imputer", op.One(imputer)).Of(domain),
	op.New("LabelEncoder", labelEncoder).Of(domain),
	op.New("Normalizer", op.One(normalizer)).Of(domain),
	op.New("OneHotEncoder", op.One(oneHotEncoder)).Of(domain),
	op.New("Scaler", op.One(scaler)).Of(domain),
	op.New("ZipMap", zipMap).Of(domain),
}

func arrayFeatureExtractor(c *op.Call) T {
	y := c.Tensor(0).Take(-1, c.Tensor(1).Reshape(-1))
	if y.Rank() == 1 {
		return y.Unsqueeze(0)
	}
	return y
}

func binarizer(c *op.Call) T {
	x := c.Tensor(0)
	return op.Floating(x).Gt(c.Float("threshold", 0)).Cast(x.DType()) // the threshold may be no integer
}

// featureVectorizer joins features to rows of floats, of as many columns as attribute inputdimensions says: the
// first ones, or zeros after them. An input of one axis is a row.
func featureVectorizer(c *op.Call) T {
	ts := c.Tensors()
	widths := c.IntsAttr("inputdimensions")
	for i, t := range ts {
		if t.Rank() == 1 {
			t = t.Unsqueeze(0)
		}
		t = t.Flatten(1).Cast(tensor.Float32)
		if i < len(widths) {
			n := c.Count("a row", widths[i])
			t = t.Slice(1, 0, min(t.Dim(1), n)).Pad(1, 0, max(n-t.Dim(1), 0))
		}
		ts[i] = t
	}
	return tensor.Cat(1, ts...)
}

// row returns an attribute of floats as a tensor, for each column or for all.
func row(list []float32) T { return tensor.New(list, len(list)) }

func imputer(c *op.Call) T {
	x := c.Tensor(0)
	if a := c.Attr("imputed_value_int64s"); a != nil && len(a.Ints) > 0 {
		return tensor.Where(x.Eq(c.Int("replaced_value_int64", 0)), tensor.New(a.Ints, len(a.Ints)).Cast(x.DType()), x)
	}
	a := c.Attr("imputed_value_floats")
	if a == nil || len(a.Floats) == 0 {
		c.Fail("it has no imputed values")
	}
	old := c.Float("replaced_value_float", 0)
	missing := x.Eq(old)
	if math.IsNaN(old) {
		missing = x.IsNaN()
	}
	return tensor.Where(missing, row(a.Floats).Cast(x.DType()), x)
}

func scaler(c *op.Call) T {
	x := c.Tensor(0).Cast(tensor.Float32)
	if a := c.Attr("offset"); a != nil {
		x = x.Sub(row(a.Floats))
	}
	if a := c.Attr("scale"); a != nil {
		x = x.Mul(row(a.Floats))
	}
	return x
}

// norms has the divisors of rows. MAX is the greatest element, as the standard says: a negative number in a row of
// such.
var norms = map[string]func(T) T{
	"MAX": func(x T) T { return x.Max(-1) },
	"L1":  func(x T) T { return x.NormP(1, -1) },
	"L2":  func(x T) T { return x.NormP(2, -1) },
}

func normalizer(c *op.Call) T {
	x := op.Floating(c.Tensor(0))
	n := norms[c.Choice("norm", "MAX", "L1", "L2")](x)
	return x.Div(tensor.Where(n.Eq(0), tensor.OnesLike(n), n)).Cast(tensor.Float32)
}

// oneHotEncoder has a column for each category.
func oneHotEncoder(c *op.Call) T {
	v := c.Value(0)
	var x, cats T
	if a := c.Attr("cats_strings"); a != nil && len(a.Strings) > 0 {
		pool := op.Pool{}
		cats = pool.Codes(op.Texts(a.Strings, len(a.Strings))).Tensor
		x = pool.Codes(v).Tensor
	} else {
		a := c.Attr("cats_int64s")
		if a == nil {
			c.Fail("it has no categories")
		}
		cats, x = tensor.New(a.Ints, len(a.Ints)), c.Tensor(0).Cast(tensor.Int64)
	}
	y := x.Unsqueeze(-1).Eq(cats)
	if !c.Bool("zeros", true) {
		d := *c
		d.In = []op.Value{op.Of(y.Any(-1).All())}
		if d.Scalar(0) == 0 {
			c.Fail("an element is no category")
		}
	}
	return y.Cast(tensor.Float32)
}

// zipMap returns a map from class to score for each row.
func zipMap(c *op.Call) []op.Value {
	s := c.Ranked(0, 1).Shape()
	x := c.Floats(0)
	n := s[len(s)-1]
	keys := make([]any, 0, n)
	if a := c.Attr("classlabels_strings"); a != nil && len(a.Strings) > 0 {
		for _, k := range a.Strings {
			keys = append(keys, k)
		}
	} else if a := c.Attr("classlabels_int64s"); a != nil {
		for _, k := range a.Ints {
			keys = append(keys, k)
		}
	}
	if len(keys) != n {
		c.Fail("%d classes for %d scores", len(keys), n)
	}
	out := op.Sequence(0)
	for i := 0; i < len(x); i += n {
		m := make(map[any]any, n)
		for k, key := range keys {
			m[key] = float32(x[i+k])
		}
		out.Sequence = append(out.Sequence, op.Value{Kind: op.MapKind, Map: m})
	}
	return []op.Value{out}
}

// A column is a list of strings, integers or floats, or a tensor of them.
type column struct {
	strings []string
	ints    []int64
	floats  []float64
}

// columnOf returns the attribute of a name with the ending of its type.
func columnOf(c *op.Call, name string) (x column, ok bool) {
	if a := c.Attr(name + "_strings"); a != nil {
		return column{strings: a.Strings}, true
	}
	if a := c.Attr(name + "_int64s"); a != nil {
		return column{ints: a.Ints}, true
	}
	if a := c.Attr(name + "_floats"); a != nil {
		for _, f := range a.Floats {
			x.floats = append(x.floats, float64(f))
		}
		return x, true
	}
	if a := c.Attr(name + "_tensor"); a != nil {
		return columnOfValue(c, c.Decode(a.T)), true
	}
	return x, false
}

// columnOfValue returns the elements of a tensor on the host.
func columnOfValue(c *op.Call, v op.Value) column {
	d := *c
	d.In = []op.Value{v}
	switch {
	case v.Kind == op.StringKind:
		return column{strings: v.Strings}
	case v.Tensor.DType().IsFloat():
		return column{floats: d.Floats(0)}
	}
	return column{ints: d.Int64s(0)}
}

func (x column) len() int { return max(len(x.strings), len(x.ints), len(x.floats)) }

// at returns element i as a key; all NaNs are one.
func (x column) at(i int) any {
	switch {
	case x.strings != nil:
		return x.strings[i]
	case x.ints != nil:
		return x.ints[i]
	case math.IsNaN(x.floats[i]):
		return "NaN"
	}
	return x.floats[i]
}

// pick returns elements at positions, a default where it is negative, in the type of the column's attribute.
func (x column) pick(at []int, otherwise column, e op.Elem, s []int) op.Value {
	if x.strings != nil {
		out := make([]string, len(at))
		for i, p := range at {
			if out[i] = otherwise.strings[0]; p >= 0 {
				out[i] = x.strings[p]
			}
		}
		return op.Texts(out, s...)
	}
	if x.ints != nil {
		out := make([]int64, len(at))
		for i, p := range at {
			if out[i] = otherwise.ints[0]; p >= 0 {
				out[i] = x.ints[p]
			}
		}
		return op.As(e, tensor.New(out, len(out)).Reshape(s...).Cast(e.DType()))
	}
	out := make([]float64, len(at))
	for i, p := range at {
		if out[i] = otherwise.floats[0]; p >= 0 {
			out[i] = x.floats[p]
		}
	}
	return op.As(e, tensor.New(out, len(out)).Reshape(s...).Cast(e.DType()))
}

// labelEncoder maps keys to values. The form of version 1 maps between classes and their positions.
func labelEncoder(c *op.Call) []op.Value {
	v := c.Value(0)
	keys, ok := columnOf(c, "keys")
	values, ok2 := columnOf(c, "values")
	if a := c.Attr("classes_strings"); a != nil {
		classes := column{strings: a.Strings}
		positions := column{ints: make([]int64, len(a.Strings))}
		for i := range positions.ints {
			positions.ints[i] = int64(i)
		}
		if keys, values = positions, classes; v.Kind == op.StringKind {
			keys, values = classes, positions
		}
		ok, ok2 = true, true
	}
	if !ok || !ok2 || keys.len() != values.len() {
		c.Fail("it has %d keys and %d values", keys.len(), values.len())
	}
	e := op.Int64
	otherwise := column{strings: []string{c.String("default_string", "_Unused")}, ints: []int64{int64(c.Int("default_int64", -1))}, floats: []float64{c.Float("default_float", math.Copysign(0, -1))}}
	if values.floats != nil {
		e = op.Float
	}
	if a := c.Attr("values_tensor"); a != nil {
		e = op.Elem(a.T.Type)
	}
	if a := c.Attr("default_tensor"); a != nil {
		d := columnOfValue(c, c.Decode(a.T))
		otherwise = column{strings: d.strings, ints: d.ints, floats: d.floats}
	}
	return []op.Value{values.pick(find(keys, columnOfValue(c, v)), otherwise, e, v.Dims())}
}

// find returns the position of each element among keys, -1 where it is not.
func find(keys, x column) []int {
	positions := make(map[any]int, keys.len())
	for i := range keys.len() {
		if _, ok := positions[keys.at(i)]; !ok {
			positions[keys.at(i)] = i
		}
	}
	at := make([]int, x.len())
	for i := range at {
		p, ok := positions[x.at(i)]
		if at[i] = p; !ok {
			at[i] = -1
		}
	}
	return at
}

// categoryMapper maps strings to integers, or back.
func categoryMapper(c *op.Call) []op.Value {
	v := c.Value(0)
	attr := func(name string) *proto.Attr {
		if a := c.Attr(name); a != nil {
			return a
		}
		return &proto.Attr{}
	}
	texts, ints := column{strings: attr("cats_strings").Strings}, column{ints: attr("cats_int64s").Ints}
	if texts.len() != ints.len() || texts.len() == 0 {
		c.Fail("it has %d strings and %d integers", texts.len(), ints.len())
	}
	otherwise := column{strings: []string{c.String("default_string", "_Unused")}, ints: []int64{int64(c.Int("default_int64", -1))}}
	keys, values := ints, texts
	if v.Kind == op.StringKind {
		keys, values = texts, ints
	}
	return []op.Value{values.pick(find(keys, columnOfValue(c, v)), otherwise, op.Int64, slices.Clone(v.Dims()))}
}
