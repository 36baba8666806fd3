package main

import (
	"strings"
	"testing"
)

func TestPrintDigits(t *testing.T) {
	status, stdout, stderr := command("digits")
	if n := strings.Count(stdout, "\n"); status != 0 || n != 1797 || !strings.HasPrefix(stdout, "0,0,5,13,") {
		t.Errorf("digits: status %d, %s, %d lines", status, stderr, n)
	}
	if status, _, _ := command("digits", "3"); status == 0 {
		t.Error("digits 3: no error")
	}
}
