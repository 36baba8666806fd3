package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A server has the files of one model, owner/name.
type server struct {
	files    map[string]string
	list     func([]entry) []entry // changes the list
	ranges   bool                  // parts of files are sent
	cut      int                   // bytes after which the next answer of a file ends, once
	fail     int                   // answers of 500 before files come
	requests []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests = append(s.requests, r.URL.Path+" "+r.Header.Get("Range"))
	if r.URL.Path == "/api/models/owner/name/tree/main" {
		var list []entry
		for path, text := range s.files {
			e := entry{Type: "file", Path: path, Size: int64(len(text)), OID: fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))}
			if strings.HasSuffix(path, ".safetensors") {
				pointer, _ := json.Marshal(map[string]any{"oid": fmt.Sprintf("%x", sha256.Sum256([]byte(text))), "size": len(text)})
				json.Unmarshal(pointer, &e.LFS)
				e.OID = "pointer"
			}
			list = append(list, e)
		}
		list = append(list, entry{Type: "directory", Path: "1_Pooling"})
		if s.list != nil {
			list = s.list(list)
		}
		json.NewEncoder(w).Encode(list)
		return
	}
	text, ok := s.files[strings.TrimPrefix(r.URL.Path, "/owner/name/resolve/main/")]
	switch {
	case !ok:
		w.WriteHeader(404)
		return
	case s.fail > 0:
		s.fail--
		w.WriteHeader(500)
		return
	}
	from := 0
	if s.ranges {
		from, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(text)-from))
	if from > 0 {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(text)-1, len(text)))
		w.WriteHeader(206)
	}
	text = text[from:]
	if s.cut > 0 && s.cut < len(text) {
		text, s.cut = text[:s.cut], 0
	}
	w.Write([]byte(text))
}

func newServer(t *testing.T) (*server, *Options) {
	t.Helper()
	pause = time.Millisecond
	s := &server{ranges: true, files: map[string]string{
		"config.json": "{}", "tokenizer.json": "{}", "1_Pooling/config.json": "{}", "README.md": "no", "onnx/model.onnx": "no", "pytorch_model.bin": "no",
		"model-00001-of-00002.safetensors": strings.Repeat("0123456789", 1000), "model-00002-of-00002.safetensors": "rest",
	}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return s, &Options{Server: h.URL + "/", Cache: filepath.Join(t.TempDir(), "models")}
}

// A model of a server with Hugging Face's API comes into a folder.
func ExampleFetch() {
	h := httptest.NewServer(&server{files: map[string]string{"config.json": "{}"}})
	defer h.Close()
	dir, err := os.MkdirTemp("", "models")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path, err := Fetch(context.Background(), "owner/name", &Options{Server: h.URL, Cache: filepath.Join(dir, "cache")})
	fmt.Println(filepath.Base(path), err)
	var list []Local
	list, err = List(filepath.Join(dir, "cache"))
	fmt.Println(list[0].Name, list[0].Size, err)
	// Output:
	// owner--name@main <nil>
	// owner/name 2 <nil>
}

func TestFetch(t *testing.T) {
	for name, set := range map[string]func(*server){
		"whole":         func(*server) {},
		"cut":           func(s *server) { s.cut = 3000 },
		"cut, no parts": func(s *server) { s.cut, s.ranges = 3000, false },
		"failing":       func(s *server) { s.fail = 2 },
	} {
		s, o := newServer(t)
		set(s)
		last := map[string]int64{}
		o.Progress = func(file string, done, size int64) { last[file] = done - size }
		dir, err := Fetch(context.Background(), "owner/name", o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for path, text := range s.files {
			data, err := os.ReadFile(filepath.Join(dir, path))
			if wanted := text != "no"; wanted != (err == nil) || wanted && (string(data) != text || last[path] != 0) {
				t.Errorf("%s: %s has %d bytes, error %v", name, path, len(data), err)
			}
		}
		n := len(s.requests)
		if again, err := Fetch(context.Background(), "owner/name@main", o); err != nil || again != dir || len(s.requests) != n {
			t.Errorf("%s: the second time %q, %v, with %d requests", name, again, err, len(s.requests)-n)
		}
		if resumed := strings.Contains(strings.Join(s.requests, "\n"), "bytes=3000-"); resumed != strings.HasPrefix(name, "cut") {
			t.Errorf("%s: requests %q", name, s.requests)
		}
	}
}

// A GGUF file comes alone, with its other parts.
func TestFetchFile(t *testing.T) {
	s, o := newServer(t)
	s.files["a-Q4_K.gguf"], s.files["b-00001-of-00002.gguf"], s.files["b-00002-of-00002.gguf"] = "a", "b1", "b2"
	for name, want := range map[string]string{"a-Q4_K.gguf": "a", "b-00001-of-00002.gguf": "b1"} {
		path, err := Fetch(context.Background(), "owner/name/"+name+"@main", o)
		if data, readErr := os.ReadFile(path); err != nil || readErr != nil || string(data) != want {
			t.Errorf("%s: %q, %v, %v", name, data, err, readErr)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "config.json")); err == nil {
			t.Error("other files came")
		}
	}
	if _, err := os.Stat(filepath.Join(o.Cache, "owner--name@main", "b-00002-of-00002.gguf")); err != nil {
		t.Error(err)
	}
	if _, err := Fetch(context.Background(), "owner/name", o); err != nil {
		t.Fatal(err)
	}
	list, err := List(o.Cache)
	var sizes []string
	for _, l := range list {
		if _, err := os.Stat(l.Path); err != nil {
			t.Error(err)
		}
		sizes = append(sizes, fmt.Sprint(l.Name, " ", l.Size))
	}
	if want := []string{"owner/name 10010", "owner/name/a-Q4_K.gguf 1", "owner/name/b-00001-of-00002.gguf 4"}; err != nil || !slices.Equal(sizes, want) {
		t.Errorf("the cache has %q, error %v, want %q", sizes, err, want)
	}
	o.Cache = filepath.Join(t.TempDir(), "other")
	if list, err := List(o.Cache); len(list) > 0 || err != nil {
		t.Errorf("an empty cache has %v, %v", list, err)
	}
	delete(s.files, "config.json")
	if _, err := Fetch(context.Background(), "owner/name", o); err == nil || !strings.Contains(err.Error(), `as owner/name/file.gguf: "`) {
		t.Errorf("a model with GGUF files alone: %v", err)
	}
	if _, err := Fetch(context.Background(), "owner/name/c.gguf", o); err == nil || !strings.Contains(err.Error(), "name one of its files") {
		t.Errorf("a file that the model lacks: %v", err)
	}
}

// An interrupted file goes on in the next call.
func TestFetchResumes(t *testing.T) {
	s, o := newServer(t)
	ctx, cancel := context.WithCancel(context.Background())
	s.cut = 3000
	o.Progress = func(file string, done, size int64) {
		if done == 3000 {
			cancel()
		}
	}
	if _, err := Fetch(ctx, "owner/name", o); err == nil {
		t.Fatal("an interrupted model was complete")
	}
	s.requests = nil
	if _, err := Fetch(context.Background(), "owner/name", o); err != nil || !strings.Contains(strings.Join(s.requests, "\n"), "bytes=3000-") {
		t.Errorf("error %v, requests %q", err, s.requests)
	}
}

func TestFetchErrors(t *testing.T) {
	each := func(f func(*entry)) func([]entry) []entry {
		return func(list []entry) []entry {
			for i := range list {
				f(&list[i])
			}
			return list
		}
	}
	for _, c := range []struct {
		name string
		set  func(*server)
		want string
	}{
		{"owner/other", func(*server) {}, "answers 404: there is no such model"},
		{"owner", func(*server) {}, "no name of a model"},
		{"../name", func(*server) {}, "no name of a model"},
		{"owner/a..b", func(*server) {}, "no name of a model"},
		{"owner/name", func(s *server) { delete(s.files, "config.json") }, "no config.json"},
		{"owner/name", func(s *server) { s.fail = 100 }, "answers 500"},
		{"owner/name", func(s *server) {
			s.list = each(func(e *entry) {
				if e.LFS != nil {
					e.LFS.OID = strings.Repeat("0", 64)
				}
			})
		}, "the checksum is not the server's"},
		{"owner/name", func(s *server) { s.list = each(func(e *entry) { e.OID = "0" }) }, "the checksum is not the server's"},
		{"owner/name", func(s *server) { s.list = each(func(e *entry) { e.Size, e.LFS = 1, nil }) }, "more than the 1 bytes"},
	} {
		s, o := newServer(t)
		c.set(s)
		dir, err := Fetch(context.Background(), c.name, o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v, want %q", c.name, dir, err, c.want)
		}
	}
	// A file that was refused is fetched anew.
	s, o := newServer(t)
	good := s.files["model-00002-of-00002.safetensors"]
	s.list = func(list []entry) []entry {
		s.files["model-00002-of-00002.safetensors"] = "evil"
		return list
	}
	if _, err := Fetch(context.Background(), "owner/name", o); err == nil {
		t.Error("a file that was changed after the list was made is taken")
	}
	s.list, s.files["model-00002-of-00002.safetensors"] = nil, good
	if _, err := Fetch(context.Background(), "owner/name", o); err != nil {
		t.Error(err)
	}
}
