package ptx_test

import (
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/ptx"
	"github.com/tensorken/tensorken/internal/ptx/ptxtest"
	. "github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// The instructions of copies and of products in shared memory, and their operands.
func TestMultiplyGroup(t *testing.T) {
	in := &Buffer{Name: "a0", Type: ir.BFloat16}
	first := &Shared{Name: "w0", Type: U32.Vec(4), Len: 8}
	tiles := &Shared{Name: "w1", Type: U32.Vec(4), Len: 1024, Align: 1024}
	body := &Block{}
	pass := &Pass{Threads: 128, Grid: [3]int{1, 1, 1}, Body: body, Buffers: []*Buffer{in}, Shared: []*Shared{first, tiles}}
	body.Do(
		&CopyAsync{Shared: tiles, To: ThreadID.Add(3), Buffer: in, Index: ThreadID.Mul(8)},
		&CopyAsync{Shared: tiles, To: ThreadID, Buffer: in, Index: ThreadID.Mul(8), Valid: ThreadID.Lt(7)},
		&CopyCommit{}, &CopyWait{Pending: 1}, &Fence{}, &Barrier{},
	)
	acc := body.Var("acc", Vec(4, Number(F32, 0)))
	body.Do(&MultiplyGroup{Pending: 1, Products: []MultiplyShared{{
		Elem: BF16Pairs, Acc: []*Var{acc},
		A: SharedMatrix{Shared: tiles, First: Number(U32, 64), Depth: 16},
		B: SharedMatrix{Shared: tiles, First: Number(U32, 0), AlongSide: true, Depth: 16},
	}}})
	text := ptx.Print(pass, 90)
	if n := ptx.SharedBytes(pass); n != 1024+16*1024 {
		t.Errorf("%d bytes of shared memory, want %d", n, 17*1024)
	}
	checkInOrder(t, text,
		".version 8.0\n.target sm_90a\n",
		"cp.async.cg.shared.global [%r2+1072], [%d2], 16;", // array 1 begins at 1024, and vector 3 at 48
		"selp.b32 %r11, 16, 0, %p0;", "cp.async.cg.shared.global [%r7+1024], [%d3], 16, %r11;",
		"cp.async.commit_group;", "cp.async.wait_group 1;", "fence.proxy.async.shared::cta;\n\tbar.sync 0;",
		"add.u32 %r19, 64, %r18;", "add.u32 %r20, %r19, 65602;", // array 1 begins at vector 64, and 16 halves take two; 1<<16
		"mov.b32 %r21, 1073741888;", "mov.b64 %d4, {%r20, %r21};", // lines of 128 bytes, 8 lines apart: 1<<30 | 64
		"add.u32 %r25, %r24, 33554624;", // 16 lines on, and 64 lines apart: 512<<16
		"wgmma.fence.sync.aligned;",
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r12, %r13, %r14, %r15},", ", %p1, 1, 1, 0, 1;",
		"wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 1;",
	)
}

// Products of TF32 have no operands that transpose factors, and may begin a sum.
func TestMultiplyGroupTF32(t *testing.T) {
	tiles := &Shared{Name: "w0", Type: U32.Vec(4), Len: 1024, Align: 1024}
	body := &Block{}
	pass := &Pass{Threads: 128, Grid: [3]int{1, 1, 1}, Body: body, Shared: []*Shared{tiles}}
	acc := body.Var("acc", Vec(4, Number(F32, 0)))
	m := MultiplyShared{
		Elem: TF32, Acc: []*Var{acc}, Init: true, Left: []*Expr{ThreadID, ThreadID, ThreadID, Number(U32, 7)},
		B: SharedMatrix{Shared: tiles, First: Number(U32, 0), Depth: 8},
	}
	next := m
	next.Init, next.Left, next.A, next.B.Depth = false, nil, m.B, 16
	body.Do(&MultiplyGroup{Products: []MultiplyShared{m, next}})
	text := ptx.Print(pass, 90)
	checkInOrder(t, text,
		"mov.u32 %r4, 0;\n\tsetp.ne.u32 %p0, %r4, 0;",
		"add.u32 %r12, %r11, 65538;", // eight words on
		"mov.u32 %r14, 1;\n\tsetp.ne.u32 %p1, %r14, 0;",
		"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0, %r1, %r2, %r3}, {%r5, %r6, %r7, %r8}, %d0, %p0, 1, 1;",
		"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0, %r1, %r2, %r3}, %d1, %d2, %p1, 1, 1;",
	)
}

// A vector of words is stored at once, at the address of an element.
func TestStoreWords(t *testing.T) {
	out := &Buffer{Name: "a0", Type: ir.BFloat16, Write: true}
	body := &Block{}
	pass := &Pass{Threads: 32, Grid: [3]int{1, 1, 1}, Body: body, Buffers: []*Buffer{out}}
	body.Do(&StoreWords{Buffer: out, Index: ThreadID.Mul(8).Add(16), Value: Vec(4, ThreadID, ThreadID, ThreadID, Number(U32, 7))})
	text := ptx.Print(pass, 90)
	if err := ptxtest.Check(text); err != nil {
		t.Error(err)
	}
	checkInOrder(t, text, "mov.b32 %r3, 7;", "mad.wide.u32 %d2, %r5, 2, %d1;", "st.global.v4.b32 [%d2+32], {%r0, %r1, %r2, %r3};")
}

// Two groups take turns at two barriers, and one by itself at the workgroup's.
func TestTurns(t *testing.T) {
	turns := &Block{}
	turns.Do(&Fence{}, &PassTurn{Before: true}, &TakeTurn{}, &PassTurn{}, &TakeTurn{After: true})
	pass := &Pass{Threads: 256, Grid: [3]int{1, 1, 1}, Body: turns}
	checkInOrder(t, ptx.Print(pass, 90),
		"shr.u32 %r0, %r0, 7;\n\tshfl.sync.idx.b32 %r0, %r0, 0, 31, 4294967295;", "fence.proxy.async.shared::cta;",
		"sub.u32 %r1, 2, %r0;", "setp.eq.u32 %p0, %r0, 1;", // the second group arrives
		"selp.b32 %r2, %r1, 3, %p0;", "selp.b32 %r3, 256, 128, %p0;", "bar.arrive %r2, %r3;",
		"add.u32 %r4, %r0, 1;", "bar.sync %r4, 256;",
		"sub.u32 %r5, 2, %r0;", "bar.arrive %r5, 256;",
		"add.u32 %r6, %r0, 1;", "setp.eq.u32 %p1, %r0, 0;", // the first group waits
		"selp.b32 %r7, %r6, 3, %p1;", "selp.b32 %r8, 256, 128, %p1;", "bar.sync %r7, %r8;",
	)
	pass.Threads = 128
	text := ptx.Print(pass, 90)
	checkInOrder(t, text, "fence.proxy.async.shared::cta;", "bar.sync 0;")
	if n := strings.Count(text, "bar."); n != 1 {
		t.Errorf("%d barriers of one group, want 1:\n%s", n, text)
	}
}

// checkInOrder checks a module, and that it has some texts in their order.
func checkInOrder(t *testing.T, text string, list ...string) {
	t.Helper()
	if err := ptxtest.Check(text); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
	at := 0
	for _, want := range list {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("there is no %q from here on:\n%s", want, text[at:])
		}
		at += i
	}
}

// A U32 is divided by a power of two by a shift, and its remainder is a mask.
func TestDividePowerOfTwo(t *testing.T) {
	out := &Buffer{Name: "a0", Type: ir.Uint32, Write: true}
	body := &Block{}
	body.Do(&Store{Buffer: out, Index: ThreadID, Values: []*Expr{ThreadID.Add(3).Div(64).Add(ThreadID.Add(5).Rem(8))}})
	text := ptx.Print(&Pass{Threads: 32, Grid: [3]int{1, 1, 1}, Body: body, Buffers: []*Buffer{out}}, 80)
	checkInOrder(t, text, ", 6;", "and.b32", ", 7;")
	if strings.Contains(text, "div.") || strings.Contains(text, "rem.") {
		t.Errorf("a division in\n%s", text)
	}
}
