//go:build !js

package wgpu

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// advice says what to do if no library is found.
const advice = "run `tensorken gpu install`, which fetches one, or set " + Variable + " to the path of one of npm's bun-webgpu 0.1"

// names has the file names of libraries by system: the npm package bun-webgpu's, Dawn's
// and wgpu-native's.
var names = map[string][]string{
	"linux":   {"libwebgpu_wrapper.so", "libwebgpu_dawn.so", "libwgpu_native.so"},
	"darwin":  {"libwebgpu_wrapper.dylib", "libwebgpu_dawn.dylib", "libwgpu_native.dylib"},
	"windows": {"webgpu_wrapper.dll", "webgpu_dawn.dll", "wgpu_native.dll"},
}

// A candidate is a library to try.
type candidate struct {
	path string
	// bare means that the system searches its own folders for path.
	bare bool
}

// A searchEnv has the inputs of the search.
type searchEnv struct {
	goos, goarch string

	named string // path given by the caller or the environment
	env   bool   // the environment named it
	exe   string // folder of the executable, "" if unknown
	cache string // the user's cache folder, "" if unknown
}

// candidates lists the libraries to try, in order. A given name is a file or, if there is
// no such file and it is not a path, a library of the system.
func (p searchEnv) candidates() []candidate {
	if p.named != "" {
		c := candidate{path: p.named}
		if _, err := os.Stat(p.named); err != nil {
			c.bare = filepath.Base(p.named) == p.named
		} else if path, err := filepath.Abs(p.named); err == nil {
			c.path = path // the system would search elsewhere for a bare name
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

// noPrebuilt returns the error on a system for which there is no library to fetch.
func noPrebuilt(system string) error {
	return fmt.Errorf("%w: this version has no GPU on %s, for want of a prebuilt library: use the device cpu", ErrNoLibrary, system)
}

// search loads the first usable candidate. Its error lists what was tried.
func search(p searchEnv, load func(path string) (Library, error)) (Library, error) {
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

// isFile returns an error unless path is a regular file: opening a FIFO would block.
func isFile(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &unusable{"it is not a regular file"}
	}
	return err
}

// unusable is the reason why a file cannot be used as a library.
type unusable struct{ why string }

func (e *unusable) Error() string { return e.why }
