package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/jinja"
	"github.com/tensorken/tensorken/internal/pyvalue"
)

// A Message is a part of a chat.
type Message struct {
	Role       string     `json:"role"` // system, user, assistant or tool
	Content    string     `json:"content"`
	Name       string     `json:"name,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`   // of an assistant
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a tool: the call that it answers
}

// A ToolCall is a call of a function that the model asked for.
type ToolCall struct {
	ID       string `json:"id,omitempty"`
	Type     string `json:"type"` // function
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // an object
	} `json:"function"`
}

// ChatOptions say how an answer is written. A nil pointer, as a nil GenerateOptions, has the
// settings of the model's makers.
type ChatOptions struct {
	*GenerateOptions
	Tools []json.RawMessage // functions that the model may call: {"type": "function", "function": …}
	Vars  map[string]any    // more variables of the template, as enable_thinking
	// Continue goes on with the last message, where the template can, and begins no answer.
	Continue bool
	Template string // in place of the model's
}

// Chat yields the tokens of the answer to messages, see [Model.Generate]. The next turn of a chat
// reads only its new tokens.
func (m *Model) Chat(ctx context.Context, messages []Message, o *ChatOptions) iter.Seq2[Token, error] {
	var g *GenerateOptions
	if o != nil {
		g = o.GenerateOptions
	}
	return m.generate(ctx, func() ([]int32, error) { return m.ChatIDs(messages, o) }, g, true)
}

// ChatIDs returns the tokens of messages, of the text of ChatPrompt.
func (m *Model) ChatIDs(messages []Message, o *ChatOptions) ([]int32, error) {
	text, err := m.ChatPrompt(messages, o)
	if err != nil {
		return nil, err
	}
	return m.encode(text, true)
}

// ChatPrompt returns the text that the model reads for messages, by its chat template.
func (m *Model) ChatPrompt(messages []Message, o *ChatOptions) (string, error) {
	if o == nil {
		o = &ChatOptions{}
	}
	t, err := m.template(o)
	if err != nil {
		return "", fmt.Errorf("llm: %w", err)
	}
	vars := &pyvalue.Dict{}
	all := []variable{{"messages", messages}, {"tools", nil}, {"documents", nil}, {"add_generation_prompt", !o.Continue}}
	if len(o.Tools) > 0 {
		all[1].value = o.Tools
	}
	for _, role := range slices.Sorted(maps.Keys(m.special)) {
		all = append(all, variable{role + "_token", m.special[role]})
	}
	for _, name := range slices.Sorted(maps.Keys(o.Vars)) {
		all = append(all, variable{name, o.Vars[name]})
	}
	for _, v := range all {
		value, err := pyvalue.From(v.value)
		if err != nil {
			return "", fmt.Errorf("llm: the template's %s: %w", v.name, err)
		}
		vars.Set(v.name, value)
	}
	text, err := t.Render(vars, nil)
	if err != nil {
		return "", fmt.Errorf("llm: the chat template: %w", err)
	}
	return text, nil
}

// A variable is one of a template.
type variable struct {
	name  string
	value any
}

// template returns the template for a chat.
func (m *Model) template(o *ChatOptions) (*jinja.Template, error) {
	text, ok := o.Template, o.Template != ""
	if !ok && len(o.Tools) > 0 {
		text, ok = m.templates["tool_use"]
	}
	if !ok {
		text, ok = m.templates["default"]
	}
	if !ok {
		return nil, errors.New("the model has no chat template: continue texts by Generate, or set Template")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.parsed[text]; t != nil {
		return t, nil
	}
	t, err := jinja.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the chat template: %w", err)
	}
	if len(m.parsed) == maxParsed {
		clear(m.parsed)
	}
	m.parsed[text] = t
	return t, nil
}

// maxParsed bounds the templates that are kept parsed: a client may choose them without end.
const maxParsed = 16

// HasTemplate reports whether the model has a chat template.
func (m *Model) HasTemplate() bool { return m.templates["default"] != "" }
