package ml

import (
	"reflect"
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
		keysOf[string](c, m)
		for _, k := range a.Strings {
			values = append(values, m[k])
		}
	} else if a := c.Attr("int64_vocabulary"); a != nil {
		keysOf[int64](c, m)
		for _, k := range a.Ints {
			values = append(values, m[k])
		}
	} else {
		c.Fail("there is no vocabulary")
	}
	return []op.Value{rowOf(c, m, values)}
}

// castMap returns the values of a map from integers in a row: in the order of the keys, or each in the column of its
// key.
func castMap(c *op.Call) []op.Value {
	m := mapOf(c)
	keys := keysOf[int64](c, m)
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
	if _, texts := anyOf(m).(string); texts && to != op.String {
		for i, v := range values {
			if v == nil {
				values[i] = "0"
			}
		}
	}
	return c.Apply(op.Cast, []op.Value{rowOf(c, m, values)}, &proto.Attr{Name: "to", I: int64(to)})
}

// keysOf returns the keys of a map, which have that type.
func keysOf[K string | int64](c *op.Call, m map[any]any) (keys []K) {
	for key := range m {
		k, ok := key.(K)
		if !ok {
			c.Fail("key %v is of type %T, want %T", key, key, k)
		}
		keys = append(keys, k)
	}
	return keys
}

// anyOf returns a value of a map, or nil of an empty one.
func anyOf(m map[any]any) (v any) {
	for _, v = range m {
		break
	}
	return v
}

// rowOf returns values of a map, which have one type, as a tensor [1 n]; nil is 0, or the empty text.
func rowOf(c *op.Call, m map[any]any, values []any) op.Value {
	one := anyOf(m)
	for k, v := range m {
		if reflect.TypeOf(v) != reflect.TypeOf(one) {
			c.Fail("the value of key %v is of type %T, and another of type %T", k, v, one)
		}
	}
	switch one.(type) {
	case string:
		return op.Texts(listOf[string](values), 1, len(values))
	case int64:
		return op.Of(tensor.New(listOf[int64](values), 1, len(values)))
	case float64:
		return op.Of(tensor.New(listOf[float64](values), 1, len(values)))
	}
	return op.Of(tensor.New(listOf[float32](values), 1, len(values)))
}

func listOf[E any](values []any) []E {
	list := make([]E, len(values))
	for i, v := range values {
		list[i], _ = v.(E)
	}
	return list
}
