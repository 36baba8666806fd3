package scheduletest

import (
	"strings"
	"testing"
)

// Programs are made by the packages that a change of them makes unknown.
func TestSources(t *testing.T) {
	s := sources{deps: true}
	if err := s.add("internal/schedule", "internal/schedule/scheduletest"); err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields("ir internal/loopnest internal/ptx internal/schedule internal/schedule/attention internal/schedule/build internal/schedule/scheduletest internal/shader internal/wgsl") {
		if _, ok := s.folds[f]; !ok {
			t.Errorf("%s is missing", f)
		}
	}
	for _, f := range strings.Fields("internal/exec internal/kernelize tensor") {
		if _, ok := s.folds[f]; ok {
			t.Errorf("%s makes no programs", f)
		}
	}
}
