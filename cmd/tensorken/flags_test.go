package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// badValues has values that no flag of a type may have, and one that is no value of it. Help texts
// name the types.
var badValues = map[string][]string{
	"int":      {"-1", "1.5", "x", "", "99999999999999999999"},
	"ints":     {"-2", "0", "3", "x", ""},
	"uint":     {"-1", "x", ""},
	"float":    {"-1", "0", "NaN", "Inf", "x", ""},
	"duration": {"-1s", "0", "5", ""},
	"string":   {""},
	"strings":  {""},
	"number":   {"-1", "NaN", "Inf", "x", ""},
	"signed":   {"NaN", "Inf", "x", ""},
	"count":    {"-1", "1.5", "x", "", "99999999999999999999"},
	"size":     {"-1", "0", "1.5", "x", "", "99999999999999999999"},

	"stringArray":    {""},
	"stringToString": {"x", ""},
}

// Each flag of each command refuses bad values in one line that has its name.
func TestFlagValues(t *testing.T) {
	t.Chdir(t.TempDir()) // as TestBadInput
	line := regexp.MustCompile(`(?m)^      --([a-z-]+) ([a-zA-Z]+) `)
	flags := 0
	for _, name := range []string{"train", "predict", "digits", "bench", "profile", "gpu", "gpu install", "gpu check", "run none", "chat none", "embed none", "models", "tokenize", "template", "gguf info none", "gguf verify none", "gguf quantise none none", "gguf convert none none", "onnx info none", "onnx run none", "onnx bench none"} {
		args := strings.Fields(name)
		status, help, _ := command(append(slices.Clone(args), "--help")...)
		if status != 0 {
			t.Fatalf("%s --help: status %d", name, status)
		}
		for _, m := range line.FindAllStringSubmatch(help, -1) {
			flag, kind := m[1], m[2]
			flags++
			values, ok := badValues[kind]
			if !ok {
				t.Errorf("%s --%s has the type %s, for which there are no bad values", name, flag, kind)
			}
			switch {
			case flag == "device" && name == "predict": // reads the file first
				values = nil
			case flag == "device" && kind == "string":
				values = []string{"abacus", "cuda:x", "webgpu:", "cpu:1"} // the empty one is the default
			}
			for _, v := range values {
				call := append(slices.Clone(args), "--"+flag+"="+v)
				if name == "predict" {
					call = append(call, "none.safetensors")
				}
				if flag == "works" || flag == "python" || flag == "peers-dir" {
					call = append(call, "--peers")
				}
				status, _, stderr := command(call...)
				want := "--" + flag
				if flag == "device" {
					want = "device"
				}
				if status != 1 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
					t.Errorf("%q: status %d, %q, want one line with %s", call, status, stderr, want)
				}
			}
		}
	}
	if flags < 25 {
		t.Errorf("found %d flags, fewer than there are", flags)
	}
}
