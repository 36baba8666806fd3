package filestest_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data/images"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// folders are the formats whose paths name folders.
var folders = []format{
	{"images", func(path string, n int) error {
		if err := os.MkdirAll(filepath.Join(path, "class"), 0o777); err != nil {
			return err
		}
		return imageio.Save(filepath.Join(path, "class", "m.png"), tensor.Full(float64(n), 1, 1, 1).Cast(tensor.Uint8))
	}, func(path string) (int, error) {
		set, _, err := images.Folder(path, &images.Options{Channels: 1})
		if err != nil {
			return 0, err
		}
		e, err := set.At(0)
		return itemOf(e.X.Mul(255).Round()), err
	}},
	{"model", func(path string, n int) error {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return err
		}
		return saveText(`{"eos_token_id": %d}`)(filepath.Join(path, "config.json"), n)
	}, func(path string) (int, error) {
		tokens, err := models.StopTokens(path)
		return int(append(tokens, 0)[0]), err
	}},
}

// long has more characters than Windows once allowed a path, 260.
var long = filepath.Join(strings.Repeat("long", 30), strings.Repeat("path", 30), strings.Repeat("name", 30))

// spellings are ways to write the path of a file in the current folder, dir, or below.
var spellings = []struct {
	what    string
	systems string // "" for all
	path    func(dir, name string) string
}{
	{"a name", "", func(_, name string) string { return name }},
	{"a name in capitals", "", func(_, name string) string { return strings.ToUpper(name) }},
	{"an absolute path", "", func(dir, name string) string { return filepath.Join(dir, name) }},
	{"slashes, blanks", "", func(_, name string) string { return "a b/" + name }},
	{"dots", "", func(_, name string) string { return "./a b/.././" + name }},
	{"other letters", "", func(_, name string) string { return "ä 日本😀/" + name }},
	{"a long name", "", func(_, name string) string { return strings.Repeat("n", 200) + name }},
	{"a long path", "", func(dir, name string) string { return filepath.Join(dir, long, name) }},
	{"a long relative path", "", func(_, name string) string { return filepath.Join(long, name) }},
	{"what are no separators here", "linux darwin", func(_, name string) string { return `C:\a\..\` + name }},
	{"a device of others", "linux darwin", func(_, name string) string { return "NUL." + name }},
	{"backslashes", "windows", func(_, name string) string { return `a b\..\a b\` + name }},
	{"an absolute path with slashes", "windows", func(dir, name string) string { return filepath.ToSlash(dir) + "/" + name }},
	{"a path of a drive", "windows", func(dir, name string) string { return filepath.VolumeName(dir) + name }},
	{"the current drive's root", "windows", func(dir, name string) string { return dir[len(filepath.VolumeName(dir)):] + `\` + name }},
	{"large letters", "windows", func(dir, name string) string { return strings.ToUpper(dir) + `\` + name }},
	{"a verbatim path", "windows", func(dir, name string) string { return `\\?\` + dir + `\` + name }},
	{"a long verbatim path", "windows", func(dir, name string) string { return `\\?\` + dir + `\` + long + `\` + name }},
	{"a path of a server", "windows", func(dir, name string) string {
		return `\\localhost\` + strings.Replace(dir, ":", "$", 1) + `\` + name
	}},
}

// A file can be saved and loaded by each spelling of its path, and is where the system says.
func TestSpellings(t *testing.T) {
	for _, s := range spellings {
		if s.systems != "" && !slices.Contains(strings.Fields(s.systems), runtime.GOOS) {
			continue
		}
		t.Run(s.what, func(t *testing.T) {
			t.Chdir(t.TempDir())
			dir, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range slices.Concat(formats, folders) {
				if f.name == "cache" { // its paths are the library's
					continue
				}
				path := s.path(dir, f.name)
				full, err := filepath.Abs(path)
				if err != nil {
					t.Fatal(err)
				}
				for _, folder := range []string{"a b", filepath.Dir(full)} {
					if err := os.MkdirAll(folder, 0o777); err != nil {
						t.Skip(err) // as of a server
					}
				}
				for n := 1; n <= 2; n++ {
					if err := f.save(path, n); err != nil {
						t.Errorf("saving %s: %v", path, err)
						break
					}
					for _, p := range []string{path, full} {
						if got, err := f.load(p); got != n {
							t.Errorf("loading %s = %d, %v, want %d", p, got, err, n)
						}
					}
				}
				for _, name := range list(t, filepath.Dir(full)) {
					if strings.HasSuffix(name, ".tmp") {
						t.Errorf("saving %s leaves %s", path, name)
					}
				}
			}
		})
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Windows has devices and streams of files in place of some files.
func TestReservedNames(t *testing.T) {
	if runtime.GOOS != "windows" {
		t.Skip("all names are those of files")
	}
	t.Chdir(t.TempDir())
	for _, f := range formats {
		if f.name == "cache" {
			continue
		}
		end := filepath.Ext(f.name)
		for _, path := range []string{"NUL", "CON", "aux", "COM1", `sub\LPT9`, "C:COM7", "CONIN$", "CON:" + end, "a" + end + ":stream" + end} {
			if err := f.save(path, 1); err == nil {
				t.Errorf("saving %s: no error", path)
			}
			if n, err := f.load(path); err == nil {
				t.Errorf("loading %s = %d, no error", path, n)
			}
			if entries := list(t, "."); len(entries) > 0 {
				t.Fatalf("saving %s leaves %q", path, entries)
			}
		}
	}
	const want = "safetensors: save a:b:c: the system has no files of this name: choose another"
	if err := safetensors.Save("a:b:c", tensor.Ones(1)); err == nil || err.Error() != want {
		t.Errorf("saving a:b:c: %v, want %s", err, want)
	}
	if err := safetensors.Save("m. ", tensor.Ones(1)); err != nil || !slices.Equal(list(t, "."), []string{"m"}) {
		t.Errorf("saving m with a dot and a blank at the end, which Windows ignores: %v, and the folder has %q", err, list(t, "."))
	}
}
