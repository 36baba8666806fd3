package gguf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/blocks"
	_ "github.com/tensorken/tensorken/internal/schedule/packed" // products by blocks on GPUs
	"github.com/tensorken/tensorken/tensor"
)

// A Type is a type of tensors in files.
type Type uint32

// The types, with ggml's names and numbers.
const (
	F32     Type = 0
	F16     Type = 1
	Q4_0    Type = 2
	Q4_1    Type = 3
	Q5_0    Type = 6
	Q5_1    Type = 7
	Q8_0    Type = 8
	Q8_1    Type = 9
	Q2_K    Type = 10
	Q3_K    Type = 11
	Q4_K    Type = 12
	Q5_K    Type = 13
	Q6_K    Type = 14
	Q8_K    Type = 15
	IQ2_XXS Type = 16
	IQ2_XS  Type = 17
	IQ3_XXS Type = 18
	IQ1_S   Type = 19
	IQ4_NL  Type = 20
	IQ3_S   Type = 21
	IQ2_S   Type = 22
	IQ4_XS  Type = 23
	I8      Type = 24
	I16     Type = 25
	I32     Type = 26
	I64     Type = 27
	F64     Type = 28
	IQ1_M   Type = 29
	BF16    Type = 30
	TQ1_0   Type = 34
	TQ2_0   Type = 35
	MXFP4   Type = 39
	NVFP4   Type = 40
	Q1_0    Type = 41
	Q2_0    Type = 42
)

// A typeInfo says how a type is stored: as elements of a type of package tensor, or in blocks.
type typeInfo struct {
	name  string
	dtype tensor.DType // of tensors that are read
	block *blocks.Format
}

var types = func() map[Type]typeInfo {
	all := map[Type]typeInfo{
		F32: {name: "F32", dtype: tensor.Float32}, F16: {name: "F16", dtype: tensor.Float16},
		BF16: {name: "BF16", dtype: tensor.BFloat16}, F64: {name: "F64", dtype: tensor.Float64},
		I8: {name: "I8", dtype: tensor.Int8}, I16: {name: "I16", dtype: tensor.Int16},
		I32: {name: "I32", dtype: tensor.Int32}, I64: {name: "I64", dtype: tensor.Int64},
	}
	for t, name := range map[Type]string{
		Q4_0: "Q4_0", Q4_1: "Q4_1", Q5_0: "Q5_0", Q5_1: "Q5_1", Q8_0: "Q8_0", Q8_1: "Q8_1",
		Q2_K: "Q2_K", Q3_K: "Q3_K", Q4_K: "Q4_K", Q5_K: "Q5_K", Q6_K: "Q6_K", Q8_K: "Q8_K",
		IQ2_XXS: "IQ2_XXS", IQ2_XS: "IQ2_XS", IQ2_S: "IQ2_S", IQ3_XXS: "IQ3_XXS", IQ3_S: "IQ3_S",
		IQ1_S: "IQ1_S", IQ1_M: "IQ1_M", IQ4_NL: "IQ4_NL", IQ4_XS: "IQ4_XS",
		TQ1_0: "TQ1_0", TQ2_0: "TQ2_0", MXFP4: "MXFP4", NVFP4: "NVFP4", Q1_0: "Q1_0", Q2_0: "Q2_0",
	} {
		all[t] = typeInfo{name, tensor.Float32, blocks.Formats[name]}
	}
	return all
}()

// removed lists types of old files that no version of ggml reads any more.
var removed = map[Type]string{
	4: "Q4_2", 5: "Q4_3", 31: "Q4_0_4_4", 32: "Q4_0_4_8", 33: "Q4_0_8_8", 36: "IQ4_NL_4_4", 37: "IQ4_NL_4_8", 38: "IQ4_NL_8_8",
}

// String returns ggml's name of the type.
func (t Type) String() string {
	if info, ok := types[t]; ok {
		return info.name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Types returns all types, in the order of their numbers.
func Types() []Type { return slices.Sorted(maps.Keys(types)) }

// ParseType returns the type of a name, in any case.
func ParseType(name string) (Type, error) {
	var names []string
	for _, t := range Types() {
		if strings.EqualFold(t.String(), name) {
			return t, nil
		}
		names = append(names, t.String())
	}
	return 0, fmt.Errorf("gguf: no type is named %q: want one of %s", name, strings.Join(names, ", "))
}

// Quantised reports whether the type stores blocks of numbers with common scales.
func (t Type) Quantised() bool { return types[t].block != nil }

// Block returns the length of a block and its size in bytes: 1 and the size of an element, if the
// type has no blocks.
func (t Type) Block() (length, bytes int) {
	info := types[t]
	if info.block != nil {
		return info.block.Len, info.block.Bytes
	}
	return 1, info.dtype.Size()
}

// bytes returns the size of n elements, whole blocks.
func (t Type) bytes(n int) int {
	length, size := t.Block()
	return n / length * size
}
