package simt

import (
	"strings"

	"github.com/tensorken/tensorken/internal/shader"
)

// name checks that printers can print a name as it is.
func (v *verifier) name(name string) {
	v.must(name != "" && name[0] != '_', "the name %q is left to printers", name)
	v.must(!reserved[name], "the name %s is reserved in WGSL", name)
}

// reserved has WGSL's keywords and reserved words, and the predeclared names that package
// wgsl prints, which a variable would hide.
var reserved = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(`
		alias break case const const_assert continue continuing default diagnostic discard else enable
		false fn for if let loop override requires return struct switch true var while

		NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become
		cast catch class co_await co_return co_yield coherent column_major common compile compile_fragment
		concept const_cast consteval constexpr constinit crate debugger decltype delete demote
		demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough filter
		final finally friend from fxgroup get goto groupshared highp impl implements import inline
		instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut mutable
		namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null
		nullptr of operator package packoffset partial pass patch pixelfragment precise precision premerge
		priv protected pub public readonly ref regardless register reinterpret_cast require resource
		restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine super
		target template this thread_local throw trait try type typedef typeid typename typeof union unless
		unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly yield

		abs array atomic atomicAnd atomicLoad atomicMin atomicOr atomicStore bitcast bool
		countLeadingZeros exp extractBits f32 floor fma i32 log main max min select sqrt
		subgroupShuffleXor u32 unpack2x16float vec2 vec3 vec4 workgroupBarrier`) {
		words[w] = true
	}
	return words
}()

// hides reports whether a variable of a name would hide a buffer, a shared array or a
// function.
func (v *verifier) hides(name string) bool { return v.globals[name] || shader.Functions()[name] != nil }
