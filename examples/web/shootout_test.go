//go:build !js

package main

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// All operations are measured on both devices, and drawn. After the loss of the GPU they are
// measured on the CPU.
func TestShootout(t *testing.T) {
	b := open(t, chromium(t), "shootout.html", keepDevice, 3*time.Minute)
	b.wait(`!document.getElementById("run").disabled`)
	eval[bool](b, `(document.getElementById("largest").value = 256, document.getElementById("milliseconds").value = 100, true)`)
	b.do(chromedp.Click(chromedp.CSS("#run")))
	if id := eval[string](b, "document.activeElement.id"); id != "run" {
		t.Errorf("after Run the focus is on %q", id)
	}
	b.wait(`/All is measured/.test(document.getElementById("status").textContent)`)
	const rows = 6 * 3 // operations and sizes
	if n := eval[int](b, `document.querySelectorAll("#times tbody tr").length`); n != rows {
		t.Errorf("%d rows of times, want %d", n, rows)
	}
	if n := eval[int](b, `[...document.querySelectorAll("#times tbody td")].filter((e) => !/\d/.test(e.textContent)).length`); n != 0 {
		t.Errorf("%d cells have no number", n)
	}
	if n := eval[int](b, `[...document.querySelectorAll("#bars i")].filter((e) => e.style.getPropertyValue("--to") && e.clientWidth > 50).length`); n != rows {
		t.Errorf("%d bars, want %d", n, rows)
	}
	b.do(chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile, chromedp.EmulateTouch))
	for _, c := range []struct{ name, fits string }{
		{"the table fits", `(() => { const t = document.querySelector(".wide-table"); return t.scrollWidth <= t.clientWidth; })()`},
		{"the page fits", `document.documentElement.scrollWidth <= 360`},
		{"bars have 100 pixels", `document.querySelector("#bars i").clientWidth >= 100`},
	} {
		if !eval[bool](b, c.fits) {
			t.Errorf("not on a phone of 360 pixels: %s", c.name)
		}
	}
	evalIn[bool](b, b.worker, "(navigator.gpu.requestAdapter = async () => null, self.gpuDevice.destroy(), true)")
	for _, alert := range []string{`/The GPU failed.*The CPU is used/`, `/^$/`} {
		b.do(chromedp.Click(chromedp.CSS("#run")))
		b.wait(`document.querySelectorAll("#times tbody tr").length >= 3`)
		if text := b.text("alert"); !eval[bool](b, alert+`.test(document.getElementById("alert").textContent)`) {
			t.Errorf("without the GPU the page says %q, want %s", text, alert)
		}
		b.do(chromedp.Click(chromedp.CSS("#run")))
		b.wait(`/Stopped/.test(document.getElementById("status").textContent)`)
	}
	clean(b)
}
