package page

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"strings"
)

// The values of messages are plain: nil, bool, float64, string, []any and map[string]any, which
// JavaScript and JSON have too. Package encoding/json would be a large part of a small program.

// maxInteger is JavaScript's Number.MAX_SAFE_INTEGER.
const maxInteger = 1<<53 - 1

// Plain returns a value as a plain one. A struct is an object of its exported fields, which have names in
// JavaScript's style.
func Plain(value any) (any, error) { return plain(reflect.ValueOf(value)) }

func plain(v reflect.Value) (_ any, err error) {
	x := 0.0
	switch {
	case !v.IsValid():
		return nil, nil
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		return plain(v.Elem())
	case v.Kind() == reflect.Bool:
		return v.Bool(), nil
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			if list[i], err = plain(v.Index(i)); err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
		}
		return list, nil
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String, v.Kind() == reflect.Struct:
		object := map[string]any{}
		for name, member := range members(v) {
			if object[name], err = plain(member); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return object, nil
	case v.CanInt():
		x = float64(v.Int())
	case v.CanUint():
		x = float64(v.Uint())
	case v.CanFloat():
		x = v.Float()
	default:
		return nil, fmt.Errorf("a message holds no %v", v.Type())
	}
	switch {
	case math.IsNaN(0 * x):
		return nil, fmt.Errorf("%v, want a finite number", x)
	case !v.CanFloat() && math.Abs(x) > maxInteger:
		return nil, fmt.Errorf("%v, which JavaScript would round", v)
	}
	return x, nil
}

// members yields the exported fields of a struct, named as JavaScript does, or the elements of a map by
// strings.
func members(v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		if v.Kind() == reflect.Map {
			for i := v.MapRange(); i.Next() && yield(i.Key().String(), i.Value()); {
			}
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !yield(fieldName(f.Name), v.Field(i)) {
				return
			}
		}
	}
}

// fieldName returns JavaScript's name of a field: topK of TopK, gpu of GPU.
func fieldName(s string) string {
	if strings.ToUpper(s) == s {
		return strings.ToLower(s)
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// fill sets v to a plain value. A field for which value is nil, or lacks a member, stays as
// it is.
func fill(v reflect.Value, value any) error {
	switch x := value.(type) {
	case nil:
		return nil
	case []any:
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), len(x), len(x)))
		}
		if v.Kind() == reflect.Slice || v.Kind() == reflect.Array && v.Len() == len(x) {
			for i := range x {
				if err := fill(v.Index(i), x[i]); err != nil {
					return fmt.Errorf("element %d: %w", i, err)
				}
			}
			return nil
		}
	case map[string]any:
		if v.Kind() == reflect.Struct {
			for name, member := range members(v) {
				if err := fill(member, x[name]); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return nil
		}
	case float64:
		whole := x == math.Trunc(x) && math.Abs(x) <= maxInteger
		switch {
		case v.CanFloat() && !math.IsNaN(0*x):
			v.SetFloat(x)
			return nil
		case v.CanInt() && whole && !v.OverflowInt(int64(x)):
			v.SetInt(int64(x))
			return nil
		case v.CanUint() && whole && x >= 0 && !v.OverflowUint(uint64(x)):
			v.SetUint(uint64(x))
			return nil
		}
	case string:
		if v.Kind() == reflect.String {
			v.SetString(x)
			return nil
		}
	case bool:
		if v.Kind() == reflect.Bool {
			v.SetBool(x)
			return nil
		}
	}
	return fmt.Errorf("%#v, want %v", value, v.Type())
}
