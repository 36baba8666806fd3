// Package cachedir has the folders in which Tensorken keeps files for one user, and decides
// which files may be loaded as code.
package cachedir

import (
	"os"
	"path/filepath"
)

// Path returns the path of a folder of Tensorken in the user's cache folder, "" if the system
// names no cache folder, or names it by a relative path: the current folder may be anyone's.
func Path(name string) string {
	dir, err := os.UserCacheDir()
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "tensorken", name)
}

// Make makes a folder that Path returned, or one below, private to the user. It changes the mode
// of an older one. It is an error if another user could write there or above. On Windows the folder
// has the rights of the one above it.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := makePrivate(dir); err != nil {
		return err
	}
	_, err := Trusted(dir)
	return err
}
