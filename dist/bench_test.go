package dist

import (
	"fmt"
	"net"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// BenchmarkAllReduce is the ring of two ranks over TCP of one machine.
func BenchmarkAllReduce(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20, 64 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var rings [2]*ring
			var ends [2][2]net.Conn
			for i := range ends {
				ends[i][0], ends[i][1] = pair(b)
			}
			for i := range rings {
				rings[i] = &ring{link: newStreamLink(ends[i][0], ends[1-i][1]), rank: i, size: 2}
				defer rings[i].close()
			}
			b.SetBytes(int64(size))
			done := make(chan error)
			n := 0
			data := [2][]byte{make([]byte, size), make([]byte, size)}
			for b.Loop() {
				n++
				for i, r := range rings {
					go func() { done <- r.allReduce(data[i], combination{ir.Add, ir.Float32}) }()
				}
				for range rings {
					if err := <-done; err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// pair returns both ends of a connection.
func pair(b *testing.B) (x, y net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Skip(err)
	}
	defer l.Close()
	if x, err = net.Dial("tcp", l.Addr().String()); err == nil {
		y, err = l.Accept()
	}
	if err != nil {
		b.Fatal(err)
	}
	return x, y
}
