package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/files/filestest"
)

const testTokenizer = "../../tokenizer/testdata/bert_wordpiece.json"

func TestTokenize(t *testing.T) {
	status, stdout, stderr := command("tokenize", "--tokenizer", testTokenizer, "Hello,", "world!")
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 9 || strings.Join(strings.Fields(lines[2]), " ") != `943 1-4 "##ell"` {
		t.Errorf("tokenize printed\n%s", stdout)
	}
	for want, args := range map[string][]string{
		"name the file or folder":              {"tokenize", "x"},
		"--tokenizer names nothing":            {"tokenize", "--tokenizer", "", "x"},
		"nothing.json: " + filestest.NoFile(t): {"tokenize", "--tokenizer", "nothing.json", "x"},
		`--json reads standard input: "x"`:     {"tokenize", "--tokenizer", testTokenizer, "--json", "x"},
	} {
		status, _, stderr := command(args...)
		if status != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}

func TestTokenizeJSON(t *testing.T) {
	in := strings.Join([]string{
		`{"text": "Hello, world!"}`,
		`{"text": "a", "pair": "b", "add_special": false}`,
		``,
		`{"text": ""}`,
		`{"text": "\u0085\ud83d\ude42\u200d"}`,
		`{"pair": "b"}`,
		`{"text": "a", "other": 1}`,
		`[`,
		`{"text": "a"}]`,
	}, "\n")
	o := tokenizeOptions{file: testTokenizer, json: true}
	var raw bytes.Buffer
	out := &output{w: &raw}
	err := o.run(nil, strings.NewReader(in), out)
	if err == nil || err.Error() != "4 of 8 lines could not be answered" {
		t.Errorf("the error is %v", err)
	}
	lines := strings.Split(strings.TrimSpace(raw.String()), "\n")
	if len(lines) != 8 {
		t.Fatalf("%d lines:\n%s", len(lines), raw.String())
	}
	if want := `{"ids":[2,50,943,97,16,714,1156,5,3],"tokens":["[CLS]","h","##ell","##o",",","wor","##ld","!","[SEP]"],` +
		`"offsets":[[0,0],[0,1],[1,4],[4,5],[5,6],[7,10],[10,12],[12,13],[0,0]],"decoded":"hello, world!","decoded_keep_special":"[CLS] hello, world! [SEP]"}`; lines[0] != want {
		t.Errorf("the first line is %s, want %s", lines[0], want)
	}
	if want := `{"ids":[43,44],"tokens":["a","b"],"offsets":[[0,1],[0,1]],"decoded":"a b","decoded_keep_special":"a b"}`; lines[1] != want {
		t.Errorf("the second line is %s, want %s", lines[1], want)
	}
	for i, line := range lines {
		var a struct {
			IDs   []int32
			Error string
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil || (a.Error != "") != (i >= 4) {
			t.Errorf("line %d is %s: %v", i, line, err)
		}
	}
}

// The tokenizer of a GGUF file.
func TestTokenizeGGUF(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.gguf")
	meta := gguf.Meta{}.With("tokenizer.ggml.model", "gpt2").With("tokenizer.ggml.pre", "gpt-2").
		With("tokenizer.ggml.tokens", []string{"a", "b", "ab"}).With("tokenizer.ggml.merges", []string{"a b"})
	for _, c := range []struct {
		meta   gguf.Meta
		status int
		want   string
	}{{meta, 0, `2-4     "ab"`}, {gguf.Meta{}, 1, path + ": the file has no tokenizer"}} {
		if err := gguf.Write(path, c.meta, nil); err != nil {
			t.Fatal(err)
		}
		status, stdout, stderr := command("tokenize", "--tokenizer", path, "baab")
		if status != c.status || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("status %d, want %d: %s%s, want %s", status, c.status, stdout, stderr, c.want)
		}
	}
}

// All cases of the reference, through the command.
func TestTokenizeGolden(t *testing.T) {
	files, err := filepath.Glob("../../tokenizer/testdata/*.cases.json")
	if err != nil || len(files) != 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []map[string]any
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatal(err)
		}
		var in strings.Builder
		for _, c := range cases {
			line, err := json.Marshal(map[string]any{"text": c["text"]})
			if err != nil {
				t.Fatal(err)
			}
			in.Write(append(line, '\n'))
		}
		var raw bytes.Buffer
		o := tokenizeOptions{file: strings.Replace(file, ".cases", "", 1), json: true}
		if err := o.run(nil, strings.NewReader(in.String()), &output{w: &raw}); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSpace(raw.String()), "\n") {
			var got map[string]any
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"ids", "tokens", "decoded", "decoded_keep_special"} {
				a, _ := json.Marshal(got[key])
				b, _ := json.Marshal(cases[i][key])
				if !bytes.Equal(a, b) {
					t.Errorf("%s: %q: %s is %s, want %s", file, cases[i]["text"], key, a, b)
				}
			}
		}
	}
}
