package ir

// A Format stores float32 elements in blocks, as quantised weights are. It is the type of arguments
// that a kernel reads, not of elements: a Load decodes.
type Format struct {
	Name       string
	Len, Bytes int                         // of a block: elements, a power of two up to MaxBlock, and size
	Decode     func(y []float32, b []byte) // whole blocks
}

// blockFormats follow the element types.
var blockFormats []Format

// MaxBlock is the greatest length of a block.
const MaxBlock = 256

// AddFormat returns the DType of a format. It is called while the program starts.
func AddFormat(f Format) DType {
	blockFormats = append(blockFormats, f)
	return numDTypes + DType(len(blockFormats)-1)
}

// Format returns the format that d is, nil for a type of elements.
func (d DType) Format() *Format {
	if i := int(d) - int(numDTypes); i >= 0 && i < len(blockFormats) {
		return &blockFormats[i]
	}
	return nil
}

// Bytes is the size of n elements in a buffer, whole blocks.
func (d DType) Bytes(n int) int {
	if f := d.Format(); f != nil {
		return n / f.Len * f.Bytes
	}
	return n * d.Size()
}

// Elements is the number of elements in a buffer of n bytes.
func (d DType) Elements(n int) int {
	if f := d.Format(); f != nil {
		return n / f.Bytes * f.Len
	}
	return n / d.Size()
}

// Aligned reports whether a position is a multiple of 16 bytes, or of a block.
func (d DType) Aligned(position int) bool { return position%d.Unit() == 0 }

// Unit is the number of elements in 16 bytes, or in a block.
func (d DType) Unit() int {
	if f := d.Format(); f != nil {
		return f.Len
	}
	return 16 / d.Size()
}
