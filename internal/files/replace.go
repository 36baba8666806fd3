package files

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

// Replace calls write to fill a new file and renames it to path, or to the target of
// path if that is a symbolic link, so path is the old file or the whole new one at all
// times. If write fails, the old file stays. Replace flushes the writer after write.
//
// The new file is path.xxxxxxxx.tmp, with eight hexadecimal digits, until it is renamed.
// A killed process leaves it, and the next Replace of the same path removes it; on
// systems without locks, such as Plan 9, only once it is an hour old.
func Replace(path string, write func(*bufio.Writer) error) error {
	mode, err := replacedMode(os.Stat(path))
	if err != nil {
		return err
	}
	if !filepath.IsLocal(filepath.Base(path)) {
		return errors.New("the system has no files of this name: choose another") // as Windows of COM1 and a:b
	}
	target, err := followLinks(path)
	if err != nil {
		return err
	}
	err = replaceTarget(target, mode, write)
	if err != nil && target != path {
		err = fmt.Errorf("it is a link to %s: %w", Name(target), Reason(err))
	}
	return err
}

// Check returns the error that Replace would return before it writes.
func Check(path string) error {
	checked := errors.New("checked")
	err := Replace(path, func(*bufio.Writer) error { return checked })
	if errors.Is(err, checked) {
		return nil
	}
	return err
}

// replacedMode returns the mode of a file that replaces another, from the results of
// os.Stat for that.
func replacedMode(info fs.FileInfo, err error) (fs.FileMode, error) {
	switch {
	case errors.Is(err, fs.ErrPermission):
		// The system refuses to follow another user's link in a folder that all may write:
		// Readlink and rename would follow it.
		return 0, err
	case err != nil:
		return 0o666, nil // before umask
	case !info.Mode().IsRegular():
		return 0, errNotRegular
	}
	return info.Mode().Perm(), nil
}

// maxLinks is the number of links followed, as in filepath.EvalSymlinks.
const maxLinks = 255

// followLinks returns the target of path, which need not exist. The system resolves
// links in path's folders.
func followLinks(path string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link, or no file
		}
		if err := checkLink(path); err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			// filepath.Join would shorten a/link/.. to a.
			dir, _ := filepath.Split(path)
			to = dir + to
		}
		path = to
	}
	return "", fmt.Errorf("more than %d links lead to one another", maxLinks)
}

// replaceTarget is Replace for a path that is no link; mode is the new file's.
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
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := Rename(f.Name(), path); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
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

// isTemp reports whether createTemp makes such a name for a path with the last element
// base.
func isTemp(name, base string) bool {
	digits, found := strings.CutPrefix(name, base+".")
	digits, ends := strings.CutSuffix(digits, ".tmp")
	return found && ends && len(digits) == 8 && strings.Trim(digits, "0123456789abcdef") == ""
}

// removeLeftovers removes abandoned files of createTemp. Failure is harmless.
func removeLeftovers(path string) {
	dir, base := filepath.Split(path)
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		if isTemp(e.Name(), base) && e.Type().IsRegular() {
			removeUnlocked(dir + e.Name())
		}
	}
}

// syncDir makes a rename durable, on systems that can. Without it the old file or the
// whole new one survives a crash.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
