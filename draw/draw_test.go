package draw_test

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/draw"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A box is a rectangle of a drawing and its text.
type box struct {
	x, y, w, h float64
	text       string
	bold       bool
}

// boxes parses a drawing, and fails if boxes overlap or lie outside.
func boxes(t *testing.T, s draw.SVG) (out []box, edges int) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(s)))
	var width, height float64
	for {
		token, err := d.Token()
		if token == nil {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.CharData:
			if text := strings.TrimSpace(string(e)); text != "" && len(out) > 0 {
				out[len(out)-1].text += text + "\n"
			}
		case xml.StartElement:
			a := map[string]string{}
			number := func(name string) float64 {
				x, err := strconv.ParseFloat(a[name], 64)
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
			for _, attr := range e.Attr {
				a[attr.Name.Local] = attr.Value
			}
			switch {
			case e.Name.Local == "svg":
				width, height = number("width"), number("height")
			case e.Name.Local == "path" && a["fill"] == "":
				edges++
			case e.Name.Local == "rect" && a["rx"] != "":
				out = append(out, box{number("x"), number("y"), number("width"), number("height"), "", a["stroke-width"] != ""})
			}
		}
	}
	for i, p := range out {
		if p.x < -0.5 || p.y < -0.5 || p.x+p.w > width || p.y+p.h > height {
			t.Errorf("%q lies outside", p.text)
		}
		for _, q := range out[:i] {
			if p.x < q.x+q.w && q.x < p.x+p.w && p.y < q.y+q.h && q.y < p.y+p.h {
				t.Errorf("%q and %q overlap", p.text, q.text)
			}
		}
	}
	return out, edges
}

func TestGraph(t *testing.T) {
	x, y := tensor.NewRNG(1).Normal(4, 8), tensor.New([]float32{1, 2, 3, 4, 5, 6, 7, 8})
	if err := tensor.Eval(x); err != nil {
		t.Fatal(err)
	}
	got, edges := boxes(t, draw.Graph(struct{ Loss, Mean tensor.Tensor }{x.Mul(y).Add(0.5).Sum(), x.Sum(1)}))
	var texts []string
	for _, b := range got {
		texts = append(texts, strings.ReplaceAll(strings.TrimSpace(b.text), "\n", ", "))
		if named := strings.Contains(b.text, "loss") || strings.Contains(b.text, "mean"); b.bold != named {
			t.Errorf("the frame of %q is bold: %v", b.text, b.bold)
		}
	}
	all := strings.Join(texts, "; ")
	for _, want := range []string{"stored, float32 [4 8]; ", "Buffer, float32 [8]", "Mul, float32 [4 8]", "Add 0.5, float32 [4 8]", "mean, Sum, float32 [4 1]"} {
		if !strings.Contains(all, want) {
			t.Errorf("the drawing lacks %q: %s", want, all)
		}
	}
	if edges < len(got)-2 {
		t.Errorf("%d edges of %d boxes", edges, len(got))
	}
	one, edges := boxes(t, draw.Graph(tensor.Full(2.5, 3)))
	if len(one) != 1 || edges != 0 || one[0].text != "2.5\nfloat32 [3]\n" {
		t.Errorf("the drawing of a constant is %+v", one)
	}
}

type residual struct {
	Norm     nn.LayerNorm
	Up, Down nn.Linear
}

func (r residual) Apply(x tensor.Tensor) tensor.Tensor {
	return x.Add(r.Down.Apply(r.Up.Apply(r.Norm.Apply(x)).ReLU()))
}

func TestModel(t *testing.T) {
	rng := tensor.NewRNG(1)
	var blocks []residual
	for range 3 {
		blocks = append(blocks, residual{nn.NewLayerNorm(8), nn.NewLinear(rng, 8, 32), nn.NewLinear(rng, 32, 8)})
	}
	x := tensor.Ones(2, 8)
	got, edges := boxes(t, draw.Model(nn.SummaryOf(blocks, func(m []residual) tensor.Tensor {
		y := x
		for _, b := range m {
			y = b.Apply(y)
		}
		return y
	})))
	if len(got) != 1+3*5 || edges != 3*6 { // norm, up, ReLU, down, Add
		t.Errorf("%d boxes and %d edges", len(got), edges)
	}
	if got[0].text != "input\n[2 8]\n" || got[1].text != "0.norm\nnn.LayerNorm\n[2 8]\n" || got[3].text != "ReLU\n[2 32]\n" || !got[15].bold {
		t.Errorf("boxes %+v", got)
	}
}

// A graph of many layers and long edges is drawn quickly.
func TestLarge(t *testing.T) {
	x := tensor.New([]float32{1, 2})
	ys := []tensor.Tensor{x}
	for i := range 600 {
		ys = append(ys, ys[i].Mul(ys[i*7/8]))
	}
	start := time.Now()
	s := draw.Graph(ys[600])
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("drawing 600 operations took %v", d)
	}
	boxes(t, s)
}

func TestMisuse(t *testing.T) {
	x := tensor.Ones(2)
	for range 2001 {
		x = x.Exp()
	}
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { draw.Graph() }, "draw.Graph: there is no tensor to draw"},
		{func() { draw.Graph(tensor.Tensor{}) }, "draw.Graph: there is no tensor to draw"},
		{func() { draw.Graph(struct{ a, B tensor.Tensor }{}) }, "draw.Graph: struct"},
		{func() { draw.Graph(x) }, "draw.Graph: 2001 boxes are more than the 2000"},
		{func() { draw.Model(&nn.Report{Steps: []nn.StepReport{{}}}) }, "draw.Model: step 0 of the report is of a layer or a step that it lacks"},
		{func() { draw.Model(&nn.Report{Steps: []nn.StepReport{{Layer: -1, Inputs: []int{3}}}}) }, "draw.Model: step 0 of the report"},
		{func() { draw.Model(nil) }, "draw.Model: the report is empty: make it with nn.SummaryOf"},
	} {
		err := tensor.Try(c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "draw_test.go:") {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	err := draw.Graph(tensor.Ones(1)).Save(filepath.Join(t.TempDir(), "no", "g.svg"))
	if err == nil || !strings.HasPrefix(err.Error(), "draw: save ") {
		t.Errorf("Save in no folder = %v", err)
	}
}

func ExampleGraph() {
	path := filepath.Join(os.TempDir(), "graph.svg")
	defer os.Remove(path)
	x := tensor.New([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(draw.Graph(x.Sub(x.Mean(1)).Square()).Save(path))
	// Output: <nil>
}
