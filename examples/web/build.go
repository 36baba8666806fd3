package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
)

const module = "github.com/tensorken/tensorken/"

// buildFlags make programs small. Only the package that computes on the CPU inlines functions:
// that is a sixth of a program's size, and no loss of speed.
var buildFlags = []string{
	"-trimpath", "-ldflags=-s -w",
	"-gcflags=all=-l", "-gcflags=" + module + "internal/simd=",
}

// A page is site/NAME.html within site/layout.html. Its program, if it has one, is the folder
// NAME.
type page struct {
	Name, Title, Summary string
	Program              bool
}

// pages are in the order of the links on each.
var pages = []page{
	{Name: "index", Title: "Tensorken", Summary: "Neural networks that train in this browser, on your GPU or CPU. Nothing leaves this tab."},
	{Name: "digits", Title: "Digits", Summary: "Draw a digit, see it classified, and train the network.", Program: true},
	{Name: "gpt", Title: "GPT", Summary: "Paste any text: a small GPT learns it here, character by character, and writes.", Program: true},
	{Name: "llm", Title: "Chat", Summary: "Open a language model, a GGUF file: it writes here, on your GPU. The file stays on this machine.", Program: true},
	{Name: "onnx", Title: "ONNX", Summary: "Open a model of another framework, an ONNX file: it runs here, on your GPU. The file stays on this machine.", Program: true},
	{Name: "shootout", Title: "Shootout", Summary: "The same operations on the CPU and on the GPU of this machine.", Program: true},
	{Name: "playground", Title: "Playground", Summary: "A few lines of Go: their result, their gradient, the plan and its shaders.", Program: true},
}

//go:embed site
var embedded embed.FS

// A level is a quality of compression, from 0 to 11 for brotli.
type level int

const (
	fast     level = 5
	smallest level = 11
)

// build writes the site to a folder: pages, programs, and both compressed. It reports its
// progress in lines.
func build(ctx context.Context, folder string, l level, report func(format string, args ...any)) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := copyAssets(folder); err != nil {
		return err
	}
	if err := writePages(folder); err != nil {
		return err
	}
	if err := compile(ctx, folder, report); err != nil {
		return err
	}
	return compressAll(ctx, folder, l, report)
}

// copyAssets copies all but pages from the embedded folder.
func copyAssets(folder string) error {
	files, err := fs.ReadDir(embedded, "site")
	if err != nil {
		return err
	}
	for _, f := range files {
		if path.Ext(f.Name()) == ".html" {
			continue
		}
		b, err := embedded.ReadFile("site/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, f.Name()), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func writePages(folder string) error {
	for _, p := range pages {
		t, err := template.ParseFS(embedded, "site/layout.html", "site/"+p.Name+".html")
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.ExecuteTemplate(&b, "layout.html", struct {
			page
			Pages  []page
			Policy string
		}{p, pages, policies[".html"]}); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, p.Name+".html"), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compile makes the pages' programs, and copies the script of Go that starts them.
func compile(ctx context.Context, folder string, report func(format string, args ...any)) error {
	root, err := goTool(ctx, "env", "GOROOT")
	if err != nil {
		return err
	}
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib/wasm/wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("%w: this installation of Go has no support of WebAssembly; install Go from go.dev/dl", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "wasm_exec.js"), script, 0o644); err != nil {
		return err
	}
	for _, p := range pages {
		if !p.Program {
			continue
		}
		file, err := filepath.Abs(filepath.Join(folder, p.Name+".wasm"))
		if err != nil {
			return err
		}
		report("compiling %s", p.Name)
		args := append([]string{"build", "-o", file}, buildFlags...)
		if _, err := goTool(ctx, append(args, module+"examples/web/"+p.Name)...); err != nil {
			return err
		}
	}
	return nil
}

// goTool runs the go command for the browser, and returns its output. The command's temporary
// files are in a folder of their own, because it leaves them when it is killed.
func goTool(ctx context.Context, args ...string) (string, error) {
	temporary, err := os.MkdirTemp("", "tensorken-go-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temporary)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOTMPDIR="+temporary)
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("the pages' programs are compiled by the go command, which is not in PATH: install Go from go.dev/dl")
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("go %s: %w; run this in a clone of Tensorken\n%s", args[0], err, exit.Stderr)
	}
	return string(out), err
}

// compressions make the variants of a file, by the end of their names.
var compressions = []struct {
	encoding, suffix string
	writer           func(io.Writer, level) io.WriteCloser
}{
	{"br", ".br", func(w io.Writer, l level) io.WriteCloser {
		return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: int(l), LGWin: 24}) // matches in all of a program
	}},
	{"gzip", ".gz", func(w io.Writer, l level) io.WriteCloser {
		z, _ := gzip.NewWriterLevel(w, min(int(l), gzip.BestCompression)) // the level is valid
		return z
	}},
}

// A variant is a compression of a file.
type variant struct {
	name        string // of the file
	compression int
	size        int64 // of the file
	progress    string
}

// large reports whether the compression takes so long that it is reported.
func (v variant) large() bool { return v.size > 1<<20 }

// compressAll writes a variant of each file beside it for each compression, on all cores: the
// largest first, because it takes much of the time.
func compressAll(ctx context.Context, folder string, l level, report func(format string, args ...any)) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var all []variant
	for _, e := range entries {
		if types[filepath.Ext(e.Name())] == "" {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		for i := range compressions {
			all = append(all, variant{name: e.Name(), compression: i, size: info.Size()})
		}
	}
	slices.SortStableFunc(all, func(a, b variant) int { return cmp.Compare(b.size, a.size) })
	large := slices.IndexFunc(append(all, variant{}), func(v variant) bool { return !v.large() })
	for i := range large {
		all[i].progress = fmt.Sprintf("%d of %d", i+1, large)
	}
	work := make(chan variant)
	errs := make(chan error, runtime.GOMAXPROCS(0))
	for range cap(errs) {
		go func() {
			var err error
			for v := range work {
				if err == nil && ctx.Err() == nil {
					err = v.write(folder, l, report)
				}
			}
			errs <- err
		}()
	}
	for _, v := range all {
		work <- v
	}
	close(work)
	err = ctx.Err()
	for range cap(errs) {
		err = cmp.Or(err, <-errs)
	}
	return err
}

// write compresses a file.
func (v variant) write(folder string, l level, report func(format string, args ...any)) error {
	path, c := filepath.Join(folder, v.name), compressions[v.compression]
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if v.large() {
		report("compressing %s, %.1f MB, by %s (%s)", v.name, float64(v.size)/1e6, c.encoding, v.progress)
	}
	var out bytes.Buffer
	w := c.writer(&out, l)
	if _, err := w.Write(b); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path+c.suffix, out.Bytes(), 0o644)
}
