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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}
