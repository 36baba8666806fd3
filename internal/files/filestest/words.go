// Package filestest has the words of systems about files, for tests.
package filestest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/internal/files"
)

// NoFile returns the system's error for a file that does not exist.
func NoFile(t testing.TB) string { return missing(t, "none") }

// NoFolder returns its error for a file in a folder that does not exist.
func NoFolder(t testing.TB) string { return missing(t, filepath.Join("none", "file")) }

func missing(t testing.TB, name string) string {
	t.Helper()
	_, err := os.Open(filepath.Join(t.TempDir(), name))
	if err == nil {
		t.Fatal("a file in an empty folder")
	}
	return files.Reason(err).Error()
}
