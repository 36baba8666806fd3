package plot

import (
	"bufio"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/terminal"
)

// A screen says how text can be shown.
type screen struct {
	columns int
	color   bool // by escape sequences, 24 bits
}

// screenOf returns the screen of a writer. COLUMNS is the width where w is not a terminal that
// tells its own; a non-empty NO_COLOR asks for no colors, as no-color.org describes.
func screenOf(w io.Writer) screen {
	s := screen{terminal.Columns(w), terminal.Is(w) && os.Getenv("NO_COLOR") == ""}
	if s.columns == 0 {
		s.columns, _ = strconv.Atoi(os.Getenv("COLUMNS"))
	}
	if s.columns <= 0 {
		s.columns = 80
	}
	return s
}

// Print writes the figure as text that fits the width of the terminal w, or the environment
// variable COLUMNS, or 80 columns. A terminal gets colors unless the variable NO_COLOR is
// set; other writers get characters of several densities. Print computes the tensors if
// necessary; see [tensor.Eval] for the errors.
func (f *Figure) Print(w io.Writer) error {
	err := files.Given(w)
	if err == nil {
		err = f.load()
	}
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	b := bufio.NewWriter(w)
	for _, line := range f.text(screenOf(w)) {
		fmt.Fprintln(b, line)
	}
	return b.Flush()
}

// text returns the lines of the figure, title included.
func (f *Figure) text(s screen) []string {
	var lines []string
	if f.Title != "" {
		lines = append(lines, cut(f.Title, s.columns))
	}
	return append(lines, f.content.text(f, s)...)
}

// cut returns text of at most n columns. Characters that could command a terminal are escaped:
// names, as of classes, may come from a file.
func cut(text string, n int) string {
	text = terminal.Escape(text, "")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:max(n-1, 0)]) + "…"
}

// widest returns the number of columns of the longest text.
func widest(texts []string) (n int) {
	for _, text := range texts {
		n = max(n, utf8.RuneCountInString(text))
	}
	return n
}

// padLeft pads text with spaces.
func padLeft(text string, n int) string {
	return strings.Repeat(" ", max(0, n-utf8.RuneCountInString(text))) + text
}

// number formats a number: whole ones below 10 million in full, others to 4 digits.
func number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e7 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// paint returns text in a color.
func (s screen) paint(text string, c color.NRGBA) string {
	if !s.color {
		return text
	}
	return foreground(c) + text + resetColors
}

const resetColors = "\x1b[0m"

func foreground(c color.NRGBA) string { return fmt.Sprintf("\x1b[38;2;%d;%d;%dm", c.R, c.G, c.B) }
func background(c color.NRGBA) string { return fmt.Sprintf("\x1b[48;2;%d;%d;%dm", c.R, c.G, c.B) }
