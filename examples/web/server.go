package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// types are the media types of files of the site. Each has compressed variants.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".wasm": "application/wasm",
	".svg":  "image/svg+xml",
}

// policies are the headers Content-Security-Policy of files. The policy of a worker comes with its
// script, not with its page. Scripts may evaluate text, which calls of WebGPU need.
var policies = map[string]string{
	".html": "default-src 'self'; form-action 'none'; base-uri 'none'",
	".js":   "default-src 'self'; script-src 'self' 'unsafe-eval'",
}

// A site serves the files of a folder, which it holds in memory. It has no state of its
// visitors.
type site struct{ files map[string]file }

type file struct {
	data []byte
	tag  string // of this content
}

func newSite(folder string) (*site, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	s := &site{map[string]file{}}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		s.files[e.Name()] = file{b, fmt.Sprintf(`"%x"`, sha256.Sum256(b))}
	}
	return s, nil
}

// ServeHTTP implements [http.Handler].
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	f, ok := s.files[name]
	kind := types[path.Ext(name)]
	if !ok || kind == "" {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	if p := policies[path.Ext(name)]; p != "" {
		h.Set("Content-Security-Policy", p+"; frame-ancestors 'none'") // which only a header may say
	}
	h.Set("Cache-Control", "no-cache") // a browser asks whether its copy is the newest
	h.Set("Vary", "Accept-Encoding")
	for _, c := range compressions {
		if v, ok := s.files[name+c.suffix]; ok && accepts(r.Header.Get("Accept-Encoding"), c.encoding) {
			h.Set("Content-Encoding", c.encoding)
			f = v
			break
		}
	}
	h.Set("ETag", f.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
}

// accepts reports whether a header Accept-Encoding names an encoding, but not with weight 0.
func accepts(header, encoding string) bool {
	for item := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(item, ";")
		if strings.TrimSpace(name) == encoding {
			return strings.Trim(strings.TrimSpace(weight), "q=0.") != "" || strings.TrimSpace(weight) == ""
		}
	}
	return false
}
