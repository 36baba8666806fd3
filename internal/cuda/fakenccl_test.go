//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"reflect"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/tensorken/tensorken/ir"
)

// A fakeNCCL is NCCL for the GPUs of a fake. A collective waits in its stream until all ranks have started it.
type fakeNCCL struct {
	*fake
	ranks  sync.Cond // of the fake's lock: something has happened
	groups map[string]*fakeGroup
	comms  map[uintptr]*fakeComm
	open   int               // nested groups
	during map[string]func() // called at the start of a function
}

// A fakeGroup is the ranks of a communicator.
type fakeGroup struct {
	size  int
	calls []map[int]fakeCall // by number, by rank
}

// A fakeCall is the elements of a rank.
type fakeCall struct{ data []byte }

type fakeComm struct {
	group      *fakeGroup
	rank, next int
	aborted    bool
}

var fakeNCCLFunctions ncclFunctions

var fakeNCCLs struct {
	once    sync.Once
	current *fakeNCCL
}

// withNCCL gives the fake NCCL. One fake at a time has it.
func (f *fake) withNCCL() *fakeNCCL {
	n := &fakeNCCL{fake: f, groups: map[string]*fakeGroup{}, comms: map[uintptr]*fakeComm{}}
	n.ranks.L = &f.mu
	fakeNCCLs.once.Do(func() {
		for field, v := range reflect.ValueOf(&fakeNCCLFunctions).Elem().Fields() {
			v.SetUint(uint64(purego.NewCallback(func(a0, a1, a2, a3, a4, a5, a6, a7 uintptr) uintptr {
				return fakeNCCLs.current.call(field.Name, []uintptr{a0, a1, a2, a3, a4, a5, a6, a7})
			})))
		}
	})
	fakeNCCLs.current = n
	f.lib.nccl = func() (*nccl, error) { return &nccl{fakeNCCLFunctions, 22803}, nil }
	return n
}

func (n *fakeNCCL) call(name string, a []uintptr) uintptr {
	if f := n.during[name]; f != nil {
		f()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = append(n.calls, "nccl"+name)
	if code := n.fails["nccl"+name]; code != 0 {
		return uintptr(code)
	}
	switch name {
	case "GetErrorString":
		return uintptr(unsafe.Pointer(failureText))
	case "GetUniqueId":
		binary.LittleEndian.PutUint64(bytesAt(a[0], idBytes), uint64(n.next()))
	case "CommInitRankScalable":
		return n.join(a)
	case "CommGetAsyncError":
		return uintptr(set(a[1], int32(n.fails["async"])))
	case "CommAbort", "CommDestroy":
		c := n.comms[a[0]]
		if c == nil {
			n.fault("%s of no communicator", name)
			return ncclInvalidUsage
		}
		c.aborted = true
		delete(n.comms, a[0])
		n.ranks.Broadcast()
	case "GroupStart":
		n.open++
	case "GroupEnd":
		n.open--
	case "AllReduce", "ReduceScatter":
		return n.collective(name, n.comms[a[5]], a[6], a[0], a[1], int(a[2]), a[3], a[4])
	case "AllGather":
		return n.collective(name, n.comms[a[4]], a[5], a[0], a[1], int(a[2]), a[3], 0)
	case "Broadcast":
		return n.collective(name, n.comms[a[5]], a[6], a[0], a[1], int(a[2]), a[3], a[4])
	}
	return 0
}

// join waits for all ranks.
func (n *fakeNCCL) join(a []uintptr) uintptr {
	if n.current() == nil || a[3] != 1 || a[5] != 0 {
		n.fault("ncclCommInitRankScalable of %v", a)
		return ncclInvalidUsage
	}
	id := string(bytesAt(a[4], idBytes))
	g := n.groups[id]
	if g == nil {
		g = &fakeGroup{}
		n.groups[id] = g
	}
	handle := n.next()
	n.comms[handle] = &fakeComm{group: g, rank: int(a[2])}
	g.size++
	n.ranks.Broadcast()
	for g.size < int(a[1]) {
		n.ranks.Wait()
	}
	return uintptr(set(a[0], handle))
}

// collective pushes a collective to a stream.
func (n *fakeNCCL) collective(name string, c *fakeComm, stream, from, to uintptr, length int, dtype, op uintptr) uintptr {
	s := n.stream(stream)
	if n.isIdle {
		return 0
	}
	if c == nil || s == nil || n.open != 1 && n.open != 2 {
		n.fault("%s of communicator %v in stream %v", name, c, s)
		return ncclInvalidUsage
	}
	var d ir.DType
	for t, number := range ncclTypes {
		if number == dtype && t != ir.Bool {
			d = t
		}
	}
	in, out := length*d.Size(), length*d.Size()
	switch name {
	case "AllGather":
		out *= c.group.size
	case "ReduceScatter":
		in *= c.group.size
	}
	src, dst := n.at(s.gpu, from, uintptr(in)), n.at(s.gpu, to, uintptr(out))
	if src == nil || dst == nil {
		return ncclInvalidUsage
	}
	number := c.next
	c.next++
	return uintptr(n.push(stream, func() {
		g := c.group
		for len(g.calls) <= number {
			g.calls = append(g.calls, map[int]fakeCall{})
		}
		all := g.calls[number]
		all[c.rank] = fakeCall{append([]byte(nil), src...)}
		n.ranks.Broadcast()
		for len(all) < g.size && !c.aborted {
			n.ranks.Wait()
		}
		if c.aborted {
			return
		}
		switch name {
		case "Broadcast":
			copy(dst, all[int(op)].data)
		case "AllGather":
			for i := range g.size {
				copy(dst[i*in:], all[i].data)
			}
		default:
			sum := append([]byte(nil), all[0].data...)
			for i := 1; i < g.size; i++ {
				combine(sum, all[i].data, d, op)
			}
			if name == "ReduceScatter" {
				sum = sum[c.rank*out:]
			}
			copy(dst, sum)
		}
	}))
}

// combine adds elements, or takes the greater.
func combine(acc, x []byte, d ir.DType, op uintptr) {
	for o, number := range ncclOps {
		if number != op {
			continue
		}
		size := d.Size()
		for i := 0; i < len(acc); i += size {
			a, b := ir.Decode(d, acc[i:]), ir.Decode(d, x[i:])
			y := a.Float64(d) + b.Float64(d)
			if o == ir.Max {
				y = max(a.Float64(d), b.Float64(d))
			}
			ir.Float(ir.Float64, y).Convert(ir.Float64, d).Append(acc[i:i], d)
		}
	}
}
