package onnx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
)

// An Info describes an input or a result of a model.
type Info struct {
	Name string
	Type string // "float" or another type of the standard; "sequence(float)", "optional(float)", "map(int64, float)"
	Dims []Dim  // nil if the rank is not known, or it is no tensor

	typ *proto.Type
}

// A Dim is the length of an axis.
type Dim struct {
	Len  int    // -1: it differs from call to call
	Name string // axes of one name have one length in a call; may be empty
}

// String returns the length, the name or "?".
func (d Dim) String() string {
	switch {
	case d.Len >= 0:
		return strconv.Itoa(d.Len)
	case d.Name != "":
		return d.Name
	}
	return "?"
}

// String returns the name, type and shape, such as "image float[N 3 224 224]".
func (i Info) String() string {
	s := i.Name + " " + i.Type
	if i.Dims != nil {
		s += fmt.Sprint(i.Dims)
	}
	return s
}

// Inputs returns the inputs that a call must have.
func (m *Model) Inputs() []Info { return slices.Clone(m.inputs) }

// Outputs returns the results.
func (m *Model) Outputs() []Info { return slices.Clone(m.outputs) }

func infoOf(v *proto.ValueInfo) Info {
	i := Info{Name: v.Name, Type: typeName(v.Type), typ: v.Type}
	if v.Type != nil && v.Type.Kind == proto.KindTensor && v.Type.HasShape {
		i.Dims = []Dim{}
		for _, d := range v.Type.Dims {
			i.Dims = append(i.Dims, Dim{int(max(d.Value, -1)), d.Param})
		}
	}
	return i
}

// typeName returns the name of a type.
func typeName(t *proto.Type) string {
	if t == nil {
		return "unknown"
	}
	switch t.Kind {
	case proto.KindTensor:
		return op.Elem(t.Elem).String()
	case proto.KindSequence:
		return "sequence(" + typeName(t.Inner) + ")"
	case proto.KindOptional:
		return "optional(" + typeName(t.Inner) + ")"
	case proto.KindMap:
		return "map(" + op.Elem(t.Key).String() + ", " + typeName(t.Inner) + ")"
	case proto.KindSparse:
		return "sparse(" + op.Elem(t.Elem).String() + ")"
	}
	return "unknown"
}

// check returns an error unless v fits; sizes has the lengths of named axes so far.
func (i Info) check(v op.Value, sizes map[string]int) error {
	if i.typ == nil || i.typ.Kind != proto.KindTensor {
		return nil
	}
	switch v.Kind {
	case op.TensorKind, op.StringKind:
	default:
		return fmt.Errorf("onnx: input %q is a %v, want %s", i.Name, v, files.Name(i.String()))
	}
	if v.Elem != op.Elem(i.typ.Elem) {
		return fmt.Errorf("onnx: input %q is of type %v, want %v: Cast it", i.Name, v.Elem, op.Elem(i.typ.Elem))
	}
	dims := v.Dims()
	if i.Dims == nil {
		return nil
	}
	fits := len(dims) == len(i.Dims)
	for a := 0; fits && a < len(dims); a++ {
		want := i.Dims[a].Len
		if name := i.Dims[a].Name; want < 0 && name != "" {
			var ok bool
			if want, ok = sizes[name]; !ok {
				sizes[name], want = dims[a], dims[a]
			}
		}
		fits = want < 0 || want == dims[a]
	}
	if !fits {
		return fmt.Errorf("onnx: input %q has shape %v, want %v%s", i.Name, dims, i.Dims, sizesText(sizes))
	}
	return nil
}

// sizesText lists the lengths of named axes for an error.
func sizesText(sizes map[string]int) string {
	var list []string
	for name, n := range sizes {
		list = append(list, fmt.Sprintf("%s %d", name, n))
	}
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	return ", and other inputs have " + strings.Join(list, ", ")
}
