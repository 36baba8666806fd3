//go:build unix

package cachedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// maxLinks is the greatest number of links in a path, as in filepath.EvalSymlinks.
const maxLinks = 255

// Trusted returns the path without links of a file or folder that nobody but the user and root
// can change or replace: it, each folder above and each link on the way belong to the user or
// root, and no other may write them, except folders in which others can only add files, as in
// /tmp. Access control lists count through the mask that the mode shows.
func Trusted(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return trusted(path, os.Geteuid(), runtime.GOOS)
}

func trusted(path string, user int, goos string) (string, error) {
	const sep = string(filepath.Separator)
	at, rest := sep, strings.Split(path, sep)
	for links := 0; ; {
		info, err := os.Lstat(at)
		if err != nil {
			return "", err
		}
		if err := trustedEntry(info, user, goos); err != nil {
			return "", fmt.Errorf("%s %w", at, err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if links++; links > maxLinks {
				return "", errors.New("too many links")
			}
			to, err := os.Readlink(at)
			if err != nil {
				return "", err
			}
			rest = append(strings.Split(to, sep), rest...)
			if at = filepath.Dir(at); filepath.IsAbs(to) {
				at = sep
			}
			continue
		}
		for len(rest) > 0 && rest[0] == "" {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return at, nil
		}
		at, rest = filepath.Join(at, rest[0]), rest[1:] // at has no links: Join may remove ".."
	}
}

// trustedEntry returns an error if one other than the user and root owns or may write an entry of
// a folder.
func trustedEntry(info fs.FileInfo, user int, goos string) error {
	const admin = 80 // the group of macOS whose members may become root; it owns /Applications
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("has no owner")
	}
	mode := info.Mode()
	writers := fs.FileMode(0o022)
	switch {
	case mode&fs.ModeSymlink != 0, mode.IsDir() && mode&fs.ModeSticky != 0:
		writers = 0
	case goos == "darwin" && stat.Uid == 0 && stat.Gid == admin:
		writers = 0o002
	}
	switch {
	case stat.Uid != 0 && int(stat.Uid) != user:
		return fmt.Errorf("belongs to the user %d: want this one, %d, or root", stat.Uid, user)
	case mode&writers != 0:
		return fmt.Errorf("can be written by others: run chmod go-w on it, if nobody has changed it")
	}
	return nil
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
