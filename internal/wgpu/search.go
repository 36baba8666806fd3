package wgpu

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Variable is the environment variable that names the library to load.
const Variable = "TENSORKEN_WEBGPU_LIB"

// Advice says what to run where no library is found.
const Advice = "run `tensorken gpu install`, which fetches a library, or set " + Variable + " to the path of one"

// names are the files that hold webgpu.h on a system: of the npm package
// bun-webgpu, of Dawn's own build, of wgpu-native.
var names = map[string][]string{
	"linux":   {"libwebgpu_wrapper.so", "libwebgpu_dawn.so", "libwgpu_native.so"},
	"darwin":  {"libwebgpu_wrapper.dylib", "libwebgpu_dawn.dylib", "libwgpu_native.dylib"},
	"windows": {"webgpu_wrapper.dll", "webgpu_dawn.dll", "wgpu_native.dll"},
}

// A candidate is a library to try.
type candidate struct {
	path string
	// bare means that the system looks for the path in its own folders.
	bare bool
	// named means that somebody asked for this one: no other is tried.
	named bool
}

// A place is what the search depends on.
type place struct {
	goos  string
	named string // by the caller or the environment
	exe   string // folder of the executable, "" if it is not known
	cache string // the user's cache folder, likewise
}

// candidates lists what to try, in order.
func (p place) candidates() []candidate {
	if p.named != "" {
		return []candidate{{path: p.named, named: true}}
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
func here(goos, path string) place {
	p := place{goos: goos, named: path, cache: CacheDir()}
	if p.named == "" {
		p.named = os.Getenv(Variable)
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

// ErrNoAdapter says that a library finds no adapter.
var ErrNoAdapter = errors.New("no adapter")

// ErrNoLibrary says that no library was found, or none that can be used.
var ErrNoLibrary = errors.New("no WebGPU library")

// search loads the first candidate that can be used. Its error tells what was
// tried.
func search(p place, load func(path string) (Library, error)) (Library, error) {
	var tried []string
	for _, c := range p.candidates() {
		var err error
		if !c.bare {
			_, err = os.Stat(c.path)
		}
		if err == nil {
			var lib Library
			if lib, err = load(c.path); err == nil {
				return lib, nil
			}
		}
		switch {
		case errors.Is(err, os.ErrNotExist):
			err = errors.New("no such file")
		case c.bare && !errors.As(err, new(*unusable)):
			err = errors.New("not in the system's folders")
		}
		tried = append(tried, fmt.Sprintf("\n\t%s: %v", c.path, err))
	}
	if len(tried) == 0 {
		return nil, fmt.Errorf("%w: none is known for %s", ErrNoLibrary, p.goos)
	}
	return nil, fmt.Errorf("%w: %s. Tried:%s", ErrNoLibrary, Advice, strings.Join(tried, ""))
}

// unusable says why a library that was loaded cannot be used.
type unusable struct{ why string }

func (e *unusable) Error() string { return e.why }
