package tokenizer

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/hostmem/memtest"
)

// small is a tokenizer that has many components.
const small = `{"version":"1.0","truncation":{"direction":"Right","max_length":12,"strategy":"LongestFirst","stride":2},
"padding":{"strategy":{"Fixed":8},"direction":"Left","pad_to_multiple_of":4,"pad_id":0,"pad_type_id":0,"pad_token":"<pad>"},
"added_tokens":[{"id":0,"content":"<pad>","single_word":true,"lstrip":true,"rstrip":true,"normalized":true,"special":true}],
"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Replace","pattern":{"Regex":"a(?=b)"},"content":"x"},{"type":"Strip","strip_left":true,"strip_right":true},{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}]},
"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\s+(?!\\S)|\\p{N}{1,3}"},"behavior":"MergedWithNext","invert":false},{"type":"Punctuation","behavior":"Contiguous"},{"type":"Metaspace","replacement":"_","prepend_scheme":"first","split":true}]},
"post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<pad>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":1}}],"special_tokens":{"<pad>":{"id":"<pad>","ids":[0],"tokens":["<pad>"]}}}]},
"decoder":{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":"_","start":1,"stop":1},{"type":"Replace","pattern":{"String":"_"},"content":" "}]},
"model":{"type":"Unigram","unk_id":1,"vocab":[["<pad>",0],["<unk>",-1.5],["a",-2],["ab",-2.5],["_",-3],["<0xE3>",-4]],"byte_fallback":true}}`

const hostile = "  Hello\t<pad> wörld 日本語 e\u0301\u0323 \u200d🙂 ab12345 don't\n\n<s>\x00\xff▁ "

func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	for _, model := range []string{
		`{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"<unk>":3,"<0x0A>":4},"merges":[["a","b"]],"unk_token":"<unk>","byte_fallback":true,"fuse_unk":true}`,
		`{"type":"BPE","vocab":{"a":0,"##b":1,"ab</w>":2,"##b</w>":3},"merges":["a ##b</w>"],"continuing_subword_prefix":"##","end_of_word_suffix":"</w>","ignore_merges":true}`,
		`{"type":"WordPiece","vocab":{"[UNK]":0,"a":1,"##b":2},"unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":9}`,
		`{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"}`,
	} {
		f.Add([]byte(`{"version":"1.0","added_tokens":[],"model":` + model + `,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},"decoder":{"type":"ByteLevel"}}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("Regex")) && len(data) > 4096 {
			return // a regular expression may take its time
		}
		var tok *Tokenizer
		var err error
		memtest.Bound(t, len(data), func() { tok, err = Read(bytes.NewReader(data)) })
		if err != nil {
			if !strings.HasPrefix(err.Error(), "tokenizer: ") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		if e, err := tok.EncodePair(hostile, "ab", nil); err == nil {
			tok.Decode(e.IDs, true)
			if n := e.Len(); len(e.Tokens) != n || len(e.Offsets) != n || len(e.TypeIDs) != n || len(e.AttentionMask) != n || len(e.SpecialMask) != n {
				t.Errorf("%d ids, %d tokens, %d offsets", n, len(e.Tokens), len(e.Offsets))
			}
		}
		var b bytes.Buffer
		if err := tok.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(&b); err != nil {
			t.Errorf("what is written cannot be read: %v\n%s", err, b.String())
		}
	})
}

func FuzzSentencePiece(f *testing.F) {
	f.Add(testModel(2))
	f.Add(testModel(1))
	f.Fuzz(func(t *testing.T, data []byte) {
		var tok *Tokenizer
		var err error
		memtest.Bound(t, len(data), func() { tok, err = readSentencePiece(data) })
		if err != nil {
			return
		}
		if e, err := tok.Encode(hostile, nil); err == nil {
			tok.Decode(e.IDs, true)
		}
	})
}

// Byte-level tokenizers lose nothing.
func FuzzEncode(f *testing.F) {
	f.Add(hostile)
	f.Add("<|endoftext|>x")
	all := map[string]*Tokenizer{}
	for _, name := range goldenNames {
		all[name] = load(f, name)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range goldenNames {
			e, err := all[name].Encode(text, nil)
			if err != nil {
				t.Fatal(err)
			}
			runes := int32(utf8.RuneCountInString(string([]rune(text))))
			for i, o := range e.Offsets {
				if o[0] < 0 || o[0] > o[1] || o[1] > max(runes, int32(len(text))) {
					t.Errorf("%s: token %d of %q is at %v", name, i, text, o)
				}
			}
			if got := all[name].Decode(e.IDs, true); utf8.ValidString(text) && (name == "gpt2_bpe" && got != text || name == "llama3_bpe" && got != "<|begin_of_text|>"+text) {
				t.Errorf("%s: %q decodes to %q", name, text, got)
			}
		}
	})
}

// Files that are cut short are errors, and no panics.
func TestCut(t *testing.T) {
	data, err := os.ReadFile("testdata/unigram.json")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(data)-1; i += 997 {
		if _, err := Read(bytes.NewReader(data[:i])); err == nil {
			t.Errorf("the first %d bytes are read", i)
		}
	}
}
