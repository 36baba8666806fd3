//go:build !js

package wgpu

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// No candidate is searched for in the current folder. Linux' loader alone gets bare names.
func TestCandidates(t *testing.T) {
	for goos, want := range map[string]string{
		"linux": `/cache/libwebgpu_wrapper.so! /cache/libwebgpu_dawn.so! /cache/libwgpu_native.so!
			/exe/libwebgpu_wrapper.so! /exe/libwebgpu_dawn.so! /exe/libwgpu_native.so!
			libwebgpu_wrapper.so libwebgpu_dawn.so libwgpu_native.so`,
		"windows": `/cache/webgpu_wrapper.dll! /cache/webgpu_dawn.dll! /cache/wgpu_native.dll!
			/exe/webgpu_wrapper.dll! /exe/webgpu_dawn.dll! /exe/wgpu_native.dll!`,
		"darwin": `/cache/libwebgpu_wrapper.dylib! /cache/libwebgpu_dawn.dylib! /cache/libwgpu_native.dylib!
			/exe/libwebgpu_wrapper.dylib! /exe/libwebgpu_dawn.dylib! /exe/libwgpu_native.dylib!
			/usr/local/lib/libwebgpu_wrapper.dylib /usr/local/lib/libwebgpu_dawn.dylib /usr/local/lib/libwgpu_native.dylib
			/opt/homebrew/lib/libwebgpu_wrapper.dylib /opt/homebrew/lib/libwebgpu_dawn.dylib /opt/homebrew/lib/libwgpu_native.dylib`,
	} {
		list, err := (searchEnv{goos: goos, goarch: "amd64", exe: "/exe", cache: "/cache"}).candidates()
		var got []string
		for _, c := range list {
			name := filepath.ToSlash(c.path)
			if c.guarded {
				name += "!"
			}
			if isPath := strings.Contains(name, "/"); isPath == c.bare || !isPath && goos != "linux" {
				t.Errorf("%s has the candidate %+v", goos, c)
			}
			got = append(got, name)
		}
		if !slices.Equal(got, strings.Fields(want)) || err != nil {
			t.Errorf("candidates on %s: got %q, %v, want %s", goos, got, err, want)
		}
	}
}

// A name is a path, or on Linux the name of a library of the system; the environment must not
// name a relative path.
func TestNamed(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(dir, "here.so")
	sub := "sub/none.so"
	dot := "./here.so"
	none := candidate{}
	for _, c := range []struct {
		named                        string
		linux, env, others, otherEnv candidate
	}{
		{here, candidate{path: here}, candidate{path: here}, candidate{path: here}, candidate{path: here}},
		{"here.so", candidate{path: "here.so", bare: true}, candidate{path: "here.so", bare: true}, none, none},
		{dot, candidate{path: here}, none, candidate{path: here}, none},
		{sub, candidate{path: filepath.Join(dir, sub)}, none, candidate{path: filepath.Join(dir, sub)}, none},
	} {
		for _, goos := range []string{"linux", "darwin", "windows"} {
			for _, env := range []bool{false, true} {
				want := map[[2]bool]candidate{{true, false}: c.linux, {true, true}: c.env, {false, false}: c.others, {false, true}: c.otherEnv}[[2]bool{goos == "linux", env}]
				got, err := searchEnv{goos: goos, goarch: "amd64", named: c.named, env: env, exe: "/exe"}.candidates()
				if (err == nil) != (want != none) || err == nil && (len(got) != 1 || got[0] != want) {
					t.Errorf("candidates on %s where %s is named (by the environment: %v): got %v, %v, want %v", goos, c.named, env, got, err, want)
				}
			}
		}
	}
}

// A library that others may replace is not loaded unless it is named, and the error says why.
func TestGuarded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of Windows do not tell others' rights")
	}
	for _, c := range []struct {
		dir, file os.FileMode
		named     bool
		want      string
	}{
		{0o700, 0o600, false, ""},
		{0o755, 0o644, false, ""},
		{0o777, 0o644, false, " can be written by others"},
		{0o775, 0o644, false, " can be written by others"},
		{0o700, 0o666, false, "libwebgpu_dawn.so can be written by others"},
		{0o777, 0o666, true, ""},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "libwebgpu_dawn.so")
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, c.file), os.Chmod(dir, c.dir)); err != nil {
			t.Fatal(err)
		}
		for _, p := range []searchEnv{{goos: "linux", goarch: "amd64", cache: dir}, {goos: "linux", goarch: "amd64", exe: dir}} {
			if c.named {
				p.named = path
			}
			loaded := ""
			_, err := search(p, func(path string) (Library, error) {
				loaded = path
				return &struct{ Library }{}, nil
			})
			if c.want == "" && (err != nil || filepath.Base(loaded) != "libwebgpu_dawn.so") ||
				c.want != "" && (loaded != "" || !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), path+" is not loaded: ") || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("search(%+v) with modes %o and %o loads %q, %v, want an error with %q", p, c.dir, c.file, loaded, err, c.want)
			}
		}
	}
}

// Every failure lists the attempts, their errors, and a remedy.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { // whatever umask is
		t.Fatal(err)
	}
	for _, n := range []string{"webgpu_dawn.dll", "libwebgpu_dawn.so"} {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	none := filepath.Join(dir, "none.so")
	refuse := func(path string) (Library, error) {
		if filepath.IsAbs(path) {
			return nil, &unusable{"it is wgpu-native"}
		}
		return nil, errors.New("cannot open shared object file")
	}
	for _, c := range []struct {
		place searchEnv
		want  []string
	}{
		{searchEnv{goos: "linux", goarch: "amd64", cache: dir}, []string{
			"no WebGPU library", "tensorken gpu install", Variable,
			"libwebgpu_wrapper.so: no such file", "libwebgpu_dawn.so: it is wgpu-native", "libwgpu_native.so: not in the system's folders",
		}},
		{searchEnv{goos: "windows", goarch: "amd64", exe: dir}, []string{"webgpu_dawn.dll: it is wgpu-native"}},
		{searchEnv{goos: "linux", goarch: "amd64", named: none, exe: dir}, []string{"no WebGPU library: " + none + ": no such file. Name none to use what `tensorken gpu install`"}},
		{searchEnv{goos: "linux", goarch: "amd64", named: none, env: true}, []string{"no WebGPU library: TENSORKEN_WEBGPU_LIB is " + none + ": no such file. Unset it to"}},
		{searchEnv{goos: "linux", goarch: "amd64", named: dir}, []string{"no WebGPU library: " + dir + ": it is not a regular file. Name none to"}},
		{searchEnv{goos: "linux", goarch: "amd64", named: "none.so"}, []string{"no WebGPU library: none.so: not in the system's folders. Write ./none.so for"}},
		{searchEnv{goos: "linux", goarch: "amd64", named: "./none.so", env: true}, []string{"no WebGPU library: TENSORKEN_WEBGPU_LIB is ./none.so: want an absolute path"}},
		{searchEnv{goos: "windows", goarch: "amd64", named: "none.dll"}, []string{"no WebGPU library: none.dll: want an absolute path"}},
		{searchEnv{goos: "linux", goarch: "arm64", cache: dir}, []string{"no WebGPU library: this version has no GPU on linux/arm64, for want of a prebuilt library: use the device cpu"}},
		{searchEnv{goos: "windows", goarch: "arm64", named: none}, []string{"no WebGPU library: " + none + ": no such file"}},
	} {
		_, err := search(c.place, refuse)
		if !errors.Is(err, ErrNoLibrary) {
			t.Errorf("search(%+v) = %v, want ErrNoLibrary", c.place, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("search(%+v): got %v, want it to say %q", c.place, err, w)
			}
		}
	}
	lib := &struct{ Library }{}
	var asked []string
	got, err := search(searchEnv{goos: "linux", goarch: "amd64", exe: dir}, func(path string) (Library, error) {
		asked = append(asked, path)
		return lib, nil
	})
	if got != lib || err != nil || len(asked) != 1 {
		t.Errorf("search with a library beside the executable: got %v, %v after %q", got, err, asked)
	}
}

// The error of a library does not repeat its path.
func TestSearchPath(t *testing.T) {
	name := filepath.Join(t.TempDir(), "short.so")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := search(searchEnv{named: name}, func(path string) (Library, error) { return nil, errors.New(path + ": file too short") })
	if want := "no WebGPU library: " + name + ": file too short."; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("search = %v, want %s…", err, want)
	}
}

func TestNoAdapter(t *testing.T) {
	for goos, want := range map[string]string{
		"linux":   "no WebGPU adapter (none supported): install or update the GPU's Vulkan driver and the Vulkan loader (package libvulkan1 or vulkan-loader)",
		"darwin":  "no WebGPU adapter (none supported): install or update macOS, which brings the GPU's driver",
		"windows": "no WebGPU adapter (none supported): install or update the GPU's driver",
	} {
		if err := noAdapter(goos, "none supported"); err.Error() != want || !errors.Is(err, ErrNoAdapter) {
			t.Errorf("noAdapter(%q) = %v, want %s", goos, err, want)
		}
	}
}

func TestDetect(t *testing.T) {
	dawn := abis[0].has
	for _, c := range []struct {
		name    string
		symbols []string
		want    string // of the error, "" for none
	}{
		{"the known build", dawn, ""},
		{"a later build of the same", append(slices.Clone(dawn), "wgpuCreateInstance", "wgpuDeviceTick", "wgpuComputePassEncoderSetImmediates"), "it is Dawn, but not the build"},
		{"Dawn", []string{"wgpuCreateInstance", "wgpuDeviceTick"}, "it is Dawn, but not the build"},
		{"wgpu-native", []string{"wgpuCreateInstance", "wgpuGetVersion", "wgpuDevicePoll"}, "it is wgpu-native"},
		{"another", []string{"wgpuCreateInstance"}, "no build that this version knows"},
		{"none", []string{"malloc"}, "it lacks webgpu.h's functions"},
	} {
		a, err := detect(func(s string) bool { return slices.Contains(c.symbols, s) })
		if c.want == "" {
			if err != nil || a != &abis[0] {
				t.Errorf("detect(%s) = %v, %v", c.name, a, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "bun-webgpu") {
			t.Errorf("detect(%s): got error %v, want %q", c.name, err, c.want)
		}
	}
}
