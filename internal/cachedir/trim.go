package cachedir

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// temporary begins the names of files that are being written.
const temporary = "new"

// abandoned is the age of a temporary file whose writer was killed.
const abandoned = time.Hour

// Trim removes the files of a folder and of folders in it that were modified first, until the
// others have at most max bytes together, and temporary files that are abandoned.
func Trim(dir string, max int64) {
	type entry struct {
		path     string
		size     int64
		modified time.Time
	}
	var list []entry
	var total int64
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // another process may have removed it
		}
		info, err := d.Info()
		switch {
		case err != nil:
		case !strings.HasPrefix(d.Name(), temporary):
			list = append(list, entry{path, info.Size(), info.ModTime()})
			total += info.Size()
		case time.Since(info.ModTime()) > abandoned:
			os.Remove(path)
		}
		return nil
	})
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(a.modified.Compare(b.modified), strings.Compare(a.path, b.path))
	})
	for _, e := range list {
		if total <= max {
			break
		}
		if os.Remove(e.path) == nil {
			total -= e.size
		}
	}
}
