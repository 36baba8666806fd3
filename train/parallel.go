package train

import (
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"maps"
	"slices"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// isParallel reports whether other ranks train too.
func (l *Loop[M, B]) isParallel() bool { return l.Parallel != nil && l.Parallel.Size() > 1 }

// isQuiet reports whether another rank logs, draws and saves.
func (l *Loop[M, B]) isQuiet() bool { return l.isParallel() && l.Parallel.Rank() > 0 }

// distribute gives the rank its part of the data, and randomness of its own. End restores the RNG, so that
// a checkpoint has the seed of all. It fails on some rank unless all start with one model at one position.
func (l *Loop[M, B]) distribute() (end func(), err error) {
	end = func() {}
	if l.Parallel == nil {
		return end, nil
	}
	l.Optimizer.Parallel = l.Parallel
	l.Data.Rank, l.Data.Ranks = l.Parallel.Rank(), l.Parallel.Size()
	if !l.isParallel() {
		return end, nil
	}
	sum, err := checksum(l.Model)
	if err != nil {
		return end, err
	}
	settings := crc64.Checksum(fmt.Append(nil, l.Data.Batch, l.Data.Shuffle, l.Data.DropLast, l.Data.Seed, l.Steps, l.Epochs, l.Every, max(l.Accumulate, 1),
		l.Patience, l.Monitor, l.CheckpointEvery, l.Optimizer.LR, l.Optimizer.ClipNorm, l.Optimizer.Precision, l.Optimizer.ParallelPrecision, l.Optimizer.ZeRO, l.Optimizer.MasterWeights), crc64.MakeTable(crc64.ECMA))
	position := []float64{float64(l.Step), float64(l.Epoch), float64(l.Data.Epoch), float64(l.Data.Next)}
	for _, n := range []uint64{sum, settings} {
		position = append(position, float64(n>>32), float64(n&(1<<32-1)))
	}
	mean, err := l.mean(position)
	switch {
	case err != nil:
		return end, err
	case !slices.Equal(mean[:4], position[:4]):
		return end, fmt.Errorf("train: rank %d starts in step %d of epoch %d, and others elsewhere: does every host see the checkpoint?", l.Parallel.Rank(), l.Step, l.Epoch)
	case !slices.Equal(mean[6:], position[6:]):
		return end, fmt.Errorf("train: the settings of rank %d differ from those of others: give the Loop, its Data and its Optimizer the same numbers on all ranks, such as Seed, Batch and LR", l.Parallel.Rank())
	case !slices.Equal(mean, position):
		return end, fmt.Errorf("train: the model of rank %d differs from that of others: make it from the same seed or file on all ranks", l.Parallel.Rank())
	}
	if l.RNG != nil {
		change := uint64(l.Parallel.Rank()) * 0x9E3779B97F4A7C15 // the golden ratio: seeds of ranks are far apart
		l.RNG.Seed ^= change
		end = func() { l.RNG.Seed ^= change }
	}
	return end, nil
}

// checksum returns a number that differs between models.
func checksum(model any) (sum uint64, err error) {
	table := crc64.MakeTable(crc64.ECMA)
	for _, t := range tree.All(model) {
		b, err := t.Bytes()
		if err != nil {
			return 0, err
		}
		sum = crc64.Update(sum, table, b)
	}
	return sum, nil
}

// mean returns the means of numbers over the ranks.
func (l *Loop[M, B]) mean(numbers []float64) ([]float64, error) {
	return tensor.Data[float64](l.Parallel.Mean(tensor.New(numbers).To(tensor.CPU()))[0])
}

// meanLoss returns the mean of a loss over the ranks, computed.
func (l *Loop[M, B]) meanLoss(loss tensor.Tensor) (tensor.Tensor, error) {
	if !l.isParallel() {
		return loss, nil
	}
	loss = l.Parallel.Mean(loss)[0]
	return loss, tensor.Eval(loss)
}

// meanMetrics returns the means of metrics over the ranks, which measure the same ones.
func (l *Loop[M, B]) meanMetrics(m Metrics) (Metrics, error) {
	if !l.isParallel() || len(m) == 0 {
		return m, nil
	}
	names := slices.Sorted(maps.Keys(m))
	numbers := make([]float64, len(names))
	for i, name := range names {
		numbers[i] = m[name]
	}
	means, err := l.mean(numbers)
	if err != nil {
		return nil, err
	}
	all := Metrics{}
	for i, name := range names {
		all[name] = means[i]
	}
	return all, nil
}

// count returns the number of examples of the batch of all ranks.
func (l *Loop[M, B]) count(batch B) int {
	if l.isParallel() {
		_, all := l.Data.Share()
		return all
	}
	return examples(batch)
}

// isEven reports whether all ranks have as many examples of the last batch. Then their means count equally,
// and their graphs are the same.
func (l *Loop[M, B]) isEven() bool {
	_, all := l.Data.Share()
	return !l.isParallel() || all%l.Parallel.Size() == 0
}

// weigh multiplies the loss of a part of a batch by its share, so that the mean over the ranks is the mean over
// the examples.
func (l *Loop[M, B]) weigh(loss tensor.Tensor) tensor.Tensor {
	if l.isEven() {
		return loss
	}
	mine, all := l.Data.Share()
	return loss.Mul(float64(mine*l.Parallel.Size()) / float64(all))
}

// progressTo returns where progress goes.
func (l *Loop[M, B]) progressTo() io.Writer {
	if l.isQuiet() {
		return io.Discard
	}
	return l.Out
}

// logTo returns the path of the log.
func (l *Loop[M, B]) logTo() string {
	if l.isQuiet() {
		return ""
	}
	return l.Log
}

var errParallel = errors.New("train: Loop with Parallel and FindNaN: look for the operation on one rank")
