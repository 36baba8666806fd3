package flags

import (
	"flag"
	"testing"
)

func TestStray(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"-names", "list"}, ""},
		{[]string{"list"}, `unexpected argument "list": name what it is for: -device, -names`},
		{[]string{"-device=cpu", "a b", "c"}, `unexpected argument "a b": name what it is for: -device, -names`},
		{[]string{"--", "-x"}, `unexpected argument "-x": name what it is for: -device, -names`},
	} {
		set := flag.NewFlagSet("program", flag.ContinueOnError)
		set.String("names", "", "")
		set.String("device", "", "")
		if err := set.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := stray(set); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("stray of %q = %q, want %q", c.args, got, c.want)
		}
	}
}

func TestLacking(t *testing.T) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.String("model", "", "the model")
	if err := lacking(set, []string{"model"}); err == nil || err.Error() != "want -model, the model" {
		t.Error(err)
	}
	if err := set.Set("model", "a.onnx"); err != nil || lacking(set, []string{"model"}) != nil {
		t.Error(err, lacking(set, []string{"model"}))
	}
}
