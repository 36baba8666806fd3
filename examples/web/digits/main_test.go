package main

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/tensorken/tensorken/examples/web/internal/page"
)

// A message from the page starts training, and the loss falls.
func TestTrain(t *testing.T) {
	in, pageEnd := io.Pipe()
	programEnd, out := io.Pipe()
	go func() {
		serve(page.Lines(in, out))
		out.Close()
	}()
	go io.WriteString(pageEnd, `{"name":"train"}`+"\n")
	for d := json.NewDecoder(programEnd); ; {
		var m struct {
			Name  string
			Value json.RawMessage
		}
		if err := d.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if m.Name == "error" {
			t.Fatalf("%s", m.Value)
		}
		if m.Name != "progress" {
			continue
		}
		var v struct{ Loss float64 }
		if err := json.Unmarshal(m.Value, &v); err != nil {
			t.Fatal(err)
		}
		if v.Loss < 0.1 {
			break
		}
	}
	pageEnd.Close()
	if _, err := io.Copy(io.Discard, programEnd); err != nil {
		t.Fatal(err)
	}
}
