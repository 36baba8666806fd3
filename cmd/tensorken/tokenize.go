package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/internal/vocabulary"
	"github.com/tensorken/tensorken/tokenizer"
)

// tokenizeOptions are the flags of tokenize.
type tokenizeOptions struct {
	file            string
	json, noSpecial bool
}

func tokenizeCommand() *cobra.Command {
	var o tokenizeOptions
	c := &cobra.Command{
		Use:   "tokenize --tokenizer FILE [TEXT...]",
		Short: "Turn text into the tokens of a language model",
		Long: `Print the tokens of the arguments, or of standard input: the id, the characters of the text
that it stands for, and the token. FILE is a tokenizer.json, a tokenizer.model of
SentencePiece, a vocab.txt, a vocab.json with merges.txt beside it, a folder with one of them, or
a model.gguf.

With --json, each line of standard input is an object with "text", and if wanted "pair", a second
text, and "add_special", false to leave out the tokens around a text. Each line of the output is an
object with "ids", "tokens", "offsets" (pairs of the first character and the one after the last,
in runes), "decoded" without special tokens, and "decoded_keep_special"; or with "error", and then
the command exits with status 1 after the last line.`,
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(args, c.InOrStdin(), c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&o.file, "tokenizer", "", "file or folder of the tokenizer")
	c.Flags().BoolVar(&o.json, "json", false, "read and write objects of JSON, one a line")
	c.Flags().BoolVar(&o.noSpecial, "no-special", false, "leave out the tokens that the model wants around a text")
	return c
}

func (o tokenizeOptions) run(args []string, stdin io.Reader, stdout io.Writer) error {
	if o.file == "" {
		return errors.New("name the file or folder of a tokenizer with --tokenizer")
	}
	t, err := vocabulary.Open(o.file)
	if err != nil {
		return err
	}
	if o.json {
		if len(args) > 0 {
			return fmt.Errorf("--json reads standard input: %.40q is too much", args[0])
		}
		return o.lines(t, stdin, stdout)
	}
	text := strings.Join(args, " ")
	if len(args) == 0 {
		b, err := io.ReadAll(stdin)
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		text = string(b)
	}
	e, err := t.Encode(text, &tokenizer.EncodeOptions{NoSpecial: o.noSpecial})
	if err != nil {
		return err
	}
	w := bufio.NewWriter(stdout)
	for i, id := range e.IDs {
		fmt.Fprintf(w, "%6d  %4d-%-4d  %q\n", id, e.Offsets[i][0], e.Offsets[i][1], e.Tokens[i])
	}
	return w.Flush()
}

// A tokenizeAnswer is a line of the output.
type tokenizeAnswer struct {
	IDs         []int32    `json:"ids"`
	Tokens      []string   `json:"tokens"`
	Offsets     [][2]int32 `json:"offsets"`
	Decoded     string     `json:"decoded"`
	DecodedKeep string     `json:"decoded_keep_special"`
}

// lines answers each line of JSON.
func (o tokenizeOptions) lines(t *tokenizer.Tokenizer, stdin io.Reader, stdout io.Writer) error {
	in, out := bufio.NewReaderSize(stdin, 1<<16), bufio.NewWriterSize(stdout, 1<<16)
	failed, number := 0, 0
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("standard input: %w", err)
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			number++
			answer, answerErr := o.answer(t, text)
			var written error
			if answerErr != nil {
				failed++
				written = writeLine(out, map[string]string{"error": answerErr.Error()})
			} else {
				written = writeLine(out, answer)
			}
			if written == nil && in.Buffered() == 0 { // a program that asks line by line waits for the answer
				written = out.Flush()
			}
			if written != nil {
				return written
			}
		}
		if err == io.EOF {
			break
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d lines could not be answered", failed, number)
	}
	return nil
}

// answer tokenizes a line of JSON.
func (o tokenizeOptions) answer(t *tokenizer.Tokenizer, line string) (*tokenizeAnswer, error) {
	var q struct {
		Text       *string `json:"text"`
		Pair       *string `json:"pair"`
		AddSpecial *bool   `json:"add_special"`
	}
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&q)
	if _, end := decoder.Token(); err == nil && end != io.EOF {
		err = errors.New("text follows the object")
	}
	if err != nil {
		return nil, fmt.Errorf("the line should be an object with text, pair and add_special: %w", badLine(err))
	}
	if q.Text == nil {
		return nil, errors.New(`the line has no "text"`)
	}
	options := &tokenizer.EncodeOptions{NoSpecial: o.noSpecial || q.AddSpecial != nil && !*q.AddSpecial}
	e, err := t.Encode(*q.Text, options)
	if q.Pair != nil {
		e, err = t.EncodePair(*q.Text, *q.Pair, options)
	}
	if err != nil {
		return nil, err
	}
	a := &tokenizeAnswer{IDs: e.IDs, Tokens: e.Tokens, Offsets: e.Offsets, Decoded: t.Decode(e.IDs, false), DecodedKeep: t.Decode(e.IDs, true)}
	if len(a.IDs) == 0 { // empty lists rather than null
		a.IDs, a.Tokens, a.Offsets = []int32{}, []string{}, [][2]int32{}
	}
	return a, nil
}

// writeLine writes v as JSON, with the escapes of JSON for characters that do not print: the
// escapes of output are not JSON's.
func writeLine(w *bufio.Writer, v any) error {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	for _, r := range b.String() {
		switch {
		case r == '\n' || strconv.IsPrint(r):
			w.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(w, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(w, `\u%04x`, r)
		}
	}
	return nil // w keeps its error
}
