package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/tensor"
)

const magic = "\x93NUMPY"

// maxHeader is the greatest length of a header in bytes; NumPy reads 10,000 by default.
const maxHeader = 1 << 16

// A header describes the array of a .npy file.
type header struct {
	typ     elementType
	shape   []int
	fortran bool // the first axis is contiguous
	size    int  // of the header, in bytes
}

// dataSize returns the size of the array in bytes, for a type of package tensor.
func (h *header) dataSize() int { return graph.Len(h.shape) * h.typ.dtype.Size() }

// readHeader reads the header of a .npy file of size bytes, and checks that it has the data
// of its array and nothing else.
func readHeader(r io.Reader, size int64) (*header, error) {
	head := make([]byte, len(magic)+6)
	n, err := io.ReadFull(r, head[:len(magic)+4])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if !strings.HasPrefix(string(head), magic[:min(n, len(magic))]) || n < len(magic) {
		return nil, errors.New("not a .npy file: it does not begin as one")
	}
	major, start := head[len(magic)], len(magic)+4
	length := int64(binary.LittleEndian.Uint16(head[len(magic)+2:]))
	if major > 1 {
		m, _ := io.ReadFull(r, head[start:])
		n, start = n+m, start+2
		length = int64(binary.LittleEndian.Uint32(head[len(magic)+2:]))
	}
	switch {
	case n < start:
		return nil, fmt.Errorf("%d bytes are too few for a .npy file", n)
	case major < 1 || major > 3:
		return nil, fmt.Errorf("version %d of the format is unknown: want 1, 2 or 3", major)
	case length > maxHeader:
		return nil, fmt.Errorf("its header would have %d bytes, more than %d", length, maxHeader)
	case length > size-int64(start):
		return nil, fmt.Errorf("its header has %d bytes, but only %d follow: cut short?", length, size-int64(start))
	}
	text, err := hostmem.Make(int(length), 1)
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, unexpected(err)
	}
	h, err := parseHeader(string(text))
	if err != nil {
		return nil, err
	}
	h.size = start + int(length)
	if h.typ.dtype == 0 {
		return h, nil
	}
	switch need, have := int64(h.dataSize()), size-int64(h.size); {
	case have < need:
		return nil, fmt.Errorf("shape %v of %v needs %d bytes, but only %d follow: cut short?", h.shape, h.typ.dtype, need, have)
	case have > need:
		return nil, fmt.Errorf("%d bytes follow the array of shape %v of %v: several arrays in one file?", have-need, h.shape, h.typ.dtype)
	}
	return h, nil
}

// unexpected is err, at the end of a file that should be longer.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func parseHeader(text string) (*header, error) {
	dict, err := parseDict(text)
	if err != nil {
		return nil, err
	}
	descr, hasDescr := dict["descr"]
	fortran, isBool := dict["fortran_order"].(bool)
	lengths, isList := dict["shape"].(list)
	if !hasDescr || !isBool || !isList || len(dict) != 3 {
		return nil, errors.New("its header must have descr, fortran_order, a bool, and shape, a tuple, and nothing else")
	}
	h := &header{fortran: fortran, shape: []int{}}
	for _, v := range lengths {
		n, ok := v.(int)
		if !ok {
			return nil, fmt.Errorf("its shape has the length %s, which is no integer", shown(v))
		}
		if h.shape = append(h.shape, n); len(h.shape) > shape.MaxFileRank {
			break
		}
	}
	if err := shape.CheckFile(h.shape); err != nil {
		return nil, fmt.Errorf("its shape %v has %w", h.shape, err)
	}
	h.typ, err = parseType(descr)
	return h, err
}

// formatHeader returns the header that NumPy writes for an array in C order.
func formatHeader(d tensor.DType, lengths []int) []byte {
	order := "<"
	if d.Size() == 1 {
		order = "|"
	}
	tuple, room := "()", 0
	if len(lengths) > 0 {
		tuple = ""
		for _, n := range lengths {
			tuple += ", " + strconv.Itoa(n)
		}
		if tuple = "(" + tuple[2:]; len(lengths) == 1 {
			tuple += ","
		}
		tuple += ")"
		// NumPy leaves room for the first length to grow when rows are appended.
		const digits = 21
		room = max(0, digits-len(strconv.Itoa(lengths[0])))
	}
	text := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': %s, }", order, codes[d], tuple)
	text += strings.Repeat(" ", room)
	const align = 64
	start := len(magic) + 4
	text += strings.Repeat(" ", align-(start+len(text)+1)%align) + "\n"
	h := append([]byte(magic), 1, 0)
	return append(binary.LittleEndian.AppendUint16(h, uint16(len(text))), text...)
}
