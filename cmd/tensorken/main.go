// Command tensorken runs language models, trains classifiers, and measures the machine's devices.
//
//	tensorken train                      # on 1,797 handwritten digits, built in
//	tensorken predict digits.safetensors # on the digits held out by train
//	tensorken bench                      # compares CPU and GPU
//	tensorken profile                    # the kernels of a training step, and their speed
//	tensorken run MODEL "Hello"          # the answer of a language model; chat: a conversation
//	tensorken embed MODEL "a text"       # the embeddings of texts; models: those fetched
//	tensorken tokenize --tokenizer FILE  # the tokens of text; template: chats as text
//	tensorken gpu                        # lists, installs, checks; launch: a program as several ranks
//	tensorken onnx info MODEL.onnx       # describes, checks, runs and times models in ONNX
//	tensorken gguf                       # describes, checks, quantises and converts language models
//
// Errors print a line on standard error; the status is 1. Ctrl-C, SIGTERM or a closed console window ends
// train after the step, with the best model saved and status 0; a second Ctrl-C stops it at once.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/cmd/tensorken/internal/language"
	"github.com/tensorken/tensorken/cmd/tensorken/internal/launch"
	"github.com/tensorken/tensorken/cmd/tensorken/internal/onnxcmd"
	"github.com/tensorken/tensorken/internal/interrupt"
	"github.com/tensorken/tensorken/internal/terminal"
	"github.com/tensorken/tensorken/tensor"
)

func main() {
	os.Exit(run(interrupt.Context(), os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the command with arguments and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "tensorken",
		Short:         "Run language models, train a small neural network, and measure this machine's devices",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := checkNamed(c); err != nil {
				return err
			}
			return tensor.Try(func() { tensor.CPU() }) // fails for a bad environment variable
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(trainCommand(), predictCommand(), digitsCommand(), benchCommand(), profileCommand(),
		language.RunCommand(), language.ChatCommand(), language.EmbedCommand(), language.ModelsCommand(), tokenizeCommand(), templateCommand(), ggufCommand(), onnxcmd.Command(), launch.Command(), gpuCommand(), environmentTopic())
	out, notes := &output{w: stdout}, &output{w: stderr}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(notes)
	if err := cmp.Or(root.ExecuteContext(ctx), out.err); err != nil {
		fmt.Fprintln(notes, "tensorken:", err)
		if e := (*onnxcmd.StatusError)(nil); errors.As(err, &e) {
			return e.Status
		}
		return 1
	}
	return 0
}

// checkNamed returns an error for a flag that is given and names nothing, as "$FILE" does if there is
// no such variable.
func checkNamed(c *cobra.Command) error {
	for _, name := range []string{
		"cache", "cache-type", "data", "device", "draft", "from", "hub", "ids", "imatrix", "imatrix-text", "model", "now", "ops", "out", "peers-dir",
		"plot", "python", "system", "tokenizer", "trace", "type", "work", "works",
	} {
		f := c.Flags().Lookup(name)
		if f == nil || !f.Changed || name == "device" && f.Value.Type() == "string" { // "" is the default device
			continue
		}
		if v := f.Value.String(); v == "" || v == "[]" {
			return fmt.Errorf("--%s names nothing: give it a value, or leave it out", name)
		}
	}
	return nil
}

// An output escapes characters that could command a terminal, which text of files and drivers
// may have, and keeps the first write error, so that commands need not check each fmt.Fprint.
type output struct {
	w    io.Writer
	rest []byte // the start of a character
	err  error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	text := append(o.rest, b...)
	end := len(text)
	for i := max(0, end-utf8.UTFMax); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
		}
	}
	o.rest = bytes.Clone(text[end:])
	if _, err := o.w.Write([]byte(terminal.Escape(string(text[:end]), "\n\t"))); err != nil {
		o.err = fmt.Errorf("the output could not be written: %w", err)
	}
	return len(b), o.err
}

// noArgs refuses arguments that are not flags.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s: unexpected argument %q: see %[1]s --help", c.CommandPath(), args[0])
	}
	return nil
}
