// Package settings reads the settings of models, of config.json or of a GGUF file's metadata, into structs. A setting
// that may change results, and that a struct does not have, is an error.
package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/shape"
)

// Read fills a struct from the settings of a kind of model. The tag of a field is the name of its setting and its bounds,
// `config:"hidden_size,positive,required"`; required settings must be there unless they have a default. Other numbers are at
// least 0. A tag `of:"qwen2 qwen3"` lists the kinds of models that have the setting. The values
// before are the defaults; null is the zero value, or the default where that is out of bounds. The file has a number
// of tensors. Each layer has one at least, so that it bounds the layers that are asked for.
func Read(into any, raw map[string]json.RawMessage, kind string, tensors int) error {
	known := map[string]bool{}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("config"), ",")
		option, required := strings.CutSuffix(options, "required")
		option = strings.TrimSuffix(option, ",")
		if of := f.Tag.Get("of"); name == "" || of != "" && !slices.Contains(strings.Fields(of), kind) {
			continue
		}
		known[name] = true
		text, ok := raw[name]
		if !ok {
			if required && v.Field(i).IsZero() {
				return fmt.Errorf("there is no %s", name)
			}
			continue
		}
		value := reflect.New(f.Type)
		if err := files.JSON(text, value.Interface()); err != nil {
			return fmt.Errorf("%s is %s: %w", name, Shown(text), err)
		}
		if string(text) == "null" && !required && bounds[option].least > 0 {
			continue
		}
		if why := outside(bounds[option], value.Elem(), tensors); why != "" {
			return fmt.Errorf("%s is %s: %s", name, Shown(text), why)
		}
		v.Field(i).Set(value.Elem())
	}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		value := strings.TrimSpace(string(raw[name]))
		only, limited := supported[name]
		switch {
		case known[name] || noEffect[name] || value == "null" || limited && sameJSON(value, only):
		case limited:
			return fmt.Errorf("%s is %s: only %s is supported", name, Shown(raw[name]), only)
		default:
			return fmt.Errorf("the setting %s is not known for %s, and may change results", strconv.Quote(name), kind)
		}
	}
	return nil
}

// sameJSON reports whether two scalars are equal, as 1 and 1.0 are.
func sameJSON(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && x == y
}

// A bound limits a number, or each element of a list of numbers.
type bound struct {
	least, most float64
	layers      bool // it counts parts that have tensors, so it is at most their number
}

// bounds are the bounds by a tag's options. No int may be so great that products of a few of
// them overflow, and no float64 greater than a float32.
var bounds = map[string]bound{
	"":         {0, math.MaxFloat32, false},
	"positive": {1, math.MaxFloat32, false},
	"count":    {1, math.MaxFloat32, true},
	"epsilon":  {0, 1, false},
	"any":      {-math.MaxInt32, math.MaxInt32, false},
}

// outside returns the mistake in a value, or "".
func outside(o bound, v reflect.Value, tensors int) string {
	var x float64
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		sum := 0
		for _, e := range v.Seq2() {
			if why := outside(o, e, tensors); why != "" {
				return why
			}
			if o.layers {
				sum += int(e.Int())
			}
		}
		return TooMany(sum, tensors)
	case reflect.Int:
		x, o.most = float64(v.Int()), min(o.most, math.MaxInt32)
	case reflect.Float64:
		x = v.Float()
	default:
		return ""
	}
	switch {
	case x < o.least:
		return fmt.Sprintf("want at least %v", o.least)
	case x > o.most:
		return fmt.Sprintf("want at most %v", o.most)
	case o.layers:
		return TooMany(int(x), tensors)
	}
	return ""
}

// TooMany returns the mistake in a number of layers, or "".
func TooMany(layers, tensors int) string {
	if layers > tensors {
		return fmt.Sprintf("the file has only %s", shape.Count(tensors, "tensor"))
	}
	return ""
}

// Shown returns text of a file for an error: in one line, and not long.
func Shown(raw []byte) string {
	const most = 100
	cut := ""
	if len(raw) > most {
		raw, cut = raw[:most], "…"
	}
	q := strconv.QuoteToGraphic(string(raw))
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) + cut
}
