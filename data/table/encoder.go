package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

// An Encoder numbers the names of categories: the codes of a model's inputs or classes. It is
// part of a model: files have it as a tensor, and optimizers leave it.
//
//	m.City, err = table.NewEncoder(cities, true)  // of the training data
//	x, err := m.City.OneHot(cities)               // of any data
//	names, err := m.City.Decode(scores.ArgMax(1)) // of predictions
type Encoder struct {
	// List is a JSON array of the names in UTF-8, uint8 [bytes]. A last null is the class of names
	// that are not among them and of missing values.
	List tensor.Tensor `tensor:",state"`
}

// NewEncoder returns the Encoder of the distinct names of a column, in their order: "" is a
// missing value and none of them. If others is set, the last class is reserved for missing values
// and for names that the column lacks; otherwise they are errors where they are encoded. It is an
// error if there is no class.
func NewEncoder(column []string, others bool) (Encoder, error) {
	names := map[string]bool{}
	for i, n := range column {
		if !utf8.ValidString(n) {
			return Encoder{}, fmt.Errorf(`table.NewEncoder: element %d, "%s", is not UTF-8`, i, excerpt(n))
		}
		if n != "" {
			names[n] = true
		}
	}
	if len(names) == 0 && !others {
		return Encoder{}, errors.New("table.NewEncoder: the column has no names")
	}
	list := make([]*string, 0, len(names)+1)
	for n := range names {
		list = append(list, &n)
	}
	slices.SortFunc(list, func(a, b *string) int { return strings.Compare(*a, *b) })
	if others {
		list = append(list, nil)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return Encoder{}, fmt.Errorf("table.NewEncoder: %w", err)
	}
	return Encoder{tensor.FromBytes(tensor.Uint8, []int{len(text)}, text)}, nil
}

// names returns the names, and whether a class for others follows them.
func (e Encoder) names(op string) (names []string, others bool, err error) {
	if !e.List.IsValid() {
		misuse(op, "the Encoder is empty: make or load it first")
	}
	text, err := e.List.Bytes()
	if err != nil {
		return nil, false, err
	}
	if err := hostmem.Check(len(text), 16); err != nil {
		return nil, false, err
	}
	var list []*string
	if e.List.DType() != tensor.Uint8 || json.Unmarshal(text, &list) != nil || len(list) == 0 {
		return nil, false, fmt.Errorf(`table: an Encoder's List is "%s", no list of names in JSON`, excerpt(string(text[:min(len(text), 200)])))
	}
	for i, n := range list {
		if n != nil {
			names = append(names, *n)
		} else if others = true; i < len(list)-1 {
			return nil, false, errors.New("table: an Encoder's List has a null that is not the last")
		}
	}
	if a, b := duplicate(names); a != b {
		return nil, false, fmt.Errorf(`table: an Encoder's List has "%s" twice`, excerpt(names[a]))
	}
	return names, others, nil
}

// String returns the first names in quotes, with others for the reserved class.
func (e Encoder) String() string {
	if !e.List.IsValid() {
		return "no classes"
	}
	names, others, err := e.names("Encoder.String")
	if err != nil {
		return "error: " + err.Error()
	}
	const most = 20
	var b strings.Builder
	for i, n := range names[:min(len(names), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + excerpt(n) + `"`)
	}
	if more := len(names) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	if others {
		b.WriteString(" and others")
	}
	return strings.TrimPrefix(b.String(), " and ")
}

// Classes returns the names by their codes; the reserved class is "".
func (e Encoder) Classes() ([]string, error) {
	names, others, err := e.names("Encoder.Classes")
	if others {
		names = append(names, "")
	}
	return names, err
}

// Codes returns the codes of names, int32 [n].
func (e Encoder) Codes(column []string) (tensor.Tensor, error) {
	codes, _, err := e.codes("Encoder.Codes", column)
	if err != nil {
		return tensor.Tensor{}, err
	}
	return tensor.New(codes), nil
}

// OneHot returns 1 for the class of each name and 0 for the others, float32 [n classes].
func (e Encoder) OneHot(column []string) (tensor.Tensor, error) {
	codes, classes, err := e.codes("Encoder.OneHot", column)
	if err != nil {
		return tensor.Tensor{}, err
	}
	return tensor.New(codes).OneHot(classes).Cast(tensor.Float32), nil
}

func (e Encoder) codes(op string, column []string) (codes []int32, classes int, err error) {
	names, others, err := e.names(op)
	if err != nil {
		return nil, 0, err
	}
	classes = len(names)
	if others {
		classes++
	}
	known := make(map[string]int32, len(names))
	for i, n := range names {
		known[n] = int32(i)
	}
	codes = make([]int32, len(column))
	for i, n := range column {
		code, ok := known[n]
		switch {
		case ok:
		case others:
			code = int32(len(names))
		case n == "":
			return nil, 0, fmt.Errorf("table.%s: element %d is missing: make the Encoder with a class for others", op, i)
		default:
			return nil, 0, fmt.Errorf(`table.%s: element %d, "%s", is none of the %d classes: make the Encoder of them all, or with a class for others`,
				op, i, excerpt(n), classes)
		}
		codes[i] = code
	}
	return codes, classes, nil
}

// Decode returns the names of codes, integers of any shape, such as scores.ArgMax(1), in the order
// of their elements. The reserved class is "".
func (e Encoder) Decode(codes tensor.Tensor) ([]string, error) {
	names, err := e.Classes()
	if err != nil {
		return nil, err
	}
	if !codes.IsValid() || !codes.DType().IsInt() {
		misuse("Encoder.Decode", "want codes of an integer type, not "+describe(codes))
	}
	codes = codes.To(tensor.CPU())
	if codes.DType() == tensor.Uint64 {
		codes = codes.Minimum(math.MaxInt32)
	}
	list, err := tensor.Data[int64](codes.Cast(tensor.Int64))
	if err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, c := range list {
		if c < 0 || c >= int64(len(names)) {
			return nil, fmt.Errorf("table.Encoder.Decode: element %d is %d, and there are %d classes", i, c, len(names))
		}
		out[i] = names[c]
	}
	return out, nil
}
