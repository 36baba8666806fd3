package ptx

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// factorTypes are the types of elements that are multiplied.
var factorTypes = map[ir.DType]string{ir.Float32: "tf32", ir.Float16: "f16", ir.BFloat16: "bf16", ir.Int8: "s8", ir.Uint8: "u8"}

func (p *printer) multiply(s *shader.Multiply) {
	p.require(matrices)
	var words []value
	for _, x := range append(s.A[:], s.B[:]...) {
		words = append(words, p.one(x))
	}
	words = p.registers(word, words)
	acc := group(p.vars[s.Acc])
	sum, m := "f32", s.Elem
	if m.Type.IsInt() {
		sum = "s32"
	}
	p.do(fmt.Sprintf("mma.sync.aligned.m%dn%dk%d.row.col.%[4]s.%[5]s.%[5]s.%[4]s", m.Rows, m.Columns, m.Depth(), sum, factorTypes[m.Type]), acc, group(words[:4]), group(words[4:]), acc)
}

func (p *printer) loadMatrices(s *shader.LoadMatrices) {
	p.require(matrices)
	order := ""
	if s.Transposed {
		order = ".trans"
	}
	p.do("ldmatrix.sync.aligned.m8n8.x4"+order+".shared.b16", group(p.vars[s.To]), p.shared(s.Shared, s.From, nil).at(0))
}

// multiplyGroup starts products and waits.
func (p *printer) multiplyGroup(s *shader.MultiplyGroup) {
	p.require(groups)
	if len(s.Products) > 0 {
		operands := make([][]value, len(s.Products)) // all are complete before the fence
		var add [2]value
		for i := range s.Products {
			m := &s.Products[i]
			scale := 1
			if m.Init {
				scale = 0
			}
			if add[scale] == "" {
				add[scale] = p.result(pred, "setp.ne.u32", p.result(word, "mov.u32", value(fmt.Sprint(scale))), "0")
			}
			operands[i] = p.operands(m, add[scale])
		}
		p.do("wgmma.fence.sync.aligned")
		for i := range s.Products {
			m := &s.Products[i]
			p.do(fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%[3]s.%[3]s", 8*len(m.Acc), m.Elem.Depth(), factorTypes[m.Elem.Type]), operands[i]...)
		}
		p.do("wgmma.commit_group.sync.aligned")
	}
	if s.Pending < shader.NoWait {
		p.do("wgmma.wait_group.sync.aligned", value(fmt.Sprint(s.Pending)))
	}
}

// operands are the operands of a product's instruction.
func (p *printer) operands(m *shader.MultiplyShared, add value) []value {
	var acc, left []value
	for _, v := range m.Acc {
		acc = append(acc, p.vars[v]...)
	}
	factors := []*shader.SharedMatrix{&m.A, &m.B}
	list := []value{group(acc)}
	if m.Left != nil {
		for _, x := range m.Left {
			left = append(left, p.one(x))
		}
		list = append(list, group(p.registers(word, left)))
		factors = factors[1:]
	}
	for _, f := range factors {
		list = append(list, p.descriptor(f, m.Elem))
	}
	list = append(list, add, "1", "1")
	if m.Elem != shader.TF32 { // which has no transposed form
		for _, f := range factors {
			list = append(list, transposed(f))
		}
	}
	return list
}

func transposed(m *shader.SharedMatrix) value {
	if m.AlongSide {
		return "1"
	}
	return "0"
}

// descriptor describes a tile in shared memory, as "Matrix descriptor" in the PTX ISA says:
// addresses and distances in units of 16 bytes, and the way in which vectors are exchanged.
func (p *printer) descriptor(m *shader.SharedMatrix, elem shader.Matrix) value {
	const line, block, exchange128 = 128, 64 * 128, 1 << 30
	first, n := split(m.First, math.MaxInt32/16)
	at := 16 * n
	leading := 16 // it does not count
	if m.AlongSide {
		at += m.Depth * line
		leading = block // from 64 of the side to the next
	} else {
		at += 32 / elem.Depth() * m.Depth // eight words are multiplied at once
	}
	const eight = 8 * line // from eight lines to the next
	// Products of a step differ in a constant that is added last, to the lower half. An address has 14 bits.
	address := p.result(word, "shr.u32", p.result(word, "mov.u32", shared), "4")
	address = p.result(word, "add.u32", p.one(first), address)
	address = p.result(word, "add.u32", address, value(fmt.Sprint((sharedOffset(p.pass, m.Shared)+at)/16+leading/16<<16)))
	return p.result(long, "mov.b64", group([]value{address, p.result(word, "mov.b32", value(fmt.Sprint(exchange128|eight/16)))}))
}

// Two groups of threads take their turns at barriers 1 and 2, at which the other one arrives. A
// group that has no turn waits for itself at barrier 3: a branch would keep ptxas from using
// uniform registers.

// takeTurn waits for the other group, or for the threads of the only one.
func (p *printer) takeTurn(s *shader.TakeTurn) {
	if p.pass.Threads > shader.Warpgroup {
		number := p.groupNumber()
		p.turn("bar.sync", p.result(word, "add.u32", number, "1"), s.After, number, "0")
	} else if !s.After {
		p.do("bar.sync", "0")
	}
}

// passTurn arrives where the other group waits.
func (p *printer) passTurn(s *shader.PassTurn) {
	if p.pass.Threads > shader.Warpgroup {
		number := p.groupNumber()
		p.turn("bar.arrive", p.result(word, "sub.u32", "2", number), s.Before, number, "1")
	}
}

// groupNumber is the number of the thread's group.
func (p *printer) groupNumber() value {
	if p.number == "" {
		p.number = p.register(word)
	}
	return p.number
}

// turn writes an instruction of a barrier, which both groups execute or, if only, one of them.
func (p *printer) turn(op string, barrier value, only bool, number, one value) {
	threads := value("256")
	if only {
		has := p.result(pred, "setp.eq.u32", number, one)
		barrier, threads = p.result(word, "selp.b32", barrier, "3", has), p.result(word, "selp.b32", threads, "128", has)
	}
	p.do(op, barrier, threads)
}
