//go:build !js

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Lines are run on both devices, with their plan, shaders and gradients, and mistakes are told.
func TestPlayground(t *testing.T) {
	b := open(t, chromium(t), "playground.html", keepDevice, 2*time.Minute)
	run := func(source string) {
		t.Helper()
		eval[bool](b, fmt.Sprintf(`(document.getElementById("status").textContent = "", document.getElementById("source").value = %q, true)`, source))
		b.do(chromedp.Click(chromedp.CSS("#run")))
		b.wait(`/Done/.test(document.getElementById("status").textContent) || document.getElementById("alert").textContent`)
	}
	has := func(id string, want ...string) {
		t.Helper()
		got := b.text(id)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s shows %q, want %q in it", id, got, w)
			}
		}
	}
	b.wait(`/Done/.test(document.getElementById("status").textContent)`) // the first example
	const lines = "x := tensor.New([]float32{1, 2, 3})\nx.Mul(x).Mul(0.5)"
	for _, device := range []string{"cpu", "gpu"} {
		b.do(chromedp.Click(chromedp.CSS(`[value="` + device + `"]`)))
		run(lines)
		has("results", "float32 [3]", "[0.5 2.0 4.5]")
		has("plan", "1 kernel", "pointwise", "Mul Mul")
		has("kernels", "@compute", "var<storage")
	}
	evalIn[bool](b, b.worker, "(self.gpuDevice.destroy(), true)")
	run(lines)
	has("results", "[0.5 2.0 4.5]")
	has("alert", "The GPU failed")
	b.do(chromedp.Click(chromedp.CSS("#gradient")))
	b.wait(`/gradient of x/.test(document.getElementById("results").textContent)`)
	has("results", "[1 2 3]")
	run("x := tensor.Ones(3, 4)\nx.MatMul(x)")
	has("alert", "line 2: MatMul of [3 4] and [3 4]: the inner lengths 4 and 3 differ")
	run("x := tensor.Ones(3\nx")
	has("alert", "line 1: ")
	clean(b)
}
