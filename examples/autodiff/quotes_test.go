package main

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestQuotes checks that the code which the program prints is its own.
func TestQuotes(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	program := ""
	for _, path := range paths {
		code, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		program += tokens(string(code))
	}
	output, err := os.ReadFile("testdata/output.txt")
	if err != nil {
		t.Fatal(err)
	}
	quotes := 0
	for block := range strings.SplitSeq(string(output), "\n\n") {
		if !strings.HasPrefix(block, "    ") {
			continue // quoted code is indented, and cut by empty lines
		}
		quotes++
		if !strings.Contains(program, tokens(block)) {
			t.Errorf("the program prints code that is not in it:\n%s", block)
		}
	}
	if quotes < 15 {
		t.Errorf("%d blocks of code found in the output, want at least 15", quotes)
	}
}

// tokens returns code without comments and newlines, with a space before each token.
// A string is one token.
func tokens(code string) string {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(code))
	s.Init(file, []byte(code), nil, 0)
	list := ""
	for _, tok, text := s.Scan(); tok != token.EOF; _, tok, text = s.Scan() {
		switch {
		case text == "": // an operator
			list += " " + tok.String()
		case text != "\n":
			list += " " + text
		}
	}
	return list
}
