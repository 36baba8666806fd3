package simd

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestCache compares the processor's figure with Linux'.
func TestCache(t *testing.T) {
	processor, system := processorCache(), systemCache("/sys/devices/system/cpu/cpu0/cache")
	if processor != 0 && system != 0 && processor != system {
		t.Errorf("%d bytes, and Linux says %d", processor, system)
	}
	if n := Cache(); n < 1<<15 || n > 1<<30 {
		t.Errorf("%d bytes", n)
	}
}

func TestSystemCache(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no other system has such files")
	}
	dir := t.TempDir()
	if n := systemCache(dir); n != 0 {
		t.Errorf("no files: %d bytes", n)
	}
	for name, text := range map[string]string{"index0/level": "1\n", "index0/size": "32K\n", "index2/level": "2\n", "index2/size": "512K\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if n := systemCache(dir); n != 512<<10 {
		t.Errorf("%d bytes, want 512 KiB", n)
	}
}
