package ir

// A Format stores float32 elements in blocks, as quantised weights are. It is the type of arguments
// that a kernel reads, not of elements: a Load decodes.
type Format struct {
	Name       string
	Len, Bytes int                         // of a block: elements, a power of two up to MaxBlock, and size
	Decode     func(y []float32, b []byte) // whole blocks
	Codes      *Codes                      // the same for shaders; nil: they read decoded copies
}

// Codes are the bits of a block. An element is a code times a scale, rounded, plus an offset, rounded.
type Codes struct {
	Run    int // elements, which follow each other, of one scale and offset
	Code   Field
	Scale  Factor
	Offset *Factor // nil: none
	Cuts   []int   // bytes of a block from which groups keep a part apart: see Grouped
}

// A Factor is a number of each run of a block: a float of the block times an integer of the run.
type Factor struct {
	Float FloatCode
	At    int    // byte of the float
	Times *Field // by the number of the run; nil: 1
	Minus bool   // the negative product
}

// A FloatCode is the representation of a Factor's float.
type FloatCode uint8

// The representations. One is no float of the block. HalfPower is half of a power of two, whose exponent is a
// byte from -127 on.
const (
	One FloatCode = iota
	HalfFloat
	SingleFloat
	HalfPower
)

// A Field is a list of integers, or of numbers of a table.
type Field struct {
	Parts  []Bits // of an integer, the lowest first
	Signed bool   // its highest bit counts negatively
	Bias   int    // subtracted from it
	Table  []int8 // the number of an integer, which has four bits; nil: the integer
}

// Bits are some bits of each integer of a Field. Digits are the digits of the integer's number, in a mixed base: its
// bits are at bit At + Σ digit·Step of the block.
type Bits struct {
	Count, At int
	Digits    []Digit
}

// A Digit goes from 0 to Len-1. Of a Bits' digits the first counts up fastest.
type Digit struct{ Len, Step int }

// Bits is the number of bits of an integer.
func (f *Field) Bits() (n int) {
	for _, p := range f.Parts {
		n += p.Count
	}
	return n
}

// Group is the number of blocks that Grouped puts together: a power of two such that all cuts are multiples of
// 16 bytes.
func (f *Format) Group() int {
	all := f.Bytes
	for _, c := range f.Codes.Cuts {
		all |= c
	}
	return max(1, 16/(all&-all))
}

// Grouped fills dst, of GroupedLen bytes and zeros, with blocks as shaders read them, in groups that are as long as their
// blocks: the first part of each block, up to the first of Cuts, then the second part of each, and so on. So vectors of
// 16 bytes are aligned.
func (f *Format) Grouped(dst, b []byte) {
	n := f.Group()
	for len(b) > 0 {
		from := b[:min(n*f.Bytes, len(b))]
		for i := range len(f.Codes.Cuts) + 1 {
			first, end := f.Part(i)
			for j := 0; j*f.Bytes < len(from); j++ {
				copy(dst[n*first+j*(end-first):], from[j*f.Bytes+first:j*f.Bytes+end])
			}
		}
		b, dst = b[len(from):], dst[n*f.Bytes:]
	}
}

// GroupedLen is the number of bytes of blocks of n bytes in groups, of which the last may have room.
func (f *Format) GroupedLen(n int) int { return CeilDiv(n, f.Group()*f.Bytes) * f.Group() * f.Bytes }

// Part is the range of bytes of a block between cuts.
func (f *Format) Part(i int) (first, end int) {
	if end = f.Bytes; i < len(f.Codes.Cuts) {
		end = f.Codes.Cuts[i]
	}
	if i > 0 {
		first = f.Codes.Cuts[i-1]
	}
	return first, end
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

// Formats lists the formats of the packages that a program links.
func Formats() []DType {
	list := make([]DType, len(blockFormats))
	for i := range list {
		list[i] = numDTypes + DType(i)
	}
	return list
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
