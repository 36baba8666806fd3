package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
)

// folder, made by TestMain, is where built writes the site.
var folder string

// built builds the site for the first test that needs it.
var built = sync.OnceValue(func() error { return build(context.Background(), folder, fast, log.Printf) })

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "tensorken-web-"); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// needBuilt builds the site, or skips a test where there is no go command.
func needBuilt(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds all pages")
	}
	needGo(t)
	if err := built(); err != nil {
		t.Fatal(err)
	}
}

func needGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
}

func testSite(t *testing.T) *site {
	t.Helper()
	needBuilt(t)
	s, err := newSite(folder)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestServer(t *testing.T) {
	s := testSite(t)
	for _, c := range []struct {
		path, accept            string
		status                  int
		kind, encoding, content string
	}{
		{"/", "", 200, "text/html; charset=utf-8", "", "Tensorken in the browser"},
		{"/digits.html", "", 200, "text/html; charset=utf-8", "", `<script type="module" src="digits.js">`},
		{"/digits.wasm", "", 200, "application/wasm", "", "\x00asm"},
		{"/digits.wasm", "gzip, deflate, br", 200, "application/wasm", "br", ""},
		{"/digits.wasm", "gzip", 200, "application/wasm", "gzip", "\x1f\x8b"},
		{"/digits.wasm", "gzip;q=0.5, br;q=0", 200, "application/wasm", "gzip", "\x1f\x8b"},
		{"/wasm_exec.js", "", 200, "text/javascript; charset=utf-8", "", "Go Authors"},
		{"/style.css", "identity", 200, "text/css; charset=utf-8", "", ""},
		{"/layout.html", "", 404, "text/plain; charset=utf-8", "", ""},
		{"/digits.wasm.br", "", 404, "text/plain; charset=utf-8", "", ""},
		{"/../go.mod", "", 404, "text/plain; charset=utf-8", "", ""},
	} {
		w := get(s, c.path, "Accept-Encoding", c.accept)
		h := w.Result().Header
		if w.Code != c.status || h.Get("Content-Type") != c.kind || h.Get("Content-Encoding") != c.encoding || !strings.Contains(w.Body.String(), c.content) {
			t.Errorf("%s for %q: got %d, %s, encoding %q, and %.40q; want %d, %s, %q, %q", c.path, c.accept, w.Code, h.Get("Content-Type"), h.Get("Content-Encoding"), w.Body, c.status, c.kind, c.encoding, c.content)
		}
		if c.status != 200 {
			continue
		}
		policy, want := h.Get("Content-Security-Policy"), policies[path.Ext(c.path)]
		if want != "" {
			want += "; frame-ancestors 'none'"
		}
		if policy != want && c.path != "/" {
			t.Errorf("%s: policy %q, want %q", c.path, policy, want)
		}
		if again := get(s, c.path, "Accept-Encoding", c.accept, "If-None-Match", h.Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("%s again: got %d, want 304", c.path, again.Code)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %d, want 405", w.Code)
	}
}

// get asks a handler, with pairs of a header's name and value.
func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "/", nil)
	r.URL.Path = path
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A compressed variant has the bytes of its file.
func TestCompression(t *testing.T) {
	needBuilt(t)
	want, err := os.ReadFile(filepath.Join(folder, "digits.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range compressions {
		f, err := os.Open(filepath.Join(folder, "digits.wasm"+c.suffix))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var r io.Reader = brotli.NewReader(f)
		if c.encoding == "gzip" {
			if r, err = gzip.NewReader(f); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != string(want) {
			t.Errorf("%s: %d bytes, error %v; want %d bytes of the program", c.encoding, len(got), err, len(want))
		}
	}
}

// maxSize is the most bytes that the page of digits may take, compressed by brotli.
const maxSize = 2_220_000

// TestSize adds up the files that a visitor of the page of digits loads.
func TestSize(t *testing.T) {
	if os.Getenv("TENSORKEN_REQUIRE_CHROMIUM") != "1" {
		t.Skip("compresses for half a minute: TENSORKEN_REQUIRE_CHROMIUM is not 1")
	}
	needBuilt(t)
	total := 0
	for _, name := range []string{
		"digits.html", "digits.js", "digits.wasm",
		"chart.js", "devices.js", "files.js", "icon.svg", "pad.js", "page.js", "style.css", "wasm_exec.js", "worker.js",
	} {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w := compressions[0].writer(&out, smallest)
		w.Write(b)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", name, out.Len())
		total += out.Len()
	}
	t.Logf("together: %d bytes", total)
	if total > maxSize || total < maxSize/4 {
		t.Errorf("the page of digits takes %d bytes, want at most %d: docs/browser.md says what takes how many", total, maxSize)
	}
}

// The page of ONNX has all operators, which take their part: at most so many bytes, compressed fast.
func TestONNXSize(t *testing.T) {
	const most = 3_300_000
	needBuilt(t)
	info, err := os.Stat(filepath.Join(folder, "onnx.wasm.br"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if n := info.Size(); n > most || n < most/2 {
		t.Errorf("the program of the page of ONNX takes %d bytes, want at most %d", n, most)
	}
}

// The server ends when its context does.
func TestServe(t *testing.T) {
	s := testSite(t)
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- serve(ctx, l, s) }()
	r, err := http.Get("http://" + l.Addr().String() + "/style.css")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	cancel()
	if err := <-done; err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("status %d, then %v; want 200 and no error", r.StatusCode, err)
	}
}

// An address in use is found before the build, and a cancelled build is no other error.
func TestRun(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	if err := run(ctx, l.Addr().String(), ""); err == nil || !strings.Contains(err.Error(), "another address by -addr") {
		t.Errorf("at an address in use: %v", err)
	}
	cancel()
	if err := run(ctx, "localhost:0", ""); !errors.Is(err, context.Canceled) || err.Error() != context.Canceled.Error() {
		t.Errorf("of a cancelled context: %v", err)
	}
}

// A build that is cancelled leaves no files.
func TestCancel(t *testing.T) {
	needGo(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // on Windows
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- run(ctx, "localhost:0", "") }()
	compiles := func() bool {
		a, _ := filepath.Glob(filepath.Join(temporary, "go-build*"))
		b, _ := filepath.Glob(filepath.Join(temporary, "*", "go-build*"))
		return len(a)+len(b) > 0
	}
	for start := time.Now(); !compiles(); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatal("the go command makes no temporary folder: the test does not see it")
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("of a build that was cancelled: %v", err)
	}
	if list, err := os.ReadDir(temporary); err != nil || len(list) > 0 {
		t.Errorf("a build that was cancelled leaves %v, %v", list, err)
	}
}

// Errors of the build name a remedy.
func TestBuildErrors(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := build(t.Context(), t.TempDir(), fast, t.Logf); err == nil || !strings.Contains(err.Error(), "install Go") {
		t.Errorf("without a go command: got %v, want advice to install Go", err)
	}
}
