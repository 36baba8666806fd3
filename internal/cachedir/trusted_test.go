//go:build unix

package cachedir

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTrusted changes one thing of a folder, a folder in it, and a file there.
func TestTrusted(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(top, sub, file string) error
		want   string // of the error; "" for none
	}{
		{"nothing", func(_, _, _ string) error { return nil }, ""},
		{"a file for all to read", func(_, _, f string) error { return os.Chmod(f, 0o755) }, ""},
		{"a file that the group may write", func(_, _, f string) error { return os.Chmod(f, 0o664) }, "/file can be written by others"},
		{"a file that all may write", func(_, _, f string) error { return os.Chmod(f, 0o666) }, "/file can be written by others"},
		{"its folder, group", func(_, s, _ string) error { return os.Chmod(s, 0o775) }, "/sub can be written by others"},
		{"its folder, all", func(_, s, _ string) error { return os.Chmod(s, 0o777) }, "/sub can be written by others"},
		{"a folder above, all", func(top, _, _ string) error { return os.Chmod(top, 0o777) }, "can be written by others"},
		{"a folder above as /tmp", func(top, _, _ string) error { return os.Chmod(top, fs.ModeSticky|0o777) }, ""},
		{"a link to it", func(_, s, f string) error { return relink(f, filepath.Join(s, "real")) }, ""},
		{"a relative link to it", func(_, s, f string) error { return move(f, filepath.Join(s, "real"), "../sub/./real") }, ""},
		{"a link into a folder of all", func(top, _, f string) error {
			open := filepath.Join(top, "open")
			if err := os.Mkdir(open, 0o700); err != nil {
				return err
			}
			if err := relink(f, filepath.Join(open, "real")); err != nil {
				return err
			}
			return os.Chmod(open, 0o777)
		}, "/open can be written by others"},
		{"a loop", func(_, _, f string) error {
			if err := os.Remove(f); err != nil {
				return err
			}
			return os.Symlink(f, f)
		}, "too many links"},
		{"no file", func(_, _, f string) error { return os.Remove(f) }, "no such file"},
	} {
		top := private(t)
		sub := filepath.Join(top, "sub")
		file := filepath.Join(sub, "file")
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("code"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.change(top, sub, file); err != nil {
			t.Fatal(err)
		}
		got, err := Trusted(file)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Trusted after %s: %q, %v, want an error with %q", c.name, got, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("Trusted after %s: %v", c.name, err)
			continue
		}
		if want, err := filepath.EvalSymlinks(file); err != nil || got != want {
			t.Errorf("Trusted after %s = %s, want %s (%v)", c.name, got, want, err)
		}
	}
}

// relink moves a file and leaves a link.
func relink(file, to string) error { return move(file, to, to) }

func move(file, to, link string) error {
	if err := os.Rename(file, to); err != nil {
		return err
	}
	return os.Symlink(link, file)
}

// An entry is a file or folder with a mode and owners.
type entry struct {
	mode     fs.FileMode
	uid, gid uint32
}

func (e entry) Name() string       { return "" }
func (e entry) Size() int64        { return 0 }
func (e entry) Mode() fs.FileMode  { return e.mode }
func (e entry) ModTime() time.Time { return time.Time{} }
func (e entry) IsDir() bool        { return e.mode.IsDir() }
func (e entry) Sys() any           { return &syscall.Stat_t{Uid: e.uid, Gid: e.gid} }

func TestTrustedEntry(t *testing.T) {
	for _, c := range []struct {
		entry entry
		goos  string
		want  string // how the error begins
	}{
		{entry{0o644, 1001, 1001}, "linux", ""},
		{entry{0o644, 0, 0}, "linux", ""},
		{entry{0o644, 1002, 1001}, "linux", "belongs to the user 1002: want this one, 1001, or root"},
		{entry{fs.ModeDir | 0o755, 1002, 0}, "linux", "belongs to the user 1002"},
		{entry{fs.ModeSymlink | 0o777, 1002, 0}, "linux", "belongs to the user 1002"},
		{entry{fs.ModeSymlink | 0o777, 1001, 0}, "linux", ""},
		{entry{fs.ModeDir | fs.ModeSticky | 0o777, 0, 0}, "linux", ""},
		{entry{fs.ModeDir | fs.ModeSticky | 0o777, 1002, 0}, "linux", "belongs to the user 1002"},
		{entry{fs.ModeSticky | 0o666, 1001, 0}, "linux", "can be written by others"},
		{entry{0o620, 1001, 1001}, "linux", "can be written by others"},
		{entry{fs.ModeDir | 0o775, 0, 80}, "linux", "can be written by others"},
		{entry{fs.ModeDir | 0o775, 0, 80}, "darwin", ""},
		{entry{fs.ModeDir | 0o777, 0, 80}, "darwin", "can be written by others"},
		{entry{fs.ModeDir | 0o775, 1001, 80}, "darwin", "can be written by others"},
	} {
		err := trustedEntry(c.entry, 1001, c.goos)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v of %d:%d on %s for the user 1001: %v, want %q", c.entry.mode, c.entry.uid, c.entry.gid, c.goos, err, c.want)
		}
	}
}
