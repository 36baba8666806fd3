package driver

import (
	"context"

	"github.com/tensorken/tensorken/ir"
)

// A Collective is a device that computes collectives with the devices of other ranks, in general of other
// processes, without the memory of the host. Any goroutine may call its methods at any time, also while
// another one calls a method of the Device.
type Collective interface {
	Device
	// Collectives says which collectives the device has. Ranks whose systems are equal can join. Devices of
	// one place cannot: they are one GPU. The error says what is missing, and the cure. It wraps
	// errors.ErrUnsupported if ranks shall go on through the host's memory.
	Collectives() (system, place string, err error)
	// CommunicatorID returns an id by which the ranks of a new communicator find each other. One of them
	// makes it, and sends it to the others.
	CommunicatorID() ([]byte, error)
	// Join returns this rank's part of a communicator, once all ranks have called it. If ctx ends before,
	// it returns the cause.
	Join(ctx context.Context, id []byte, rank, size int) (Communicator, error)
}

// A Communicator connects the devices of ranks.
type Communicator interface {
	// Run starts collectives, as one: they run after the device's earlier work, and before later work that uses
	// their buffers. Other work may run beside them. It may return before they are done. All ranks start the same ones in the same order. It is called
	// as the methods of the Device.
	Run(calls []CollectiveCall) error
	// Err returns a failure of the connection, as far as it is known. Any goroutine may call it.
	Err() error
	// Abort ends the collectives that run, whose results are undefined then: until Sync of the device has
	// returned cause, so does each Download. Later calls of Run return it too. Any goroutine may call it at
	// any time.
	Abort(cause error)
	// Close waits for the collectives that were started, and closes the connection. Any goroutine may call it
	// once no other one is in Run.
	Close() error
}

// A CollectiveOp says which elements the result has.
type CollectiveOp uint8

// The collectives.
const (
	AllReduce     CollectiveOp = iota // element by element Combine of all ranks
	AllGather                         // the elements of all ranks, by rank
	ReduceScatter                     // this rank's part of AllReduce
	Broadcast                         // the elements of rank Root
)

// String is the name.
func (o CollectiveOp) String() string {
	return [...]string{"AllReduce", "AllGather", "ReduceScatter", "Broadcast"}[o]
}

// A CollectiveCall is a collective on buffers of a device. From and To may be the same for AllReduce and
// Broadcast, else they do not overlap.
type CollectiveCall struct {
	Op      CollectiveOp
	Combine ir.Op // Add, or Max of integers
	DType   ir.DType
	Len     int // elements of a rank: of the result of ReduceScatter, else of From
	Root    int
	From    Arg // buffer and offset
	To      Arg
}

// Lens returns the number of elements that a call reads and writes, of a communicator of size ranks.
func (c CollectiveCall) Lens(size int) (from, to int) {
	switch c.Op {
	case AllGather:
		return c.Len, c.Len * size
	case ReduceScatter:
		return c.Len * size, c.Len
	}
	return c.Len, c.Len
}
