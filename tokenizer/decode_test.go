package tokenizer

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

// The texts of a Decoder, joined, equal Decode's, and none cuts a character.
func TestDecoder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	decoders := []string{
		`null`, `{"type":"Fuse"}`, `{"type":"ByteFallback"}`, `{"type":"BPEDecoder","suffix":"e"}`,
		`{"type":"CTC","pad_token":"e","word_delimiter_token":"l","cleanup":true}`,
		`{"type":"WordPiece","prefix":"##","cleanup":true}`,
		`{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Strip","content":"e","start":2,"stop":3}]}`,
		`{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Replace","pattern":{"Regex":"[a-z]+"},"content":"."},{"type":"BPEDecoder","suffix":"."}]}`,
		`{"type":"Sequence","decoders":[{"type":"ByteLevel"},{"type":"WordPiece","prefix":"##","cleanup":true}]}`,
	}
	for _, name := range goldenNames {
		for _, d := range append(decoders, "") {
			tok := load(t, name)
			if d != "" {
				var err error
				if tok.decoder, err = readDecoder("decoder", json.RawMessage(d), 0); err != nil {
					t.Fatal(err)
				}
			}
			for range 50 {
				ids := make([]int32, rng.IntN(30))
				for i := range ids {
					ids[i] = int32(rng.IntN(len(tok.model.Vocab().Tokens)+3) - 1)
				}
				for _, keep := range []bool{false, true} {
					stream, got := tok.Decoder(keep), ""
					for _, id := range ids {
						s := stream.Add(id)
						if !utf8.ValidString(s) {
							t.Errorf("%s: token %d gave %q", name, id, s)
						}
						got += s
					}
					if got += stream.Flush(); got != tok.Decode(ids, keep) {
						t.Errorf("%s, %s: the stream of %v is %q, want %q", name, d, ids, got, tok.Decode(ids, keep))
					}
				}
			}
		}
	}
}

func TestValidUTF8(t *testing.T) {
	for _, c := range [][2]string{
		{"a\xffb", "a\ufffdb"}, {"\xe3\x81", "\ufffd"}, {"\xe3\x81x", "\ufffdx"}, {"\xf0\x9f\x99", "\ufffd"},
		{"\xf0\x9f\xff", "\ufffd\ufffd"}, {"\xc0\xaf", "\ufffd\ufffd"}, {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"\x80\x80", "\ufffd\ufffd"}, {"é\xc3", "é\ufffd"}, {"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
	} {
		if got, _ := validUTF8([]byte(c[0]), true); string(got) != c[1] {
			t.Errorf("%q becomes %q, want %q", c[0], got, c[1])
		}
		e, err := load(t, "gpt2_bpe").Encode(c[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := load(t, "gpt2_bpe").Decode(e.IDs, false); got != c[1] {
			t.Errorf("%q is encoded as %q, want %q", c[0], got, c[1])
		}
	}
}
