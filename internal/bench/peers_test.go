package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/tensor"
)

// fake makes the test's own program a peer, and says which.
const fake = "PEERS_TEST_FAKE"

// The settings of playCompiler: seconds of a step, and a file that a first step leaves.
const slowness, cached = "PEERS_TEST_SLOWNESS", "PEERS_TEST_CACHE"

func TestMain(m *testing.M) {
	if how := os.Getenv(fake); how != "" {
		os.Exit(playPeer(how, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// playPeer is a peer that measures this library, well or badly.
func playPeer(how string, args []string) int {
	out := json.NewEncoder(os.Stdout)
	works := []string{"mul/1M", "matmul/64"}
	switch {
	case how == "compiler":
		return playCompiler(args)
	case how == "absent":
		fmt.Fprintln(os.Stderr, "Traceback\n\nModuleNotFoundError: No module named 'numpy'")
		return 1
	case how == "unknown":
		works = append(works, "fft")
	}
	if args[0] == "--about" {
		out.Encode(map[string]any{"about": "Fake 1.0", "works": works})
		return 0
	}
	want := []string{"--threads", "1", "--seconds", "0.001", "matmul/64"}
	if !slices.Equal(args, want) || os.Getenv("OMP_NUM_THREADS") != "1" {
		fmt.Fprintf(os.Stderr, "arguments %q, want %q\n", args, want)
		return 1
	}
	t, err := MeasureWork(context.Background(), work("matmul/64"), tensor.CPU(), time.Millisecond)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch how {
	case "wrong":
		t.Sample[3] += 0.1
	case "failing":
		t = Time{Work: t.Work, Error: "out of memory"}
	case "garbled":
		fmt.Println("hello")
	case "other":
		t.Work = "mul/1M"
	case "silent":
		return 0
	case "broken":
		fmt.Fprintln(os.Stderr, "1\n2\n3\n\n4 is the last")
		return 3
	}
	out.Encode(t)
	return 0
}

func work(name string) Work {
	return Works[slices.IndexFunc(Works, func(w Work) bool { return w.Name == name })]
}

// fakePeer returns a peer with a program for each way to behave.
func fakePeer(name string, ways ...string) Peer {
	return Peer{name, "make " + name, func(_ context.Context, o PeerOptions) (ps []program, err error) {
		for _, how := range ways {
			ps = append(ps, program{path: os.Args[0], env: append(threads(o), fake+"="+how)})
		}
		return ps, nil
	}}
}

// quick are options for one small work that the fake peer has and one that it lacks.
func quick() PeerOptions {
	return PeerOptions{Works: []Work{work("matmul/64"), work("matmul/256")}, Threads: 1, Time: time.Millisecond}
}

func TestFind(t *testing.T) {
	found, missing, err := FindPeers(t.Context(), Suite{Works, []Peer{fakePeer("a", "absent", "good"), fakePeer("b", "absent")}}, quick())
	if err != nil || len(found) != 1 || len(missing) != 1 {
		t.Fatalf("Find = %v, %v, %v; want one found and one missing", found, missing, err)
	}
	if f := found[0]; f.Name != "a" || f.About != "Fake 1.0, "+os.Args[0] || !slices.Contains(f.program.env, fake+"=good") {
		t.Errorf("found %+v", f)
	}
	want := Missing{"b", "exit status 1 | Traceback | ModuleNotFoundError: No module named 'numpy'", "make b"}
	if missing[0] != want {
		t.Errorf("missing %+v, want %+v", missing[0], want)
	}
	_, _, err = FindPeers(t.Context(), Suite{Works, []Peer{fakePeer("a", "unknown")}}, quick())
	if err == nil || !strings.Contains(err.Error(), `peer a measures "fft"`) {
		t.Errorf("Find of a peer with an unknown work: %v", err)
	}
}

func TestRun(t *testing.T) {
	found, _, err := FindPeers(t.Context(), Suite{Works, []Peer{fakePeer("numpy", "good")}}, quick())
	if err != nil {
		t.Fatal(err)
	}
	var progress strings.Builder
	rows, err := Compare(t.Context(), quick(), found, &progress)
	if err != nil || len(rows) != 2 {
		t.Fatalf("Run = %v, %v, want two rows", rows, err)
	}
	r := rows[0]
	if r.Work != "matmul/64" || r.Unit != GFLOPs || r.Values["numpy"] <= 0 || r.Values[Ours] <= 0 {
		t.Errorf("row %+v", r)
	}
	if ratio := r.Values[Ours] / r.Values["numpy"]; math.Abs(ratio-r.Ratio) > 1e-9*ratio || r.Ratios["numpy"] != r.Ratio {
		t.Errorf("row %+v, want the ratio %v", r, ratio)
	}
	if r := rows[1]; r.Ratio != 0 || r.Met || len(r.Ratios) != 0 || r.Values[Ours] <= 0 {
		t.Errorf("row of a work that no peer has: %+v", r)
	}
	if want := "round 3 of 3: tensorken, numpy\n"; strings.Count(progress.String(), "\n") != 3 || !strings.HasSuffix(progress.String(), want) {
		t.Errorf("progress %q, want three lines like %q", progress.String(), want)
	}
}

func TestRunFails(t *testing.T) {
	for _, c := range []struct {
		how, want string
		others    bool // works are compared
	}{
		{"wrong", "p: matmul/64: computes something else than tensorken: gives [", true},
		{"failing", "p: matmul/64: out of memory", true},
		{"garbled", `peer p printed "hello"`, false},
		{"other", "peer p measured [mul/1M], want [matmul/64]", false},
		{"silent", "peer p measured [], want [matmul/64]", false},
		{"broken", "peer p: exit status 3 | 2 | 3 | 4 is the last", false},
	} {
		found, _, err := FindPeers(t.Context(), Suite{Works, []Peer{fakePeer("p", c.how)}}, quick())
		if err != nil {
			t.Errorf("%s: %v", c.how, err)
			continue
		}
		rows, err := Compare(t.Context(), quick(), found, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want a line …%s…", c.how, err, c.want)
		}
		if c.others != (len(rows) == 1 && rows[0].Work == "matmul/256") {
			t.Errorf("%s: rows %+v, want those of other works: %v", c.how, rows, c.others)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compare(ctx, quick(), nil, io.Discard); err == nil || err.Error() != "interrupted" {
		t.Errorf("a cancelled run: %v", err)
	}
}

func TestRow(t *testing.T) {
	ours := []float64{3, 1, 2}
	w := Work{Name: "w", Unit: Millis, Bar: Bar{Times: 2, Peers: []string{"a", "b"}}}
	for _, c := range []struct {
		name   string
		peers  map[string][]float64
		ratios map[string]float64
		ratio  float64
		met    bool
		spread float64
	}{
		{"median", map[string][]float64{"a": {9, 4, 1}, "b": {7, 7, 7}}, map[string]float64{"a": 2, "b": 3.5}, 2, true, 2},
		{"the fastest of the bar counts", map[string][]float64{"a": {8, 8, 8}, "b": {3, 3, 3}}, map[string]float64{"a": 4, "b": 1.5}, 1.5, false, 1},
		{"others do not count", map[string][]float64{"a": {8, 8, 8}, "b": {6, 6, 6}, "c": {1, 1, 9}}, map[string]float64{"a": 4, "b": 3, "c": 0.5}, 3, true, 1},
		{"one of the bar is missing", map[string][]float64{"a": {8, 8, 8}}, map[string]float64{"a": 4}, 0, false, 1},
	} {
		c.peers[Ours] = slices.Clone(ours)
		r := newComparison(w, c.peers)
		if !maps.Equal(c.ratios, r.Ratios) || r.Ratio != c.ratio || r.Met != c.met || r.Spread != c.spread || r.Values[Ours] != 2000 {
			t.Errorf("%s: %+v, want ratio %v, met %v, spread %v, ratios %v", c.name, r, c.ratio, c.met, c.spread, c.ratios)
		}
	}
}

func TestBars(t *testing.T) {
	w := Work{Name: "w", Unit: Millis, Bar: Bar{Most: 2500, Memory: 3, First: 4, Peers: pytorch}}
	for _, c := range []struct {
		name, bar string
		work      Work
		ours      float64
		met       bool
	}{
		{"the value is met", "≤ 2500", w, 2.5, true},
		{"the value is not met", "≤ 2500", w, 2.6, false},
		{"memory is met", "≤ 3", w.memory(), 3e9, true},
		{"memory is not met", "≤ 3", w.memory(), 3.1e9, false},
		{"the first step is met", "≤ 4", w.first(), 3.9, true},
		{"the first step is not met", "≤ 4", w.first(), 4.1, false},
		{"the ratio", "≥ 2 pytorch", Work{Unit: Millis, Bar: atLeast(2, pytorch)}, 1, true},
		{"no bar", "-", Work{Unit: Millis, Bar: Bar{Peers: pytorch}}, 1, false},
	} {
		r := newComparison(c.work, map[string][]float64{Ours: {c.ours}, "pytorch": {2 * c.ours}})
		if r.Met != c.met || r.Ratio != 2 || r.Bar.String() != c.bar {
			t.Errorf("%s: %+v, bar %v, want met %v and the bar %s", c.name, r, r.Bar, c.met, c.bar)
		}
	}
}

// Of training steps on a GPU the peak is compared too. Each work has its own peak.
func TestPeak(t *testing.T) {
	opened := 0
	o := PeerOptions{
		Works: []Work{
			{Name: "large", Unit: Micros, start: unary(tensor.Tensor.Exp, 1, 1<<20)},
			{Name: "step", Unit: Millis, start: trainTransformer(tiny)},
			{Name: "lost", Unit: Micros, start: unary(func(tensor.Tensor) tensor.Tensor { panic(&tensor.DeviceError{Op: "Exp", Err: driver.ErrMemory}) }, 1, 1)},
			{Name: "small", Unit: Micros, start: unary(tensor.Tensor.Exp, 1, 1)},
		},
		Threads: 1, Time: time.Nanosecond,
		OpenGPU: func() (*tensor.Device, error) { opened++; return tensor.NewCPU(nil), nil },
	}
	rows, err := Compare(t.Context(), o, nil, io.Discard)
	if err == nil || !strings.HasPrefix(err.Error(), "tensorken: lost: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Compare returns the error %v, want one line about the work lost", err)
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.Work)
	}
	if want := []string{"large", "step", "step/memory", "step/first", "small"}; !slices.Equal(names, want) {
		t.Fatalf("rows %q, want %q", names, want)
	}
	// Float32 parameters with two slots and gradients, and less than the large work takes.
	parameters := 4e-9 * float64(tiny.layers*12*tiny.width*tiny.width)
	if got := rows[2].Values[Ours]; rows[2].Unit != Memory || got < 4*parameters || got > 4e-3 {
		t.Errorf("the peak is %v %s, want more than %v GB", got, rows[2].Unit, 4*parameters)
	}
	if first := rows[3].Values[Ours]; rows[3].Unit != First || first < 1e-3*rows[1].Values[Ours] {
		t.Errorf("the first step takes %v %s, others %v ms", first, rows[3].Unit, rows[1].Values[Ours])
	}
	if opened != 2+3+2 { // one for large, one for step and lost, one for small; lost fails in the first round
		t.Errorf("%d devices were opened, want 7", opened)
	}
}

// Compilers are slow at their first step, and leave a cache: a row has the first step of the first round.
func TestFirst(t *testing.T) {
	s := SuiteOf("cuda")
	o := PeerOptions{
		Works: []Work{{Name: "mlp/64", Unit: Millis, Bar: Bar{Times: 2, Peers: compilers}, start: mlp(1)}}, Threads: 1, Time: time.Nanosecond,
		OpenGPU: func() (*tensor.Device, error) { return tensor.NewCPU(nil), nil },
	}
	var peers []Peer
	for i, p := range s.Peers {
		peers = append(peers, Peer{p.Name, p.Install, func(context.Context, PeerOptions) ([]program, error) {
			return []program{{path: os.Args[0], env: []string{fake + "=compiler", fmt.Sprint(slowness, "=", i+1), cached + "=" + filepath.Join(t.TempDir(), "cache")}}}, nil
		}})
	}
	found, _, err := FindPeers(t.Context(), Suite{s.Works, peers}, o)
	if err != nil || len(found) != 4 {
		t.Fatalf("FindPeers = %v, %v, want four peers", found, err)
	}
	rows, err := Compare(t.Context(), o, found, io.Discard)
	if err != nil || len(rows) != 3 || rows[2].Work != "mlp/64/first" {
		t.Fatalf("Compare = %+v, %v, want rows for the step, its memory and its first step", rows, err)
	}
	if step := rows[0]; step.Ratio != step.Ratios["torch-compile"] || step.Ratio <= 0 || len(step.Ratios) != 4 {
		t.Errorf("the step's row is %+v, want the ratio to the fastest of the compilers", step)
	}
	for i, p := range found {
		if got := rows[2].Values[p.Name]; got != float64(100*(i+1)) {
			t.Errorf("%s's first step took %v s, want that of the first round, %d", p.Name, got, 100*(i+1))
		}
	}
}

// playCompiler is a peer whose first step is slow until it has filled a cache.
func playCompiler(args []string) int {
	out := json.NewEncoder(os.Stdout)
	if slices.Contains(args, "--about") {
		out.Encode(map[string]any{"about": "Fake 1.0", "works": []string{"mlp/64"}})
		return 0
	}
	w := Work{Name: "mlp/64", Unit: Millis, start: mlp(1)}
	t, err := MeasureWork(context.Background(), w, tensor.CPU(), time.Nanosecond)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	slow, _ := strconv.ParseFloat(os.Getenv(slowness), 64)
	t.Seconds, t.First = slow, 1
	if _, err := os.Stat(os.Getenv(cached)); err != nil {
		t.First = 100 * slow
		if err := os.WriteFile(os.Getenv(cached), nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	out.Encode(t)
	return 0
}

func TestPython(t *testing.T) {
	end := "" // of a program's name
	if runtime.GOOS == "windows" {
		end = ".exe"
	}
	var path []string
	for _, name := range []string{"python3", "other", "python3", "python"} {
		dir := t.TempDir()
		path = append(path, dir)
		if err := os.WriteFile(filepath.Join(dir, name+end), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path = append(path, path[0]) // twice
	t.Setenv("PATH", strings.Join(path, string(filepath.ListSeparator)))
	programs, err := python("p.py")(t.Context(), PeerOptions{Dir: "d"})
	var got []string
	for _, p := range programs {
		got = append(got, p.path)
	}
	want := []string{filepath.Join(path[0], "python3"+end), filepath.Join(path[2], "python3"+end), filepath.Join(path[3], "python"+end)}
	if !slices.Equal(got, want) || err != nil {
		t.Errorf("interpreters %q (%v), want %q", got, err, want)
	}
	if programs, _ := python("p.py")(t.Context(), PeerOptions{Python: "mine"}); len(programs) != 1 || programs[0].path != "mine" {
		t.Errorf("with a named interpreter: %v", programs)
	}
	for device, want := range map[string]string{"cuda:1": "cuda:1", "webgpu:1": "cuda"} {
		programs, _ := python("p.py")(t.Context(), PeerOptions{Python: "mine", Device: device})
		if got := programs[0].args; !slices.Equal(got[2:], []string{"--device", want}) {
			t.Errorf("on %s: arguments %q, want --device %s", device, got, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := python("p.py")(t.Context(), PeerOptions{}); err == nil {
		t.Error("without an interpreter: no error")
	}
}

func TestGoProgram(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	built, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(built))) // or the standard library is compiled again
	cache, dir := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("LocalAppData", cache)
	for name, text := range map[string]string{
		"go.mod":      "module example.com/peers\n\ngo 1.26\n",
		"one/main.go": "package main\n\nfunc main() { print(\"hello\") }\n",
		"bad/main.go": "package main\n\nfunc main() { nonsense() }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := PeerOptions{Dir: dir}
	programs, err := goProgram("one", "", "")(t.Context(), o)
	if err != nil || len(programs) != 1 {
		t.Fatalf("goProgram = %v, %v", programs, err)
	}
	if _, err := programs[0].run(t.Context()); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ dir, experiment, want string }{
		{"bad", "", "undefined: nonsense"},
		{"none", "", "none"},
		{"one", "strange", "strange"},
		{"one", "simd", "GOEXPERIMENT=simd changes nothing: one does not import simd/archsimd"},
	} {
		if _, err := goProgram(c.dir, c.experiment, "simd/archsimd")(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("goProgram(%s, %s): %v, want …%s…", c.dir, c.experiment, err, c.want)
		}
	}
}

// A comparison that is told to stop has the rows of the works measured so far.
func TestInterrupted(t *testing.T) {
	found, _, err := FindPeers(t.Context(), Suite{Works, []Peer{fakePeer("numpy", "good")}}, quick())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := Compare(ctx, quick(), found, cancelAt{"round 2", cancel})
	if err == nil || err.Error() != "interrupted" || len(rows) != 2 {
		t.Fatalf("got %v, error %v; want two rows and that it was interrupted", rows, err)
	}
	if r := rows[0]; r.Work != "matmul/64" || r.Values[Ours] <= 0 || r.Values["numpy"] <= 0 {
		t.Errorf("row %+v, want the values of the first round", r)
	}
}

// A cancelAt cancels when a text is written.
type cancelAt struct {
	text   string
	cancel func()
}

func (c cancelAt) Write(b []byte) (int, error) {
	if strings.Contains(string(b), c.text) {
		c.cancel()
	}
	return len(b), nil
}
