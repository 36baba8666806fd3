package safetensors

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// replaceFile has write fill a new file, which then takes the place of path, or
// of the file that path leads to if it is a symbolic link.
func replaceFile(path string, write func(*bufio.Writer) error) error {
	mode := fs.FileMode(0o666) // before umask
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return errNotRegular
		}
		mode = info.Mode().Perm()
	}
	target, err := followLinks(path)
	if err != nil {
		return err
	}
	err = replaceTarget(target, mode, write)
	if err != nil && target != path {
		err = fmt.Errorf("it is a link to %s: %w", target, reason(err))
	}
	return err
}

// maxLinks is the most links that are followed, as by filepath.EvalSymlinks.
const maxLinks = 255

// followLinks returns the path of the file that path leads to, which need not
// exist. Links to folders on the way are left to the system.
func followLinks(path string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link, or nothing is there
		}
		if !filepath.IsAbs(to) {
			// filepath.Join would take a/link/.. for a.
			dir, _ := filepath.Split(path)
			to = dir + to
		}
		path = to
	}
	return "", fmt.Errorf("more than %d links lead to one another", maxLinks)
}

// replaceTarget is replaceFile where path is no link and mode that of a new
// file.
func replaceTarget(path string, mode fs.FileMode, write func(*bufio.Writer) error) (err error) {
	removeLeftovers(path)
	f, err := createTemp(path, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(bufio.NewWriterSize(f, 1<<16)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := renameLocked(f, path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// createTemp creates a new file in the folder of path.
func createTemp(path string, mode fs.FileMode) (*os.File, error) {
	for {
		f, err := createLocked(fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32()), mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// isTemp reports whether name is one that createTemp makes for a path whose
// last element is base.
func isTemp(name, base string) bool {
	digits, found := strings.CutPrefix(name, base+".")
	digits, ends := strings.CutSuffix(digits, ".tmp")
	return found && ends && len(digits) == 8 && strings.Trim(digits, "0123456789abcdef") == ""
}

// removeLeftovers removes the files of createTemp that no process writes any
// more. What cannot be removed stays: it is in nobody's way.
func removeLeftovers(path string) {
	dir, base := filepath.Split(path)
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		if isTemp(e.Name(), base) && e.Type().IsRegular() {
			removeUnlocked(dir + e.Name())
		}
	}
}

// syncDir makes a rename in a folder last. Not all systems can, and the file
// is whole in any case.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
