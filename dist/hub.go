package dist

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// beat is the time between signs of life.
const beat = time.Second

// A hub is the control of a group of processes: rank 0 has a connection to each other rank, which has one
// to rank 0. Signs of life go both ways; rank 0 passes failures on to all.
type hub struct {
	g       *Group
	options Options
	conns   []net.Conn // by rank; nil without one
	locks   []sync.Mutex
	once    sync.Once
	closed  chan struct{}

	listening sync.WaitGroup

	mu        sync.Mutex
	counts    []int64 // of collectives, at rank 0
	left      []bool
	agreement *agreement // at rank 0
}

func newHub(g *Group, o Options, conns []net.Conn) *hub {
	return &hub{g: g, options: o, conns: conns, locks: make([]sync.Mutex, len(conns)), closed: make(chan struct{}), counts: make([]int64, g.size), left: make([]bool, g.size), agreement: newAgreement(g.size)}
}

// start begins to send and to await signs of life.
func (h *hub) start() {
	for rank, c := range h.conns {
		if c != nil {
			h.listening.Go(func() { h.listen(rank, c) })
		}
	}
	go h.beats()
	go h.g.watch(h.options.OnFailure)
}

func (h *hub) send(rank int, m message) {
	if h.conns[rank] == nil {
		return
	}
	h.locks[rank].Lock()
	defer h.locks[rank].Unlock()
	send(h.conns[rank], m, beat)
}

// all sends a message to all ranks but some.
func (h *hub) all(m message, but ...int) {
	var sends sync.WaitGroup
	for rank := range h.conns {
		if len(but) == 0 || rank != but[0] {
			sends.Go(func() { h.send(rank, m) })
		}
	}
	sends.Wait()
}

func (h *hub) beats() {
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	stall := &stall{limit: h.options.Stall, since: time.Now()}
	for {
		select {
		case <-h.closed:
			return
		case <-ticks.C:
		}
		h.g.checkDevice()
		count := h.g.begun()
		h.all(message{Count: count})
		if h.g.rank == 0 {
			h.choose()
			h.mu.Lock()
			h.counts[0] = count
			rank, waited := stall.check(h.counts, time.Now())
			h.mu.Unlock()
			if rank >= 0 {
				f := h.g.blame(rank, fmt.Sprintf("it lives, but has not come to collective %d, in which others have waited for %v", h.counts[rank]+1, waited.Round(time.Second)))
				h.g.failBy(f)
			}
		}
	}
}

// offer implements control: it tells rank 0.
func (h *hub) offer(o offer, id func() ([]byte, error)) {
	if len(o.Why) > maxCause {
		o.Why = o.Why[:maxCause]
	}
	if h.g.rank > 0 {
		h.send(0, message{Offer: &o})
		return
	}
	h.mu.Lock()
	h.agreement.offers[0], h.agreement.id = &o, id
	h.mu.Unlock()
	h.choose()
}

// choose tells all ranks the choice, once it is clear.
func (h *hub) choose() {
	h.mu.Lock()
	c, rank, cause := h.agreement.decide(append([]int64{h.g.collectives.Load()}, h.counts[1:]...))
	id := h.agreement.id
	h.mu.Unlock()
	if cause != "" {
		h.g.failBy(h.g.blame(rank, cause))
	}
	if c != nil {
		c.identify(id)
		h.all(message{Choice: c})
		h.g.onChoice(*c)
	}
}

// A stall notes how long the ranks' counts of collectives have differed.
type stall struct {
	limit  time.Duration
	lowest int64
	since  time.Time
}

// check returns the rank for which others have waited too long, or -1.
func (s *stall) check(counts []int64, now time.Time) (rank int, waited time.Duration) {
	low, high := 0, 0
	for i, c := range counts {
		if c < counts[low] {
			low = i
		}
		if c > counts[high] {
			high = i
		}
	}
	if counts[low] == counts[high] || counts[low] != s.lowest {
		s.lowest, s.since = counts[low], now
	}
	if waited = now.Sub(s.since); waited > s.limit {
		return low, waited
	}
	return -1, waited
}

// listen handles the messages of a rank.
func (h *hub) listen(rank int, c net.Conn) {
	for {
		m, err := next(c, h.g.size, h.options.Silence)
		if err != nil {
			h.mu.Lock()
			left := h.left[rank]
			h.mu.Unlock()
			select {
			case <-h.closed:
				return
			default:
			}
			if !left {
				f := h.g.blame(rank, h.cause(err))
				h.g.failBy(f)
			}
			return
		}
		switch {
		case m.Failure != nil:
			f := *m.Failure
			if f.Rank < -1 || f.Rank >= h.g.size {
				f.Rank = -1
			}
			if h.g.rank == 0 {
				h.g.find(f)
				h.all(message{Failure: &f}, rank)
			}
			h.g.onFailure(f)
		case m.Left != nil:
			if *m.Left < 0 || *m.Left >= h.g.size || h.g.rank == 0 && *m.Left != rank {
				continue
			}
			h.mu.Lock()
			h.left[*m.Left] = true
			h.mu.Unlock()
			if h.g.rank == 0 {
				h.all(m, rank)
			}
			h.g.onLeave(*m.Left, m.Count)
		case m.Choice != nil && h.g.rank > 0:
			h.g.onChoice(*m.Choice)
		case m.Offer != nil && h.g.rank == 0:
			h.mu.Lock()
			h.agreement.offers[rank] = m.Offer
			h.mu.Unlock()
			h.choose()
		default:
			h.mu.Lock()
			h.counts[rank] = m.Count
			h.mu.Unlock()
		}
	}
}

// cause says why a connection to a rank ended.
func (h *hub) cause(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("no sign of life for %v: it is stopped, or its host or the network is down", h.options.Silence)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "its process ended without Close: it was killed, ran out of memory, or failed"
	}
	return "its connection broke: " + err.Error()
}

// report tells all ranks of a failure.
func (h *hub) report(f Failure) {
	h.all(message{Failure: &f})
}

// leave tells all ranks that this one makes no more collectives.
func (h *hub) leave(count int64) {
	h.all(message{Left: &h.g.rank, Count: count})
}

// linger is how long close waits for the others' ends of connections. Closed at once, a connection would be
// reset by their signs of life, and the last messages could be lost.
const linger = time.Second

func (h *hub) close() {
	h.once.Do(func() {
		close(h.closed)
		for _, c := range h.conns {
			if t, ok := c.(*net.TCPConn); ok {
				t.CloseWrite()
			}
		}
		ended := make(chan struct{})
		go func() {
			h.listening.Wait()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(linger):
		}
		for _, c := range h.conns {
			if c != nil {
				c.Close()
			}
		}
	})
}
