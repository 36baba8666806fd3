//go:build !js

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// A tab shows a page of the site in Chromium.
type tab struct {
	*testing.T
	ctx    context.Context
	worker context.Context // of the page's worker
	close  context.CancelFunc

	mu      sync.Mutex
	console []string // errors and warnings
}

// chromium returns the context of a browser that lives as long as the test. Tests of pages
// take minutes: they are skipped unless TENSORKEN_REQUIRE_CHROMIUM is 1.
func chromium(t *testing.T) context.Context {
	t.Helper()
	if os.Getenv("TENSORKEN_REQUIRE_CHROMIUM") != "1" {
		t.Skip("TENSORKEN_REQUIRE_CHROMIUM is not 1")
	}
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path == "" {
			path, _ = exec.LookPath(name)
		}
	}
	if path == "" {
		t.Fatal("there is no chromium in PATH")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox,                          // it refuses to start as root with one
		chromedp.Flag("enable-unsafe-webgpu", true), // WebGPU in software
		chromedp.Flag("js-flags", "--expose-gc"),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) { // it has a driver of its own
			cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "VK_") })
		}),
	)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // start it
		t.Fatal(err)
	}
	return ctx
}

// open shows a page in a new tab, for a test that takes at most that long. Prelude is
// JavaScript that the page's worker runs first.
func open(t *testing.T, browser context.Context, page, prelude string, most time.Duration) *tab {
	t.Helper()
	s := testSite(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/worker.js" {
			w.Header().Set("Content-Type", types[".js"])
			w.Header().Set("Content-Security-Policy", policies[".js"])
			fmt.Fprintf(w, "%s\n%s", prelude, s.files["worker.js"].data)
			return
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return openURL(t, browser, server.URL+"/"+page, most)
}

// openURL is open of a page of a server.
func openURL(t *testing.T, browser context.Context, url string, most time.Duration) *tab {
	t.Helper()
	lives, cancelTab := chromedp.NewContext(browser)
	t.Cleanup(cancelTab)
	if err := chromedp.Do(lives); err != nil { // open it
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(lives, most)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx, close: cancelTab}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		lives, cancel := context.WithTimeout(lives, 5*time.Second)
		defer cancel()
		name := filepath.Join(os.TempDir(), "tensorken-"+t.Name()+".png")
		if png, err := chromedp.Run(lives, chromedp.FullScreenshot(100)); err == nil && os.WriteFile(name, png, 0o644) == nil {
			t.Logf("the page is in %s; console: %q", name, b.messages())
		}
	})
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.console = append(b.console, m.String())
			b.mu.Unlock()
		}
	}()
	attached := chromedp.Events(ctx, target.AttachedToTarget)
	b.do(chromedp.EmulateViewport(1100, 900), chromedp.Navigate(url))
	for e, err := range attached {
		if err != nil {
			t.Fatalf("the page starts no worker: %v; console: %q", err, b.messages())
		}
		if e.TargetInfo.Type == "worker" {
			b.worker, cancel = chromedp.NewContext(ctx, chromedp.WithTargetID(e.TargetInfo.TargetID))
			t.Cleanup(cancel)
			break
		}
	}
	return b
}

// do runs actions in the tab.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatalf("%v; console: %q", err, b.messages())
	}
}

// messages returns the lines of the console, errors of the page among them.
func (b *tab) messages() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.console...)
}

// eval returns the value of an expression of JavaScript in the page.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	return evalIn[T](b, b.ctx, expression)
}

// evalIn is eval in the page or in its worker.
func evalIn[T any](b *tab, ctx context.Context, expression string) T {
	b.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v; console: %q", expression, err, b.messages())
	}
	return v
}

// wait waits until a condition of JavaScript holds in the page.
func (b *tab) wait(condition string) {
	b.Helper()
	for !eval[bool](b, "!!("+condition+")") {
		time.Sleep(50 * time.Millisecond)
	}
}

// text returns the text of the element with an id.
func (b *tab) text(id string) string {
	b.Helper()
	return eval[string](b, fmt.Sprintf("document.getElementById(%q)?.textContent", id))
}
