package ml

import (
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// mapOf returns input 0, a map.
func mapOf(c *op.Call) map[any]any {
	v := c.Value(0)
	if v.Kind != op.MapKind {
		c.Fail("input 0 is a %v, want a map", v)
	}
	return v.Map
}

// dictVectorizer returns the values of a map in a row, in the order of a vocabulary of its keys.
func dictVectorizer(c *op.Call) []op.Value {
	m := mapOf(c)
	var values []any
	if a := c.Attr("string_vocabulary"); a != nil && len(a.Strings) > 0 {
		for _, k := range a.Strings {
			values = append(values, m[k])
		}
	} else if a := c.Attr("int64_vocabulary"); a != nil {
		for _, k := range a.Ints {
			values = append(values, m[k])
		}
	}
	return []op.Value{rowOf(c, m, values)}
}

// castMap returns the values of a map from integers in a row: in the order of the keys, or each in the column of its
// key.
func castMap(c *op.Call) []op.Value {
	m := mapOf(c)
	var keys []int64
	for k := range m {
		i, ok := k.(int64)
		if !ok {
			c.Fail("key %v is no int64", k)
		}
		keys = append(keys, i)
	}
	slices.Sort(keys)
	values := make([]any, len(keys))
	sparse := c.Choice("map_form", "DENSE", "SPARSE") == "SPARSE"
	if sparse {
		values = make([]any, c.Count("a row", c.Int("max_map", 1)))
	}
	for i, k := range keys {
		if !sparse {
			values[i] = m[k]
		} else if k < 0 || k >= int64(len(values)) {
			c.Fail("key %d, and max_map is %d", k, len(values))
		} else {
			values[k] = m[k]
		}
	}
	to := map[string]op.Elem{"TO_FLOAT": op.Float, "TO_STRING": op.String, "TO_INT64": op.Int64}[c.Choice("cast_to", "TO_FLOAT", "TO_STRING", "TO_INT64")]
	return c.Apply(op.Cast, []op.Value{rowOf(c, m, values)}, &proto.Attr{Name: "to", I: int64(to)})
}

// rowOf returns values of a map, which have one type, as a tensor [1 n]; nil is 0, or the empty text.
func rowOf(c *op.Call, m map[any]any, values []any) op.Value {
	var one any
	for _, one = range m {
		break
	}
	switch one.(type) {
	case string:
		return op.Texts(listOf[string](c, values), 1, len(values))
	case int64:
		return op.Of(tensor.New(listOf[int64](c, values), 1, len(values)))
	case float64:
		return op.Of(tensor.New(listOf[float64](c, values), 1, len(values)))
	}
	return op.Of(tensor.New(listOf[float32](c, values), 1, len(values)))
}

func listOf[E any](c *op.Call, values []any) []E {
	list := make([]E, len(values))
	for i, v := range values {
		if v == nil {
			continue
		}
		x, ok := v.(E)
		if !ok {
			c.Fail("a value is %v of type %T, want %T", v, v, list[i])
		}
		list[i] = x
	}
	return list
}
