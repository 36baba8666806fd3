package device_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/tensorken/tensorken/cuda"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/internal/dynlib"
	"github.com/tensorken/tensorken/internal/dynlib/dynlibtest"
	"github.com/tensorken/tensorken/webgpu"
)

// foreign has the names of libraries that Tensorken loads, if there are any.
var foreign = []string{"nvcuda.dll", "webgpu_wrapper.dll", "webgpu_dawn.dll", "wgpu_native.dll"}

// A library in the current folder or on the PATH may be anyone's.
func TestForeignLibraries(t *testing.T) {
	if os.Getenv("TENSORKEN_TEST_FOREIGN") == "" {
		dir, path, cache := t.TempDir(), t.TempDir(), t.TempDir()
		for _, name := range foreign {
			for _, d := range []string{dir, path} {
				if err := os.WriteFile(filepath.Join(d, name), dynlibtest.Empty(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		c := exec.Command(os.Args[0], "-test.run=^TestForeignLibraries$", "-test.v")
		c.Dir = dir
		c.Env = append(os.Environ(), "TENSORKEN_TEST_FOREIGN="+path, "PATH="+path, "LocalAppData="+cache, "TENSORKEN_WEBGPU_LIB=", "TENSORKEN_DEVICE=")
		out, err := c.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
			t.Errorf("the other process: %v, %s", err, out)
		}
		return
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("TENSORKEN_TEST_FOREIGN")
	isLoaded := func(library string) bool {
		var h windows.Handle
		p, err := windows.UTF16PtrFromString(library)
		return err == nil && windows.GetModuleHandleEx(windows.GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, p, &h) == nil
	}
	d, _, err := device.Open("")
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	for _, name := range []string{"cuda", "webgpu"} {
		if d, _, err := device.Open(name); err == nil {
			d.Close()
		}
	}
	cuda.GPUs()
	webgpu.Adapters()
	for _, name := range foreign {
		for _, folder := range []string{dir, path} {
			library := filepath.Join(folder, name)
			if isLoaded(library) {
				t.Errorf("%s is loaded", library)
			}
			// Windows would load it by its name alone, as it can be loaded.
			if _, err := dynlib.Open(library); err != nil || !isLoaded(library) {
				t.Errorf("loading %s by its path: %v", library, err)
			}
		}
	}
}
