package language

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/internal/interrupt"
	"github.com/tensorken/tensorken/internal/terminal"
	"github.com/tensorken/tensorken/llm"
)

// chatOptions are the flags of chat.
type chatOptions struct {
	flags
	system string
}

// ChatCommand is tensorken chat.
func ChatCommand() *cobra.Command {
	o := &chatOptions{}
	c := &cobra.Command{
		Use:   "chat MODEL",
		Short: "Talk with a language model",
		Long: `Talk with a language model in a terminal, or through a pipe: then each line of standard
input is a message, and the answers go to standard output. MODEL and the settings are as in
tensorken run. Ctrl-C ends an answer, or, at the prompt, the chat. A message of several
lines stands between lines of """. Lines that begin with a slash are commands:

` + commandHelp(),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), args[0], c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.open(c)
	c.Flags().StringVar(&o.system, "system", "", "system message")
	o.generate(c)
	return c
}

// A chat is a conversation.
type chat struct {
	ctx      context.Context
	model    *llm.Model
	options  *llm.GenerateOptions
	system   string
	messages []llm.Message // without the system message
	out      io.Writer
	notes    io.Writer
	read     func(prompt string) (string, error)
	terminal bool
}

func (o *chatOptions) run(ctx context.Context, path string, in io.Reader, out, notes io.Writer) error {
	m, g, closeAll, err := o.load(ctx, path, notes)
	if err != nil {
		return err
	}
	defer closeAll()
	if !m.HasTemplate() {
		return errors.New("the model has no chat template: continue texts by tensorken run")
	}
	c := &chat{ctx: ctx, model: m, options: g, system: o.system, out: out, notes: notes}
	if in == os.Stdin && terminal.Is(os.Stdin) && terminal.Is(os.Stdout) {
		c.terminal, c.read = true, terminalLines()
		if restore, err := terminal.Raw(os.Stdin); err == nil { // also where the program is stopped at the prompt
			restore()
			defer restore()
		}
		fmt.Fprintln(notes, "/help lists commands")
	} else {
		lines := bufio.NewReader(in)
		c.read = func(string) (string, error) {
			line, err := lines.ReadString('\n')
			if line != "" && err == io.EOF {
				err = nil
			}
			return strings.TrimRight(line, "\r\n"), err
		}
	}
	return c.loop()
}

// terminalLines returns a function that reads lines with an editor or, where a terminal cannot send
// single keys, without.
func terminalLines() func(prompt string) (string, error) {
	in := bufio.NewReader(os.Stdin)
	e := &editor{in: in, out: os.Stdout, columns: func() int { return terminal.Columns(os.Stdout) }}
	return func(prompt string) (string, error) {
		restore, err := terminal.Raw(os.Stdin)
		if err != nil {
			fmt.Print(prompt)
			line, err := in.ReadString('\n')
			return strings.TrimRight(line, "\r\n"), err
		}
		defer restore()
		return e.readLine(prompt)
	}
}

// next reads a line. It ends, with io.EOF, when the program is told to stop meanwhile.
func (c *chat) next(prompt string) (line string, err error) {
	if c.ctx.Err() != nil { // an earlier answer was interrupted
		return c.read(prompt)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		line, err = c.read(prompt)
	}()
	select {
	case <-done:
		return line, err
	case <-c.ctx.Done():
		return "", io.EOF
	}
}

// message reads a message: a line, or the lines between lines of """.
func (c *chat) message() (string, error) {
	line, err := c.next(">>> ")
	if err != nil || strings.TrimSpace(line) != `"""` {
		return line, err
	}
	var lines []string
	for {
		line, err := c.next("... ")
		if err != nil || strings.TrimSpace(line) == `"""` {
			return strings.Join(lines, "\n"), err
		}
		lines = append(lines, line)
	}
}

// loop answers messages until the input ends.
func (c *chat) loop() error {
	for {
		line, err := c.message()
		text := strings.TrimSpace(line)
		switch {
		case err == io.EOF || err == errQuit:
			return nil
		case err != nil:
			return fmt.Errorf("standard input: %w", err)
		case text == "":
			continue
		case strings.HasPrefix(text, "/") && !strings.Contains(text, "\n"):
			err = c.command(text)
		default:
			c.messages = append(c.messages, llm.Message{Role: "user", Content: line})
			err = c.answer()
		}
		if err == errQuit || !c.terminal && (err != nil || c.ctx.Err() != nil) {
			if err == errQuit {
				err = nil
			}
			return err
		}
		if err != nil {
			fmt.Fprintln(c.notes, err)
		}
	}
}

// answer writes the answer to the last message. After an error the message is forgotten.
func (c *chat) answer() error {
	ctx := c.ctx
	if c.terminal {
		var stop context.CancelFunc
		ctx, stop = interrupt.Part()
		defer stop()
	}
	var t timing
	text, err := t.print(c.model.Chat(ctx, c.all(), &llm.ChatOptions{GenerateOptions: c.options}), c.out)
	fmt.Fprintln(c.out)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	if err != nil {
		c.messages = c.messages[:len(c.messages)-1]
		return err
	}
	c.messages = append(c.messages, llm.Message{Role: "assistant", Content: text})
	if c.terminal {
		fmt.Fprintln(c.notes, t.String())
	}
	return nil
}

// all returns the messages with the system message.
func (c *chat) all() []llm.Message {
	if c.system == "" {
		return c.messages
	}
	return append([]llm.Message{{Role: "system", Content: c.system}}, c.messages...)
}

// A command is a line of the chat that is not a message.
type command struct {
	name, argument, help string
	run                  func(c *chat, argument string) error
}

// commands returns all commands: a function, because /help lists them.
func commands() []command {
	return []command{
		{"help", "", "list the commands", func(c *chat, _ string) error {
			_, err := fmt.Fprint(c.notes, commandHelp())
			return err
		}},
		{"new", "", "begin a new chat", func(c *chat, _ string) error {
			c.messages = nil
			return nil
		}},
		{"system", "TEXT", "set the system message, of this chat and later ones; none without TEXT", func(c *chat, text string) error {
			c.system = text
			return nil
		}},
		{"retry", "", "answer the last message again", func(c *chat, _ string) error {
			if len(c.messages) == 0 {
				return errors.New("/retry: there is no message yet")
			}
			c.messages = c.messages[:len(c.messages)-1]
			return c.answer()
		}},
		{"undo", "", "forget the last message and its answer", func(c *chat, _ string) error {
			c.messages = c.messages[:max(0, len(c.messages)-2)]
			return nil
		}},
		{"show", "", "print the text that the model reads", func(c *chat, _ string) error {
			text, err := c.model.ChatPrompt(c.all(), &llm.ChatOptions{Continue: true})
			fmt.Fprintln(c.notes, text)
			return err
		}},
		{"set", "NAME VALUE", "change a setting, as temperature 0.7; list them without NAME", (*chat).set},
		{"quit", "", "end the chat, as Ctrl-D does", func(*chat, string) error { return errQuit }},
	}
}

func commandHelp() string {
	var b strings.Builder
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-16s %s\n", strings.TrimSpace("/"+c.name+" "+c.argument), c.help)
	}
	return b.String()
}

func (c *chat) command(line string) error {
	name, argument, _ := strings.Cut(line[1:], " ")
	for _, known := range commands() {
		if known.name == name {
			return known.run(c, strings.TrimSpace(argument))
		}
	}
	return fmt.Errorf("there is no command /%s: /help lists them", name)
}

// set changes a setting, or lists all.
func (c *chat) set(argument string) error {
	name, value, _ := strings.Cut(argument, " ")
	for _, s := range settings {
		n := s.value(c.options)
		if argument == "" {
			fmt.Fprintf(c.notes, "  %-20s %-8v %s\n", s.name, reflect.Indirect(reflect.ValueOf(s.field(c.options))), s.help)
		} else if s.name == name {
			before := *c.options
			if err := errors.Join(n.Set(strings.TrimSpace(value)), c.options.Check()); err != nil {
				*c.options = before
				return fmt.Errorf("/set %s: %w", name, err)
			}
			return nil
		}
	}
	if argument != "" {
		return fmt.Errorf("there is no setting %q: /set lists them", name)
	}
	return nil
}
