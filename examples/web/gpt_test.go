//go:build !js

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// keepDevice is JavaScript for a worker: self.gpuDevice is the newest GPUDevice.
const keepDevice = `
if (self.GPUAdapter) {
	const request = GPUAdapter.prototype.requestDevice;
	GPUAdapter.prototype.requestDevice = async function (...args) {
		return self.gpuDevice = await request.apply(this, args);
	};
}`

// clean fails if the page wrote to the console.
func clean(b *tab) {
	for _, m := range b.messages() {
		b.Error("console: ", m)
	}
}

// A GPT learns the text of the page, writes samples and continues a prompt; on the GPU it goes
// on after a loss of the device.
func TestGPT(t *testing.T) {
	b := open(t, chromium(t), "gpt.html", keepDevice, 3*time.Minute)
	b.wait(`!document.getElementById("train").disabled`)
	b.do(chromedp.Click(chromedp.CSS(`[value="cpu"]`)), chromedp.Click(chromedp.CSS("#train")))
	const step = `+document.getElementById("step").textContent.replace(",", "")`
	b.wait(step + " >= 40")
	if id := eval[string](b, "document.activeElement.id"); id != "train" {
		t.Errorf("after Train the focus is on %q", id)
	}
	if first, loss := 4.0, eval[float64](b, `+document.getElementById("loss").textContent`); !(loss < first-0.8) {
		t.Errorf("loss %v after 40 steps", loss)
	}
	b.wait(`document.querySelector("#samples pre")?.textContent.length > 160`) // the first character and 160 that follow
	b.do(chromedp.Click(chromedp.CSS("#train")))
	b.wait(`/Paused/.test(document.getElementById("status").textContent)`)

	eval[bool](b, `(document.getElementById("length").value = 30, true)`)
	b.do(chromedp.Click(chromedp.CSS("#write")))
	b.wait(`/is written/.test(document.getElementById("status").textContent)`)
	if got := b.text("written"); !strings.HasPrefix(got, "The captain") || len(got) != len("The captain")+30 {
		t.Errorf("continued prompt %q", got)
	}
	eval[bool](b, `(document.getElementById("prompt").value = "∂", true)`)
	b.do(chromedp.Click(chromedp.CSS("#write")))
	b.wait(`/has no '∂'/.test(document.getElementById("alert").textContent)`)

	before := eval[int](b, step)
	b.do(chromedp.Click(chromedp.CSS(`[value="gpu"]`)), chromedp.Click(chromedp.CSS("#train")))
	b.wait(fmt.Sprint(step, " > ", before))
	evalIn[bool](b, b.worker, "(self.gpuDevice.destroy(), true)")
	b.wait(`/The GPU failed/.test(document.getElementById("alert").textContent)`)
	after := eval[int](b, step)
	b.wait(fmt.Sprint(step, " > ", after+1))

	b.do(chromedp.Click(chromedp.CSS("#train")))
	b.wait(`/Paused/.test(document.getElementById("status").textContent)`)
	evalIn[bool](b, b.worker, "(self.gpuDevice.destroy(), true)")
	eval[bool](b, `(document.getElementById("prompt").value = "The captain", document.getElementById("length").value = 3, true)`)
	b.do(chromedp.Click(chromedp.CSS("#write")))
	b.wait(`/is written/.test(document.getElementById("status").textContent)`)
	if got := b.text("written"); len(got) != len("The captain")+3 {
		t.Errorf("after a loss while paused, the continued prompt is %q", got)
	}
	clean(b)
}
