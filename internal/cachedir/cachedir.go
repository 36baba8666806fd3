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
// of an older one. It is an error if another user could write there or above.
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

// makePrivate removes the rights of others from dir and, if it is in a folder tensorken, from its
// parents up to that one. Earlier versions made folders that umask alone restricted.
func makePrivate(dir string) error {
	dirs := []string{dir}
	const depth = 2
	for d := dir; len(dirs) <= depth && filepath.Base(d) != "tensorken"; dirs = append(dirs, d) {
		d = filepath.Dir(d)
	}
	if filepath.Base(dirs[len(dirs)-1]) != "tensorken" {
		dirs = dirs[:1]
	}
	for _, d := range dirs {
		info, err := os.Stat(d)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = os.Chmod(d, 0o700)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
