package tokenizer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// mixedText resembles text of the web: prose of words that follow Zipf's law, numbers, code, and some
// other scripts.
func mixedText(size int) string {
	rng := rand.New(rand.NewPCG(3, 4))
	syllables := strings.Fields("the of and to in is on that by this with you it not or be are from at as your all have new more an was we will can us about if my has but our one other do no time they site he up may what which their news out use any there see only so his when here who also now get view best re ter er ed ing ion ly est al con pre un tion ment able")
	lexicon := make([]string, 20000)
	for i := range lexicon {
		for range 1 + rng.IntN(3) {
			lexicon[i] += syllables[rng.IntN(len(syllables))]
		}
	}
	foreign := strings.Fields("Größe façade naïve élève señor Привет мир как дела 日本語のテキスト 中文字符 한국어 नमस्ते مرحبا café über")
	zipf := rand.NewZipf(rng, 1.1, 3, uint64(len(lexicon)-1))
	var b strings.Builder
	for b.Len() < size {
		switch n := rng.IntN(100); {
		case n < 84:
			w := lexicon[zipf.Uint64()]
			if rng.IntN(12) == 0 {
				w = strings.ToUpper(w[:1]) + w[1:]
			}
			b.WriteString(w)
		case n < 88:
			fmt.Fprint(&b, rng.IntN(100000))
		case n < 90:
			fmt.Fprintf(&b, "x_%d = f(a[%d], \"%s\");\n\t", rng.IntN(9), rng.IntN(99), lexicon[rng.IntN(99)])
		case n < 94:
			b.WriteString(foreign[rng.IntN(len(foreign))])
		case n < 96:
			b.WriteString("don't")
		default:
			b.WriteString(lexicon[rng.IntN(len(lexicon))] + ",")
		}
		if rng.IntN(15) == 0 {
			b.WriteString(".\n")
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func BenchmarkEncode(b *testing.B) {
	text := mixedText(1 << 20)
	for _, name := range goldenNames {
		tok := load(b, name)
		for _, o := range []struct {
			name    string
			options *EncodeOptions
		}{{"all", nil}, {"ids", &EncodeOptions{IDsOnly: true}}} {
			b.Run(name+"/"+o.name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if _, err := tok.Encode(text, o.options); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// hostileTexts are those on which tokenizers are slow.
func hostileTexts(size int) map[string]string {
	rng := rand.New(rand.NewPCG(5, 6))
	letters := make([]byte, size)
	for i := range letters {
		letters[i] = byte('a' + rng.IntN(26))
	}
	return map[string]string{
		"letters": string(letters), "a": strings.Repeat("a", size), "emoji": strings.Repeat("🙂👩‍👩‍👧", size/22),
		"newlines": strings.Repeat("\n", size), "spaces": strings.Repeat(" ", size), "marks": "e" + strings.Repeat("\u0301", size/2),
		"mixed marks": strings.Repeat("\u0301\u0323\u0308", size/6), "han": strings.Repeat("日本語", size/9), "digits": strings.Repeat("1234567890", size/10),
		"quotes": strings.Repeat("'", size), "A": strings.Repeat("A", size),
	}
}

func BenchmarkHostile(b *testing.B) {
	texts := hostileTexts(1 << 20)
	for _, name := range goldenNames {
		tok := load(b, name)
		for _, kind := range sortedKeys(texts) {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.SetBytes(int64(len(texts[kind])))
				for b.Loop() {
					if _, err := tok.Encode(texts[kind], nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
