package table

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

// sliceTypes are the types of fields that are slices.
var sliceTypes = []reflect.Type{
	reflect.TypeFor[[]float32](), reflect.TypeFor[[]float64](), reflect.TypeFor[[]int32](), reflect.TypeFor[[]int64](),
	reflect.TypeFor[[]bool](), reflect.TypeFor[[]string](), reflect.TypeFor[[]time.Time](),
}

// elementTypes are the types of tensors by their names in tags.
var elementTypes = map[string]tensor.DType{
	"float32": tensor.Float32, "float64": tensor.Float64, "int32": tensor.Int32, "int64": tensor.Int64, "bool": tensor.Bool,
}

// Into fills the struct that a pointer points to. A field takes the column that its tag
// `table:"name"` names or, without a tag, the column of its own name in any case of letters. Into
// ignores fields with the tag "-", and columns without a field. A field is a slice of a [Value],
// [Labels], or a tensor [rows], of float32 or of the type after the name: `table:"year,int32"`. If
// Into fails, the struct is unchanged.
func (f *Frame) Into(structure any) error {
	v := reflect.ValueOf(structure)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		misuse("Frame.Into", fmt.Sprintf("want a pointer to a struct, not a %T", structure))
	}
	v = v.Elem()
	var targets []target
	var finish []func()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag, tagged := field.Tag.Lookup("table")
		if !field.IsExported() || tag == "-" {
			if tagged && tag != "-" {
				misuse("Frame.Into", fmt.Sprintf("field %s has a tag and is not exported", field.Name))
			}
			continue
		}
		name, d := tag, tensor.Float32
		if at := strings.LastIndexByte(tag, ','); at >= 0 && elementTypes[tag[at+1:]] != 0 {
			name, d = tag[:at], elementTypes[tag[at+1:]]
		}
		column, err := f.column(name, field.Name)
		if err != nil {
			return err
		}
		set, done, err := f.sink(column, field, d, v.Field(i))
		if err != nil {
			return f.named(err)
		}
		targets, finish = append(targets, target{column, set}), append(finish, done)
	}
	if err := f.fill(targets); err != nil {
		return err
	}
	for _, done := range finish {
		done()
	}
	return nil
}

// column returns the column for a field, by the name in its tag or, if that is "", the field's name.
func (f *Frame) column(tag, goName string) (int, error) {
	if tag != "" {
		return f.find(tag)
	}
	if i, ok := f.index[goName]; ok {
		return i, nil
	}
	alike := func(c Info) bool { return strings.EqualFold(c.Name, goName) }
	i := slices.IndexFunc(f.columns, alike)
	if i < 0 {
		return f.find(goName)
	}
	if rest := f.columns[i+1:]; slices.ContainsFunc(rest, alike) {
		return 0, f.named(fmt.Errorf("field %s may be two columns: give its name in a tag", goName))
	}
	return i, nil
}

// sink returns two functions for v, a field of a struct. set converts the column's field in a row,
// and done sets v once all rows are converted. d is the type of elements if v is a tensor.
func (f *Frame) sink(column int, field reflect.StructField, d tensor.DType, v reflect.Value) (set func(int, string) error, done func(), err error) {
	switch field.Type {
	case reflect.TypeFor[tensor.Tensor]():
		data, slice, err := f.allocate(d, 1)
		if err != nil {
			return nil, nil, err
		}
		return f.setter(column, slice), func() { v.Set(reflect.ValueOf(tensor.FromBytes(d, []int{f.rows}, data))) }, nil
	case reflect.TypeFor[Labels]():
		l := new(Labels)
		set, done, err := f.labels(l)
		return set, func() { done(); v.Set(reflect.ValueOf(*l)) }, err
	}
	if !slices.Contains(sliceTypes, field.Type) {
		misuse("Frame.Into", fmt.Sprintf("field %s is a %v: want a tensor, Labels or a slice of float32, float64, int32, int64, bool, string or time.Time", field.Name, field.Type))
	}
	if err := hostmem.Check(f.rows, int(field.Type.Elem().Size())); err != nil {
		return nil, nil, err
	}
	slice := reflect.MakeSlice(field.Type, f.rows, f.rows)
	return f.setter(column, slice.Interface()), func() { v.Set(slice) }, nil
}
