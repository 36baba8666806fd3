package main

import (
	"encoding/csv"
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
