package llm

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/jinja"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tokenizer"
	"github.com/tensorken/tensorken/tree"
)

// Options change how Open works. A nil pointer is all zeros.
type Options struct {
	Device *tensor.Device // nil: the CPU
	// Context is the most tokens of a prompt and its answer together; 0 is the model's.
	Context int
	// CacheType is the type of keys and values, as [nn.CacheQ8], in which contexts take little more than half of the
	// memory of float16. If it is empty, they are float16 next to quantised weights on the CPU, and otherwise in the
	// model's type.
	CacheType nn.CacheType
	// Memory is the number of bytes that the model may take; 0 is the memory that the host has free, where
	// the system tells. Less than zero: anything.
	Memory int64
	// Truncate lets Embed cut texts that are longer than the model reads, an error otherwise.
	Truncate bool
	// Hub is the address of the server of hf: names, and Cache the folder of fetched models;
	// empty: huggingface.co, and a folder in the user's cache.
	Hub, Cache string
	// Progress, if it is not nil, is told how many bytes of a fetched file have come.
	Progress func(file string, done, size int64)
}

// A Model is a language model. Its methods may be called from several goroutines.
type Model struct {
	name      string
	memory    Memory
	options   Options
	settings  settings
	decoder   models.Decoder // nil in an encoder, and where there is t5
	encoder   *models.BERT   // nil in a decoder
	t5        *models.T5     // reads a prompt by its encoder
	pooling   pooling
	tokenizer *tokenizer.Tokenizer
	noTokens  error             // why tokenizer is nil
	special   map[string]string // tokens by role
	templates map[string]string

	mu       sync.Mutex
	idle     []*models.Generator
	parsed   map[string]*jinja.Template // at most maxParsed
	checked  map[*Model]error           // drafts
	defaults GenerateOptions
}

// Open reads the model at a path: a folder with config.json, safetensors and the files of a
// tokenizer, a GGUF file, or a name as hf:owner/name, hf:owner/name@revision or
// hf:owner/name/file.gguf, which is fetched into a cache first. It is an error, before anything is read, if the model takes more memory than there is. A
// model without a tokenizer continues tokens: see [Model.GenerateIDs].
func Open(path string, o *Options) (*Model, error) {
	m := &Model{name: path, parsed: map[string]*jinja.Template{}, checked: map[*Model]error{}}
	if o != nil {
		m.options = *o
	}
	if name, ok := strings.CutPrefix(path, "hf:"); ok {
		dir, err := fetch(name, m.options)
		if err != nil {
			return nil, fmt.Errorf("llm: %w", err)
		}
		path = dir
	}
	if err := m.open(path); err != nil {
		return nil, fmt.Errorf("llm: %w", err)
	}
	return m, nil
}

func (m *Model) open(path string) (err error) {
	defer tensor.Catch(&err)
	f, err := sourceOf(path)
	if err != nil {
		return err
	}
	if m.settings, err = readSettings(f); err != nil {
		return err
	}
	switch c := m.options.Context; {
	case c < 0 || c > m.settings.Context && m.settings.Context > 0:
		return fmt.Errorf("Context is %d: the model has %d positions", c, m.settings.Context)
	case c > 0:
		m.settings.Context = c
	}
	if m.memory, err = estimate(f, m.options); err != nil {
		return err
	}
	if err := m.memory.check(m.options); err != nil {
		return err
	}
	model, err := models.Load(path)
	if err != nil {
		return err
	}
	if m.options.Device != nil {
		model = tree.To(model, m.options.Device)
	}
	switch model := model.(type) {
	case *models.BERT:
		m.encoder = model
	case models.Decoder:
		m.decoder = model
	case *models.T5:
		m.t5 = model
	default:
		return fmt.Errorf("%s: it is a %s, which neither writes nor embeds text", files.Name(path), strings.TrimPrefix(fmt.Sprintf("%T", model), "*models."))
	}
	if m.pooling, err = f.pooling(); err != nil {
		return err
	}
	if m.templates, err = f.templates(); err != nil {
		return err
	}
	m.tokenizer, m.noTokens = f.tokenizer()
	m.special = m.specials(f.ids())
	hostmem.GiveBack() // the garbage of files that were parsed, before steps of a text leave little of it
	return m.readDefaults(path, f)
}

// specials returns the special tokens by role.
func (m *Model) specials(ids map[string]int32) map[string]string {
	all := map[string]string{}
	if m.tokenizer == nil {
		return all
	}
	for _, role := range []string{"bos", "eos", "unk", "sep", "pad", "cls", "mask"} {
		token, _, ok := m.tokenizer.Special(role)
		if id, known := ids[role]; known && !ok {
			token, ok = m.tokenizer.IDToToken(id)
		}
		if ok {
			all[role] = token
		}
	}
	return all
}

// Close frees the memory that the model keeps between texts. Texts under way go on.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.idle = nil
	return nil
}

// Name returns the path that the model was opened by.
func (m *Model) Name() string { return m.name }

// Memory returns the memory that the model takes.
func (m *Model) Memory() Memory { return m.memory }

// Context returns the most tokens of a prompt and its answer together; 0 is no limit.
func (m *Model) Context() int { return m.settings.Context }

// Tokenizer returns the model's tokenizer, or the reason for having no tokenizer.
func (m *Model) Tokenizer() (*tokenizer.Tokenizer, error) { return m.tokenizer, m.noTokens }

// A ContextError is the error of a prompt that is longer than the context.
type ContextError struct{ Prompt, Context int }

// Error has both lengths.
func (e *ContextError) Error() string {
	return fmt.Sprintf("llm: the prompt has %d tokens, and the context %d: shorten the prompt, nothing is cut in silence", e.Prompt, e.Context)
}

var errEncoder = errors.New("llm: the model is an encoder, which embeds texts and writes none: use Embed")
