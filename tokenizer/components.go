package tokenizer

import (
	"encoding/base64"
	"encoding/json"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/tokenizer/internal/match"
	"github.com/tensorken/tensorken/tokenizer/internal/norm"
)

func readNormalizer(path string, raw json.RawMessage, depth int) (norm.Normalizer, error) {
	return component("normalizer", path, depth, raw, normalizerTypes())
}

func normalizerTypes() map[string]func(f *fields, depth int) norm.Normalizer {
	fixed := func(n norm.Normalizer) func(*fields, int) norm.Normalizer {
		return func(*fields, int) norm.Normalizer { return n }
	}
	return map[string]func(f *fields, depth int) norm.Normalizer{
		"Sequence": func(f *fields, depth int) norm.Normalizer {
			return norm.Chain(components(f, "normalizers", depth, readNormalizer))
		},
		"NFC": fixed(norm.NFC), "NFD": fixed(norm.NFD), "NFKC": fixed(norm.NFKC), "NFKD": fixed(norm.NFKD),
		"Lowercase":    fixed(norm.Func(norm.Lowercase)),
		"StripAccents": fixed(norm.StripAccents),
		"Nmt":          fixed(norm.NMT),
		"ByteLevel":    fixed(norm.Func(norm.BytesToRunes)),
		"Strip": func(f *fields, _ int) norm.Normalizer {
			return norm.Strip{Left: must[bool](f, "strip_left"), Right: must[bool](f, "strip_right")}
		},
		"Replace": func(f *fields, _ int) norm.Normalizer {
			return norm.Replace{Pattern: f.pattern("pattern"), Content: must[string](f, "content")}
		},
		"Prepend": func(f *fields, _ int) norm.Normalizer { return norm.Prepend(must[string](f, "prepend")) },
		"BertNormalizer": func(f *fields, _ int) norm.Normalizer {
			n := norm.BERT{Clean: must[bool](f, "clean_text"), Chinese: must[bool](f, "handle_chinese_chars"), Lower: must[bool](f, "lowercase")}
			n.Accents = get(f, "strip_accents", n.Lower)
			return n
		},
		"Precompiled": func(f *fields, _ int) norm.Normalizer {
			data, err := base64.StdEncoding.DecodeString(must[string](f, "precompiled_charsmap"))
			if err == nil && len(data) == 0 {
				return norm.Chain(nil)
			}
			var c *norm.Charsmap
			if err == nil {
				c, err = norm.NewCharsmap(data)
			}
			if err != nil {
				f.fail("precompiled_charsmap", "%v", err)
			}
			return c
		},
	}
}

func readPreTokenizer(path string, raw json.RawMessage, depth int) (preTokenizer, error) {
	return component("pre-tokenizer", path, depth, raw, preTokenizerTypes())
}

func preTokenizerTypes() map[string]func(f *fields, depth int) preTokenizer {
	fixed := func(p preTokenizer) func(*fields, int) preTokenizer {
		return func(*fields, int) preTokenizer { return p }
	}
	return map[string]func(f *fields, depth int) preTokenizer{
		"Sequence": func(f *fields, depth int) preTokenizer {
			return preTokenizers(components(f, "pretokenizers", depth, readPreTokenizer))
		},
		"BertPreTokenizer": fixed(bertWords),
		"Whitespace":       fixed(wordsAndSigns),
		"WhitespaceSplit":  fixed(whitespaceSplit),
		"UnicodeScripts":   fixed(scripts),
		"ByteLevel": func(f *fields, _ int) preTokenizer {
			p := &byteLevel{prefixSpace: must[bool](f, "add_prefix_space")}
			f.skip("trim_offsets")
			if get(f, "use_regex", true) {
				p.words = match.NewScanner(match.GPT2)
			}
			return p
		},
		"Metaspace": func(f *fields, _ int) preTokenizer {
			replacement, scheme := readMetaspace(f)
			return metaspace{replacement, scheme, get(f, "split", true)}
		},
		"Split": func(f *fields, _ int) preTokenizer {
			return splitter{f.pattern("pattern"), choice(f, "behavior", "", match.Behaviours), must[bool](f, "invert")}
		},
		"Punctuation": func(f *fields, _ int) preTokenizer {
			return splitter{match.Runes(isPunctuation), choice(f, "behavior", "Isolated", match.Behaviours), false}
		},
		"Digits": func(f *fields, _ int) preTokenizer {
			if must[bool](f, "individual_digits") {
				return eachDigit
			}
			return digitRows
		},
		"CharDelimiterSplit": func(f *fields, _ int) preTokenizer {
			return splitter{pattern: match.Literal(f.char("delimiter", ""))}
		},
		"FixedLength": func(f *fields, _ int) preTokenizer {
			n := get(f, "length", 5)
			if n < 1 {
				f.fail("length", "should be at least 1, and is %d", n)
			}
			return fixedLength(n)
		},
	}
}

// readMetaspace reads the common settings of the pre-tokenizer and the decoder. Older files
// say add_prefix_space instead of prepend_scheme.
func readMetaspace(f *fields) (string, prependScheme) {
	replacement := f.char("replacement", "")
	f.skip("str_rep")
	before := get(f, "add_prefix_space", true)
	absent := "always"
	if !before {
		absent = "never"
	}
	scheme := choice(f, "prepend_scheme", absent, prependSchemes)
	if !before && scheme != prependNever {
		f.fail("add_prefix_space", "is false, and prepend_scheme is not \"never\"")
	}
	return replacement, scheme
}

func readProcessor(path string, raw json.RawMessage, depth int) (processor, error) {
	return component("post-processor", path, depth, raw, processorTypes())
}

func processorTypes() map[string]func(f *fields, depth int) processor {
	return map[string]func(f *fields, depth int) processor{
		"Sequence": func(f *fields, depth int) processor {
			all := processors(components(f, "processors", depth, readProcessor))
			templates := 0
			for _, p := range all {
				if _, ok := p.(trimSpaces); !ok && p != nil {
					templates++
				}
			}
			if templates > 1 {
				f.fail("processors", "more than one adds special tokens")
			}
			return all
		},
		"ByteLevel": func(f *fields, _ int) processor {
			f.skip("use_regex")
			space := must[bool](f, "add_prefix_space")
			if !must[bool](f, "trim_offsets") {
				return processors(nil)
			}
			return trimSpaces{space}
		},
		"TemplateProcessing": readTemplate,
		"BertProcessing": func(f *fields, _ int) processor {
			sep, cls := readSpecial(f, "sep"), readSpecial(f, "cls")
			second := sep
			second.typeID = 1
			a := []templatePiece{cls, {}, sep}
			return template{a, append(a[:3:3], templatePiece{sequence: 1, typeID: 1}, second)}
		},
		"RobertaProcessing": func(f *fields, _ int) processor {
			sep, cls := readSpecial(f, "sep"), readSpecial(f, "cls")
			trim, space := get(f, "trim_offsets", true), get(f, "add_prefix_space", true)
			a := []templatePiece{cls, {}, sep}
			all := processors{sameType{}, template{a, append(a[:3:3], sep, templatePiece{sequence: 1}, sep)}}
			if trim {
				all = append(processors{trimSpaces{space}}, all...)
			}
			return all
		},
	}
}

// readSpecial reads a pair of a token and its id.
func readSpecial(f *fields, name string) templatePiece {
	raws := must[[]json.RawMessage](f, name)
	p := templatePiece{sequence: -1, ids: make([]int32, 1), tokens: make([]string, 1)}
	if len(raws) != 2 || files.JSON(raws[0], &p.tokens[0]) != nil || files.JSON(raws[1], &p.ids[0]) != nil || p.ids[0] < 0 {
		f.fail(name, "should be a token and its id")
	}
	return p
}

func readTemplate(f *fields, _ int) processor {
	tokens := map[string]templatePiece{}
	for name, raw := range must[map[string]json.RawMessage](f, "special_tokens") {
		g := newFields(f.path+".special_tokens", raw)
		g.skip("id")
		p := templatePiece{sequence: -1, ids: must[[]int32](g, "ids"), tokens: must[[]string](g, "tokens")}
		if len(p.ids) != len(p.tokens) {
			g.fail("", "%.40q has %d ids and %d tokens", name, len(p.ids), len(p.tokens))
		}
		for _, id := range p.ids {
			if id < 0 {
				g.fail("ids", "%d is no id", id)
			}
		}
		if err := g.done(); err != nil && f.err == nil {
			f.err = err
		}
		tokens[name] = p
	}
	t := template{readPieces(f, "single", tokens), readPieces(f, "pair", tokens)}
	return t
}

func readPieces(f *fields, name string, tokens map[string]templatePiece) (all []templatePiece) {
	raws, paths := f.list(name)
	for i, raw := range raws {
		g := newFields(paths[i], raw)
		kind := "Sequence"
		if g.has("SpecialToken") {
			kind = "SpecialToken"
		}
		h := newFields(paths[i]+"."+kind, g.take(kind))
		id, typeID := must[string](h, "id"), get(h, "type_id", int32(0))
		p := templatePiece{}
		switch {
		case kind == "SpecialToken":
			var ok bool
			if p, ok = tokens[id]; !ok {
				h.fail("id", "special_tokens has no %.40q", id)
			}
		case id == "B" && name == "pair":
			p.sequence = 1
		case id != "A":
			h.fail("id", "%.40q is no sequence", id)
		}
		p.typeID = typeID
		for _, e := range []error{h.done(), g.done()} {
			if e != nil && f.err == nil {
				f.err = e
			}
		}
		all = append(all, p)
	}
	return all
}

func readDecoder(path string, raw json.RawMessage, depth int) (decoder, error) {
	return component("decoder", path, depth, raw, decoderTypes())
}

func decoderTypes() map[string]func(f *fields, depth int) decoder {
	one := func(s func() stage) func(*fields, int) decoder {
		return func(*fields, int) decoder { return func() []stage { return []stage{s()} } }
	}
	return map[string]func(f *fields, depth int) decoder{
		"Sequence": func(f *fields, depth int) decoder {
			all := components(f, "decoders", depth, readDecoder)
			return func() (stages []stage) {
				for _, d := range all {
					if d != nil {
						stages = append(stages, d()...)
					}
				}
				return stages
			}
		},
		"Fuse":         one(func() stage { return fuse{} }),
		"ByteFallback": one(func() stage { return &byteFallback{} }),
		"ByteLevel": func(f *fields, _ int) decoder {
			f.skip("add_prefix_space", "trim_offsets", "use_regex")
			return func() []stage { return []stage{&bytesStage{}} }
		},
		"WordPiece": func(f *fields, _ int) decoder {
			return wordPieceDecoder(must[string](f, "prefix"), must[bool](f, "cleanup"))
		},
		"Metaspace": func(f *fields, _ int) decoder {
			replacement, scheme := readMetaspace(f)
			f.skip("split")
			return metaspaceDecoder(replacement, scheme != prependNever)
		},
		"BPEDecoder": func(f *fields, _ int) decoder { return bpeDecoder(must[string](f, "suffix")) },
		"CTC": func(f *fields, _ int) decoder {
			return ctcDecoder(must[string](f, "pad_token"), must[string](f, "word_delimiter_token"), must[bool](f, "cleanup"))
		},
		"Replace": func(f *fields, _ int) decoder {
			return replaceDecoder(f.pattern("pattern"), must[string](f, "content"))
		},
		"Strip": func(f *fields, _ int) decoder {
			content, start, stop := f.char("content", ""), must[int](f, "start"), must[int](f, "stop")
			if start < 0 || stop < 0 {
				f.fail("", "start is %d and stop is %d: they should not be negative", start, stop)
			}
			return func() []stage { return []stage{&stripStage{content: content, left: start, right: stop}} }
		},
	}
}
