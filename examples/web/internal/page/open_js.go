package page

import "syscall/js"

// Open connects the program with its page. From now on messages are received.
func Open() *Port { return open(new(worker)) }

// A worker is the page's worker, in which the program runs.
type worker struct {
	channel js.Value // a MessageChannel whose port1 gets the program's messages to port2
	back    chan struct{}
}

func (w *worker) receive(q *queue) {
	js.Global().Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		m := args[0].Get("data")
		q.put(Message{m.Get("name").String(), value(m.Get("value"))})
		return nil
	}))
	w.back = make(chan struct{}, 1)
	w.channel = js.Global().Get("MessageChannel").New()
	w.channel.Get("port1").Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		w.back <- struct{}{}
		return nil
	}))
}

var isArray, keys = js.Global().Get("Array").Get("isArray"), js.Global().Get("Object").Get("keys")

// value returns a value of JavaScript as a plain one.
func value(v js.Value) any {
	switch v.Type() {
	case js.TypeBoolean:
		return v.Bool()
	case js.TypeNumber:
		return v.Float()
	case js.TypeString:
		return v.String()
	case js.TypeObject:
		if isArray.Invoke(v).Bool() {
			list := make([]any, v.Length())
			for i := range list {
				list[i] = value(v.Index(i))
			}
			return list
		}
		object, names := map[string]any{}, keys.Invoke(v)
		for i := range names.Length() {
			name := names.Index(i).String()
			object[name] = value(v.Get(name))
		}
		return object
	}
	return nil
}

func (w *worker) send(m Message) {
	js.Global().Call("postMessage", map[string]any{"name": m.Name, "value": m.Value})
}

// yield lets the event loop run once, so that messages are received. A timer would take at
// least 4 ms.
func (w *worker) yield() {
	w.channel.Get("port2").Call("postMessage", nil)
	<-w.back
}
