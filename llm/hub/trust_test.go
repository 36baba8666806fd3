package hub

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// No name of a server's list leads out of the folder, and no redirect leaves HTTPS. Folders and files are the user's
// alone; the mark is empty.
func TestHostileServer(t *testing.T) {
	names := []string{
		"../config.json", "../../config.json", "/etc/config.json", "1_Pooling/../../config.json", "1_x/../config.json", `..\config.json`, `1_x\config.json`,
		"config.json/../../x", "config.json\x00", "config.json\n", "model.safetensors/x", "C:config.json", "./config.json", "1_../config.json", "",
	}
	s, o := newServer(t)
	for _, name := range names {
		s.files[name] = "evil"
	}
	s.files["../1_Pooling/config.json"] = "evil"
	dir, err := Fetch(context.Background(), "owner/name", o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	filepath.WalkDir(filepath.Dir(o.Cache), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(filepath.Dir(o.Cache), path)
		if info, err := e.Info(); err != nil || runtime.GOOS != "windows" && name != "." && e.Name() != complete && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
		if !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			got = append(got, filepath.ToSlash(rel))
		}
		return nil
	})
	want := []string{".complete", "1_Pooling/config.json", "config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "tokenizer.json"}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the cache has %q, want %q", got, want)
	}
}

func TestRedirects(t *testing.T) {
	plain := httptest.NewServer(&server{files: map[string]string{"config.json": "{}"}})
	defer plain.Close()
	for name, to := range map[string]string{"out of HTTPS": plain.URL, "without end": ""} {
		secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to+r.URL.Path, http.StatusFound) }))
		_, err := Fetch(context.Background(), "owner/name", &Options{Server: secure.URL, Cache: filepath.Join(t.TempDir(), "cache"), Client: secure.Client()})
		if err == nil || !strings.Contains(err.Error(), "the server redirects") {
			t.Errorf("a redirect %s: %v", name, err)
		}
		secure.Close()
	}
}
