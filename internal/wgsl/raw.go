package wgsl

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Raw completes the module of a user's kernel: it appends the bindings of a pass's buffers and the constants
// threads and n, so that the lines of the user's text stay theirs. Devices without validation may
// not survive a module that does not fit the bindings, so those that a search finds are errors.
func Raw(k *ir.RawKernel, p *shader.Pass) (string, error) {
	for text, wanted := range map[string]bool{"@workgroup_size(threads)": true, "fn main(": true, "@group": false, "@binding": false} {
		if strings.Contains(k.Text, text) != wanted || slices.Contains(strings.FieldsFunc(k.Text, notInWord), "override") {
			return "", fmt.Errorf("%w: the WGSL must have @workgroup_size(threads) and fn main(, and neither @group and @binding, which the library adds, nor override", driver.ErrSource)
		}
	}
	var b strings.Builder
	b.WriteString(k.Text)
	for i, d := range p.Buffers {
		element := rawTypes[d.Type]
		if element == "" {
			return "", fmt.Errorf("%w: %s is %v; a kernel in WGSL takes float32, int32 and uint32: Cast it", driver.ErrSource, d.Name, d.Type)
		}
		access := "read"
		if d.Write {
			access = "read_write"
		}
		fmt.Fprintf(&b, "\n@group(0) @binding(%d) var<storage, %s> %s: array<%s>;", i, access, d.Name, element)
	}
	fmt.Fprintf(&b, "\nconst threads = %du;\nconst n = %du;\n", k.Threads, k.Result().Len)
	return b.String(), nil
}

func notInWord(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// rawTypes are the types of elements that take a word.
var rawTypes = map[ir.DType]string{ir.Float32: "f32", ir.Int32: "i32", ir.Uint32: "u32"}
