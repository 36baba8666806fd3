package simt_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	. "github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// A sample is a program of one pass of 64 threads in each of 2 workgroups. It
// has buffers of 128 elements, a shared array and the thread's number in the
// grid.
type sample struct {
	pass   *Pass
	in     *Buffer // of int32: 0, 1, 2 …
	out    *Buffer // of int32
	bytes  *Buffer // of uint8
	status *Buffer // of int32
	memory *Shared
	body   *Block
	item   *Expr // I32
	data   [][]byte
}

const threads, groups = 64, 2

func newSample() *sample {
	s := &sample{
		in:     &Buffer{Name: "in", Arg: 0, Type: ir.Int32},
		out:    &Buffer{Name: "out", Arg: 1, Type: ir.Int32, Write: true},
		bytes:  &Buffer{Name: "bytes", Arg: 2, Type: ir.Uint8, Write: true},
		status: &Buffer{Name: "status", Arg: 3, Type: ir.Int32, Write: true},
		memory: &Shared{Name: "w", Type: I32, Len: threads},
		body:   &Block{},
	}
	s.pass = &Pass{
		Threads: threads, Grid: [3]int{groups, 1, 1}, Subgroup: 32, Body: s.body,
		Buffers: []*Buffer{s.in, s.out, s.bytes, s.status}, Shared: []*Shared{s.memory},
	}
	s.item = s.body.Let("item", GroupID.Mul(threads).Add(ThreadID).Convert(I32))
	for _, n := range []int{4, 4, 1, 4} {
		s.data = append(s.data, make([]byte, n*threads*groups))
	}
	for i := range threads * groups {
		binary.LittleEndian.PutUint32(s.data[0][4*i:], uint32(i))
	}
	return s
}

func (s *sample) load(b *Block, name string, index *Expr) *Expr {
	v := &Var{Name: name, Type: I32}
	b.Do(&Load{Dst: []*Var{v}, Declare: true, Buffer: s.in, Index: index})
	return v.Ref()
}

func (s *sample) store(b *Block, to *Buffer, index *Expr, x ...*Expr) {
	b.Do(&Store{Buffer: to, Index: index, Values: x})
}

func (s *sample) run(t *testing.T) error {
	t.Helper()
	p := &Program{Passes: []*Pass{s.pass}}
	if err := simt.Verify(p); err != nil {
		t.Fatal(err)
	}
	args := make([]simt.Arg, len(s.data))
	for i, d := range s.data {
		args[i].Data = d
	}
	return simt.Compile(p).Run(args)
}

// wants checks the elements of out.
func (s *sample) wants(t *testing.T, want func(i int) int) {
	t.Helper()
	for i := range threads * groups {
		if got := int(int32(binary.LittleEndian.Uint32(s.data[1][4*i:]))); got != want(i) {
			t.Fatalf("element %d is %d, want %d", i, got, want(i))
		}
	}
}

// number is an I32.
func number(n int) *Expr { return Number(I32, float64(n)) }

// counting is a loop of n times.
func counting(b *Block, name string, n *Expr, body func(b *Block, i *Expr)) {
	i := &Var{Name: name, Type: n.Type, Mutable: true}
	in := &Block{}
	body(in, i.Ref())
	b.Do(&For{Var: i, Init: Number(n.Type, 0), Cond: i.Ref().Lt(n), Next: i.Ref().Add(1), Body: in})
}

func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(s *sample, b *Block)
		want  func(i int) int
	}{
		{"a load and a store", func(s *sample, b *Block) {
			s.store(b, s.out, s.item, s.load(b, "x", s.item).Mul(3))
		}, func(i int) int { return 3 * i }},
		{"four elements at once", func(s *sample, b *Block) {
			b.If(ThreadID.Lt(threads/4), func(b *Block) {
				at := b.Let("at", GroupID.Mul(threads).Add(ThreadID.Mul(4)).Convert(I32))
				x := make([]*Var, 4)
				for k := range x {
					x[k] = &Var{Name: string(rune('p' + k)), Type: I32}
				}
				b.Do(&Load{Dst: x, Declare: true, Buffer: s.in, Index: at})
				s.store(b, s.out, at, x[3].Ref(), x[2].Ref(), x[1].Ref(), x[0].Ref())
			})
		}, func(i int) int { return i ^ 3 }},
		{"products of bytes", func(s *sample, b *Block) {
			bytes := FromBits(I32, 0xff_80_02_7f) // -1, -128, 2, 127
			s.store(b, s.out, s.item, DotBytes(bytes, FromBits(I32, 0x01_ff_03_7f), s.item))
		}, func(i int) int { return i - 1 + 128 + 6 + 127*127 }},
		{"products of unsigned bytes by signed ones", func(s *sample, b *Block) {
			bytes := FromBits(U32, 0xff_80_02_7f) // 255, 128, 2, 127
			s.store(b, s.out, s.item, DotBytes(bytes, FromBits(U32, 0x01_ff_03_7f), s.item.Bitcast(U32)).Bitcast(I32))
		}, func(i int) int { return i + 255 - 128 + 6 + 127*127 }},
		{"halves", func(s *sample, b *Block) {
			half := FromBits(U32, 0xffff_4200).UnpackHalf(F16).Add(FromBits(U32, 0xffff_40a0).UnpackHalf(BF16)) // 3 + 5
			s.store(b, s.out, s.item, half.Convert(I32))
		}, func(int) int { return 8 }},
		{"a vector of words", func(s *sample, b *Block) {
			b.If(ThreadID.Lt(threads/4), func(b *Block) {
				at := b.Let("at", GroupID.Mul(threads).Add(ThreadID.Mul(4)))
				b.Do(&StoreWords{Buffer: s.out, Index: at, Value: Vec(4, at, at.Add(1), at.Mul(2), at.Add(3))})
			})
		}, func(i int) int {
			if i%4 == 2 {
				return 2 * (i - 2)
			}
			return i
		}},
		{"an exchange through shared memory", func(s *sample, b *Block) {
			b.Put(s.memory, ThreadID, s.item)
			b.Barrier()
			s.store(b, s.out, s.item, s.memory.At(Number(U32, threads-1).Sub(ThreadID)))
		}, func(i int) int { return i/threads*threads + threads - 1 - i%threads }},
		{"a sum by halves", func(s *sample, b *Block) {
			b.Put(s.memory, ThreadID, s.item)
			b.Barrier()
			for d := threads / 2; d > 0; d /= 2 {
				b.If(ThreadID.Lt(d), func(b *Block) {
					b.Put(s.memory, ThreadID, s.memory.At(ThreadID).Add(s.memory.At(ThreadID.Add(d))))
				})
				b.Barrier()
			}
			s.store(b, s.out, s.item, s.memory.At(Number(U32, 0)))
		}, func(i int) int { return i/threads*threads*threads + threads*(threads-1)/2 }},
		{"a shuffle", func(s *sample, b *Block) {
			x := b.Var("x", s.item)
			for mask := 1; mask < 32; mask *= 2 {
				b.Set(x, x.Ref().Add(x.Ref().Shuffle(mask)))
			}
			s.store(b, s.out, s.item, x.Ref())
		}, func(i int) int { return i/32*32*32 + 32*31/2 }},
		{"a shuffle of a variable to itself", func(s *sample, b *Block) {
			x := b.Var("x", s.item)
			b.Set(x, x.Ref().Shuffle(1))
			s.store(b, s.out, s.item, x.Ref())
		}, func(i int) int { return i ^ 1 }},
		{"loops of several lengths", func(s *sample, b *Block) {
			x := b.Var("x", number(0))
			counting(b, "i", s.item, func(b *Block, i *Expr) {
				b.If(i.And(1).Eq(0), func(b *Block) { b.Set(x, x.Ref().Add(i)) })
			})
			s.store(b, s.out, s.item, x.Ref())
		}, func(i int) int { return (i + 1) / 2 * ((i+1)/2 - 1) }},
		{"a variable that was the same for all threads", func(s *sample, b *Block) {
			x := b.Var("x", number(7))
			b.Set(x, x.Ref().Add(1))
			b.If(s.item.Lt(10), func(b *Block) { b.Set(x, number(9)) })
			s.store(b, s.out, s.item, x.Ref())
		}, func(i int) int {
			if i < 10 {
				return 9
			}
			return 8
		}},
		{"a counter at which threads leave a loop", func(s *sample, b *Block) {
			n := b.Var("n", number(0))
			b.Do(&For{Var: n, Cond: n.Ref().Lt(s.item.And(3)), Next: n.Ref().Add(1), Body: &Block{}})
			s.store(b, s.out, s.item, n.Ref())
		}, func(i int) int { return i & 3 }},
		{"a counter that some threads read", func(s *sample, b *Block) {
			x := b.Var("x", number(0))
			counting(b, "i", number(threads*groups), func(b *Block, i *Expr) {
				b.If(s.item.Eq(i), func(b *Block) { b.Set(x, i.Mul(2)) })
			})
			s.store(b, s.out, s.item, x.Ref())
		}, func(i int) int { return 2 * i }},
		{"a branch and a load that are the same for all threads", func(s *sample, b *Block) {
			x := b.Var("x", number(0))
			yes, no := &Block{}, &Block{}
			yes.Set(x, s.load(yes, "y", number(5)))
			no.Set(x, s.item)
			b.Do(&If{Cond: GroupID.Eq(0), Then: yes, Else: no})
			s.store(b, s.out, s.item, x.Ref())
		}, func(i int) int {
			if i < threads {
				return 5
			}
			return i
		}},
		{"a variable that selects itself", func(s *sample, b *Block) {
			x, y := b.Var("x", s.item), b.Var("y", s.item)
			b.Set(x, s.item.Lt(10).If(x.Ref(), number(3)))
			b.Set(y, s.item.Lt(10).If(number(3), y.Ref()))
			s.store(b, s.out, s.item, x.Ref().Add(y.Ref().Mul(10)))
		}, func(i int) int {
			if i < 10 {
				return i + 30
			}
			return 3 + 10*i
		}},
		{"threads that are not next to each other", func(s *sample, b *Block) {
			x := b.Var("x", s.item)
			b.If(s.item.And(3).Eq(1), func(b *Block) { b.Set(x, x.Ref().Mul(2).Sub(s.item.Shr(1))) })
			s.store(b, s.out, s.item, x.Ref())
		}, func(i int) int {
			if i&3 == 1 {
				return 2*i - i/2
			}
			return i
		}},
		{"both branches", func(s *sample, b *Block) {
			x := b.Var("x", number(0))
			yes, no := &Block{}, &Block{}
			yes.Set(x, number(1))
			no.If(s.item.Lt(100), func(b *Block) { b.Set(x, number(2)) })
			b.Do(&If{Cond: s.item.Lt(10), Then: yes, Else: no})
			s.store(b, s.out, s.item, x.Ref())
		}, func(i int) int {
			switch {
			case i < 10:
				return 1
			case i < 100:
				return 2
			}
			return 0
		}},
		{"a function that returns in places", func(s *sample, b *Block) {
			n := &Var{Name: "n", Type: I32}
			f := &Func{Name: "f", Params: []*Var{n}, Result: I32, Body: &Block{}}
			f.Body.If(n.Ref().Lt(5), func(b *Block) { b.Return(number(5)) })
			f.Body.If(n.Ref().Lt(50), func(b *Block) {
				b.If(n.Ref().And(1).Eq(0), func(b *Block) { b.Return(n.Ref()) })
			})
			f.Body.If(n.Ref().Gt(100), func(b *Block) { b.Return(number(100)) })
			f.Body.Return(n.Ref().Neg())
			s.store(b, s.out, s.item, f.Call(f.Call(s.item)))
		}, func(i int) int {
			f := func(n int) int {
				switch {
				case n < 5:
					return 5
				case n < 50 && n&1 == 0:
					return n
				case n > 100:
					return 100
				}
				return -n
			}
			return f(f(i))
		}},
		{"a call in an argument", func(s *sample, b *Block) {
			x, y := &Var{Name: "x", Type: I32}, &Var{Name: "y", Type: I32}
			f := &Func{Name: "f", Params: []*Var{x, y}, Result: I32, Body: &Block{}}
			f.Body.Return(x.Ref().Sub(y.Ref()))
			s.store(b, s.out, s.item, f.Call(s.item, f.Call(f.Call(number(1), s.item), number(5))))
		}, func(i int) int { return i - (1 - i - 5) }},
		{"components that change places", func(s *sample, b *Block) {
			v := b.Var("v", Vec(2, s.item, number(7)))
			b.Set(v, Vec(2, v.Ref().At(1), v.Ref().At(0)))
			b.Set(v, v.Ref().Add(Vec(2, v.Ref().At(0)))) // 14, item + 7
			b.SetAt(v, 0, number(3))
			s.store(b, s.out, s.item, v.Ref().At(0).Mul(v.Ref().At(1)))
		}, func(i int) int { return 3 * (i + 7) }},
		{"halves", func(s *sample, b *Block) {
			x := s.item.Convert(F32).Add(2048).Convert(F16).Convert(F32)
			s.store(b, s.out, s.item, x.Sub(2048).Convert(I32))
		}, func(i int) int { return i + i&1*(i&2-1) }},
		{"what is undefined, not as it is on any one GPU", func(s *sample, b *Block) {
			zero := b.Let("zero", s.item.Min(0))
			u := b.Let("u", zero.Convert(U32))
			f := b.Let("f", zero.Convert(F32))
			strange := b.Let("strange", zero.Div(zero).Ne(0).And(zero.Rem(zero).Ne(0)).And(u.Div(u).Ne(0)).And(u.Rem(u).Ne(0)))
			strange = b.Let("shifted", strange.And(s.item.Shl(u.Add(32)).Ne(s.item)).And(zero.Shr(u.Add(32)).Ne(0)))
			strange = b.Let("converted", strange.And(f.Sub(1).Convert(U32).Ne(0)).And(f.Add(1e10).Convert(I32).Ne(math.MaxInt32)))
			s.store(b, s.out, s.item, strange.And(f.Log().Gt(-100)).And(f.Sub(1).Sqrt().Lt(0)).If(number(1), number(0)))
		}, func(i int) int { return 1 }},
		{"atomic operations", func(s *sample, b *Block) {
			b.If(s.item.Gt(20), func(b *Block) {
				b.Do(&Atomic{Op: AtomicMin, Buffer: s.status, Index: number(0), Value: s.item.Neg()})
			})
			b.Let("seen", s.status.LoadAtomic(number(0)))
			s.store(b, s.out, s.item, s.item)
		}, func(i int) int { return i }},
		{"equal bits by two threads", func(s *sample, b *Block) {
			s.store(b, s.out, s.item.Shr(1), s.item.Shr(1))
		}, func(i int) int { return i * (1 - i/threads) }},
	} {
		s := newSample()
		c.build(s, s.body)
		if err := s.run(t); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		t.Run(c.name, func(t *testing.T) { s.wants(t, c.want) })
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(s *sample, b *Block)
		err   string
	}{
		{"a product by some threads", func(s *sample, b *Block) {
			one := Number(U32, 1)
			acc := b.Var("acc", Vec(4, Number(F32, 0)))
			b.If(ThreadID.Lt(32), func(b *Block) {
				b.Do(&Multiply{Elem: TF32, Acc: acc, A: [4]*Expr{one, one, one, one}, B: [2]*Expr{one, one}})
			})
		}, "thread 32 does not take part with thread 0 and all others"},
		{"a missing barrier", func(s *sample, b *Block) {
			b.Put(s.memory, ThreadID, s.item)
			b.Let("x", s.memory.At(ThreadID.Xor(1)))
		}, `pass 0, workgroup 0, "x := w[(thread ^ 1)]": thread 0 reads w[1], which thread 1 wrote in "w[thread] = item" with no barrier between`},
		{"a missing barrier after a read", func(s *sample, b *Block) {
			b.Put(s.memory, ThreadID, s.item)
			b.Barrier()
			x := b.Let("x", s.memory.At(ThreadID.Xor(1)))
			b.Put(s.memory, ThreadID, x)
		}, `"w[thread] = x": thread 0 writes w[0], which thread 1 read in "x := w[(thread ^ 1)]" with no barrier between`},
		{"two readers and a writer", func(s *sample, b *Block) {
			b.Put(s.memory, ThreadID, s.item)
			b.Barrier()
			b.Let("x", s.memory.At(ThreadID.And(62)))
			b.Put(s.memory, ThreadID, s.item)
		}, `thread 0 writes w[0], which other threads read in "x := w[(thread & 62)]" with no barrier`},
		{"a missing barrier, met in the argument of a call", func(s *sample, b *Block) {
			x := &Var{Name: "x", Type: I32}
			f := &Func{Name: "f", Params: []*Var{x}, Result: I32, Body: &Block{}}
			f.Body.Return(x.Ref().Neg())
			b.Put(s.memory, ThreadID, f.Call(s.item))
			b.Let("y", f.Call(s.item).Add(f.Call(s.memory.At(ThreadID.Xor(1)))))
		}, `"y := (f(item) + f(w[(thread ^ 1)]))": thread 0 reads w[1], which thread 1 wrote in "w[thread] = f(item)"`},
		{"two writers", func(s *sample, b *Block) {
			b.Put(s.memory, ThreadID.Shr(1), s.item)
		}, `thread 1 writes w[0], which thread 0 wrote in "w[(thread >> 1)] = item" with no barrier between`},
		{"a read of nothing", func(s *sample, b *Block) { b.Let("x", s.memory.At(ThreadID)) }, "thread 0 reads w[0], which no thread has written"},
		{"a read of what the last workgroup wrote", func(s *sample, b *Block) {
			b.If(GroupID.Eq(0), func(b *Block) { b.Put(s.memory, ThreadID, s.item) })
			b.Barrier()
			b.Let("x", s.memory.At(ThreadID))
		}, "thread 0 reads w[0], which no thread has written"},
		{"a barrier for some", func(s *sample, b *Block) {
			b.If(ThreadID.Ne(3), func(b *Block) { b.Barrier() })
		}, `workgroup 0, "barrier": thread 3 does not take part with thread 0 and all others`},
		{"a barrier in each branch", func(s *sample, b *Block) {
			yes, no := &Block{}, &Block{}
			yes.Barrier()
			no.Barrier()
			b.Do(&If{Cond: ThreadID.Lt(32), Then: yes, Else: no})
		}, `thread 32 does not take part`},
		{"a barrier in a loop of several lengths", func(s *sample, b *Block) {
			counting(b, "i", ThreadID.Max(5), func(b *Block, i *Expr) { b.Barrier() })
		}, `thread 0 does not take part with thread 6 and all others`},
		{"a shuffle for some", func(s *sample, b *Block) {
			b.If(ThreadID.Lt(32), func(b *Block) { b.Let("x", s.item.Shuffle(1)) })
		}, `"x := Shuffle(item, 1)": thread 32 does not take part with thread 0 and all others`},
		{"a load out of range", func(s *sample, b *Block) { s.load(b, "x", s.item.Add(1)) },
			`workgroup 1, "x = in[(item + 1)]": thread 63 accesses in[128] of 128`},
		{"a negative index", func(s *sample, b *Block) { s.load(b, "x", s.item.Sub(1)) }, "thread 0 accesses in[-1] of 128"},
		{"a shared index out of range", func(s *sample, b *Block) { b.Put(s.memory, ThreadID.Add(1), s.item) }, "thread 63 accesses w[64] of 64"},
		{"four elements, not aligned", func(s *sample, b *Block) {
			b.If(s.item.Eq(6), func(b *Block) { s.store(b, s.out, s.item, s.item, s.item, s.item, s.item) })
		}, "thread 6 accesses 4 elements from out[6] on, not aligned"},
		{"four elements past the end", func(s *sample, b *Block) {
			s.data[1] = s.data[1][:4*126]
			b.If(s.item.Eq(124), func(b *Block) { s.store(b, s.out, s.item, s.item, s.item, s.item, s.item) })
		}, "thread 60 accesses out[124] of 126"},
		{"two writers of a buffer", func(s *sample, b *Block) { s.store(b, s.out, s.item.Shr(1), s.item) },
			`"out[(item >> 1)] = item": thread 1 writes out[0], which thread 0 of workgroup 0 wrote otherwise`},
		{"a writer after several of equal bits", func(s *sample, b *Block) {
			s.store(b, s.out, number(0), number(1))
			b.If(s.item.Eq(0), func(b *Block) { s.store(b, s.out, number(0), number(2)) })
		}, `thread 0 writes out[0], which several threads wrote otherwise`},
		{"a reader of what another workgroup writes", func(s *sample, b *Block) {
			s.data[0] = s.data[1]
			s.load(b, "x", s.item.Xor(threads))
			s.store(b, s.out, s.item, s.item)
		}, "thread 0 reads in[0], which thread 0 of workgroup 0 wrote"},
		{"a writer of what another reads", func(s *sample, b *Block) {
			s.data[0] = s.data[1]
			s.load(b, "x", s.item.Xor(1))
			s.store(b, s.out, s.item, s.item)
		}, "thread 0 writes out[0], which thread 1 of workgroup 0 read"},
		{"atomic and other operations", func(s *sample, b *Block) {
			b.Do(&Atomic{Op: AtomicMin, Buffer: s.status, Index: number(0), Value: s.item})
			b.If(s.item.Eq(0), func(b *Block) { s.store(b, s.status, number(0), number(1)) })
		}, "thread 0 writes status[0], which atomic operations change"},
		{"a byte too large", func(s *sample, b *Block) {
			s.store(b, s.bytes, s.item, s.item.Add(200).Convert(U32))
		}, "thread 56 writes 256 to bytes[56], of type uint8"},
		{"a loop without an end", func(s *sample, b *Block) {
			b.If(s.item.Eq(5), func(b *Block) { b.Do(&For{Cond: s.item.Ge(0), Body: &Block{}}) })
		}, `"for (item >= 0)": thread 5 does not end`},
	} {
		s := newSample()
		c.build(s, s.body)
		if err := s.run(t); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.err)
		}
	}
}
