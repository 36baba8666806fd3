package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A Value is a Go type that a column can be read as. A missing value is NaN, "" or the zero time,
// and an error for int32, int64 and bool. As a float, a date is its number of [Days]; a float32
// tells today's dates to three minutes.
type Value interface {
	float32 | float64 | int32 | int64 | bool | string | time.Time
}

// Labels are a column of categories. [Encoder] codes the same names alike in other tables.
type Labels struct {
	Codes tensor.Tensor // int32 [rows]: the index in Names, -1 for a missing value
	Names []string      // sorted
}

// Column returns the column of a name.
func Column[E Value](f *Frame, name string) ([]E, error) {
	i, err := f.find(name)
	if err != nil {
		return nil, err
	}
	var e E
	if err := hostmem.Check(f.rows, int(unsafe.Sizeof(e))); err != nil {
		return nil, f.named(err)
	}
	out := make([]E, f.rows)
	return out, f.fill([]target{{i, f.setter(i, out)}})
}

// Labels returns the column of a name as categories.
func (f *Frame) Labels(name string) (l Labels, err error) {
	i, err := f.find(name)
	if err != nil {
		return l, err
	}
	set, done, err := f.labels(&l)
	if err != nil {
		return l, f.named(err)
	}
	if err := f.fill([]target{{i, set}}); err != nil {
		return l, err
	}
	done()
	return l, nil
}

// Tensor returns columns of numbers or dates as a tensor [rows columns] of type d: all columns
// if no name is given. Missing values are as in [Value]. d is Float32, Float64, Int32, Int64 or
// Bool.
func (f *Frame) Tensor(d tensor.DType, names ...string) (t tensor.Tensor, err error) {
	columns := make([]int, len(names))
	for k, name := range names {
		if columns[k], err = f.find(name); err != nil {
			return t, err
		}
	}
	if len(names) == 0 {
		for i := range f.columns {
			columns = append(columns, i)
		}
	}
	out, slice, err := f.allocate(d, len(columns))
	if err != nil {
		return t, f.named(err)
	}
	targets := make([]target, len(columns))
	for k, i := range columns {
		set := f.setter(i, slice)
		targets[k] = target{i, func(row int, field string) error { return set(row*len(columns)+k, field) }}
	}
	if err := f.fill(targets); err != nil {
		return t, err
	}
	return tensor.FromBytes(d, []int{f.rows, len(columns)}, out), nil
}

// allocate returns the bytes of rows of a type, and the same as a slice.
func (f *Frame) allocate(d tensor.DType, width int) (data []byte, slice any, err error) {
	if !slices.Contains([]tensor.DType{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Int64, tensor.Bool}, d) {
		misuse("Tensor", fmt.Sprintf("want Float32, Float64, Int32, Int64 or Bool, not %v: Cast the tensor", d))
	}
	n := f.rows * width
	if data, err = hostmem.Make(max(n, 1), d.Size()); err != nil {
		return nil, nil, err
	}
	switch p := unsafe.Pointer(&data[0]); d {
	case ir.Float32:
		slice = unsafe.Slice((*float32)(p), n)
	case ir.Float64:
		slice = unsafe.Slice((*float64)(p), n)
	case ir.Int32:
		slice = unsafe.Slice((*int32)(p), n)
	case ir.Int64:
		slice = unsafe.Slice((*int64)(p), n)
	case ir.Bool:
		slice = unsafe.Slice((*bool)(p), n)
	}
	return data[:n*d.Size()], slice, nil
}

// find returns the column of a name.
func (f *Frame) find(name string) (int, error) {
	if f == nil {
		misuse("Column", "the Frame is nil")
	}
	if i, ok := f.index[name]; ok {
		return i, nil
	}
	return 0, f.named(f.noColumn(name))
}

// A target takes the fields of a column.
type target struct {
	column int
	set    func(row int, field string) error
}

// fill gives all fields to targets.
func (f *Frame) fill(targets []target) error {
	return f.each(func(row, line int, fields []string) error {
		for _, t := range targets {
			if err := t.set(row, fields[t.column]); err != nil {
				return f.fail(line, t.column, fields[t.column], err)
			}
		}
		return nil
	})
}

var errMissing = errors.New("is a missing value, which this type cannot hold: read it as float32, string or Labels")

// setter returns a function that stores a field of a column as an element of a slice of a [Value].
func (f *Frame) setter(column int, out any) func(i int, field string) error {
	switch out := out.(type) {
	case []float32:
		return put(f, out, float32(math.NaN()), func(s string) (float32, error) { return number[float32](f, column, s, 32) })
	case []float64:
		return put(f, out, math.NaN(), func(s string) (float64, error) { return number[float64](f, column, s, 64) })
	case []int32:
		return must(f, out, func(s string) (int32, error) { n, err := f.options.parseInt(s, 32); return int32(n), err })
	case []int64:
		return must(f, out, func(s string) (int64, error) { return f.options.parseInt(s, 64) })
	case []bool:
		return must(f, out, parseBool)
	case []string:
		return put(f, out, "", func(s string) (string, error) { return strings.Clone(s), nil })
	case []time.Time:
		return put(f, out, time.Time{}, func(s string) (time.Time, error) { return f.date(column, s) })
	}
	panic(fmt.Sprintf("table: no column is a %T", out))
}

// put returns a setter for a type that has a missing value.
func put[E any](f *Frame, out []E, missing E, parse func(string) (E, error)) func(int, string) error {
	return func(i int, field string) (err error) {
		if f.options.isMissing(field) {
			out[i] = missing
			return nil
		}
		out[i], err = parse(field)
		return err
	}
}

// must returns a setter for a type that has none.
func must[E any](f *Frame, out []E, parse func(string) (E, error)) func(int, string) error {
	return func(i int, field string) (err error) {
		if f.options.isMissing(field) {
			return errMissing
		}
		out[i], err = parse(field)
		return err
	}
}

// number returns a field as a number, a date as its days.
func number[E float32 | float64](f *Frame, column int, field string, bits int) (E, error) {
	if f.columns[column].Kind == Date {
		t, err := f.date(column, field)
		return E(Days(t)), err
	}
	x, err := f.options.parseFloat(field, bits)
	return E(x), err
}

func (f *Frame) date(column int, field string) (time.Time, error) {
	return parseDate(field, f.options.Dates[f.columns[column].Name])
}

// labels returns a function that stores fields in l, and one to call after the last.
func (f *Frame) labels(l *Labels) (set func(row int, field string) error, done func(), err error) {
	data, slice, err := f.allocate(ir.Int32, 1)
	if err != nil {
		return nil, nil, err
	}
	codes, known := slice.([]int32), map[string]int32{}
	names := []string{}
	set = func(row int, field string) error {
		if f.options.isMissing(field) {
			codes[row] = -1
			return nil
		}
		code, ok := known[field]
		if !ok {
			if names, err = hostmem.Grow(names, 1); err != nil {
				return err
			}
			code, field = int32(len(names)), strings.Clone(field)
			known[field], names = code, append(names, field)
		}
		codes[row] = code
		return nil
	}
	return set, func() {
		l.Names = slices.Clone(names)
		slices.Sort(l.Names)
		order := make([]int32, len(names))
		for i, n := range l.Names {
			order[known[n]] = int32(i)
		}
		for i, c := range codes {
			if c >= 0 {
				codes[i] = order[c]
			}
		}
		l.Codes = tensor.FromBytes(ir.Int32, []int{f.rows}, data)
	}, nil
}
