package npy

import (
	"archive/zip"
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/treefile"
)

// suffix is the end of the names of arrays in an archive.
const suffix = ".npy"

// isArchive reports whether a file that begins like that is a zip archive, which may be
// empty.
func isArchive(start []byte) bool {
	s := string(start)
	return s == "PK\x03\x04" || s == "PK\x05\x06"
}

// readArchive reads the headers of the arrays in an archive of size bytes.
func readArchive(r io.ReaderAt, size int64) (treefile.Tensors[array], error) {
	directory := &directoryReader{r, perEntryByte}
	z, err := zip.NewReader(directory, size)
	directory.memory = 0
	if errors.Is(err, zip.ErrFormat) {
		err = errors.New("not a whole .npz file: its list of arrays is missing or broken: cut short?")
	}
	if err != nil {
		return nil, err
	}
	if err := checkOverlap(z.File); err != nil {
		return nil, err
	}
	arrays := treefile.Tensors[array]{}
	for _, m := range z.File {
		name, ok := strings.CutSuffix(m.Name, suffix)
		if !ok {
			continue
		}
		if _, ok := arrays[name]; ok {
			return nil, fmt.Errorf("it has two arrays named %q", name)
		}
		h, err := readMember(m, size)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		arrays[name] = array{h, m.Open}
	}
	return arrays, nil
}

// perEntryByte is the most bytes of memory that a byte of an archive's directory takes.
const perEntryByte = 16

// A directoryReader checks that there is memory to parse the directory that it reads.
type directoryReader struct {
	io.ReaderAt
	memory int // for each byte; 0 outside of the directory
}

// ReadAt reads, if there is enough memory.
func (d *directoryReader) ReadAt(b []byte, at int64) (int, error) {
	if d.memory > 0 {
		if err := hostmem.Check(len(b), d.memory); err != nil {
			return 0, err
		}
	}
	return d.ReaderAt.ReadAt(b, at)
}

// checkOverlap returns an error if two arrays of an archive share bytes: a small file could
// otherwise claim any number of arrays, each as large as the file allows for one.
func checkOverlap(members []*zip.File) error {
	type extent struct {
		name       string
		start, end uint64
	}
	var extents []extent
	for _, m := range members {
		if !strings.HasSuffix(m.Name, suffix) {
			continue
		}
		at, err := m.DataOffset()
		if err != nil {
			return fmt.Errorf("%q: %w", m.Name, err)
		}
		extents = append(extents, extent{m.Name, uint64(at), uint64(at) + min(m.CompressedSize64, math.MaxInt64)})
	}
	slices.SortFunc(extents, func(a, b extent) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), strings.Compare(a.name, b.name))
	})
	for i := range extents[min(1, len(extents)):] {
		if a, b := extents[i], extents[i+1]; a.end > b.start {
			return fmt.Errorf("%q and %q overlap", a.name, b.name)
		}
	}
	return nil
}

// maxDeflate is more than the greatest ratio by which deflate compresses, 1032.
const maxDeflate = 1040

// readMember checks a member of an archive of size bytes, and reads the array's header.
func readMember(m *zip.File, size int64) (*header, error) {
	at, err := m.DataOffset()
	if err != nil {
		return nil, err
	}
	stored, whole := m.CompressedSize64, m.UncompressedSize64
	switch {
	case m.Flags&1 != 0:
		return nil, errors.New("it is encrypted")
	case m.Method != zip.Store && m.Method != zip.Deflate:
		return nil, fmt.Errorf("it is compressed by method %d: want 0, stored, or 8, deflate", m.Method)
	case at > size || stored > uint64(size-at):
		return nil, fmt.Errorf("it should have %d bytes from %d on, but the file has %d: cut short?", stored, at, size)
	case m.Method == zip.Store && whole != stored, whole/maxDeflate > stored, whole > math.MaxInt64:
		return nil, fmt.Errorf("it cannot have %d bytes, compressed %d", whole, stored)
	}
	r, err := m.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readHeader(r, int64(whole))
}

// date is the date of all members, 1 January 1980 as zip writes it: equal tensors make
// equal files.
const date = 1<<5 | 1

// utf8Name is the flag of a member whose name is UTF-8.
const utf8Name = 1 << 11

// writeArchive writes arrays in the order of their names.
func writeArchive(w *bufio.Writer, names []string, get func(name string) (head, data []byte, err error)) error {
	z := zip.NewWriter(w)
	for _, name := range names {
		head, data, err := get(name)
		if err != nil {
			return err
		}
		size := uint64(len(head)) + uint64(len(data))
		// Sizes and checksum are known, so they go before the data, where simple readers want
		// them.
		m := &zip.FileHeader{
			Name:               name + suffix,
			ReaderVersion:      20,
			ModifiedDate:       date, //lint:ignore SA1019 CreateRaw does not write Modified
			CRC32:              crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, data),
			CompressedSize64:   size,
			UncompressedSize64: size,
		}
		if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
			m.Flags = utf8Name
		}
		member, err := z.CreateRaw(m)
		if err != nil {
			return err
		}
		for _, part := range [][]byte{head, data} {
			if _, err := member.Write(part); err != nil {
				return err
			}
		}
	}
	return z.Close()
}
