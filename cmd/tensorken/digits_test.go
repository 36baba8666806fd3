package main

import (
	"encoding/csv"
	"strings"
	"testing"
)

func TestOpenDigits(t *testing.T) {
	r, err := openDigits()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1797 || len(rows[0]) != 65 {
		t.Errorf("openDigits gave %d rows of %d fields, want 1797 of 65", len(rows), len(rows[0]))
	}
}

func TestPrintDigits(t *testing.T) {
	status, stdout, stderr := command("digits")
	if n := strings.Count(stdout, "\n"); status != 0 || n != 1797 || !strings.HasPrefix(stdout, "0,0,5,13,") {
		t.Errorf("digits: status %d, %s, %d lines", status, stderr, n)
	}
	if status, _, _ := command("digits", "3"); status == 0 {
		t.Error("digits 3: no error")
	}
}
