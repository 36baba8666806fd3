package main

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The network on the page learns.
func TestDigits(t *testing.T) {
	b := open(t, chromium(t), "digits.html", "", time.Minute)
	b.do(chromedp.Click(chromedp.CSS("#start")))
	b.wait(`/Step 2000/.test(document.getElementById("status").textContent)`)
	t.Log(evalIn[string](b, b.worker, "String(self)"), eval[string](b, `document.getElementById("status").textContent`))
	for _, m := range b.messages() {
		t.Error("console: ", m)
	}
}
