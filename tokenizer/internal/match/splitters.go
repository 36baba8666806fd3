package match

// Regular expressions of Splitters.
const (
	GPT2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

	contractions   = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	spaces         = `|\s*[\r\n]+|\s+(?!\S)|\s+`
	words          = `|[^\r\n\p{L}\p{N}]?\p{L}+`
	others         = `| ?[^\s\p{L}\p{N}]+[\r\n]*`
	llama3Splitter = contractions + words + `|\p{N}{1,3}` + others + spaces
	qwen2Splitter  = contractions + words + `|\p{N}` + others + spaces

	upper          = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	lower          = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
	o200kOthers    = `| ?[^\s\p{L}\p{N}]+[\r\n/]*` + spaces
	gpt4oSplitter  = `[^\r\n\p{L}\p{N}]?` + upper + `*` + lower + `+` + contractions + `?|[^\r\n\p{L}\p{N}]?` + upper + `+` + lower + `*` + contractions + `?|\p{N}{1,3}` + o200kOthers
	tekkenSplitter = `[^\r\n\p{L}\p{N}]?` + upper + `*` + lower + `+|[^\r\n\p{L}\p{N}]?` + upper + `+` + lower + `*|\p{N}` + o200kOthers

	cjk             = `[一-龥ࠀ-一가-퟿]+`
	deepseekLetters = `\s?[A-Za-z` +
		`\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF\u0370-\u037` +
		`3\u0376\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481` +
		`\u048A-\u052F\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF\u1D0` +
		`0-\u1D2B\u1D6B-\u1D77\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1` +
		`F57\u1F59\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC\u1F` +
		`D0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107\u210A-\u2113\u2115\u21` +
		`19-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139\u213C-\u213F\u2145-\u2149\u214E\u218` +
		`3\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3\uA640-\uA66D\uA680-\uA69B\uA722-\uA76` +
		`F\uA771-\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A` +
		`𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+`
	deepseek3Words   = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*" + spaces
	bloomSplitter    = ` ?[^(\s|.,!?…。，、।۔،)]+`
	qwen35Splitter   = contractions + `|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*` + spaces
	jais2Splitter    = contractions + words + `|\p{N}{1,3}` + others + `|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}`
	lineRows         = `[^\n]+|[\n]+`
	digitTriples     = `\d{1,3}(?=(?:\d{3})*\b)`
	notHan           = `&&[^\p{Han}]]`
	kimiUpper        = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}` + notHan
	kimiLower        = `[\p{Ll}\p{Lm}\p{Lo}\p{M}` + notHan
	kimiSplitter     = `[\p{Han}]+|[^\r\n\p{L}\p{N}]?` + kimiUpper + `*` + kimiLower + `+` + contractions + `?|[^\r\n\p{L}\p{N}]?` + kimiUpper + `+` + kimiLower + `*` + contractions + `?|\p{N}{1,3}` + others + spaces
	seedSplitter     = contractions + words + `|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+` + spaces
	bailingSplitter  = `'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`
	falconSplitter   = "[\\p{P}\\$\\+<=>\\^~\\|`]+"
	trailingSpace    = `\s+(?!\S)`
	threeDigits      = `[0-9][0-9][0-9]`
	deepseekOthers   = `\s?[!-/:-~！-／：-～‘-‟　-。]+`
	deepseek3Foreign = `[一-龥぀-ゟ゠-ヿ]+`
)

// Splitters are the expressions that split text before byte-level BPE, one after the other, by the
// names that llama.cpp gives them in tokenizer.ggml.pre.
var Splitters = map[string][]string{
	"gpt-2": {GPT2}, "phi-2": {GPT2}, "jina-es": {GPT2}, "jina-de": {GPT2},
	"jina-v1-en": {GPT2}, "jina-v2-es": {GPT2}, "jina-v2-de": {GPT2}, "jina-v2-code": {GPT2},
	"gigachat": {GPT2}, "a.x-4.0": {GPT2}, "mellum": {GPT2}, "mpt": {GPT2},
	"olmo": {GPT2}, "jais": {GPT2}, "trillion": {GPT2}, "roberta-bpe": {GPT2},
	"modern-bert": {GPT2}, "exaone4": {GPT2}, "granite-docling": {GPT2},

	"llama-bpe": {llama3Splitter}, "llama3": {llama3Splitter}, "llama-v3": {llama3Splitter}, "falcon3": {llama3Splitter},
	"falcon-h1": {llama3Splitter}, "pixtral": {llama3Splitter}, "midm-2.0": {llama3Splitter}, "lfm2": {llama3Splitter}, "jina-v5-nano": {llama3Splitter},
	"dbrx": {llama3Splitter}, "smaug-bpe": {llama3Splitter}, "glm4": {llama3Splitter}, "chatglm-bpe": {llama3Splitter},

	"qwen2": {qwen2Splitter}, "deepseek-r1-qwen": {qwen2Splitter}, "stablelm2": {qwen2Splitter}, "megrez": {qwen2Splitter},
	"hunyuan": {qwen2Splitter}, "kormo": {qwen2Splitter}, "grok-2": {qwen2Splitter}, "f2llmv2": {qwen2Splitter},
	"solar-open": {qwen2Splitter}, "laguna": {lineRows, qwen2Splitter}, "qwen35": {qwen35Splitter}, "jais-2": {jais2Splitter},
	"ufakzeka": {words[1:] + `|\p{N}` + others + spaces},

	"gpt-4o": {gpt4oSplitter}, "llama4": {gpt4oSplitter}, "kanana2": {gpt4oSplitter}, "talkie": {gpt4oSplitter},
	"minimax-m2": {gpt4oSplitter}, "tiny_aya": {digitTriples, gpt4oSplitter}, "cohere2moe": {digitTriples, gpt4oSplitter},
	"kimi-k2": {kimiSplitter},
	"tekken":  {tekkenSplitter},

	"starcoder": {`\p{N}`, GPT2}, "refact": {`\p{N}`, GPT2}, "command-r": {`\p{N}`, GPT2},
	"smollm": {`\p{N}`, GPT2}, "codeshell": {`\p{N}`, GPT2}, "exaone": {`\p{N}`, GPT2},
	"minerva-7b": {`\p{N}`, GPT2}, "mellum2": {`\p{N}`, GPT2},

	"deepseek-llm":   {`[\r\n]`, deepseekLetters, deepseekOthers, trailingSpace, cjk, `\p{N}+`},
	"deepseek-coder": {`[\r\n]`, `\s?\p{L}+`, `\s?\p{P}+`, cjk, `\p{N}`},
	"deepseek-v3":    {`\p{N}{1,3}`, deepseek3Foreign, deepseek3Words},
	"joyai-llm":      {`\p{N}{1,3}`, deepseek3Foreign, deepseek3Words},
	"hunyuan-dense":  {`\p{N}{1,3}`, deepseek3Foreign, deepseek3Words},
	"hy_v4":          {`\p{N}{1,3}`, deepseek3Foreign, deepseek3Words},

	"falcon":       {falconSplitter, GPT2, threeDigits},
	"bloom":        {bloomSplitter},
	"poro-chat":    {bloomSplitter},
	"gpt3-finnish": {bloomSplitter},
	"viking":       {bloomSplitter, `\p{N}`},
	"seed-coder":   {seedSplitter},
	"bailingmoe":   {bailingSplitter},
	"bailingmoe2":  {bailingSplitter},
	"llada-moe":    {bailingSplitter},
	"default":      {falconSplitter, GPT2, threeDigits},
}
