// Package interrupt lets programs save their work when they are told to stop.
package interrupt

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Context returns a context that ends at Ctrl-C, SIGTERM and, on Windows, Ctrl-Break, when the
// console's window is closed, and when the user logs off. The next Ctrl-C ends the program. Windows
// ends it some 5 seconds after its window was closed. Of a logoff it tells no program that has loaded
// user32.dll, as drivers of GPUs may.
func Context() context.Context {
	ctx, stop := Part()
	context.AfterFunc(ctx, stop)
	return ctx
}

// Part returns a context that ends as Context does, for a part of a program, such as an answer in
// a chat. stop ends the part.
func Part() (ctx context.Context, stop context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}
