//go:build !js

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// prelude keeps what tests ask a worker about: devices, the number of GPU buffers and the memory
// of the program.
const prelude = `
const keep = (object, name, then) => {
	const original = object[name];
	object[name] = function (...args) { return then(original.apply(this, args)); };
};
if (self.GPUAdapter) {
	self.buffers = 0;
	keep(GPUAdapter.prototype, "requestDevice", async (d) => self.device = await d);
	keep(GPUDevice.prototype, "createBuffer", (b) => { self.buffers++; return b; });
	keep(GPUBuffer.prototype, "destroy", () => { self.buffers--; });
}
keep(WebAssembly, "instantiateStreaming", async (r) => { self.program = (await r).instance; return r; });
`

// digitsTab is a tab with the page, which has learned for a moment.
func digitsTab(t *testing.T, browser context.Context, prelude string, most time.Duration) *tab {
	t.Helper()
	b := open(t, browser, "digits.html", prelude, most)
	b.wait(`!document.getElementById("train").disabled`)
	b.do(chromedp.Click(chromedp.CSS("#numbers summary")))
	return b
}

// learn trains on a device until a condition holds.
func (b *tab) learn(device, until string) {
	b.Helper()
	b.do(chromedp.Click(chromedp.CSS("#"+device)), chromedp.Click(chromedp.CSS("#train")))
	b.wait(until)
	b.do(chromedp.Click(chromedp.CSS("#train")))
	b.wait(`document.getElementById("train").textContent === "Train"`)
}

const accurate = `parseFloat(document.querySelector("#rows td:nth-child(4)")?.textContent) >= 95`

// draw draws lines with the mouse. Points are shares of the pad.
func (b *tab) draw(strokes ...[][2]float64) {
	b.Helper()
	r := eval[[]float64](b, `(() => { const pad = document.getElementById("pad"); pad.scrollIntoView({ block: "center" }); const r = pad.getBoundingClientRect(); return [r.left, r.top, r.width]; })()`)
	for _, s := range strokes {
		at := func(i int) (x, y float64) { return r[0] + s[i][0]*r[2], r[1] + s[i][1]*r[2] }
		x, y := at(0)
		b.do(chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft))
		for i := range s {
			x, y = at(i)
			b.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y, chromedp.ButtonLeft))
		}
		b.do(chromedp.MouseEvent(chromedp.MouseReleased, x, y, chromedp.ButtonLeft))
	}
}

// The page learns on both devices, classifies drawings, and survives the loss of the GPU.
func TestDigits(t *testing.T) {
	b := digitsTab(t, chromium(t), prelude, time.Minute)
	b.learn("gpu", accurate+` && document.getElementById("gpu-steps").textContent > 100`)
	t.Logf("GPU: %s steps, %s a second", b.text("gpu-steps"), b.text("gpu-speed"))
	b.do(chromedp.Click(chromedp.CSS("#reset")))
	b.wait(`document.getElementById("cpu-steps").textContent === "0"`)
	b.learn("cpu", accurate)
	t.Logf("CPU: %s steps, %s a second", b.text("cpu-steps"), b.text("cpu-speed"))

	b.draw([][2]float64{{0.3, 0.2}, {0.5, 0.2}, {0.7, 0.2}, {0.6, 0.4}, {0.5, 0.6}, {0.4, 0.85}})
	b.wait(`document.getElementById("answer").textContent.startsWith("7, ")`)
	b.do(chromedp.Click(chromedp.CSS("#clear")))
	b.wait(`document.getElementById("answer").textContent === "Nothing is drawn."`)

	const colours = `(() => {
		const canvas = document.getElementById("chart"), found = new Set();
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) found.add([...data.slice(i, i + 3)].join());
		return ["36,88,179", "178,69,14"].every((c) => found.has(c)); // the lines of style.css
	})()`
	if !eval[bool](b, colours) {
		t.Error("the chart has no lines of loss and accuracy")
	}

	b.do(chromedp.Click(chromedp.CSS("#gpu")), chromedp.Click(chromedp.CSS("#train")))
	before := b.text("gpu-steps")
	b.wait(`document.getElementById("gpu-steps").textContent > ` + before)
	evalIn[bool](b, b.worker, "device.destroy() === undefined")
	b.wait(`document.getElementById("alert").textContent`)
	if text := b.text("alert"); !strings.Contains(text, "The GPU failed") || !strings.Contains(text, "opened again") {
		t.Errorf("after the device was destroyed the page says %q", text)
	}
	before = b.text("gpu-steps")
	b.wait(`document.getElementById("gpu-steps").textContent - ` + before + ` > 100`)
	for _, m := range b.messages() {
		t.Error("console: ", m)
	}
}
