package data_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/internal/hostmem/memtest"
	"github.com/tensorken/tensorken/tensor"
)

// A line without end is an error, and not all of the machine's memory.
func TestEndlessLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse")
	if err := os.WriteFile(path, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 40<<30); err != nil {
		t.Skip(err)
	}
	const most = 1 << 20
	for op, read := range map[string]func() error{
		"LinesUpTo": func() error { return drain(data.LinesUpTo(most, path)) },
		"JSONLinesUpTo": func() error {
			return drain(data.JSONLinesUpTo[map[string]tensor.Tensor](most, path))
		},
	} {
		var err error
		memtest.Bound(t, most, func() { err = read() })
		want := path + ":2: the line has more than 1 MiB: data." + op + " takes longer ones"
		if err == nil || err.Error() != want {
			t.Errorf("%s = %v, want %s", op, err, want)
		}
	}
}

// drain reads a stream to its end or its first error.
func drain[T any](s data.Stream[T]) error {
	for _, err := range s(context.Background(), 0) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestLinesMisuse(t *testing.T) {
	for want, f := range map[string]func(){
		"data.LinesUpTo: lines of at most 0 bytes: want at least 1":      func() { data.LinesUpTo(0) },
		"data.JSONLinesUpTo: lines of at most -1 bytes: want at least 1": func() { data.JSONLinesUpTo[int](-1) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "lines_test.go") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The lines of a file are its text, and lines of JSON take memory in proportion to it.
func FuzzLines(f *testing.F) {
	for _, text := range []string{
		"", "\n", "a\r\nb", "\ufeff{}\n[]", "\xff\xfea\x00", `{"x":{"shape":[2],"values":[1,2]}}`,
		"[" + strings.Repeat("[", 100), `{"x":{"shape":[` + strings.Repeat("1,", 100) + `1],"values":[1]}}`, strings.Repeat("x", 70_000) + "\ny",
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "f")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		var lines []string
		var err error
		memtest.Bound(t, len(text), func() {
			for l, e := range data.Lines(path)(context.Background(), 0) {
				lines, err = append(lines, l), e
			}
		})
		if err == nil {
			want := strings.TrimPrefix(string(text), "\ufeff")
			want = strings.TrimSuffix(strings.ReplaceAll(want, "\r\n", "\n"), "\n")
			if got := strings.Join(lines, "\n"); got != want && !strings.HasSuffix(want, "\r") {
				t.Fatalf("the lines of %q are %q", text, lines)
			}
		}
		memtest.Bound(t, len(text), func() { drain(data.JSONLines[map[string]tensor.Tensor](path)) })
		memtest.Bound(t, len(text), func() { drain(data.JSONLines[any](path)) })
	})
}
