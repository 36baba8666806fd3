package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

func sizeOf(n int) string { return hostmem.Size(n) }

func ggufInfoCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info FILE.gguf",
		Short: "Print metadata, tensors, types and sizes, and the memory that the model takes",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := gguf.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			about := describeModel(f)
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(about)
			}
			return about.print(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, with all elements of metadata")
	return c
}

// A modelInfo is the output of info --json.
type modelInfo struct {
	Version    int                 `json:"version"`
	Parameters int                 `json:"parameters"`
	Bytes      int                 `json:"bytes"` // of tensors
	Metadata   []metaInfo          `json:"metadata"`
	Types      map[string]typeInfo `json:"types"`
	Tensors    []tensorInfo        `json:"tensors"`
	Memory     memoryInfo          `json:"memory"`
}

type metaInfo struct {
	Key   string `json:"key"`
	Type  string `json:"type"`
	Value any    `json:"value"`
}

type typeInfo struct {
	Tensors int `json:"tensors"`
	Bytes   int `json:"bytes"`
}

type tensorInfo struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Shape  []int  `json:"shape"`
	Bytes  int    `json:"bytes"`
	Offset int64  `json:"offset"`
}

// A memoryInfo has estimates in bytes.
type memoryInfo struct {
	Loaded  int `json:"loaded"`  // by package models, which decodes blocks
	Cache   int `json:"cache"`   // of keys and values at the whole context, in half precision
	Context int `json:"context"` // tokens, 0 if metadata does not tell
}

func describeModel(f *gguf.File) modelInfo {
	m := modelInfo{Version: f.Version, Types: map[string]typeInfo{}, Tensors: []tensorInfo{}, Metadata: []metaInfo{}}
	for _, p := range f.Meta {
		m.Metadata = append(m.Metadata, metaInfo{p.Key, reflect.TypeOf(p.Value).String(), jsonValue(p.Value)})
	}
	for _, t := range f.Tensors() {
		name := t.Type.String()
		of := m.Types[name]
		m.Types[name] = typeInfo{of.Tensors + 1, of.Bytes + t.Bytes}
		m.Tensors = append(m.Tensors, tensorInfo{t.Name, name, t.Shape, t.Bytes, t.Offset})
		m.Parameters += t.Len()
		m.Bytes += t.Bytes
		m.Memory.Loaded += t.Len() * t.DType().Size()
	}
	m.Memory.Context, m.Memory.Cache = cacheSize(f.Meta)
	return m
}

// jsonValue returns a value of metadata as JSON can have it: bytes as numbers, and NaN and
// infinities as text.
func jsonValue(v any) any {
	switch v := v.(type) {
	case []uint8:
		all := make([]int, len(v))
		for i, b := range v {
			all[i] = int(b)
		}
		return all
	case float32:
		if v-v != 0 {
			return fmt.Sprint(v)
		}
	case float64:
		if v-v != 0 {
			return fmt.Sprint(v)
		}
	case []float32:
		return jsonList(v)
	case []float64:
		return jsonList(v)
	case []any:
		return jsonList(v)
	}
	return v
}

func jsonList[T any](list []T) []any {
	all := make([]any, len(list))
	for i, v := range list {
		all[i] = jsonValue(v)
	}
	return all
}

// cacheSize estimates the bytes of keys and values of the whole context.
func cacheSize(meta gguf.Meta) (context, bytes int) {
	arch, err := gguf.Get[string](meta, "general.architecture")
	if err != nil {
		return 0, 0
	}
	number := func(key string) int {
		n, _ := gguf.Get[uint32](meta, arch+"."+key)
		return int(n)
	}
	context = number("context_length")
	heads, keys, width := number("attention.head_count"), number("attention.head_count_kv"), number("attention.key_length")
	if keys == 0 {
		keys = heads
	}
	if width == 0 && heads > 0 {
		width = number("embedding_length") / heads
	}
	size := 2 * 2.0 * float64(context) * float64(number("block_count")) * float64(keys) * float64(width)
	if size > math.MaxInt64/2 {
		return context, 0
	}
	return context, int(size)
}

func (m modelInfo) print(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "version\t%d\n", m.Version)
	for _, p := range m.Metadata {
		fmt.Fprintf(t, "%s\t%s\n", oneLine(p.Key), abridged(p))
	}
	fmt.Fprintln(t)
	for _, x := range m.Tensors {
		fmt.Fprintf(t, "%s\t%s\t%v\t%s\n", oneLine(x.Name), x.Type, x.Shape, sizeOf(x.Bytes))
	}
	fmt.Fprintln(t)
	for _, name := range slices.Sorted(maps.Keys(m.Types)) {
		fmt.Fprintf(t, "%s\t%d tensors\t%s\n", name, m.Types[name].Tensors, sizeOf(m.Types[name].Bytes))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d parameters in %d tensors, %s", m.Parameters, len(m.Tensors), sizeOf(m.Bytes))
	if m.Parameters > 0 {
		fmt.Fprintf(out, ", %.2f bits each", 8*float64(m.Bytes)/float64(m.Parameters))
	}
	fmt.Fprintf(out, "\nmemory: %s loaded by package models", sizeOf(m.Memory.Loaded))
	if m.Memory.Cache > 0 {
		fmt.Fprintf(out, "; %s for keys and values of %d tokens in half precision", sizeOf(m.Memory.Cache), m.Memory.Context)
	}
	_, err := fmt.Fprintln(out)
	return err
}

// oneLine returns text of a file without ends of lines and tabs.
func oneLine(s string) string { return files.Name(s) }

// abridged returns a value of metadata for one line.
func abridged(p metaInfo) string {
	const most, elements = 80, 8
	text := ""
	if v := reflect.ValueOf(p.Value); v.Kind() == reflect.Slice {
		var parts []string
		for i := range min(v.Len(), elements) {
			parts = append(parts, abridged(metaInfo{Value: v.Index(i).Interface()}))
		}
		if v.Len() > elements {
			parts = append(parts, "…")
		}
		return fmt.Sprintf("%d of %s: %s", v.Len(), strings.TrimPrefix(p.Type, "[]"), strings.Join(parts, " "))
	} else if v.Kind() == reflect.String {
		text = v.String()
	} else {
		text = fmt.Sprint(p.Value)
	}
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return oneLine(text)
}

func ggufVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE.gguf",
		Short: "Check a file: its structure, and that scales and elements are finite; print sha256",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			defer tensor.Catch(&err)
			return verifyModel(c.Context(), args[0], c.OutOrStdout(), c.ErrOrStderr())
		},
	}
}

func verifyModel(ctx context.Context, path string, stdout, notes io.Writer) error {
	f, err := gguf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	show := newProgress(ctx, notes, len(f.Tensors()))
	bad := 0
	for _, t := range f.Tensors() {
		fault, err := step(show, t.Name, func() (string, error) { return f.Verify(t.Name) })
		if err != nil {
			show.done()
			return err
		}
		if fault != "" {
			show.done()
			bad++
			fmt.Fprintf(stdout, "%q: %s\n", t.Name, fault)
		}
	}
	show.done()
	sum, err := hashOf(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d tensors, sha256 %s\n", len(f.Tensors()), sum)
	if bad > 0 {
		return fmt.Errorf("%s: %d of %d tensors are damaged", path, bad, len(f.Tensors()))
	}
	return nil
}

func hashOf(path string) (string, error) {
	file, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
