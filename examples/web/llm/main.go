// Command llm is the program of the page on which a language model writes. It opens the visitor's file by
// name, as site/files.js provides it.
package main

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/llm"
)

func main() { serve(page.Open()) }

// A program is the state behind the page.
type program struct {
	port    *page.Port
	devices page.Devices

	path     string // of the model
	device   string // its name
	model    *llm.Model
	messages []llm.Message // of the chat so far
	writer   *writer       // nil if nothing is being written
	reopened bool          // the GPU, since the last token
}

// An opening names a file and the device for its model.
type opening struct{ Name, Device string }

// A request is for text that answers or continues a prompt.
type request struct {
	Prompt      string
	Temperature float64
	Length      int // the most tokens
}

// A writer is a text that is being written.
type writer struct {
	request
	next   func() (llm.Token, error, bool)
	stop   func()
	text   strings.Builder
	tokens int
	first  time.Time // when the first token came
}

// serve answers the page until it is gone.
func serve(port *page.Port) {
	p := &program{port: port, device: page.CPU}
	page.On(port, "open", p.open)
	page.On(port, "device", p.move)
	page.On(port, "write", p.write)
	page.On(port, "stop", func(struct{}) error { p.end("stopped"); return nil })
	page.On(port, "new", func(struct{}) error { p.forget(); return nil })
	p.devices.Announce(port)
	port.Serve(p.work)
}

// open opens a model. If that fails, the one before stays.
func (p *program) open(o opening) error {
	if err := p.load(o.Name, o.Device); err != nil {
		return err
	}
	p.forget()
	p.port.Send("model", map[string]any{"context": p.model.Context(), "chat": p.model.HasTemplate()})
	return nil
}

func (p *program) load(path, device string) error {
	dev, err := p.devices.Open(device)
	if err != nil {
		return err
	}
	m, err := llm.Open(path, &llm.Options{Device: dev})
	if err != nil {
		return err
	}
	if _, err := m.Tokenizer(); err != nil {
		return err
	}
	p.path, p.device, p.model = path, device, m
	return nil
}

// move loads the model on a device, and tells the page the device that it is on then.
func (p *program) move(device string) (err error) {
	if p.model == nil || device == p.device {
		return nil
	}
	p.end("stopped")
	err = p.load(p.path, device)
	p.port.Send("device", p.device)
	return err
}

// forget ends the text and begins a new chat.
func (p *program) forget() {
	p.end("stopped")
	p.messages = nil
}

// write begins a text.
func (p *program) write(r request) error {
	if p.model == nil {
		return errors.New("no model is open")
	}
	p.end("stopped")
	p.port.Send("begin", map[string]any{"prompt": r.Prompt, "chat": p.model.HasTemplate()})
	p.begin(r)
	return nil
}

func (p *program) begin(r request) {
	o := p.model.Defaults()
	o.Temperature, o.MaxTokens = r.Temperature, r.Length
	tokens := p.model.Generate(context.Background(), r.Prompt, &o)
	if p.model.HasTemplate() {
		messages := append(slices.Clip(p.messages), llm.Message{Role: "user", Content: r.Prompt})
		tokens = p.model.Chat(context.Background(), messages, &llm.ChatOptions{GenerateOptions: &o})
	}
	p.writer = &writer{request: r}
	p.writer.next, p.writer.stop = iter.Pull2(tokens)
}

// end ends the text that is being written, and tells the page why.
func (p *program) end(why string) {
	w := p.writer
	if w == nil {
		return
	}
	w.stop()
	p.writer = nil
	if why != "error" {
		p.messages = append(p.messages, llm.Message{Role: "user", Content: w.Prompt}, llm.Message{Role: "assistant", Content: w.text.String()})
	}
	speed := 0.0
	if elapsed := time.Since(w.first).Seconds(); w.tokens > 1 && elapsed > 0 {
		speed = float64(w.tokens-1) / elapsed
	}
	p.port.Send("end", map[string]any{"tokens": w.tokens, "speed": speed, "why": why})
}

// work writes a token.
func (p *program) work() (more bool, err error) {
	if p.writer != nil {
		if err = page.Try(p.token); err != nil {
			err = p.recover(err)
		}
	}
	if err != nil {
		p.end("error")
	}
	return p.writer != nil, err
}

func (p *program) token() error {
	w := p.writer
	t, err, ok := w.next()
	if err != nil || !ok {
		return err
	}
	p.reopened = false
	if w.tokens == 0 {
		w.first = time.Now()
	}
	if t.ID >= 0 {
		w.tokens++
	}
	w.text.WriteString(t.Text)
	p.port.Send("text", t.Text)
	if t.End != "" {
		p.end(string(t.End))
	}
	return nil
}

// recover begins the text again after a failure of the GPU, there or else on the CPU.
func (p *program) recover(err error) error {
	if !page.Failed(p.device, err) || p.reopened {
		return err
	}
	p.reopened = true
	p.writer.stop()
	name, _ := p.devices.Reopen(p.port, err)
	if err := page.Try(func() error { return p.load(p.path, name) }); err != nil {
		return err
	}
	p.port.Send("again", nil)
	p.begin(p.writer.request)
	return nil
}
