package npy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// codes has NumPy's code of each type, without the byte order, and types the inverse.
var codes, types = func() (map[tensor.DType]string, map[string]tensor.DType) {
	codes, types := map[tensor.DType]string{}, map[string]tensor.DType{}
	for _, d := range ir.DTypes {
		code := kindOf(d) + strconv.Itoa(d.Size())
		codes[d], types[code] = code, d
	}
	return codes, types
}()

// kindOf returns the letter of NumPy's kind of a type.
func kindOf(d tensor.DType) string {
	switch {
	case d == tensor.BFloat16:
		return "V" // as package ml_dtypes writes it
	case d == tensor.Bool:
		return "b"
	case d.IsFloat():
		return "f"
	case d.IsSigned():
		return "i"
	}
	return "u"
}

// kinds are NumPy's kinds of types by letter.
var kinds = map[byte]struct {
	name   string
	inBits bool // the name of a type ends in its number of bits
}{
	'b': {"bool", false},
	'i': {"int", true},
	'u': {"uint", true},
	'f': {"float", true},
	'c': {"complex", true},
	'm': {"timedelta64", false},
	'M': {"datetime64", false},
	'O': {"object", false},
	'S': {"bytes", false},
	'a': {"bytes", false},
	'U': {"str", false},
	'V': {"void", false},
}

// An elementType is the type of an array's elements.
type elementType struct {
	name      string       // for errors
	dtype     tensor.DType // 0 if package tensor lacks it
	bigEndian bool
}

// parseType parses the value of descr in a header.
func parseType(descr any) (elementType, error) {
	if fields, ok := descr.(list); ok && len(fields) > 0 {
		return elementType{name: "a record of fields"}, nil
	}
	s, ok := descr.(string)
	code := strings.TrimLeft(s, "<>|=")
	if !ok || len(s)-len(code) > 1 || code == "" {
		return elementType{}, fmt.Errorf("its descr %s is no type", shown(descr))
	}
	t := elementType{name: shown(s), dtype: types[code]}
	if t.bigEndian = s[0] == '>'; t.dtype != 0 {
		return t, nil
	}
	kind, ok := kinds[code[0]]
	size, err := strconv.Atoi(code[1:])
	switch {
	case !ok:
		return elementType{}, fmt.Errorf("its descr %s is no type", shown(s))
	case kind.inBits && err == nil && 0 < size && size <= 1<<10:
		t.name = fmt.Sprintf("%s%d (%s)", kind.name, 8*size, shown(s))
	default:
		t.name = fmt.Sprintf("%s (%s)", kind.name, shown(s))
	}
	return t, nil
}
