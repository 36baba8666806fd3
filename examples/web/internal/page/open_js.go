package page

import "syscall/js"

// Open connects the program with its page. From now on messages are received.
func Open() *Port { return open(new(worker)) }

// A worker is the page's worker, in which the program runs.
type worker struct {
	channel js.Value // a MessageChannel whose port1 gets what the program posts to port2
	back    chan struct{}
}

func (w *worker) receive(q *queue) {
	js.Global().Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		q.put([]byte(args[0].Get("data").String()))
		return nil
	}))
	w.back = make(chan struct{}, 1)
	w.channel = js.Global().Get("MessageChannel").New()
	w.channel.Get("port1").Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		w.back <- struct{}{}
		return nil
	}))
}

func (w *worker) send(line []byte) { js.Global().Call("postMessage", string(line)) }

// yield lets the event loop run once, so that messages are received. A timer would take at
// least 4 ms.
func (w *worker) yield() {
	w.channel.Get("port2").Call("postMessage", nil)
	<-w.back
}
