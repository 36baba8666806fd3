package dist

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// Init joins the group of ranks that a launcher started: tensorken launch, torchrun, SLURM, Open MPI or
// MPICH. Without a launcher it returns a group of one rank. It waits for all ranks, up to
// Options.Deadline; each rank's error then says which have not come. Nil options are the defaults.
//
// Rank 0 listens at MASTER_ADDR and MASTER_PORT, under torchrun at the port after it, and under SLURM,
// where neither is set, on the first host of the job. The ranks of a ring connect to each other at ports
// that the systems choose.
func Init(o *Options) (*Group, error) {
	s, err := fromEnvironment(os.Getenv)
	if err != nil {
		return nil, err
	}
	return join(s, o.withDefaults())
}

// join connects a rank with the others.
func join(s setting, o Options) (*Group, error) {
	g := newGroup(s.rank, s.size, s.local)
	g.deadline = o.Deadline
	own := peer{Rank: s.rank, Host: hostName(), PID: os.Getpid()}
	g.peers[s.rank] = own
	if s.size == 1 {
		return g, nil
	}
	r := &rendezvous{setting: s, Options: o, g: g, own: own, deadline: time.Now().Add(o.Deadline)}
	for i := range g.peers {
		g.peers[i].Rank = i
	}
	meet := r.worker
	if s.rank == 0 {
		meet = r.master
	}
	host, _ := r.interfaces()
	peers, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("dist: rank %d on host %s cannot listen: %w", s.rank, own.Host, err)
	}
	defer peers.Close()
	_, port, _ := net.SplitHostPort(peers.Addr().String())
	r.own.Addr = ":" + port // on the host that the other side sees
	g.peers[s.rank] = r.own
	conns, link, err := meet(peers)
	if err != nil {
		for _, c := range conns {
			if c != nil {
				c.Close()
			}
		}
		return nil, err
	}
	hub := newHub(g, o, conns)
	g.control, g.ring = hub, &ring{link: link, rank: s.rank, size: s.size}
	hub.start()
	return g, nil
}

// A rendezvous is the state of a rank until all have come.
type rendezvous struct {
	setting
	Options
	g        *Group
	own      peer
	deadline time.Time
}

// interfaces returns the host on which ranks listen, and the port of rank 0: this machine alone, if rank 0
// is at its address 127.0.0.1, and else all interfaces. A name may have another address elsewhere: some
// launchers call the host of rank 0 localhost on that host.
func (r *rendezvous) interfaces() (host, port string) {
	host, port, _ = net.SplitHostPort(r.setting.master) // of JoinHostPort
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		host = ""
	}
	return host, port
}

func (r *rendezvous) left() time.Duration { return max(time.Until(r.deadline), time.Millisecond) }

// restart gives the next part of the rendezvous the whole time.
func (r *rendezvous) restart() { r.deadline = time.Now().Add(r.Deadline) }

// A comer is a connection that has greeted.
type comer struct {
	net.Conn
	greeting
}

// accept sends the ranks that connect to a listener, until that is closed. Connections that do not
// know the secret are dropped.
func (r *rendezvous) accept(l net.Listener, to chan<- comer) {
	handshakes := make(chan struct{}, 64) // a bound for strangers
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		handshakes <- struct{}{}
		go func() {
			defer func() { <-handshakes }()
			who, err := receive(c, r.secret)
			if err != nil || who.Peer.Rank < 0 || who.Peer.Rank >= maxRanks || len(who.Peer.Host)+len(who.Peer.Addr) > maxPeer/2 {
				c.Close()
				return
			}
			who.Peer.quote()
			select {
			case to <- comer{c, who}:
			case <-time.After(r.left()):
				c.Close()
			}
		}()
	}
}

// master waits for all other ranks and tells each where the next one listens.
func (r *rendezvous) master(peers net.Listener) (conns []net.Conn, ring link, err error) {
	host, port := r.interfaces()
	l, err := r.listen(net.JoinHostPort(host, port))
	if err != nil {
		return nil, nil, fmt.Errorf("dist: rank 0 cannot listen at %s: %w: is another job there? set MASTER_PORT", r.setting.master, err)
	}
	defer l.Close()
	came := make(chan comer)
	go r.accept(l, came)
	conns = make([]net.Conn, r.size)
	fail := func(cause string) ([]net.Conn, link, error) {
		f := r.g.blame(-1, cause)
		for _, c := range conns {
			if c != nil {
				send(c, message{Failure: &f}, beat)
			}
		}
		return conns, nil, &f
	}
	timeout := time.After(r.left())
	for missing := r.size - 1; missing > 0; {
		select {
		case <-timeout:
			return fail(r.missing(conns))
		case c := <-came:
			k := c.Peer.Rank
			switch {
			case c.Size != r.size || k == 0 || k >= r.size || c.Ring:
				conns = append(conns, c.Conn)
				return fail(fmt.Sprintf("process %d on host %s is rank %d of %d, and this group has %d ranks", c.Peer.PID, c.Peer.Host, k, c.Size, r.size))
			case conns[k] != nil:
				conns = append(conns, c.Conn)
				return fail(fmt.Sprintf("two processes are rank %d: %d on host %s and %d on host %s", k, r.g.peers[k].PID, r.g.peers[k].Host, c.Peer.PID, c.Peer.Host))
			}
			_, port, _ := net.SplitHostPort(c.Peer.Addr)
			c.Peer.Addr = net.JoinHostPort(c.RemoteAddr().(*net.TCPAddr).IP.String(), port)
			conns[k], r.g.peers[k] = c.Conn, c.Peer
			missing--
		}
	}
	r.restart()
	for _, c := range conns[1:] { // one that is gone is noticed below
		send(c, message{Peers: r.g.peers}, r.left())
	}
	if ring, err = r.connect(peers); err != nil {
		return fail("rank 0: " + err.Error())
	}
	for k, c := range conns[1:] { // all rings are whole
		m, err := next(c, r.size, r.left())
		switch {
		case err != nil:
			return fail(fmt.Sprintf("rank %d on host %s went away while the ranks connected: %v", k+1, r.g.peers[k+1].Host, err))
		case m.Failure != nil:
			return fail(m.Failure.Cause)
		}
	}
	for _, c := range conns[1:] {
		send(c, message{Ready: true}, beat)
	}
	return conns, ring, nil
}

// listen listens at an address, which a job that ended may still hold.
func (r *rendezvous) listen(addr string) (l net.Listener, err error) {
	for end := time.Now().Add(min(5*time.Second, r.left())); ; time.Sleep(100 * time.Millisecond) {
		if l, err = net.Listen("tcp", addr); err == nil || time.Now().After(end) {
			return l, err
		}
	}
}

// missing says which ranks have not come.
func (r *rendezvous) missing(conns []net.Conn) string {
	const most = 10
	var ranks, hosts []string
	count := 0
	for k := 1; k < r.size; k++ {
		switch {
		case conns[k] != nil:
			if host := r.g.peers[k].Host; !slices.Contains(hosts, host) && len(hosts) < most {
				hosts = append(hosts, host)
			}
		default:
			if count++; count <= most {
				ranks = append(ranks, fmt.Sprint(k))
			}
		}
	}
	if count > most {
		ranks = append(ranks, "…")
	}
	text := fmt.Sprintf("%d of %d ranks did not come within %v: %s", count, r.size, r.Deadline, strings.Join(ranks, ", "))
	if len(hosts) > 0 {
		text += "; some came from " + strings.Join(hosts, ", ")
	}
	return text + fmt.Sprintf("; rank 0 waits on host %s at %s", r.own.Host, r.setting.master)
}

// worker connects to rank 0, and then to the next rank.
func (r *rendezvous) worker(peers net.Listener) (conns []net.Conn, ring link, err error) {
	conns = make([]net.Conn, r.size)
	c, err := r.dial(r.setting.master, false)
	if err != nil {
		return nil, nil, fmt.Errorf("dist: rank 0 did not come within %v to %s, says rank %d on host %s: %w", r.Deadline, r.setting.master, r.rank, r.own.Host, err)
	}
	conns[0] = c
	r.restart()                     // rank 0 may have come later than this one
	tell := func(err error) error { // with the cause that rank 0 gives, if it does
		f := r.g.blame(r.rank, err.Error())
		send(c, message{Failure: &f}, beat)
		return fmt.Errorf("dist: rank %d on host %s: %w", r.rank, r.own.Host, err)
	}
	m, err := r.await(c)
	switch {
	case err != nil:
		return conns, nil, err
	case len(m.Peers) != r.size:
		return conns, nil, tell(fmt.Errorf("rank 0 lists %d ranks of %d", len(m.Peers), r.size))
	}
	r.restart()
	copy(r.g.peers, m.Peers)
	for i := range r.g.peers {
		r.g.peers[i].quote()
	}
	_, port, _ := net.SplitHostPort(m.Peers[0].Addr)
	r.g.peers[0].Addr = net.JoinHostPort(c.RemoteAddr().(*net.TCPAddr).IP.String(), port)
	if ring, err = r.connect(peers); err != nil {
		return conns, nil, tell(err)
	}
	if err := send(c, message{Ready: true}, beat); err != nil {
		return conns, nil, tell(err)
	}
	if _, err := r.await(c); err != nil {
		return conns, nil, err
	}
	return conns, ring, nil
}

// await returns the next message of rank 0, or the failure in it.
func (r *rendezvous) await(c net.Conn) (message, error) {
	m, err := next(c, r.size, r.left()+2*beat)
	if err != nil {
		return m, fmt.Errorf("rank 0 went away while the ranks came: %w", err)
	}
	if m.Failure != nil {
		f := r.g.blame(m.Failure.Rank, m.Failure.Cause)
		f.SeenBy = r.rank
		return m, &f
	}
	return m, nil
}

// dial connects and greets, again and again until the deadline.
func (r *rendezvous) dial(addr string, ring bool) (net.Conn, error) {
	ctx, cancel := context.WithDeadline(context.Background(), r.deadline)
	defer cancel()
	var last error
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err == nil {
			if err = greet(c, r.secret, greeting{r.size, r.own, ring}, time.Now().Add(handshakeTime)); err == nil {
				return c, nil
			}
			c.Close()
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return nil, last
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// connect connects a rank with the next one and the one before, by a listener.
func (r *rendezvous) connect(l net.Listener) (link, error) {
	to, before := (r.rank+1)%r.size, (r.rank+r.size-1)%r.size
	came, done := make(chan comer), make(chan error, 1)
	go r.accept(l, came)
	var next, from net.Conn
	go func() {
		var err error
		if next, err = r.dial(r.g.peers[to].Addr, true); err != nil {
			err = fmt.Errorf("it cannot connect to rank %d on host %s at %s, as each rank must to the next: %w", to, r.g.peers[to].Host, r.g.peers[to].Addr, err)
		}
		done <- err
	}()
	timeout := time.After(r.left() + beat)
	var err error
	for waiting := done; waiting != nil || from == nil; {
		select {
		case err = <-waiting:
			waiting = nil
		case c := <-came:
			if !c.Ring || c.Peer.Rank != before || from != nil {
				c.Close()
				continue
			}
			from = c.Conn
		case <-timeout:
			err = fmt.Errorf("rank %d on host %s did not connect to it", before, r.g.peers[before].Host)
		}
		if err != nil {
			if from != nil {
				from.Close()
			}
			return nil, err
		}
	}
	return newStreamLink(next, from), nil
}
