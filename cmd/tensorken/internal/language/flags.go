package language

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/llm"
	"github.com/tensorken/tensorken/llm/hub"
	"github.com/tensorken/tensorken/models/sample"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A number is the value of a flag within limits.
type number struct {
	limits.Limits
	kind string // in help texts
	set  reflect.Value
}

func (n number) Type() string { return n.kind }

func (n number) String() string {
	if !n.set.IsValid() || n.set.IsZero() {
		return ""
	}
	return fmt.Sprint(n.set.Interface())
}

func (n number) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || n.set.CanInt() && x != math.Trunc(x) {
		return fmt.Errorf("want %s", n.Want)
	}
	if x < n.Least || x > n.Most || x != x {
		return fmt.Errorf("it is %v, want %s", x, n.Want)
	}
	if n.set.CanInt() {
		n.set.SetInt(int64(x))
	} else {
		n.set.SetFloat(x)
	}
	return nil
}

// A setting is a number of GenerateOptions that a flag, or /set of chat, changes.
type setting struct {
	name   string
	field  func(o *llm.GenerateOptions) any // its address
	limits limits.Limits
	help   string
}

func (s setting) value(o *llm.GenerateOptions) number {
	v := reflect.ValueOf(s.field(o)).Elem()
	n := number{s.limits, "number", v}
	switch {
	case v.CanInt():
		n.kind, n.Most = "count", min(n.Most, math.MaxInt32)
		n.Want = "a whole number of at least " + strconv.Itoa(int(n.Least))
	case n.Least < 0:
		n.kind = "signed"
	}
	return n
}

var settings = []setting{
	{"temperature", func(o *llm.GenerateOptions) any { return &o.Temperature }, limits.NotNegative, "divides the logits; 0 takes the most probable token"},
	{"top-k", func(o *llm.GenerateOptions) any { return &o.TopK }, limits.NotNegative, "draw from this many of the most probable tokens; 0 is all"},
	{"top-p", func(o *llm.GenerateOptions) any { return &o.TopP }, limits.AtMostOne, "draw from the most probable tokens up to this probability; 0 is all"},
	{"min-p", func(o *llm.GenerateOptions) any { return &o.MinP }, limits.AtMostOne, "draw from tokens at least this many times as probable as the best"},
	{"typical", func(o *llm.GenerateOptions) any { return &o.Typical }, limits.AtMostOne, "draw from the most typical tokens up to this probability; 0 is all"},
	{"repetition-penalty", func(o *llm.GenerateOptions) any { return &o.RepetitionPenalty }, limits.NotNegative, "divides the logits of tokens that the text has; 0 and 1 are off"},
	{"frequency-penalty", func(o *llm.GenerateOptions) any { return &o.FrequencyPenalty }, limits.Finite, "is subtracted from a token's logit for each time that the text has it"},
	{"presence-penalty", func(o *llm.GenerateOptions) any { return &o.PresencePenalty }, limits.Finite, "is subtracted from the logits of tokens that the text has"},
	{"penalty-window", func(o *llm.GenerateOptions) any { return &o.PenaltyWindow }, limits.NotNegative, "tokens that penalties read; 0 is all"},
	{"dry", func(o *llm.GenerateOptions) any { return &o.DRY.Multiplier }, limits.NotNegative, "multiplier of DRY, which lowers tokens that make a repetition longer"},
	{"dry-base", func(o *llm.GenerateOptions) any { return &o.DRY.Base }, limits.AtLeastOne, "base of DRY (default 1.75)"},
	{"dry-allowed", func(o *llm.GenerateOptions) any { return &o.DRY.Allowed }, limits.Limits{Least: 1, Most: math.MaxInt32}, "repeated tokens that DRY allows (default 2)"},
	{"dry-window", func(o *llm.GenerateOptions) any { return &o.DRY.Window }, limits.NotNegative, "tokens that DRY reads; 0 is all"},
	{"xtc", func(o *llm.GenerateOptions) any { return &o.XTC.Probability }, limits.AtMostOne, "probability of XTC, which excludes the most probable tokens"},
	{"xtc-threshold", func(o *llm.GenerateOptions) any { return &o.XTC.Threshold }, limits.Limits{Least: 0, Most: 0.5, Want: "a number from 0 to 0.5"}, "least probability of tokens that XTC excludes"},
	{"tokens", func(o *llm.GenerateOptions) any { return &o.MaxTokens }, limits.NotNegative, "greatest length of an answer; 0: until it ends or the context is full"},
	{"ngram", func(o *llm.GenerateOptions) any { return &o.NGram }, limits.NotNegative, "propose tokens that followed this many tokens earlier; 0 is off"},
	{"keep", func(o *llm.GenerateOptions) any { return &o.Keep }, limits.NotNegative, "tokens at the start that --shift does not forget"},
	{"propose", func(o *llm.GenerateOptions) any { return &o.Propose }, limits.NotNegative, "tokens that --draft and --ngram propose at once (default 3)"},
}

// Flags are the flags of a command that opens a model and, perhaps, writes by it.
type flags struct {
	device, hub, cache, cacheType string
	context                       int
	truncate                      bool

	set               llm.GenerateOptions
	draft             string
	stop, dryBreakers []string
	bias              map[string]string
	greedy, ignoreEnd bool
	seed              uint64
	changed           func(flag string) bool // whether it is given
}

// open adds the flags of a model.
func (f *flags) open(c *cobra.Command) {
	c.Flags().SortFlags = false
	f.changed = c.Flags().Changed
	c.Flags().StringVar(&f.device, "device", "", device.Usage)
	c.Flags().Var(number{limits.Count, "size", reflect.ValueOf(&f.context).Elem()}, "context", "greatest length of a prompt and its answer together, in tokens (default the model's)")
	c.Flags().StringVar(&f.hub, "hub", "", "address of the server that hf: names are fetched from (default https://huggingface.co)")
	c.Flags().StringVar(&f.cache, "cache", "", "folder for fetched models (default tensorken/models in the user's cache folder)")
}

// CacheTypeUsage is the help text of --cache-type.
const CacheTypeUsage = "type of keys and values: f32, f16, bf16, q8_0 or f8_e4m3 (default the model's, and f16 beside quantised weights on the CPU)"

// generate adds the flags of an answer.
func (f *flags) generate(c *cobra.Command) {
	for _, s := range settings {
		c.Flags().Var(s.value(&f.set), s.name, s.help)
	}
	c.Flags().StringVar(&f.cacheType, "cache-type", "", CacheTypeUsage)
	c.Flags().BoolVar(&f.greedy, "greedy", false, "take the most probable tokens, whatever the model's makers recommend")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the draws; 0 is another one each time")
	c.Flags().StringArrayVar(&f.stop, "stop", nil, "a text that ends an answer, any number of times")
	c.Flags().StringArrayVar(&f.dryBreakers, "dry-breaker", nil, "a text that no repetition of DRY goes across, any number of times")
	c.Flags().StringToStringVar(&f.bias, "bias", nil, "numbers that are added to logits, as 5=1.5,17=-inf")
	c.Flags().BoolVar(&f.ignoreEnd, "ignore-end", false, "go on where the model ends the text")
	c.Flags().BoolVar(&f.set.Shift, "shift", false, "where the context is full, forget half of the text, and report it")
	c.Flags().StringVar(&f.draft, "draft", "", "a smaller model of the same tokens that proposes tokens")
}

// options returns the settings of the model's makers, changed by the flags that are given.
func (f *flags) options(m *llm.Model) (*llm.GenerateOptions, error) {
	o := m.Defaults()
	if f.greedy {
		o.Settings = sample.Settings{}
	}
	for _, s := range settings {
		if f.changed(s.name) {
			reflect.ValueOf(s.field(&o)).Elem().Set(reflect.ValueOf(s.field(&f.set)).Elem())
		}
	}
	if f.greedy && f.changed("temperature") && o.Temperature > 0 {
		return nil, fmt.Errorf("--greedy takes the most probable tokens, and --temperature %v draws: leave one out", o.Temperature)
	}
	if f.ignoreEnd {
		o.End = nil
	}
	o.Seed, o.Stop, o.DRYBreakers, o.Shift = f.seed, f.stop, f.dryBreakers, f.set.Shift
	for token, b := range f.bias {
		id, err := strconv.ParseInt(token, 10, 32)
		x, errX := strconv.ParseFloat(b, 64)
		if cmp.Or(err, errX) != nil {
			return nil, fmt.Errorf("--bias has %q=%q: want a token and a number, as 5=1.5", token, b)
		}
		if o.Bias == nil {
			o.Bias = map[int32]float64{}
		}
		o.Bias[int32(id)] = x
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	return &o, nil
}

// checkTexts returns an error for an empty text of a flag that takes many.
func (f *flags) checkTexts() error {
	for name, texts := range map[string][]string{"stop": f.stop, "dry-breaker": f.dryBreakers} {
		for _, t := range texts {
			if t == "" {
				return fmt.Errorf("--%s is an empty text: give it one, or leave it out", name)
			}
		}
	}
	if f.changed("bias") && len(f.bias) == 0 {
		return fmt.Errorf("--bias names nothing: give it a token and a number, as 5=1.5")
	}
	return nil
}

// load opens a model.
func (f *flags) load(ctx context.Context, path string, notes io.Writer) (*llm.Model, *llm.GenerateOptions, func(), error) {
	if err := f.checkTexts(); err != nil {
		return nil, nil, nil, err
	}
	dev, why, err := device.Open(f.device)
	if err != nil {
		return nil, nil, nil, err
	}
	fmt.Fprintln(notes, "device", strings.TrimSpace(dev.String()+" "+why))
	m, err := f.model(ctx, path, dev, notes)
	if err != nil {
		dev.Close()
		return nil, nil, nil, err
	}
	closeAll := func() {
		m.Close()
		dev.Close()
	}
	o, err := f.options(m)
	if err == nil && f.draft != "" {
		o.Draft, err = f.model(ctx, f.draft, dev, notes)
	}
	if err != nil {
		closeAll()
		return nil, nil, nil, err
	}
	return m, o, closeAll, nil
}

// model opens one model, and fetches it first if it has a name.
func (f *flags) model(ctx context.Context, path string, dev *tensor.Device, notes io.Writer) (*llm.Model, error) {
	start := clock.Now()
	if name, ok := strings.CutPrefix(path, "hf:"); ok {
		last := time.Time{}
		progress := func(file string, done, size int64) {
			if now := clock.Now(); done == size || now.Sub(last) > time.Second {
				last = now
				fmt.Fprintf(notes, "%s: %s of %s\n", file, hostmem.Size(int(done)), hostmem.Size(int(size)))
			}
		}
		dir, err := hub.Fetch(ctx, name, &hub.Options{Server: f.hub, Cache: f.cache, Progress: progress})
		if err != nil {
			return nil, err
		}
		path = dir
	}
	m, err := llm.Open(path, &llm.Options{Device: dev, Context: f.context, CacheType: nn.CacheType(f.cacheType), Truncate: f.truncate})
	if err != nil {
		return nil, err
	}
	if os.Getenv("GOGC") == "" { // the caches of texts are in Go's heap, and by default it may double before a collection
		debug.SetGCPercent(25)
	}
	fmt.Fprintf(notes, "model %s, %s of weights, opened in %.1f s\n", filepath.Base(path), hostmem.Size(int(m.Memory().Weights)), clock.Since(start).Seconds())
	return m, nil
}
