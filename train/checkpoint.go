package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// metaKey is the key of a checkpoint's state in the metadata of its file.
const metaKey = "train"

// A state is the JSON part of a checkpoint: all but tensors.
type state struct {
	Step, Epoch int
	Loader      loaderState
	RNG         *rngState // nil if the Loop has none
	Total       number    // of the losses since the last report
	Examples    int       // of these
	History     []map[string]number
	Logged      int64 // bytes of the log
}

type rngState struct{ Seed, Count uint64 }

// A loaderState is a position and the fields that give it a meaning.
type loaderState struct {
	Epoch, Next       int
	Batch             int
	Seed              uint64
	Shuffle, DropLast bool
}

// start prepares Run: the first one reads the checkpoint.
func (l *Loop[M, B]) start() error {
	if l.started {
		return nil
	}
	if l.Checkpoint != "" {
		_, err := os.Stat(l.Checkpoint)
		switch {
		case errors.Is(err, fs.ErrNotExist): // a new run
		case err != nil:
			return fmt.Errorf("train: checkpoint: %w", err)
		case !l.Resume:
			return fmt.Errorf("train: checkpoint %s exists: set Resume to go on from it, or remove it", l.Checkpoint)
		default:
			if err := l.restore(); err != nil {
				return fmt.Errorf("train: checkpoint %s: %w", l.Checkpoint, err)
			}
		}
	}
	l.started = true
	return nil
}

// sections are the trees in a checkpoint, by the first element of their names in the file.
// Each is a pointer.
func (l *Loop[M, B]) sections(model, best *M, opt *optim.State) map[string]any {
	sections := map[string]any{"model": model, "optimizer": opt}
	if len(l.History) > 0 {
		sections["best"] = best
	}
	if l.Extra != nil {
		sections["extra"] = l.Extra
	}
	return sections
}

// save writes the checkpoint, with the data and the RNG at a position, and the optimizer's full state.
func (l *Loop[M, B]) save(at position, logged int64, opt optim.State) error {
	s := state{
		Step: l.Step, Epoch: l.Epoch, Total: number(l.sum.total), Examples: l.sum.examples, Logged: logged,
		Loader: loaderState{at.epoch, at.next, l.Data.Batch, l.Data.Seed, l.Data.Shuffle, l.Data.DropLast},
	}
	if l.RNG != nil {
		s.RNG = &rngState{l.RNG.Seed, at.count}
	}
	for _, m := range l.History {
		s.History = append(s.History, m.numbers())
	}
	meta, err := json.Marshal(s)
	if err != nil {
		return err
	}
	tensors := map[string]tensor.Tensor{}
	// One tree of all would name a pointer that Model and Best share only once.
	for section, v := range l.sections(&l.Model, &l.Best, &opt) {
		for name, t := range tree.All(v) {
			tensors[joined(section, name)] = t
		}
	}
	return safetensors.SaveMeta(l.Checkpoint, tensors, map[string]string{metaKey: string(meta)})
}

// joined is the name in the file of a tensor in a section.
func joined(section, name string) string {
	if name == "" { // the tree is a tensor
		return section
	}
	return section + "." + name
}

// restore reads the checkpoint. It changes nothing if it fails.
func (l *Loop[M, B]) restore() error {
	f, err := safetensors.Open(l.Checkpoint)
	if err != nil {
		return err
	}
	defer f.Close()
	var s state
	if err := files.JSON([]byte(f.Meta[metaKey]), &s); err != nil {
		return errors.New("it was not written by a train.Loop")
	}
	if err := l.fits(s); err != nil {
		return err
	}
	before := l.History
	l.History = nil
	for _, m := range s.History {
		l.History = append(l.History, metrics(m))
	}
	same := func(_ string, t tensor.Tensor) tensor.Tensor { return t }
	model, best := tree.Map(l.Model, same), tree.Map(l.Model, same)
	var opt optim.State
	set, err := l.read(f, l.sections(&model, &best, &opt))
	if err != nil {
		l.History = before
		return err
	}
	set()
	l.Model, l.Optimizer.State, l.saved = model, opt, true
	if len(l.History) > 0 {
		l.Best = best
	}
	l.Step, l.Epoch, l.logged = s.Step, s.Epoch, s.Logged
	l.sum = meter{total: float64(s.Total), examples: s.Examples}
	l.Data.Epoch, l.Data.Next = s.Loader.Epoch, s.Loader.Next
	if s.RNG != nil {
		l.RNG.Seed, l.RNG.Count = s.RNG.Seed, s.RNG.Count
	}
	return nil
}

// fits returns an error if a state cannot come from a Loop like l.
func (l *Loop[M, B]) fits(s state) error {
	if min(s.Step, s.Epoch, s.Loader.Epoch, s.Loader.Next, s.Examples) < 0 || s.Logged < 0 {
		return fmt.Errorf("it was not written by a train.Loop: step %d, epoch %d and %d, batch %d, %d examples, %d bytes of the log",
			s.Step, s.Epoch, s.Loader.Epoch, s.Loader.Next, s.Examples, s.Logged)
	}
	if (s.RNG == nil) != (l.RNG == nil) {
		return fmt.Errorf("it is of a Loop with RNG: %v, this one: %v", s.RNG != nil, l.RNG != nil)
	}
	is := loaderState{s.Loader.Epoch, s.Loader.Next, l.Data.Batch, l.Data.Seed, l.Data.Shuffle, l.Data.DropLast}
	if s.Loader.Next > 0 && s.Loader != is {
		return fmt.Errorf("it was written within an epoch of a loader with Batch %d, Seed %d, Shuffle %v, DropLast %v: want the same",
			s.Loader.Batch, s.Loader.Seed, s.Loader.Shuffle, s.Loader.DropLast)
	}
	return nil
}

// read reads the tensors of a file for trees, which set changes.
func (l *Loop[M, B]) read(f *safetensors.File, sections map[string]any) (set func(), err error) {
	unused := map[string]bool{}
	for _, name := range f.Names() {
		unused[name] = true
	}
	var sets []func()
	var wrong []string
	for section, v := range sections {
		var names []string
		for name := range unused {
			if rest, ok := strings.CutPrefix(name, section+"."); ok {
				names = append(names, rest)
			} else if name == section {
				names = append(names, "")
			}
		}
		set, err := pytree.Fill(v, names, func(name string, found, _ bool, x tensor.Tensor) (tensor.Tensor, error) {
			name = joined(section, name)
			if !found {
				if x.IsValid() {
					wrong = append(wrong, fmt.Sprintf("it has no %q", name))
				}
				return x, nil
			}
			delete(unused, name)
			t, err := f.Tensor(name)
			if err != nil || !x.IsValid() {
				return t, err
			}
			if t.DType() != x.DType() || !slices.Equal(t.Shape(), x.Shape()) {
				wrong = append(wrong, fmt.Sprintf("%q is %v %v, the Loop's is %v %v", name, t.DType(), t.Shape(), x.DType(), x.Shape()))
			}
			if d := x.Device(); d != nil {
				t = t.To(d)
			}
			return t, nil
		})
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	for name := range unused {
		wrong = append(wrong, fmt.Sprintf("the Loop has no %q", name))
	}
	if wrong != nil {
		slices.Sort(wrong)
		return nil, errors.New(strings.Join(wrong[:min(3, len(wrong))], "; "))
	}
	return func() {
		for _, set := range sets {
			set()
		}
	}, nil
}
