//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/tensorken/tensorken/internal/dynlib"
)

// NCCLVariable is the environment variable that names NCCL's library.
const NCCLVariable = "TENSORKEN_NCCL"

// ncclFunctions has the addresses of NCCL's functions: GetVersion is ncclGetVersion.
type ncclFunctions struct {
	GetVersion, GetErrorString, GetUniqueId, CommInitRankScalable   uintptr
	CommGetAsyncError, CommAbort, CommDestroy, GroupStart, GroupEnd uintptr
	AllReduce, AllGather, ReduceScatter, Broadcast                  uintptr
}

// An nccl is NCCL's library.
type nccl struct {
	ncclFunctions
	version int // 22803 is 2.28.3
}

const ncclCure = "install it (pip install nvidia-nccl-cu12 or -cu13, or your system's libnccl2) and set " + NCCLVariable + " to the absolute path of libnccl.so.2 or of its folder, or to off, so that collectives go through the host's memory"

// loadNCCL loads the library once.
var loadNCCL = sync.OnceValues(func() (*nccl, error) { return openNCCL(os.Getenv(NCCLVariable)) })

// openNCCL loads the library at a path, in a folder, or of the system if the path is empty.
func openNCCL(path string) (*nccl, error) {
	const name = "libnccl.so.2"
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("NCCL is for Linux: %w", errors.ErrUnsupported)
	}
	if path == "off" {
		return nil, fmt.Errorf("%s is off: %w", NCCLVariable, errors.ErrUnsupported)
	}
	var handle uintptr
	var err error
	if path == "" {
		handle, err = dynlib.OpenSystem(name)
	} else {
		if s, failed := os.Stat(path); failed == nil && s.IsDir() {
			path = filepath.Join(path, name)
		}
		handle, err = dynlib.Open(path)
	}
	if err != nil {
		return nil, fmt.Errorf("there is no NCCL: %w: %s", err, ncclCure)
	}
	n := new(nccl)
	missing := dynlib.Find(handle, "nccl", &n.ncclFunctions)
	if n.GetVersion != 0 {
		var version int32
		dynlib.Call(n.GetVersion, uintptr(unsafe.Pointer(&version)))
		n.version = int(version)
	}
	if missing != "" {
		return nil, fmt.Errorf("NCCL %s is too old, it lacks %s: 2.23 or later is needed: %s", n.versionText(), missing, ncclCure)
	}
	return n, nil
}

// versionText is the version as NCCL prints it.
func (n *nccl) versionText() string {
	return fmt.Sprintf("%d.%d.%d", n.version/10000, n.version/100%100, n.version%100)
}

// NCCL's results.
const (
	ncclUnhandledCuda = 1
	ncclInvalidUsage  = 5
	ncclRemoteError   = 6
	ncclInProgress    = 7
)

// call calls a function of NCCL.
//
//go:uintptrescapes
func (n *nccl) call(name string, fn uintptr, args ...uintptr) error {
	return n.result(name, int(uint32(dynlib.Call(fn, args...))))
}

// result returns the error of a result.
func (n *nccl) result(name string, code int) error {
	if code == 0 {
		return nil
	}
	text := goString((*byte)(pointer(dynlib.Call(n.GetErrorString, uintptr(code)))))
	hint := ""
	switch code {
	case ncclInvalidUsage:
		hint = ": do two ranks have one GPU?"
	case ncclUnhandledCuda:
		hint = ": NCCL_DEBUG=WARN in the environment says more"
	}
	return fmt.Errorf("NCCL %s: %s: %s%s", n.versionText(), name, text, hint)
}

// hostID identifies this machine since it was started, for the place of a GPU.
var hostID = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		name, _ := os.Hostname()
		return name
	}
	return strings.TrimSpace(string(b))
})
