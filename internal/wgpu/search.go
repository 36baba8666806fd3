//go:build !js

package wgpu

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorken/tensorken/internal/cachedir"
)

// advice is the remedy if no library is found.
const advice = "run `tensorken gpu install`, which fetches one, or set " + Variable + " to the path of one of npm's bun-webgpu 0.1"

// names has the file names of libraries by system: the npm package bun-webgpu's, Dawn's
// and wgpu-native's.
var names = map[string][]string{
	"linux":   {"libwebgpu_wrapper.so", "libwebgpu_dawn.so", "libwgpu_native.so"},
	"darwin":  {"libwebgpu_wrapper.dylib", "libwebgpu_dawn.dylib", "libwgpu_native.dylib"},
	"windows": {"webgpu_wrapper.dll", "webgpu_dawn.dll", "wgpu_native.dll"},
}

// systemFolders has the folders of each system that are searched by full path. Windows has none
// for such libraries, and Linux' loader knows its own.
var systemFolders = map[string][]string{"darwin": {"/usr/local/lib", "/opt/homebrew/lib"}}

// A candidate is a library to try.
type candidate struct {
	path string
	bare bool // the system searches its own folders for path
	// guarded means that the library must be trusted: nobody named it.
	guarded bool
}

// A searchEnv has the inputs of the search.
type searchEnv struct {
	goos, goarch string

	named string // path given by the caller or the environment
	env   bool   // the environment named it
	exe   string // folder of the executable, "" if unknown
	cache string // the user's cache folder, "" if unknown
}

// candidates lists the libraries to try, in order. No path depends on the current folder, except
// a relative one that the caller gave.
func (p searchEnv) candidates() ([]candidate, error) {
	if p.named != "" {
		c, err := p.namedCandidate()
		return []candidate{c}, err
	}
	var list []candidate
	for _, dir := range []string{p.cache, p.exe} {
		if dir == "" {
			continue
		}
		for _, n := range names[p.goos] {
			list = append(list, candidate{path: filepath.Join(dir, n), guarded: true})
		}
	}
	for _, dir := range systemFolders[p.goos] {
		for _, n := range names[p.goos] {
			list = append(list, candidate{path: dir + "/" + n})
		}
	}
	if p.goos == "linux" {
		for _, n := range names[p.goos] {
			list = append(list, candidate{path: n, bare: true})
		}
	}
	return list, nil
}

// namedCandidate returns the candidate for a given name: a path or, on Linux, the file name of a
// library of the system.
func (p searchEnv) namedCandidate() (candidate, error) {
	separators := "/"
	if p.goos == "windows" {
		separators = `/\:`
	}
	switch {
	case filepath.IsAbs(p.named):
		return candidate{path: p.named}, nil
	case !strings.ContainsAny(p.named, separators) && p.goos == "linux":
		return candidate{path: p.named, bare: true}, nil
	case p.env || !strings.ContainsAny(p.named, separators):
		return candidate{path: p.named}, errors.New("want an absolute path, because the current folder may be anyone's")
	}
	path, err := filepath.Abs(p.named)
	return candidate{path: path}, err
}

// noPrebuilt returns the error on a system for which there is no library to fetch.
func noPrebuilt(system string) error {
	return fmt.Errorf("%w: this version has no GPU on %s, for want of a prebuilt library: use the device cpu", ErrNoLibrary, system)
}

// search loads the first usable candidate. Its error lists the attempts.
func search(p searchEnv, load func(path string) (Library, error)) (Library, error) {
	list, err := p.candidates()
	if err != nil {
		return nil, p.failed(p.named + ": " + err.Error())
	}
	var tried []string
	for _, c := range list {
		path := c.path
		var err error
		if !c.bare {
			err = isFile(path)
		}
		if err == nil && c.guarded {
			if path, err = cachedir.Trusted(path); err != nil {
				return nil, fmt.Errorf("%w: %s is not loaded: %w", ErrNoLibrary, c.path, err)
			}
		}
		if err == nil {
			var lib Library
			if lib, err = load(path); err == nil {
				return lib, nil
			}
		}
		why := strings.TrimPrefix(err.Error(), c.path+": ")
		switch {
		case errors.Is(err, os.ErrNotExist):
			why = "no such file"
		case errors.As(err, new(*unusable)):
		case c.bare && p.named != "":
			why = "not in the system's folders. Write ./" + c.path + " for a file of the current folder"
		case c.bare:
			why = "not in the system's folders"
		default:
			why = cmp.Or(foreign(c.path, p.goos, p.goarch), why)
		}
		tried = append(tried, c.path+": "+why)
	}
	return nil, p.failed(tried...)
}

// failed returns the error of a search that tried some paths, each with the reason why it failed.
func (p searchEnv) failed(tried ...string) error {
	switch system := p.goos + "/" + p.goarch; {
	case p.env:
		return fmt.Errorf("%w: %s is %s. Unset it to use what `tensorken gpu install` fetches", ErrNoLibrary, Variable, tried[0])
	case p.named != "":
		return fmt.Errorf("%w: %s. Name none to use what `tensorken gpu install` fetches", ErrNoLibrary, tried[0])
	case !Prebuilt[system]:
		return noPrebuilt(system)
	}
	return fmt.Errorf("%w: %s. Tried:\n\t%s", ErrNoLibrary, advice, strings.Join(tried, "\n\t"))
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
