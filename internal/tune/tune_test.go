//go:build !js

package tune

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

var target = schedule.Target{Family: schedule.Discrete, MaxThreads: 1024, SharedBytes: 48 << 10}

// A machine is a GPU in memory. The programs of a search take their place in seconds.
type machine struct {
	*drivertest.Reference
	kernel   *ir.Kernel
	seconds  []float64
	built    int
	ran      int
	isolated bool
	err      error  // of Build
	failed   error  // of Sync
	during   func() // called in Isolate
}

func newMachine(seconds ...float64) *machine {
	m := &machine{Reference: drivertest.Oracle(), seconds: seconds}
	m.Memory = 1 << 20
	return m
}

func (m *machine) Build(k *ir.Kernel, p *shader.Program) (driver.Program, error) {
	m.kernel = k
	m.built++
	return m.built - 1, m.err
}

func (m *machine) Isolate(f func() error) error {
	m.isolated = true
	defer func() { m.isolated = false }()
	if m.during != nil {
		m.during()
	}
	return f()
}

func (m *machine) Limits() driver.Limits {
	l := m.Reference.Limits()
	l.Memory = m.Memory
	return l
}

func (m *machine) Sync() error { return errors.Join(m.failed, m.Reference.Sync()) }

// RunTimed checks the arguments of calls, and says that they took their programs' times.
func (m *machine) RunTimed(calls []driver.Call) (driver.Timing, error) {
	var spans driver.Timed
	s := schedule.SignatureOf(m.kernel, target)
	for _, c := range calls {
		if err := s.Check(c.Args, func(b driver.Buffer) (int, bool) { return b.Size(), true }); err != nil {
			return nil, err
		}
		if !m.isolated {
			return nil, errors.New("other work runs")
		}
		m.ran++
		seconds := m.seconds[c.Program.(int)%len(m.seconds)]
		spans = append(spans, driver.Span{Duration: time.Duration(seconds * float64(time.Second))})
	}
	return spans, nil
}

// product is a product of matrices of float32.
func product(m, n, k int) *ir.Kernel {
	d := drivertest.Oracle()
	dev := tensor.NewDevice(d)
	defer dev.Close()
	// A product of zeros would be no product.
	x, y := tensor.New(make([]float32, m*k), m, k).To(dev), tensor.New(make([]float32, k*n), k, n).To(dev)
	if err := tensor.Eval(x.MatMul(y)); err != nil {
		panic(err)
	}
	return d.Kernels[len(d.Kernels)-1]
}

// A search takes the fastest tile, which later devices take without a search.
func TestTuner(t *testing.T) {
	cache(t)
	k := product(40, 50, 30)
	list := schedule.Choices(k, target)
	if len(list) < maxTiles || len(list[2]) < 2 {
		t.Fatalf("choices %v", list)
	}
	list = list[:maxTiles]
	tiles, both := len(list), len(list)+len(list[2])
	by := func(tile, split int) *shader.Program {
		p, err := schedule.CompileChoice(k, target, list[tile][split])
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	check := func(what string, tuner *Tuner, m *machine, tile, split, built int) {
		t.Helper()
		p, err := tuner.Compile(k, target, m)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, by(tile, split)) {
			t.Errorf("%s: the program is not that of %v", what, list[tile][split])
		}
		if m.built != built {
			t.Errorf("%s: %d programs are built, want %d", what, m.built, built)
		}
	}
	tuner := func(m Mode) *Tuner {
		t := New(m, "GPU")
		t.Least = 1000
		return t
	}
	times := []float64{5e-3, 6e-3, 2e-3, 3e-3, 7e-3, 7e-3, 2e-3, 1.5e-3, 2e-3} // of tiles, then of splits
	check("nothing kept", tuner(Kept), newMachine(times...), 0, 0, 0)
	check("off", tuner(Off), newMachine(times...), 0, 0, 0)
	check("a small product", New(Search, "GPU"), newMachine(times...), 0, 0, 0)

	short := newMachine(times...)
	short.Memory = 10_000
	check("little memory", tuner(Search), short, 0, 0, 0)
	if _, err := short.Alloc(short.Memory); err != nil {
		t.Errorf("a search with little memory leaves some: %v", err)
	}
	refused := newMachine(times...)
	refused.err = errors.New("refused")
	check("no program", tuner(Search), refused, 0, 0, tiles)
	failing := newMachine(times...)
	failing.failed = errors.New("failed")
	check("work that fails", tuner(Search), failing, 0, 0, tiles)
	check("nothing kept by a search that fails", tuner(Kept), newMachine(times...), 0, 0, 0)

	first, second := tuner(Search), tuner(Search)
	check("a search", first, newMachine(times...), 2, 1, both)
	check("the same device", first, newMachine(1), 2, 1, 0)
	check("another device of the process", second, newMachine(1), 2, 1, 0)
	check("another search", tuner(Search), newMachine(1), 2, 1, 0)
	check("another process", tuner(Kept), newMachine(1), 2, 1, 0)
	check("off again", tuner(Off), newMachine(1), 0, 0, 0)
	other := New(Kept, "another GPU")
	other.Least = 1000
	check("another GPU", other, newMachine(1), 0, 0, 0)

	key := schedule.Key(k, target, list)
	first.kept.names[key] = "1x1x1:1x1/9"
	first.kept.write()
	check("an unknown name", tuner(Kept), newMachine(1), 0, 0, 0)
	check("a search for an unknown name", tuner(Search), newMachine(times...), 2, 1, both)
	check("the name is replaced", tuner(Kept), newMachine(1), 2, 1, 0)

	cache(t)
	late := newMachine(times...)
	late.during = func() { newKeptFile("GPU").put(key, "1x1x1:1x1/9") }
	check("another process keeps an unknown name meanwhile", tuner(Search), late, 2, 1, both)

	cache(t)
	tight := newMachine(times...)
	tight.Memory = 4 * 30_000 // for the arguments, and not for the scratch of a split
	check("no room for scratch", tuner(Search), tight, 2, 0, tiles+1)
}

// Other kernels are compiled as without a tuner, and errors are returned.
func TestTunerElse(t *testing.T) {
	cache(t)
	d := drivertest.Oracle()
	dev := tensor.NewDevice(d)
	defer dev.Close()
	if err := tensor.Eval(tensor.New(make([]float32, 5000)).To(dev).Exp().Sum()); err != nil {
		t.Fatal(err)
	}
	tuner := New(Search, "GPU")
	tuner.Least = 1
	for _, k := range append(d.Kernels, product(3, 2000, 10)) { // the last is no product by tiles
		m := newMachine(1)
		p, err := tuner.Compile(k, target, m)
		want, _ := schedule.Compile(k, target)
		if err != nil || !reflect.DeepEqual(p, want) || m.built > 0 {
			t.Errorf("%v\n%d programs are built, %v, or the program is another", k, m.built, err)
		}
	}
	k := *product(40, 50, 30)
	k.Args[0].DType = ir.Float64
	if _, err := tuner.Compile(&k, target, newMachine(1)); !errors.Is(err, driver.ErrType) {
		t.Errorf("a product of float64: %v, want %v", err, driver.ErrType)
	}
}

// Kernels find all their operands in the arguments of a search; factors are not zero.
func TestArguments(t *testing.T) {
	d := drivertest.Oracle()
	dev := tensor.NewDevice(d)
	defer dev.Close()
	x := func(shape ...int) tensor.Tensor { return tensor.NewRNG(1).Normal(shape...).To(dev) }
	index := tensor.New([]int32{2, 0, 1, 6}).To(dev)
	results := []any{
		x(4, 5).MatMul(x(5, 6)), x(4, 5).Cast(tensor.Float16).MatMul(x(5, 6).Cast(tensor.Float16)), x(3, 4, 5).MatMul(x(3, 6, 5).Transpose(1, 2)).Mul(1.5),
		x(4, 5).Flip(0, 1).MatMul(x(5, 6).Flip(0)), x(2, 3, 8, 8).Conv(x(4, 3, 3, 3), &tensor.ConvOptions{Padding: []int{1}}),
		x(7, 5).Take(0, index).MatMul(x(5, 6)), x(4, 5).MatMul(x(5, 6)).Add(x(9, 6).Take(0, index.Add(2))),
		x(1, 3, 5, 5).ConvTranspose(x(3, 4, 3, 3), &tensor.ConvOptions{Stride: []int{2}}),
		tensor.New([]int8{1, 2, 3, 4, 5, 6}, 2, 3).To(dev).MatMul(tensor.New([]int8{1, 2, 3, 4, 5, 6}, 3, 2).To(dev)), x(4, 5).Cast(tensor.Float64).MatMul(x(5, 6).Cast(tensor.Float64)),
		x(9, 5).Slice(0, 1, 5).MatMul(x(5, 6)).Add(x(6)).ReLU(),
	}
	if err := tensor.Eval(results...); err != nil {
		t.Fatal(err)
	}
	contractions := 0
	for _, k := range d.Kernels {
		if k.Template == ir.Routine {
			continue
		}
		m := newMachine(1)
		args, free, err := arguments(k, m, new(m.Memory))
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Compile(k)
		if err == nil {
			err = m.Run([]driver.Call{{Program: p, Args: args}, {Program: p, Args: args}})
		}
		if err == nil {
			err = m.Sync()
		}
		if err != nil {
			t.Errorf("%v\n%v", k, err)
			continue
		}
		for i, a := range k.Args {
			if a.Kind != ir.Out || k.Template != ir.Contraction {
				continue
			}
			contractions++
			data := make([]byte, a.Len*a.DType.Size())
			if err := m.Download(data, args[i].Buffer, 0); err != nil {
				t.Fatal(err)
			}
			if sum := sumOfSquares(a.DType, data); !(sum > 0 && sum < 1e9) {
				t.Errorf("%v\ngives numbers whose squares add up to %g", k, sum)
			}
		}
		free()
		if rest, err := m.Alloc(m.Memory); err != nil {
			t.Errorf("%v\nleaves memory: %v", k, err)
		} else {
			rest.Free()
		}
	}
	if contractions < len(results) {
		t.Errorf("%d contractions for %d results", contractions, len(results))
	}
}

func sumOfSquares(d ir.DType, data []byte) (sum float64) {
	for ; len(data) > 0; data = data[d.Size():] {
		x := ir.Decode(d, data).Float64(d)
		sum += x * x
	}
	return sum
}

// The environment and a program ask for a mode.
func TestModeOf(t *testing.T) {
	for _, c := range []struct {
		text   string
		search bool
		want   Mode
		err    string
	}{
		{"", false, Kept, ""}, {"", true, Search, ""}, {"1", false, Search, ""}, {"0", false, Off, ""}, {"0", true, Off, ""},
		{"yes", true, Off, `TENSORKEN_TUNE is "yes": want 1, to search for the fastest tiles of large products, or 0, to ignore those that were found`},
	} {
		t.Setenv(Variable, c.text)
		got, err := ModeOf(c.search)
		if text := fmt.Sprint(err); got != c.want || (err != nil) != (c.err != "") || err != nil && text != c.err {
			t.Errorf("ModeOf(%v) with %q is %v, %v, want %v, %v", c.search, c.text, got, err, c.want, c.err)
		}
	}
}

// On a GPU without a clock the host's counts, until the work is done.
func TestDuration(t *testing.T) {
	m := newMachine(1)
	m.Async = true
	args, _, err := arguments(product(40, 50, 30), m, new(m.Memory))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Compile(product(40, 50, 30))
	if err != nil {
		t.Fatal(err)
	}
	seconds, err := duration(struct{ Machine }{m}, driver.Call{Program: p, Args: args}, 3)
	if err != nil || seconds <= 0 || m.Ran != 3 {
		t.Errorf("%d runs take %g s, %v, want 3", m.Ran, seconds, err)
	}
}
