//go:build unix

package files

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkLink returns fs.ErrPermission for a link, which was read, in a sticky folder that all may
// write, such as /tmp, unless it belongs to the user or to the folder's owner. Linux does not follow
// others' links there; Readlink does, also one that was made since Stat found no file.
func checkLink(path string) error {
	dir, _ := filepath.Split(path)
	folder, err := os.Stat(cmp.Or(dir, "."))
	if err != nil || folder.Mode()&fs.ModeSticky == 0 || folder.Mode()&0o002 == 0 {
		return err
	}
	link, err := os.Lstat(path)
	if err != nil {
		return err
	}
	owner := link.Sys().(*syscall.Stat_t).Uid
	if int(owner) != os.Geteuid() && owner != folder.Sys().(*syscall.Stat_t).Uid {
		return fs.ErrPermission
	}
	return nil
}
