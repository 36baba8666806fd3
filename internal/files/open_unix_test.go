//go:build unix

package files

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Whatever a path names, opening it returns at once.
func TestOpenFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Skip(err)
	}
	for what, f := range map[string]func() error{
		"Open":              func() error { _, err := Open(path); return err },
		"ReadAll":           func() error { _, err := ReadAll(path, 1); return err },
		"a file replaced":   func() error { _, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0); return err },
		"Replace":           func() error { return Replace(path, func(*bufio.Writer) error { return nil }) },
		"removing leftover": func() error { removeUnlocked(path); return nil },
	} {
		done := make(chan error, 1)
		go func() { done <- f() }()
		select {
		case <-done:
		case <-time.After(2 * time.Second):
			t.Errorf("%s of a FIFO hangs", what)
		}
	}
}

// Others' links in a folder such as /tmp, which Linux refuses to follow, Replace does not follow either.
func TestReplaceRefusedLink(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only the superuser makes another user's link")
	}
	base := t.TempDir()
	dir := filepath.Join(base, "sticky")
	link, dangling, target := filepath.Join(dir, "link"), filepath.Join(dir, "dangling"), filepath.Join(base, "target")
	for _, err := range []error{
		os.Mkdir(dir, 0o777),
		os.WriteFile(target, []byte("old"), 0o666),
		os.Symlink(target, link),
		os.Symlink(filepath.Join(base, "none"), dangling),
		os.Lchown(link, 1002, 1002),
		os.Lchown(dangling, 1002, 1002),
		os.Chmod(dir, 0o777|os.ModeSticky),
	} {
		if err != nil {
			t.Skip(err)
		}
	}
	for _, path := range []string{link, dangling} {
		if _, err := followLinks(path); !errors.Is(err, fs.ErrPermission) { // as if made since Stat
			t.Errorf("followLinks(%s) = %v, want %v", path, err, fs.ErrPermission)
		}
		err := Replace(path, func(w *bufio.Writer) error { _, err := w.WriteString("new"); return err })
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Replace(%s) = %v, want %v", path, err, fs.ErrPermission)
		}
	}
	own := filepath.Join(dir, "own")
	if err := os.Symlink(target, own); err != nil {
		t.Fatal(err)
	}
	if got, err := followLinks(own); got != target || err != nil {
		t.Errorf("followLinks of a link of one's own = %s, %v", got, err)
	}
	if b, err := os.ReadFile(target); err != nil || string(b) != "old" {
		t.Errorf("the target is %q, %v, want it as before", b, err)
	}
	if _, err := os.Lstat(filepath.Join(base, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the target of the dangling link was made: %v", err)
	}
}
