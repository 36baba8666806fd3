package blocks

import "github.com/tensorken/tensorken/ir"

// dtypes are the formats as types of buffers, by name.
var dtypes = func() map[string]ir.DType {
	all := map[string]ir.DType{}
	for _, f := range formats {
		all[f.Name] = ir.AddFormat(ir.Format{Name: f.Name, Len: f.Len, Bytes: f.Bytes, Decode: f.Decode, Codes: codes[f.Name]})
	}
	return all
}()

// DType returns the format as the type of a buffer. A program that links this package has them all.
func (f *Format) DType() ir.DType { return dtypes[f.Name] }
