//go:build !js

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tensorken/tensorken/examples/internal/modeltest"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/tensor"
)

// A model of the visitor's disk, with weights in a file of their own, classifies an image on the CPU and on the GPU,
// and again after a loss of the device.
func TestONNX(t *testing.T) {
	browser := chromium(t)
	model := modeltest.Model{
		Inputs:  []modeltest.Value{{Name: "image", Elem: modeltest.Float, Dims: []int{-1, 3, -1, -1}}},
		Outputs: []modeltest.Value{{Name: "scores", Elem: modeltest.Float, Dims: []int{-1, 3}}, {Name: "edges", Elem: modeltest.Float, Dims: []int{-1, 1, -1, -1}}},
		Nodes: []modeltest.Node{
			modeltest.Call("GlobalAveragePool", "mean", "image"), modeltest.Call("Flatten", "flat", "mean"),
			modeltest.Call("MatMul", "scores", "flat", "weights"),
			modeltest.Call("Conv", "edges", "image", "kernel").With("pads", []int{1, 1, 1, 1}),
		},
		Constants: map[string]tensor.Tensor{
			"weights": tensor.Eye(3).Mul(10).Cast(tensor.Float32), "kernel": tensor.NewRNG(1).Normal(1, 3, 3, 3),
		},
		Apart: "weights.data",
	}.Write(t)
	dir := t.TempDir()
	image, labels := filepath.Join(dir, "red.png"), filepath.Join(dir, "labels.txt")
	if err := imageio.Save(image, tensor.New([]uint8{255, 51, 0}, 1, 1, 3).Expand(20, 30, 3)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(labels, []byte("red\ngreen\nblue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, browser, "onnx.html", keepDevice, 3*time.Minute)
	b.wait(`!document.getElementById("file").disabled`)
	b.do(chromedp.Click(chromedp.CSS(`[value="cpu"]`)), chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{model}))
	b.wait(`/weights.data/.test(document.getElementById("alert").textContent)`) // it is missing
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{model, filepath.Join(filepath.Dir(model), "weights.data")}))
	b.wait(`/model.onnx is open/.test(document.getElementById("status").textContent)`)
	b.do(
		chromedp.SetUploadFiles(chromedp.CSS("#labels"), []string{labels}),
		chromedp.SetUploadFiles(chromedp.CSS("#inputs input[type=file]"), []string{image}),
	)
	if got := eval[string](b, `document.querySelector("#params").textContent + document.querySelectorAll("#operators tbody tr").length`); got != "364" {
		t.Errorf("parameters and operators are %s, want 36 and 4", got)
	}
	eval[bool](b, `(document.querySelector("[aria-label='image: samples']").value = "from 0 to 1", true)`)
	run := func(device string) {
		b.do(chromedp.Click(chromedp.CSS("#run")))
		b.wait(`/Done/.test(document.getElementById("status").textContent)`)
		if got := eval[string](b, `document.querySelector(".bars .best").textContent`); got != "red100.0 %" { // of 10, 2 and 0
			t.Errorf("on the %s the best class is %q", device, got)
		}
		if got := eval[int](b, `document.querySelector("canvas.heat").width`); got != 96 {
			t.Errorf("on the %s the map is %d wide", device, got)
		}
		if got := b.text("ran-on") + b.text("first") + b.text("later"); !strings.HasPrefix(got, device) || strings.Contains(got, "–") {
			t.Errorf("device and times are %s, want %s", got, device)
		}
		eval[bool](b, `(document.getElementById("status").textContent = "", true)`)
	}
	run("CPU")
	eval[bool](b, `(() => { // the image is dropped on the page, after the input was of numbers
		const kind = document.querySelector("#inputs select"), file = document.querySelector("#inputs input[type=file]");
		const dropped = new DataTransfer();
		dropped.items.add(file.files[0]);
		kind.value = "random";
		file.value = "";
		dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, cancelable: true }));
		return true;
	})()`)
	b.do(chromedp.Click(chromedp.CSS(`[value="gpu"]`)))
	run("GPU")
	evalIn[bool](b, b.worker, "(self.gpuDevice.destroy(), true)")
	run("GPU")
	if got := b.text("alert"); !strings.Contains(got, "The GPU failed") {
		t.Errorf("after a loss of the GPU the page says %q", got)
	}
	b.do(chromedp.Click(chromedp.CSS("#nodes summary")))
	b.wait(`document.querySelectorAll("#node-table tbody tr").length === 4`)
	if unnamed := eval[int](b, `[...document.querySelectorAll("input, select, button, canvas, textarea")].filter((e) =>
		!(e.labels?.length || e.textContent.trim() || e.ariaLabel)).length`); unnamed != 0 {
		t.Errorf("%d controls have no name", unnamed)
	}
	b.do(chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile, chromedp.EmulateTouch))
	if w := eval[int](b, "document.documentElement.scrollWidth"); w > 360 {
		t.Errorf("with a model the page is %d pixels wide on a phone of 360", w)
	}
	clean(b)
}
