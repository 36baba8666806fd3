package main

import (
	"context"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/examples/web/internal/page/pagetest"
	"github.com/tensorken/tensorken/llm"
)

// folder has a model that knows a few texts by heart.
const folder = "../../../llm/testdata/chat"

// answer returns the next text of a program, and the reason for its end.
func answer(v *pagetest.Visit) (text, why string) {
	v.Helper()
	for {
		switch m := v.Next(); m.Name {
		case "text":
			text += m.Value.(string)
		case "again":
			text = ""
		case "end":
			return text, m.Value.(map[string]any)["why"].(string)
		}
	}
}

// A chat of two turns, a text of a given length, and a new chat.
func TestProgram(t *testing.T) {
	v := pagetest.Start(t, serve)
	v.Send("open", opening{folder, page.CPU})
	if m := pagetest.Wait[struct {
		Context int
		Chat    bool
	}](v, "model"); !m.Chat || m.Context != 128 {
		t.Errorf("model %+v", m)
	}
	messages := []llm.Message{{Role: "user", Content: "What is a tensor?"}}
	v.Send("write", request{Prompt: messages[0].Content, Length: 100})
	text, why := answer(v)
	if text != "An array of numbers with a shape." || why != "stop" {
		t.Errorf("%q, ended by %s", text, why)
	}
	v.Send("write", request{Prompt: "Hello", Length: 20})
	got, _ := answer(v)
	if want := direct(t, append(messages, llm.Message{Role: "assistant", Content: text}, llm.Message{Role: "user", Content: "Hello"})); got != want {
		t.Errorf("the second turn is %q, want %q", got, want)
	}
	v.Send("new", nil)
	v.Send("write", request{Prompt: "What is a tensor?", Length: 2})
	if text, why := answer(v); text != "An" || why != "length" {
		t.Errorf("%q, ended by %s", text, why)
	}
	v.Send("device", page.CPU)
}

// direct returns the answer of package llm to messages.
func direct(t *testing.T, messages []llm.Message) (text string) {
	m, err := llm.Open(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := m.Defaults()
	o.Temperature, o.MaxTokens = 0, 20
	for token, err := range m.Chat(context.Background(), messages, &llm.ChatOptions{GenerateOptions: &o}) {
		if err != nil {
			t.Fatal(err)
		}
		text += token.Text
	}
	return text
}

// Errors leave the program as it was.
func TestErrors(t *testing.T) {
	v := pagetest.Start(t, serve)
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"write", request{}, "no model is open"},
		{"open", opening{"none.gguf", page.CPU}, "none.gguf"},
		{"open", opening{folder + "/config.json", page.CPU}, "config.json"},
	} {
		v.Send(c.name, c.value)
		if e := pagetest.Wait[string](v, "error"); e == "" || !strings.Contains(e, c.want) {
			t.Errorf("%s %v: error %q, want one with %q", c.name, c.value, e, c.want)
		}
	}
}

// After a loss of the GPU the text begins again on another device.
func TestLoss(t *testing.T) {
	dev, lose := pagetest.GPU(t)
	v := pagetest.Start(t, func(port *page.Port) {
		m, err := llm.Open(folder, &llm.Options{Device: dev})
		if err != nil {
			port.Send("error", err.Error())
			return
		}
		p := &program{port: port, path: folder, device: page.GPU, model: m}
		page.On(port, "write", p.write)
		page.On(port, "lose", func(struct{}) error { lose(); return nil })
		port.Serve(p.work)
	})
	v.Send("lose", nil)
	v.Send("write", request{Prompt: "What is a tensor?", Length: 100})
	reopened := false
	for {
		m := v.Next()
		if m.Name == "reopened" {
			reopened = true
		}
		if m.Name == "again" {
			break
		}
	}
	if text, why := answer(v); text != "An array of numbers with a shape." || why != "stop" || !reopened {
		t.Errorf("%q, ended by %s, after reopened %v", text, why, reopened)
	}
}
