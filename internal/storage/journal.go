package storage

import "sync"

// A Journal learns of the transactions that fail after Step has returned.
type Journal struct{ *failures }

type failures struct {
	mu     sync.Mutex
	faults []*fault // since Failed
}

func (f *failures) add(x *fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, x)
}

// Failed returns the number of transactions newly known to have failed, and the
// first of their errors that nobody has read.
func (j *Journal) Failed() (n int, err error) {
	if j.failures == nil {
		return 0, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range j.faults {
		if first := !f.reported.Swap(true); first && err == nil {
			err = f.err
		}
	}
	n = len(j.faults)
	j.faults = nil
	return n, err
}

// Note makes the journal learn of a transaction's failure.
func (j *Journal) Note(x *Execution) {
	if j.failures == nil {
		j.failures = new(failures)
	}
	x.journal = j.failures
}
