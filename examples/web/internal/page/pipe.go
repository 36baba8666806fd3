package page

// Pipe returns a Port for tests, from and to Go channels. The page is gone at the end of in.
func Pipe(in <-chan Message, out chan<- Message) *Port { return open(pipe{in, out}) }

type pipe struct {
	in  <-chan Message
	out chan<- Message
}

func (p pipe) receive(q *queue) {
	go func() {
		defer q.end()
		for m := range p.in {
			q.put(m)
		}
	}()
}

func (p pipe) send(m Message) { p.out <- m }

func (p pipe) yield() {}
