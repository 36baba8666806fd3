package ptxtest

import (
	"strings"
	"testing"
)

const module = `.version 6.0
.target sm_50
.address_size 64

.extern .shared .align 1024 .b8 shared[];

.visible .entry kernel(
	.param .u64 b0
)
.maxntid 32, 1, 1
{
	.reg .pred %p<1>;
	.reg .b32 %r<2>;
	.reg .b64 %d<2>;
	ld.param.u64 %d0, [b0];
	mov.u32 %r0, %tid.x;
	setp.lt.u32 %p0, %r0, 7;
	@!%p0 bra L1;
	mad.wide.u32 %d1, %r0, 4, %d0;
	ld.global.b32 %r1, [%d1+0];
	add.rn.f32 %r1, %r1, 0f3F800000;
	st.global.b32 [%d1+4], %r1;
L1:
	ret;
}
`

func TestCheck(t *testing.T) {
	if err := Check(module); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"add.rn.f32 %r1, %r1, 0f3F800000", "add.rn.f32 %r1, %r1, 1", "operand 1"},
		{"add.rn.f32 %r1, %r1, 0f3F800000", "add.rn.f32 %r1, %r2, %r1", "%r2 is not declared"},
		{"add.rn.f32 %r1, %r1, 0f3F800000", "add.rn.f32 %p0, %r1, %r1", "operand %p0"},
		{"add.rn.f32 %r1, %r1, 0f3F800000", "add.rn.f32 %r1, %r1", "2 operands, want 3"},
		{"add.rn.f32", "add.f32", "unknown instruction add.f32"},
		{"@!%p0 bra L1", "@!%r0 bra L1", "operand %r0"},
		{"L1:", "L2:", "no label L1"},
		{"[%d1+0]", "[%p0+0]", "operand %p0"},
		{"%r0, 7", "%r0, 0f00000000", "operand 0f00000000"},
		{".version 6.0", ".version 7.0", "version and target [70 50], want [60 50]"},
		{"sm_50", "sm_80", "version and target [60 80], want [60 50]"},
	} {
		text := strings.Replace(module, c.old, c.new, 1)
		if err := Check(text); text == module || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in place of %s: error %v, want %s", c.new, c.old, err, c.want)
		}
	}
}
