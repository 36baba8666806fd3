package cachedir

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// setCache sets the variables that name the user's cache folder.
func setCache(t *testing.T, dir string) {
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
}

// private returns a new folder, whatever umask is.
func private(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPath(t *testing.T) {
	dir := t.TempDir()
	setCache(t, dir)
	if got := Path("x"); filepath.Base(got) != "x" || !filepath.IsAbs(got) {
		t.Errorf("Path = %q, want a path in %s", got, dir)
	}
	for _, bad := range []string{"", ".", "cache"} {
		setCache(t, bad)
		if got := Path("x"); got != "" {
			t.Errorf("Path with the cache folder %q = %q, want none", bad, got)
		}
	}
}

// Folders are private from the start, and folders of older versions become private.
func TestMake(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of Windows do not tell others' rights")
	}
	for _, before := range []os.FileMode{0, 0o700, 0o755, 0o775, 0o777} {
		setCache(t, private(t))
		dir := Path(filepath.Join("cuda", "ab"))
		if before != 0 {
			if err := os.MkdirAll(dir, before); err != nil {
				t.Fatal(err)
			}
			for _, d := range []string{Path("cuda"), dir} {
				if err := os.Chmod(d, before); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := Make(dir); err != nil {
			t.Errorf("Make of a folder of mode %o: %v", before, err)
		}
		for _, d := range []string{Path(""), Path("cuda"), dir} {
			if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("after Make of mode %o %s has mode %v, %v, want 700", before, d, info.Mode(), err)
			}
		}
	}
}

// Trim removes the oldest files first, and temporary ones that nobody writes any more.
func TestTrim(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	add := func(name string, size int, age time.Duration) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	add("ab/oldest", 100, 5*time.Hour)
	add("cd/older", 100, 4*time.Hour)
	add("ab/later", 100, time.Hour)
	add("cd/latest", 100, 0)
	add("ab/new1", 1000, 2*time.Hour)
	add("ab/new2", 1000, time.Minute)
	for _, c := range []struct {
		max  int64
		want []string
	}{
		{1 << 20, []string{"later", "latest", "new2", "older", "oldest"}},
		{400, []string{"later", "latest", "new2", "older", "oldest"}},
		{250, []string{"later", "latest", "new2"}},
		{199, []string{"latest", "new2"}},
		{0, []string{"new2"}},
	} {
		Trim(dir, c.max)
		var got []string
		paths, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			got = append(got, filepath.Base(p))
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("Trim to %d bytes leaves %q, want %q", c.max, got, c.want)
		}
	}
	Trim(filepath.Join(dir, "none"), 0)
}
