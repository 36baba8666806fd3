package images

import (
	"path/filepath"
	"testing"
)

// A class that vanishes before it is read is an error.
func TestVanished(t *testing.T) {
	f := &folder{}
	if err := f.add(filepath.Join(t.TempDir(), "none"), 0); err == nil {
		t.Error("a class that does not exist gives no error")
	}
}
