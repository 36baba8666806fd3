//go:build !js

package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	rt "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// prelude keeps values that tests ask a worker about: devices, the number of GPU buffers and the
// memory of the program.
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
	b.do(chromedp.Click(chromedp.CSS(`[value="`+device+`"]`)), chromedp.Click(chromedp.CSS("#train")))
	b.wait(until)
	b.do(chromedp.Click(chromedp.CSS("#train")))
	b.wait(`document.getElementById("train").textContent === "Train"`)
}

const accurate = `parseFloat(document.querySelector("#rows td:nth-child(4)")?.textContent) >= 95`

// pad returns where in the window a point is, as shares of the pad.
func (b *tab) pad() func(point [2]float64) (x, y float64) {
	b.Helper()
	r := eval[[]float64](b, `(() => { const pad = document.getElementById("pad"); pad.scrollIntoView({ block: "center" }); const r = pad.getBoundingClientRect(); return [r.left, r.top, r.width]; })()`)
	return func(p [2]float64) (x, y float64) { return r[0] + p[0]*r[2], r[1] + p[1]*r[2] }
}

// draw draws lines with the mouse. Points are shares of the pad.
func (b *tab) draw(strokes ...[][2]float64) {
	b.Helper()
	pad := b.pad()
	for _, s := range strokes {
		at := func(i int) (x, y float64) { return pad(s[i]) }
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

	b.tap()

	const colours = `(() => {
		const canvas = document.getElementById("chart"), found = new Set();
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) found.add([...data.slice(i, i + 3)].join());
		return ["36,88,179", "178,69,14"].every((c) => found.has(c)); // the lines of style.css
	})()`
	if !eval[bool](b, colours) {
		t.Error("the chart has no lines of loss and accuracy")
	}

	b.do(chromedp.Click(chromedp.CSS(`[value="gpu"]`)), chromedp.Click(chromedp.CSS("#train")))
	before := b.text("gpu-steps")
	b.wait(`document.getElementById("gpu-steps").textContent > ` + before)
	evalIn[bool](b, b.worker, "device.destroy() === undefined")
	b.wait(`document.getElementById("alert").textContent`)
	if text := b.text("alert"); !strings.Contains(text, "The GPU failed") || !strings.Contains(text, "opened again") {
		t.Errorf("after the device was destroyed the page says %q", text)
	}
	before = b.text("gpu-steps")
	b.wait(`document.getElementById("gpu-steps").textContent - ` + before + ` > 200`)
	if *update {
		b.picture()
	}
	for _, m := range b.messages() {
		t.Error("console: ", m)
	}
}

var update = flag.Bool("update", false, "rewrite docs/browser.png")

// picture writes the picture of the page that README.md shows.
func (b *tab) picture() {
	b.do(chromedp.Click(chromedp.CSS("#train")), chromedp.Click(chromedp.CSS("#numbers summary")))
	b.draw([][2]float64{
		{0.3, 0.25}, {0.4, 0.16}, {0.52, 0.14}, {0.64, 0.2}, {0.66, 0.32}, {0.58, 0.42}, {0.46, 0.47},
		{0.6, 0.52}, {0.7, 0.62}, {0.69, 0.75}, {0.58, 0.85}, {0.43, 0.86}, {0.3, 0.78},
	})
	b.wait(`document.getElementById("answer").textContent.startsWith("3, ")`)
	b.do(chromedp.EmulateViewport(960, 900), chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(), document.getElementById("alert").textContent = ""`), chromedp.Sleep(time.Second))
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile("../../docs/browser.png", png, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// A page without a GPU says so and computes on the CPU.
func TestWithoutGPU(t *testing.T) {
	b := open(t, chromium(t), "digits.html", `Object.defineProperty(WorkerNavigator.prototype, "gpu", { get() {} });`, time.Minute)
	b.wait(`document.getElementById("train").textContent === "Pause"`)
	eval[bool](b, `document.getElementById("rate").dispatchEvent(new Event("change", { bubbles: true }))`) // the first steps are no more
	b.wait(`!document.getElementById("train").disabled`)
	if why := b.text("gpu-hint"); !eval[bool](b, `document.querySelector('[value="gpu"]').disabled`) || !strings.Contains(why, "this browser has no WebGPU") {
		t.Errorf("the choice of the GPU is disabled, for the reason %q: want both", why)
	}
	if steps := b.text("cpu-steps"); steps != "300" {
		t.Errorf("%s steps on the CPU, want 300", steps)
	}
	for _, m := range b.messages() {
		t.Error("console: ", m)
	}
}

// A tap leaves a dot, and a second finger draws nothing.
func (b *tab) tap() {
	b.Helper()
	const ink = `(() => {
		const pad = document.getElementById("pad"), g = new OffscreenCanvas(pad.width, pad.height).getContext("2d", { willReadFrequently: true });
		g.drawImage(pad, 0, 0);
		const { data } = g.getImageData(0, 0, pad.width, pad.height);
		return data.filter((v, i) => i % 4 === 3 && v > 0).length / pad.width ** 2;
	})()`
	x, y := b.pad()([2]float64{0.5, 0.5})
	b.do(chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft))
	if share := eval[float64](b, ink); share < 0.004 || share > 0.01 { // a circle of diameter 1/12
		b.Errorf("a tap paints %.4f of the pad", share)
	}
	eval[bool](b, `["pointerdown", "pointermove", "pointerup"].every((type) => document.getElementById("pad").dispatchEvent(
		new PointerEvent(type, { pointerId: 77, clientX: 0, clientY: 0 })))`)
	x, y = b.pad()([2]float64{0.5, 0.6})
	b.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y, chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseReleased, x, y, chromedp.ButtonLeft))
	if share := eval[float64](b, ink); share < 0.012 || share > 0.02 { // and a line of length 1/10
		b.Errorf("a line and a second finger paint %.4f of the pad", share)
	}
	b.do(chromedp.Click(chromedp.CSS("#clear")))
}

// otherMedia is JavaScript for a worker, to which no program is sent as application/wasm.
const otherMedia = `
const load = self.fetch;
self.fetch = async (...args) => new Response((await load(...args)).body, { headers: { "Content-Type": "application/octet-stream" } });`

// The page works by keyboard, and a phone shows the answer without scrolling.
func TestAccess(t *testing.T) {
	b := digitsTab(t, chromium(t), otherMedia, time.Minute)
	b.do(chromedp.Focus(chromedp.CSS("#pad")), chromedp.KeyEvent(" "))
	for range 11 {
		b.do(chromedp.KeyEvent(kb.ArrowDown))
	}
	if pen := b.text("pen"); pen != "Column 8, row 14 of 15, pen down." {
		t.Errorf("after 11 times down a screen reader says %q", pen)
	}
	b.do(chromedp.KeyEvent(" "))
	b.wait(`document.getElementById("answer").textContent.startsWith("1, ")`)
	b.do(chromedp.KeyEvent(kb.Backspace))
	b.wait(`document.getElementById("answer").textContent === "Nothing is drawn."`)
	if unnamed := eval[int](b, `[...document.querySelectorAll("input, select, button, canvas")].filter((e) =>
		!(e.labels?.length || e.textContent.trim() || e.ariaLabel)).length`); unnamed != 0 {
		t.Errorf("%d controls have no name", unnamed)
	}

	b.do(chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile, chromedp.EmulateTouch))
	eval[bool](b, "(scrollTo(0, 0), true)")
	if !eval[bool](b, `document.getElementById("answer").getBoundingClientRect().bottom <= 620`) {
		t.Error("a phone of 360×640 pixels shows no answer without scrolling")
	}
}

// Each page fits a phone, with its links in one line, and has dark colors.
func TestPhone(t *testing.T) {
	b := open(t, chromium(t), "digits.html", "", time.Minute)
	b.do(chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile, chromedp.EmulateTouch))
	for _, p := range pages {
		b.do(chromedp.Navigate(eval[string](b, "location.origin") + "/" + p.Name + ".html"))
		for _, c := range []struct{ name, holds string }{
			{"the page fits", `document.documentElement.scrollWidth <= 360`},
			{"the links are in one line", `(() => { const u = document.querySelector("nav ul"); return u.clientHeight < 60 && u.scrollWidth <= u.clientWidth; })()`},
		} {
			if !eval[bool](b, c.holds) {
				t.Errorf("%s: not on a phone of 360×640 pixels: %s", p.Name, c.name)
			}
		}
		for scheme, want := range map[string]string{"dark": "rgb(23, 25, 29)", "light": "rgb(251, 251, 250)"} {
			if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			}); err != nil {
				t.Fatal(err)
			}
			if got := eval[string](b, "getComputedStyle(document.body).backgroundColor"); got != want {
				t.Errorf("%s: the background is %s in %s mode, want %s", p.Name, got, scheme, want)
			}
		}
	}
}

var memorySteps = flag.Int("steps", 1000, "the number of steps that TestMemory makes on each device")

// A usage is the memory of a worker.
type usage struct {
	Program int `json:"program"` // bytes of WebAssembly
	Script  int `json:"script"`  // bytes of JavaScript's objects
	Buffers int `json:"buffers"` // of the GPU
}

// Steps take no more memory than the first of them. How many buffers wait for Go's collector depends
// on when it last ran: one that each second step keeps would be too many.
func TestMemory(t *testing.T) {
	b := digitsTab(t, chromium(t), prelude, 2*time.Minute+time.Duration(*memorySteps)*100*time.Millisecond)
	measure := func() usage {
		for range 3 { // promises, then their waiters, are collected
			evalIn[bool](b, b.worker, "gc() === undefined")
			time.Sleep(100 * time.Millisecond)
		}
		heap, err := chromedp.Call(b.worker, runtime.GetHeapUsage, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		u := evalIn[usage](b, b.worker, `({ program: program.exports.mem.buffer.byteLength, buffers: self.buffers })`)
		u.Script = int(heap.UsedSize)
		return u
	}
	for _, device := range []string{"cpu", "gpu"} {
		steps := `document.getElementById("` + device + `-steps").textContent`
		b.learn(device, steps+" > 500")
		before := measure()
		b.learn(device, fmt.Sprintf("%s > %d", steps, 500+*memorySteps))
		after := measure()
		t.Logf("%s after %s steps: %+v, before %+v, %s steps a second", device, b.text(device+"-steps"), after, before, b.text(device+"-speed"))
		if after.Program > before.Program+8<<20 || after.Script > before.Script+1<<20 || after.Buffers > before.Buffers+*memorySteps/2 {
			t.Errorf("%s: from %+v to %+v in %d steps", device, before, after, *memorySteps)
		}
	}
}

// A tab that is closed while it trains leaves no connections and goroutines in the server.
func TestClosedTab(t *testing.T) {
	browser := chromium(t)
	s := newServer(testSite(t))
	s.IdleTimeout = 100 * time.Millisecond
	var open atomic.Int32
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	go s.Serve(l)
	goroutines := func() int {
		stacks := make([]byte, 1<<20)
		return strings.Count(string(stacks[:rt.Stack(stacks, true)]), "net/http.(*conn).serve")
	}
	for range 2 {
		b := openURL(t, browser, "http://"+l.Addr().String()+"/digits.html", time.Minute)
		b.wait(`!document.getElementById("train").disabled`)
		if goroutines() == 0 && open.Load() > 0 {
			t.Fatal("no goroutine serves: the test does not see them")
		}
		b.do(chromedp.Click(chromedp.CSS("#train")))
		b.wait(`document.getElementById("cpu-steps").textContent > 400`)
		b.close()
	}
	for start := time.Now(); open.Load() > 0 || goroutines() > 0; time.Sleep(50 * time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("%d connections and %d goroutines are left", open.Load(), goroutines())
		}
	}
}
