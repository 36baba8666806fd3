package plot

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// cells returns the text of the elements with a name in HTML that is also XML.
func cells(t *testing.T, html, name string) (all []string) {
	t.Helper()
	inside := false
	for d := xml.NewDecoder(strings.NewReader(html)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%v in %s", err, html)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if inside = token.Name.Local == name; inside {
				all = append(all, "")
			}
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				all[len(all)-1] += string(token)
			}
		}
	}
}

func TestTable(t *testing.T) {
	long := tensor.Arange(30)
	for _, c := range []struct {
		t       tensor.Tensor
		caption string
		th, td  string
	}{
		{tensor.New([]float32{1, 0.1, float32(math.NaN()), float32(math.Inf(-1))}, 2, 2), "float32 [2 2] on cpu", " 0 1 0 1", "1 0.1 NaN -Inf"},
		{tensor.New([]bool{true, false}), "bool [2] on cpu", " 0 1 0", "true false"},
		{tensor.New([]int64{math.MaxInt64}), "int64 [1] on cpu", " 0 0", "9223372036854775807"},
		{tensor.Scalar(1.5), "float32 [] on cpu", " 0 0", "1.5"},
		{tensor.New([]float64{math.Pi}), "float64 [1] on cpu", " 0 0", "3.14159"},
		{tensor.New([]tensor.F16{tensor.ToF16(0.1)}), "float16 [1] on cpu", " 0 0", "0.0999756"},
		{tensor.Zeros(0, 3), "float32 [0 3] on cpu", "", ""},
		{long, "int32 [30] on cpu", " 0 1 2 3 4 … 25 26 27 28 29 0", "0 1 2 3 4 … 25 26 27 28 29"},
		{long.Unsqueeze(1), "int32 [30 1] on cpu", " 0 0 1 2 3 4 … 25 26 27 28 29", "0 1 2 3 4 … 25 26 27 28 29"},
		{tensor.Arange(6).Reshape(3, 1, 2), "int32 [3 1 2] on cpu", " 0 1 0  0 1 0  0 1 0", "0 1 2 3 4 5"},
	} {
		html, err := Table(c.t)
		if err != nil {
			t.Fatal(err)
		}
		if th, td := strings.Join(cells(t, html, "th"), " "), strings.Join(cells(t, html, "td"), " "); th != c.th || td != c.td {
			t.Errorf("the table of %v has the heads %q and the cells %q, want %q, %q", c.caption, th, td, c.th, c.td)
		}
		if !strings.Contains(html, "<div>"+c.caption+"</div>") {
			t.Errorf("the table has no caption %q: %s", c.caption, html)
		}
	}
	html, err := Table(tensor.Zeros(2, 3, 1, 1))
	if got := strings.Join(cells(t, html, "div"), ";"); err != nil || !strings.Contains(got, "[0 0];[0 1];[0 2];[1 0];the first 4 of 6") {
		t.Errorf("the tables of six matrices have the titles %q, %v", got, err)
	}
	var misuse *tensor.Error
	if err := tensor.Try(func() { Table(tensor.Tensor{}) }); !errors.As(err, &misuse) {
		t.Errorf("Table of an absent tensor: %v", err)
	}
	if _, err := Table(tensor.Arange(3).Take(0, tensor.New([]int32{7}))); !errors.As(err, &misuse) {
		t.Errorf("Table of a bad index: %v", err)
	}
}

func TestFigureHTML(t *testing.T) {
	f := Heatmap(tensor.Eye(3))
	f.Title = `a "title" of <b>`
	html, err := f.HTML()
	if err != nil {
		t.Fatal(err)
	}
	head, data, _ := strings.Cut(html, `src="data:image/png;base64,`)
	if !strings.Contains(head, `alt="a &#34;title&#34; of &lt;b&gt;"`) {
		t.Errorf("the image is %s…", head)
	}
	b, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(data, `">`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(b)); err != nil {
		t.Error(err)
	}
}
