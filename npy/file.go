package npy

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/treefile"
	"github.com/tensorken/tensorken/tensor"
)

// A File is an open .npy file, of one array named "", or a .npz archive. Any number of
// goroutines may use it.
type File struct {
	path    string
	file    *os.File
	tensors treefile.Tensors[array]
}

// Open opens a file and checks the headers of all arrays. The format is found from the
// first bytes, not from the name. In an archive, members that are no .npy files are
// skipped.
//
// An array is read by Tensor or Load, which need the file open.
func Open(path string) (*File, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, fail(path, err)
	}
	f := &File{path: path, file: file}
	info, err := file.Stat()
	if err == nil {
		f.tensors, err = readArrays(file, info.Size())
	}
	if err != nil {
		file.Close()
		return nil, fail(path, err)
	}
	return f, nil
}

// Close closes the file. Tensors read from it stay valid.
func (f *File) Close() error { return f.file.Close() }

// Names returns the names of the arrays, sorted, without ".npy".
func (f *File) Names() []string { return f.tensors.Names() }

// Tensor reads an array. Its type is the file's; see the package comment.
func (f *File) Tensor(name string) (tensor.Tensor, error) {
	t, err := f.tensors.Tensor(name)
	if err != nil {
		return tensor.Tensor{}, fail(f.path, err)
	}
	return t, nil
}

// Load fills in place the tree that a pointer points to, or a map of pointers, as
// [github.com/tensorken/tensorken/safetensors.File.Load] does, whose rules for missing
// fields, settings and tied weights hold. If it fails, the tree is unchanged.
//
// rename, if not nil, returns the name in the tree of an array in the file; "" skips
// the array, and [Transposed] swaps its last two axes.
func (f *File) Load(tree any, rename func(name string) string) error {
	if err := f.tensors.Load(tree, rename); err != nil {
		return fail(f.path, err)
	}
	return nil
}

// Transposed returns a name for the rename function of [File.Load] to return: the array
// is loaded under this name with its last two axes swapped. Nothing is copied. A name that
// is marked twice is as before, and "" stays "".
func Transposed(name string) string { return treefile.Transposed(name) }

// Load fills a tree from a file: it is [Open] and [File.Load] without rename.
func Load(path string, tree any) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Load(tree, nil)
}

func fail(path string, err error) error {
	return fmt.Errorf("npy: %s: %w", files.Name(path), files.Reason(err))
}

// An array is an array of a file.
type array struct {
	*header
	open func() (io.ReadCloser, error) // opens the .npy file
}

// readArrays reads the headers of all arrays in a file of size bytes.
func readArrays(r io.ReaderAt, size int64) (treefile.Tensors[array], error) {
	var start [4]byte
	r.ReadAt(start[:], 0)
	if isArchive(start[:]) {
		return readArchive(r, size)
	}
	h, err := readHeader(io.NewSectionReader(r, 0, size), size)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(r, 0, size)), nil }
	return treefile.Tensors[array]{"": {h, open}}, nil
}

// Type returns the type and its name.
func (a array) Type() (tensor.DType, string) { return a.typ.dtype, a.typ.name }

// Shape returns the lengths of the axes.
func (a array) Shape() []int { return a.shape }

// Read reads the elements.
func (a array) Read() (tensor.Tensor, error) {
	r, err := a.open()
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, int64(a.size)); err != nil {
		return tensor.Tensor{}, unexpected(err)
	}
	data, err := tensor.Internal.Allocate(graph.Token{}, a.dataSize())
	if err != nil {
		return tensor.Tensor{}, err
	}
	if _, err := io.ReadFull(r, data); err != nil {
		return tensor.Tensor{}, files.Reason(unexpected(err))
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // the end of a member has its checksum
		return tensor.Tensor{}, files.Reason(err)
	}
	if a.typ.bigEndian {
		for e := range slices.Chunk(data, a.typ.dtype.Size()) {
			slices.Reverse(e)
		}
	}
	if !a.fortran {
		return tensor.FromBytes(a.typ.dtype, a.shape, data), nil
	}
	lengths, order := slices.Clone(a.shape), make([]int, len(a.shape))
	slices.Reverse(lengths)
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	return tensor.FromBytes(a.typ.dtype, lengths, data).Permute(order...), nil
}
