// Package mapped has files in the address space of the process, so that weights are read where the system has
// them and not copied. A page beyond the end of a file that was cut short cannot be read: the fault is a
// panic on goroutines that ask for it (Guard, and the workers of the CPU), and an error of this package.
package mapped

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem"
)

// A File is the bytes of a file, which cannot be written. They are unmapped once the File is unreachable, so
// who has a slice of them keeps the File.
type File struct {
	region
	checked atomic.Int64 // when the file was last found unchanged, in nanoseconds since began
}

// A region is the addresses of a file.
type region struct {
	path     string // for errors
	absolute string
	info     fs.FileInfo
	data     []byte
}

// An Error says why a file no longer has the bytes that were mapped.
type Error struct{ Path, Fault string }

func (e *Error) Error() string {
	return files.Name(e.Path) + " " + e.Fault + " while in use: open it again"
}

var (
	mu      sync.Mutex
	regions = map[uintptr]*region{} // by address
	bytes   int                     // in regions
	live    int                     // the least of bytes since the last collection
	began   = clock.Now()
)

// A Handle is an open file, and its bytes if they are mapped.
type Handle struct {
	*os.File
	bytes atomic.Pointer[File]
}

// HandleOf maps a file that was opened by path, if the system can.
func HandleOf(f *os.File, path string) *Handle {
	h := &Handle{File: f}
	h.bytes.Store(Open(f, path))
	return h
}

// Bytes returns the file's bytes, nil if they are not mapped. It fails if they are no more as they were when it was
// opened, with an error that does not name it.
func (h *Handle) Bytes() (*File, error) {
	f := h.bytes.Load()
	if f == nil {
		return nil, nil
	}
	if e := (*Error)(nil); errors.As(f.Check(), &e) {
		return nil, fmt.Errorf("the file %s while in use: open it again", e.Fault)
	}
	return f, nil
}

// ReadAll fills b from an offset on, on all cores: the system copies, and finds pages for b.
func (h *Handle) ReadAll(b []byte, offset int64) error {
	return files.Parallel(len(b), 4<<20, func(begin, end int) error {
		_, err := h.ReadAt(b[begin:end], offset+int64(begin))
		if err == io.EOF {
			err = fmt.Errorf("the file has become shorter since it was opened: %w", io.ErrUnexpectedEOF)
		}
		return files.Reason(err)
	})
}

// Close closes the file. Its bytes stay mapped for their readers.
func (h *Handle) Close() error {
	h.bytes.Store(nil)
	return h.File.Close()
}

// Open maps a file that was opened by path. It returns nil where the system cannot: then the file is read.
// The caller may close f.
func Open(f *os.File, path string) *File {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 || int64(int(info.Size())) != info.Size() {
		return nil
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	collect(int(info.Size()))
	data, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil
	}
	m := &File{region: region{path, absolute, info, data}}
	r := m.region
	mu.Lock()
	defer mu.Unlock()
	regions[r.address()] = &r
	bytes += len(data)
	runtime.AddCleanup(m, (*region).unmap, &r)
	return m
}

// collect runs a collection before n bytes are mapped if files that nothing reads may have half as many
// bytes as others: Go's collector does not see them.
func collect(n int) {
	limit, _ := hostmem.Limit()
	mu.Lock()
	live = min(live, bytes)
	due := bytes+n-live > max(live/2, limit/64) && bytes > 0
	mu.Unlock()
	if due {
		hostmem.Collect()
		mu.Lock()
		live = bytes
		mu.Unlock()
	}
}

func (r *region) address() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(r.data))) }

func (r *region) unmap() {
	mu.Lock()
	defer mu.Unlock()
	delete(regions, r.address())
	bytes -= len(r.data)
	unmapFile(r.data)
}

// Size returns the size of the file.
func (f *File) Size() int { return len(f.data) }

// Slice returns n bytes from an offset on, which the caller reads by Guard. It returns nil if the file does not have
// them, or not at a multiple of align.
func (f *File) Slice(offset int64, n, align int) []byte {
	if f == nil || offset < 0 || n <= 0 || offset%int64(align) != 0 || offset > int64(len(f.data)-n) {
		return nil
	}
	return f.data[offset:][:n:n]
}

// checkTime is the time for which a file that was found unchanged is taken to stay so.
const checkTime = int64(time.Millisecond)

// Check returns an error if the file was written since it was opened: the bytes would be others. A file
// that replaced it, or that it was renamed to, does not matter.
func (f *File) Check() error {
	now := int64(clock.Since(began))
	if before := f.checked.Load(); before != 0 && now-before < checkTime {
		return nil
	}
	info, err := os.Stat(f.absolute)
	if err == nil && os.SameFile(info, f.info) && (info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime())) {
		fault := "was changed"
		if info.Size() < f.info.Size() {
			fault = "was cut short"
		}
		return &Error{f.path, fault}
	}
	f.checked.Store(now)
	return nil
}

// Guard calls read, which reads bytes of f. A fault is an error. A nil file does not fault.
func (f *File) Guard(read func() error) (err error) {
	if f == nil {
		return read()
	}
	if err := f.Check(); err != nil {
		return err
	}
	defer runtime.KeepAlive(f)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if err = Fault(r); err == nil {
				panic(r)
			}
		}
	}()
	return read()
}

// Fault returns the error of a recovered panic that is a fault in a mapped file, else nil.
func Fault(recovered any) error {
	fault, ok := recovered.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	for start, r := range regions {
		if at := fault.Addr() - start; at < uintptr(len(r.data)) {
			return &Error{r.path, fmt.Sprintf("was cut short, or cannot be read at byte %d,", at)}
		}
	}
	return nil
}
