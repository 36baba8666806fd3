package plot

import (
	"encoding/gob"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// The messages of GoNB's package gonbui/protocol, which the kernel decodes and package
// gonbui encodes.
type (
	mimeType    string
	displayData struct {
		Data      map[mimeType]any
		Metadata  map[string]any
		DisplayID string
	}
)

// received decodes the messages of a pipe until it is closed.
func received(t *testing.T, r io.Reader) (all []displayData) {
	t.Helper()
	for dec := gob.NewDecoder(r); ; {
		var m displayData
		err := dec.Decode(&m)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Errorf("message %d: %v", len(all), err)
			return all
		}
		all = append(all, m)
	}
}

// GoNB reads the messages, also between messages of package gonbui.
func TestMessages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := openNotebook(path)
	if err != nil {
		t.Fatal(err)
	}
	other := gob.NewEncoder(n.pipe)
	for _, id := range []string{"", "one"} {
		if err := n.display("<p>"+id, id); err != nil {
			t.Fatal(err)
		}
		if err := other.Encode(displayData{Data: map[mimeType]any{"text/plain": "gonbui"}, Metadata: map[string]any{"width": 1}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.pipe.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := received(t, f)
	if len(got) != 4 || got[0].Data["text/html"] != "<p>" || got[2].Data["text/html"] != "<p>one" || got[2].DisplayID != "one" || got[3].Data["text/plain"] != "gonbui" {
		t.Errorf("GoNB receives %v", got)
	}
	if err := n.display("after", ""); err == nil {
		t.Error("a message to a closed pipe is no error")
	}
	if _, err := openNotebook(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a pipe that does not exist is no error")
	}
}

// Outside of a notebook, Show prints.
func TestShowText(t *testing.T) {
	t.Setenv(pipeVariable, "")
	t.Setenv("COLUMNS", "40")
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = file
	errs := []error{Show(tensor.Eye(2)), Show(tensor.Zeros(30, 30)), Line(tensor.Arange(3)).Show(), Watch[map[string]float64]()(nil)}
	os.Stdout = stdout
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"[[1 0]\n [0 1]] (float32 [2 2] on cpu, uncommitted)\n", "float32 [30 30] on cpu\n", "+++++", "⠤"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the output lacks %q:\n%s", want, b)
		}
	}
}
