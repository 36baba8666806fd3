package language

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/tensorken/tensorken/internal/terminal"
)

// errQuit is the result of Ctrl-C in an empty line.
var errQuit = errors.New("quit")

// An editor reads lines from a terminal that sends each key at once. Keys are readline's.
type editor struct {
	in      *bufio.Reader
	out     io.Writer
	columns func() int // of the terminal; 0: unknown
	history []string

	line   []rune
	cursor int
	saved  []rune // the new line, while an older one is shown
	at     int    // the line shown, of history and the new one
}

// readLine reads a line after a prompt. It is io.EOF after Ctrl-D in an empty line.
func (e *editor) readLine(prompt string) (string, error) {
	e.line, e.cursor, e.at = nil, 0, len(e.history)
	for {
		e.draw(prompt)
		key, err := e.key()
		if err != nil {
			return "", err
		}
		switch key {
		case "enter":
			fmt.Fprint(e.out, "\r\n")
			text := string(e.line)
			if strings.TrimSpace(text) != "" && (len(e.history) == 0 || e.history[len(e.history)-1] != text) {
				e.history = append(e.history, text)
			}
			return text, nil
		case "ctrl-c":
			if len(e.line) == 0 {
				fmt.Fprint(e.out, "\r\n")
				return "", errQuit
			}
			e.line, e.cursor = nil, 0
		case "ctrl-d":
			if len(e.line) == 0 {
				fmt.Fprint(e.out, "\r\n")
				return "", io.EOF
			}
			e.cut(e.cursor, e.cursor+1)
		default:
			if edit := edits[key]; edit != nil {
				edit(e)
			} else if r := []rune(key); len(r) == 1 {
				e.line = slices.Insert(e.line, e.cursor, r...)
				e.cursor++
			}
		}
	}
}

// edits has the effects of keys.
var edits = map[string]func(e *editor){
	"left":      func(e *editor) { e.cursor = max(0, e.cursor-1) },
	"right":     func(e *editor) { e.cursor = min(len(e.line), e.cursor+1) },
	"home":      func(e *editor) { e.cursor = 0 },
	"end":       func(e *editor) { e.cursor = len(e.line) },
	"word left": func(e *editor) { e.cursor = e.wordLeft() },
	"word right": func(e *editor) {
		for e.cursor < len(e.line) && unicode.IsSpace(e.line[e.cursor]) {
			e.cursor++
		}
		for e.cursor < len(e.line) && !unicode.IsSpace(e.line[e.cursor]) {
			e.cursor++
		}
	},
	"backspace": func(e *editor) { e.cut(e.cursor-1, e.cursor) },
	"delete":    func(e *editor) { e.cut(e.cursor, e.cursor+1) },
	"cut left":  func(e *editor) { e.cut(0, e.cursor) },
	"cut right": func(e *editor) { e.cut(e.cursor, len(e.line)) },
	"cut word":  func(e *editor) { e.cut(e.wordLeft(), e.cursor) },
	"clear":     func(e *editor) { fmt.Fprint(e.out, "\x1b[H\x1b[2J") },
	"up":        func(e *editor) { e.show(e.at - 1) },
	"down":      func(e *editor) { e.show(e.at + 1) },
}

func (e *editor) wordLeft() int {
	i := e.cursor
	for i > 0 && unicode.IsSpace(e.line[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(e.line[i-1]) {
		i--
	}
	return i
}

func (e *editor) cut(from, to int) {
	if from >= 0 && to <= len(e.line) && from < to {
		e.line, e.cursor = slices.Delete(e.line, from, to), from
	}
}

// show shows a line of the history, or the new one after it.
func (e *editor) show(i int) {
	if i < 0 || i > len(e.history) {
		return
	}
	if e.at == len(e.history) {
		e.saved = slices.Clone(e.line)
	}
	if e.at = i; i == len(e.history) {
		e.line = e.saved
	} else {
		e.line = []rune(e.history[i])
	}
	e.cursor = len(e.line)
}

// draw draws the line again, as much of it around the cursor as the terminal is wide.
func (e *editor) draw(prompt string) {
	room := max(20, e.columns()) - width([]rune(prompt)) - 1
	from, to := e.cursor, e.cursor
	for used := 0; ; {
		switch {
		case from > 0 && used+width(e.line[from-1:from]) <= room:
			from--
			used += width(e.line[from : from+1])
			continue
		case to < len(e.line) && used+width(e.line[to:to+1]) <= room:
			used += width(e.line[to : to+1])
			to++
			continue
		}
		break
	}
	fmt.Fprintf(e.out, "\r%s%s\x1b[K", prompt, shown(e.line[from:to]))
	if back := width(e.line[e.cursor:to]); back > 0 {
		fmt.Fprintf(e.out, "\x1b[%dD", back)
	}
}

// shown returns text that commands no terminal.
func shown(text []rune) string { return terminal.Escape(string(text), "") }

// width returns how many columns a text takes. Characters of East Asia and pictures take two.
func width(text []rune) (n int) {
	for _, r := range text {
		s := shown([]rune{r})
		switch {
		case s != string(r):
			n += len(s)
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= 0x1f300 && r < 0x1fb00:
			n += 2
		case !unicode.In(r, unicode.Mn, unicode.Me):
			n++
		}
	}
	return n
}

// controls and escapes are the keys by the characters of terminals.
var (
	controls = map[rune]string{
		1: "home", 2: "left", 3: "ctrl-c", 4: "ctrl-d", 5: "end", 6: "right", 8: "backspace", 10: "enter", 11: "cut right", 12: "clear",
		13: "enter", 14: "down", 16: "up", 21: "cut left", 23: "cut word", 127: "backspace",
	}
	escapes = map[string]string{
		"[A": "up", "[B": "down", "[C": "right", "[D": "left", "[H": "home", "[F": "end", "OA": "up", "OB": "down", "OC": "right", "OD": "left", "OH": "home", "OF": "end",
		"[1~": "home", "[4~": "end", "[3~": "delete", "[1;5C": "word right", "[1;5D": "word left", "b": "word left", "f": "word right", "\x7f": "cut word",
	}
)

// key returns the next key: a name, or a character.
func (e *editor) key() (string, error) {
	r, _, err := e.in.ReadRune()
	switch {
	case err != nil:
		return "", err
	case r == '\t':
		return " ", nil
	case r != 0x1b:
		if name := controls[r]; name != "" || r < ' ' {
			return name, nil
		}
		return string(r), nil
	}
	sequence := ""
	for len(sequence) < 16 {
		b, err := e.in.ReadByte()
		if err != nil {
			return "", err
		}
		sequence += string(rune(b))
		if len(sequence) == 1 && (b == '[' || b == 'O') || len(sequence) > 1 && b < '@' {
			continue
		}
		break
	}
	return escapes[sequence], nil
}
