package page

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

type text string

type values struct {
	GPU    bool
	TopK   uint8
	Title  text
	Points [][2]float32
	Inner  struct{ N int }
	hidden int
}

// A value becomes a plain one and back. Fields that a plain value does not name stay as they are.
func TestValues(t *testing.T) {
	v := values{GPU: true, TopK: 200, Title: "α", Points: [][2]float32{{1, 0.5}, {}}, hidden: 1}
	v.Inner.N = -maxInteger
	object := map[string]any{
		"gpu": true, "topK": 200.0, "title": "α", "points": []any{[]any{1.0, 0.5}, []any{0.0, 0.0}}, "inner": map[string]any{"n": float64(-maxInteger)},
	}
	for value, want := range map[any]any{
		&v: object, (*values)(nil): nil, nil: nil,
	} {
		if got, err := Plain(value); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v is %v, %v; want %v", value, got, err, want)
		}
	}
	if got, err := Plain(map[string]any{"a": []int(nil), "b": nil}); err != nil || !reflect.DeepEqual(got, map[string]any{"a": []any{}, "b": nil}) {
		t.Errorf("a map is %v, %v", got, err)
	}
	back := values{hidden: 1}
	if err := fill(reflect.ValueOf(&back).Elem(), object); err != nil || !reflect.DeepEqual(back, v) {
		t.Errorf("back: %+v, %v; want %+v", back, err, v)
	}
	if err := fill(reflect.ValueOf(&back).Elem(), map[string]any{"unknown": 1.0, "hidden": 1.0, "topK": nil}); err != nil || !reflect.DeepEqual(back, v) {
		t.Errorf("after an unknown name: %+v, %v; want %+v", back, err, v)
	}
}

// A value that a type cannot hold is an error that names its place.
func TestValueErrors(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{map[string]any{"topK": 0.5}, "topK: 0.5, want uint8"},
		{map[string]any{"topK": 256.0}, "topK: 256, want uint8"},
		{map[string]any{"topK": -1.0}, "topK: -1, want uint8"},
		{map[string]any{"inner": map[string]any{"n": 0x1p63}}, "inner: n: 9.223372036854776e+18, want int"},
		{map[string]any{"points": []any{[]any{math.Inf(1), 0.0}}}, "points: element 0: element 0: +Inf, want float32"},
		{map[string]any{"points": []any{[]any{1.0}}}, "points: element 0: []interface {}{1}, want [2]float32"},
		{map[string]any{"gpu": "yes"}, `gpu: "yes", want bool`},
		{map[string]any{"title": true}, "title: true, want page.text"},
		{[]any{}, "[]interface {}{}, want page.values"},
	} {
		var v values
		if err := fill(reflect.ValueOf(&v).Elem(), c.value); err == nil || err.Error() != c.want {
			t.Errorf("%v: error %v, want %s", c.value, err, c.want)
		}
	}
	for want, value := range map[string]any{
		"inner: n: -Inf, want a finite number":              map[string]any{"inner": map[string]float64{"n": math.Inf(-1)}},
		"element 0: a message holds no func()":              []func(){nil},
		"a message holds no map[int]bool":                   map[int]bool{1: true},
		"n: 9007199254740993, which JavaScript would round": struct{ N uint64 }{1<<53 + 1},
	} {
		if _, err := Plain(value); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: error %v, want %s", value, err, want)
		}
	}
}
