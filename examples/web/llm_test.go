//go:build !js

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A model of the visitor's disk answers on the CPU and on the GPU, and again after a loss of the device.
func TestLLM(t *testing.T) {
	browser := chromium(t)
	file := filepath.Join(t.TempDir(), "chat.gguf")
	if out, err := exec.Command("go", "run", "../../cmd/tensorken", "gguf", "convert", "../../llm/testdata/chat", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := open(t, browser, "llm.html", keepDevice, 3*time.Minute)
	b.wait(`!document.getElementById("file").disabled`)
	const last = `[...document.querySelectorAll("#transcript .model")].at(-1)?.textContent`
	ask := func() {
		eval[bool](b, `(document.getElementById("prompt").value = "What is a tensor?", document.getElementById("temperature").value = 0, true)`)
		b.do(chromedp.Click(chromedp.CSS("#write")))
		b.wait(`/is written/.test(document.getElementById("status").textContent)`)
		if got := eval[string](b, last); got != "An array of numbers with a shape." {
			t.Errorf("the answer is %q", got)
		}
		b.do(chromedp.Click(chromedp.CSS("#new")))
	}
	b.do(chromedp.Click(chromedp.CSS(`[value="cpu"]`)), chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}))
	b.wait(`/chat.gguf is open/.test(document.getElementById("status").textContent)`)
	ask()
	b.do(chromedp.Click(chromedp.CSS(`[value="gpu"]`)))
	ask()
	evalIn[bool](b, b.worker, "(self.gpuDevice.destroy(), true)")
	ask()
	if got := b.text("alert"); !strings.Contains(got, "The GPU failed") {
		t.Errorf("after a loss of the GPU the page says %q", got)
	}
	clean(b)
}
