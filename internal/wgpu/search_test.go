//go:build !js

package wgpu

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCandidates(t *testing.T) {
	var got []string
	for _, c := range (searchEnv{goos: "linux", goarch: "amd64", exe: "/exe", cache: "/cache"}).candidates() {
		got = append(got, filepath.ToSlash(c.path))
	}
	want := strings.Fields(`/exe/libwebgpu_wrapper.so /exe/libwebgpu_dawn.so /exe/libwgpu_native.so
		/cache/libwebgpu_wrapper.so /cache/libwebgpu_dawn.so /cache/libwgpu_native.so
		libwebgpu_wrapper.so libwebgpu_dawn.so libwgpu_native.so`)
	if !slices.Equal(got, want) {
		t.Errorf("candidates: got %q, want %q", got, want)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("here.so", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("here.so")
	if err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join("sub", "none.so")
	for named, want := range map[string]candidate{
		here:                  {path: here},
		"here.so":             {path: here},
		"." + sep + "here.so": {path: here},
		"none.so":             {path: "none.so", bare: true},
		sub:                   {path: sub},
		"." + sep + "none.so": {path: "." + sep + "none.so"},
		dir + sep + "none.so": {path: dir + sep + "none.so"},
	} {
		got := searchEnv{goos: "linux", goarch: "amd64", named: named, exe: "/exe"}.candidates()
		if len(got) != 1 || got[0] != want {
			t.Errorf("candidates where %s is named: got %v, want %v alone", named, got, want)
		}
	}
}

const sep = string(filepath.Separator)

// Every failure says what was tried, why it failed, and what to do.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"webgpu_dawn.dll", "libwebgpu_dawn.so"} {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
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
		{searchEnv{goos: "linux", goarch: "amd64", named: "/none.so", exe: dir}, []string{"no WebGPU library: /none.so: no such file. Name none to use what `tensorken gpu install`"}},
		{searchEnv{goos: "linux", goarch: "amd64", named: "/none.so", env: true}, []string{"no WebGPU library: TENSORKEN_WEBGPU_LIB is /none.so: no such file. Unset it to"}},
		{searchEnv{goos: "linux", goarch: "amd64", named: dir}, []string{"no WebGPU library: " + dir + ": it is not a regular file. Name none to"}},
		{searchEnv{goos: "linux", goarch: "arm64", cache: dir}, []string{"no WebGPU library: this version has no GPU on linux/arm64, for want of a prebuilt library: use the device cpu"}},
		{searchEnv{goos: "windows", goarch: "arm64", named: "/none.so"}, []string{"no WebGPU library: /none.so: no such file"}},
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
