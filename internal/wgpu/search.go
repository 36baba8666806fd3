package wgpu

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Variable is the environment variable that names the library to load.
const Variable = "TENSORKEN_WEBGPU_LIB"

// advice says what to do where no library is found.
const advice = "run `tensorken gpu install`, which fetches one, or set " + Variable + " to the path of one of npm's bun-webgpu 0.1"

// drivers says, by system, what an adapter needs besides a GPU.
var drivers = map[string]string{
	"linux":   "the GPU's Vulkan driver and the Vulkan loader (package libvulkan1 or vulkan-loader)",
	"darwin":  "macOS, which brings the GPU's driver",
	"windows": "the GPU's driver",
}

// names are the files that hold webgpu.h on a system: of the npm package
// bun-webgpu, of Dawn's own build, of wgpu-native.
var names = map[string][]string{
	"linux":   {"libwebgpu_wrapper.so", "libwebgpu_dawn.so", "libwgpu_native.so"},
	"darwin":  {"libwebgpu_wrapper.dylib", "libwebgpu_dawn.dylib", "libwgpu_native.dylib"},
	"windows": {"webgpu_wrapper.dll", "webgpu_dawn.dll", "wgpu_native.dll"},
}

// Prebuilt are the systems for which there is a library to fetch, those of
// `tensorken gpu install`.
var Prebuilt = map[string]bool{"linux/amd64": true, "darwin/amd64": true, "darwin/arm64": true, "windows/amd64": true}

// A candidate is a library to try.
type candidate struct {
	path string
	// bare means that the system looks for the path in its own folders.
	bare bool
}

// A place is what the search depends on.
type place struct {
	goos, goarch string

	named string // by the caller or the environment
	env   bool   // the environment named it
	exe   string // folder of the executable, "" if it is not known
	cache string // the user's cache folder, likewise
}

// candidates lists what to try, in order. What somebody named is a file or, if
// there is none and it is no path, a library of the system.
func (p place) candidates() []candidate {
	if p.named != "" {
		c := candidate{path: p.named}
		if _, err := os.Stat(p.named); err != nil {
			c.bare = filepath.Base(p.named) == p.named
		} else if path, err := filepath.Abs(p.named); err == nil {
			c.path = path // the system would look for a bare name elsewhere
		}
		return []candidate{c}
	}
	var list []candidate
	for _, dir := range []string{p.exe, p.cache} {
		if dir == "" {
			continue
		}
		for _, n := range names[p.goos] {
			list = append(list, candidate{path: filepath.Join(dir, n)})
		}
	}
	for _, n := range names[p.goos] {
		list = append(list, candidate{path: n, bare: true})
	}
	return list
}

// here is the place of this process. A path given overrides the environment.
func here(goos, goarch, path string) place {
	p := place{goos: goos, goarch: goarch, named: path, cache: CacheDir()}
	if p.named == "" {
		p.named = os.Getenv(Variable)
		p.env = p.named != ""
	}
	if exe, err := os.Executable(); err == nil {
		p.exe = filepath.Dir(exe)
	}
	return p
}

// CacheDir is the folder where a library is installed for the user, "" if the
// system has none.
func CacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tensorken", "webgpu")
}

// ErrNoAdapter says that a library finds no adapter, or none that will do.
var ErrNoAdapter = errors.New("no WebGPU adapter")

// noAdapter is the error for a list of adapters that is empty. It says what to
// do, and what the library says.
func noAdapter(goos, said string) error {
	if said != "" {
		said = " (" + said + ")"
	}
	return fmt.Errorf("%w%s: install or update %s", ErrNoAdapter, said, drivers[goos])
}

// ErrNoLibrary says that no library was found, or none that can be used.
var ErrNoLibrary = errors.New("no WebGPU library")

// noPrebuilt is the error on a system for which there is no library to fetch.
func noPrebuilt(system string) error {
	return fmt.Errorf("%w: this version has no GPU on %s, for want of a prebuilt library: use the device cpu", ErrNoLibrary, system)
}

// search loads the first candidate that can be used. Its error tells what was
// tried.
func search(p place, load func(path string) (Library, error)) (Library, error) {
	var tried []string
	for _, c := range p.candidates() {
		var err error
		if !c.bare {
			err = isFile(c.path)
		}
		if err == nil {
			var lib Library
			if lib, err = load(c.path); err == nil {
				return lib, nil
			}
		}
		why := strings.TrimPrefix(err.Error(), c.path+": ")
		switch {
		case errors.Is(err, os.ErrNotExist):
			why = "no such file"
		case errors.As(err, new(*unusable)):
		case c.bare:
			why = "not in the system's folders"
		default:
			why = cmp.Or(foreign(c.path, p.goos, p.goarch), why)
		}
		tried = append(tried, c.path+": "+why)
	}
	switch system := p.goos + "/" + p.goarch; {
	case p.env:
		return nil, fmt.Errorf("%w: %s is %s. Unset it to use what `tensorken gpu install` fetches", ErrNoLibrary, Variable, tried[0])
	case p.named != "":
		return nil, fmt.Errorf("%w: %s. Name none to use what `tensorken gpu install` fetches", ErrNoLibrary, tried[0])
	case !Prebuilt[system]:
		return nil, noPrebuilt(system)
	}
	return nil, fmt.Errorf("%w: %s. Tried:\n\t%s", ErrNoLibrary, advice, strings.Join(tried, "\n\t"))
}

// isFile returns an error unless a regular file is at path: opening a FIFO would
// wait for its writer.
func isFile(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &unusable{"it is not a regular file"}
	}
	return err
}

// unusable says why a file cannot be used as a library.
type unusable struct{ why string }

func (e *unusable) Error() string { return e.why }
