package language

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/llm"
)

// runOptions are the flags of run.
type runOptions struct {
	flags
	ids, system string
	raw, json   bool
	n, logProbs int
}

// RunCommand is tensorken run.
func RunCommand() *cobra.Command {
	o := &runOptions{}
	c := &cobra.Command{
		Use:   "run MODEL [PROMPT]",
		Short: "Write a text by a language model",
		Long: `Write the answer to a prompt, an argument or else standard input. MODEL is a GGUF
file, a folder in Hugging Face's layout, with config.json, safetensors and a tokenizer, or
a name as hf:owner/name or hf:owner/name/file.gguf, which is fetched into a cache first. If the model has a chat template, the
prompt is a message of a user; with --raw, and without a template, the text is continued.
The settings are those that the model's makers recommend, unless flags change them. Ctrl-C
ends the answer.

With --json, the output is an object a line for each answer: "ids", "text" and "end", which is
stop, length or interrupted, with --logprobs "logprobs", and "forgotten" tokens after --shift. A model without a tokenizer takes
--ids.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), args, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.open(c)
	c.Flags().StringVar(&o.ids, "ids", "", "tokens of the prompt, as 1,2,3")
	c.Flags().StringVar(&o.system, "system", "", "system message before the prompt")
	c.Flags().BoolVar(&o.raw, "raw", false, "continue the text without the chat template")
	c.Flags().BoolVar(&o.json, "json", false, "print an object of JSON")
	c.Flags().Var(number{limits.Limits{Least: 1, Most: 1024, Want: "a whole number from 1 to 1024"}, "size", reflect.ValueOf(&o.n).Elem()}, "n", "number of answers (default 1)")
	c.Flags().Var(number{limits.Limits{Least: 0, Most: 1000, Want: "a whole number from 0 to 1000"}, "count", reflect.ValueOf(&o.logProbs).Elem()}, "logprobs", "with --json: print the log-probabilities of this many of the most probable tokens")
	o.generate(c)
	return c
}

func (o *runOptions) run(ctx context.Context, args []string, in io.Reader, out, notes io.Writer) error {
	ids, err := parseIDs(o.ids)
	if err != nil {
		return err
	}
	switch {
	case ids != nil && (len(args) > 1 || o.system != ""):
		return errors.New("--ids is the whole prompt: leave out PROMPT and --system")
	case o.n > 1 && !o.json:
		return errors.New("--n needs --json, which tells the answers apart")
	case o.logProbs > 0 && !o.json:
		return errors.New("--logprobs needs --json")
	}
	m, g, closeAll, err := o.load(ctx, args[0], notes)
	if err != nil {
		return err
	}
	defer closeAll()
	if g.LogProbs = o.logProbs; o.n > 0 {
		g.N = o.n
	}
	tokens := m.GenerateIDs(ctx, ids, g)
	if ids == nil {
		prompt, err := readPrompt(args[1:], in)
		if err != nil {
			return err
		}
		if tokens, err = o.start(ctx, m, prompt, g); err != nil {
			return err
		}
	}
	if o.json {
		return printJSON(ctx, tokens, max(1, g.N), out)
	}
	return stream(ctx, tokens, out, notes)
}

// start returns the answer to a prompt.
func (o *runOptions) start(ctx context.Context, m *llm.Model, prompt string, g *llm.GenerateOptions) (iter.Seq2[llm.Token, error], error) {
	if o.raw || !m.HasTemplate() {
		if o.system != "" {
			return nil, errors.New("--system needs the model's chat template: put the text into PROMPT")
		}
		return m.Generate(ctx, prompt, g), nil
	}
	messages := []llm.Message{{Role: "user", Content: prompt}}
	if o.system != "" {
		messages = append([]llm.Message{{Role: "system", Content: o.system}}, messages...)
	}
	return m.Chat(ctx, messages, &llm.ChatOptions{GenerateOptions: g}), nil
}

// maxPrompt is the most bytes of a prompt from standard input.
const maxPrompt = 64 << 20

func readPrompt(args []string, in io.Reader) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	data, err := io.ReadAll(io.LimitReader(in, maxPrompt+1))
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	if len(data) > maxPrompt {
		return "", errors.New("standard input has more than 64 MiB")
	}
	if text := strings.TrimRight(string(data), "\r\n"); text != "" {
		return text, nil
	}
	return "", errors.New("there is no prompt: give it as an argument, on standard input, or as --ids")
}

// parseIDs reads tokens; nil for an empty text.
func parseIDs(text string) (ids []int32, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil || id < 0 {
			return nil, fmt.Errorf("--ids has %q: want tokens as 1,2,3", part)
		}
		ids = append(ids, int32(id))
	}
	return ids, nil
}

// stream prints an answer as it comes, and how fast.
func stream(ctx context.Context, tokens iter.Seq2[llm.Token, error], out, notes io.Writer) error {
	var c timing
	_, err := c.print(tokens, out)
	if c.tokens > 0 || err == nil {
		fmt.Fprintln(out)
		fmt.Fprintln(notes, c.String())
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// A timing measures an answer.
type timing struct {
	tokens       int
	forgotten    int // see llm.Token
	start, first time.Time
	last         time.Time
}

// print prints the tokens of an answer, and returns its text.
func (c *timing) print(tokens iter.Seq2[llm.Token, error], out io.Writer) (string, error) {
	var text strings.Builder
	c.start = clock.Now()
	for t, err := range tokens {
		if err != nil {
			return text.String(), err
		}
		c.forgotten += t.Forgotten
		if c.last = clock.Now(); t.ID >= 0 {
			if c.tokens++; c.tokens == 1 {
				c.first = c.last
			}
		}
		text.WriteString(t.Text)
		if _, err := io.WriteString(out, t.Text); err != nil {
			return text.String(), err
		}
	}
	return text.String(), nil
}

func (c *timing) String() string {
	text := fmt.Sprintf("tokens: %d", c.tokens)
	if c.tokens > 1 {
		text += fmt.Sprintf(", the first after %.2f s, then %.1f tokens/s", c.first.Sub(c.start).Seconds(),
			float64(c.tokens-1)/max(1e-9, c.last.Sub(c.first).Seconds()))
	}
	if c.forgotten > 0 {
		text += fmt.Sprintf("; the context was full: %d tokens were forgotten", c.forgotten)
	}
	return text
}

// A result is the output of --json for an answer.
type result struct {
	Index int     `json:"index"`
	IDs   []int32 `json:"ids"`
	Text  string  `json:"text"`
	End   llm.End `json:"end"`
	// Forgotten is the number of tokens that --shift forgot.
	Forgotten int       `json:"forgotten,omitempty"`
	LogProbs  []logProb `json:"logprobs,omitempty"`
}

type logProb struct {
	LogProb float64  `json:"logprob"`
	Top     [][2]any `json:"top"` // tokens with their log-probabilities
}

func printJSON(ctx context.Context, tokens iter.Seq2[llm.Token, error], n int, out io.Writer) error {
	answers := make([]result, n)
	for i := range answers {
		answers[i] = result{Index: i, IDs: []int32{}, End: "interrupted"}
	}
	for t, err := range tokens {
		if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			break
		}
		if err != nil {
			return err
		}
		a := &answers[t.Index]
		a.Forgotten += t.Forgotten
		if a.Text += t.Text; t.ID < 0 {
			a.End = t.End
			continue
		}
		a.IDs = append(a.IDs, t.ID)
		if t.Top != nil {
			l := logProb{LogProb: t.LogProb}
			for _, top := range t.Top {
				l.Top = append(l.Top, [2]any{top.ID, top.LogProb})
			}
			a.LogProbs = append(a.LogProbs, l)
		}
	}
	for _, a := range answers {
		if err := printLine(out, a); err != nil {
			return err
		}
	}
	return nil
}

// printLine prints an object in a line of ASCII, so that nothing in it is taken for a command of a
// terminal.
func printLine(out io.Writer, v any) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	var line []byte
	for _, r := range b.String() {
		switch {
		case r < 0x7f:
			line = append(line, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			line = fmt.Appendf(line, `\u%04x\u%04x`, high, low)
		default:
			line = fmt.Appendf(line, `\u%04x`, r)
		}
	}
	_, err := out.Write(line)
	return err
}
