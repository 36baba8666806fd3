package policy

import (
	"maps"
	"regexp"
	"strings"
	"testing"
)

// coarse lists the packages that read the clock of package time, each with the reason. All others
// measure durations of microseconds, by internal/clock.
var coarse = map[string]string{
	"dist":              "deadlines of connections, in seconds",
	"internal/cachedir": "ages of files",
	"internal/files":    "ages of files, and seconds of patience",
	"internal/pyvalue":  "the date that templates print",
	"plot":              "a second of patience",
	"train":             "dates in logs, and speeds over seconds",
}

var readsClock = regexp.MustCompile(`\btime\.(Now|Since|Until)\b`)

// On Windows package time has a clock that is too coarse for kernels. Examples read it nevertheless, as
// other modules must, and measure seconds.
func TestClock(t *testing.T) {
	unused := maps.Clone(coarse)
	for _, f := range sources(t) {
		if f.isTest() || under(f.dir, "examples") || f.dir == "internal/clock" {
			continue
		}
		for i, line := range strings.Split(f.src, "\n") {
			found := readsClock.FindString(line)
			if found == "" {
				continue
			}
			if coarse[f.dir] == "" {
				t.Errorf("%s:%d: %s: use internal/clock, or give the reason in the list coarse", f.name, i+1, found)
			}
			delete(unused, f.dir)
		}
	}
	for _, dir := range sorted(unused) {
		t.Errorf("the list coarse needs no entry for %s", dir)
	}
}
