package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// Raw lets a console send each key at once, without showing it, Ctrl-C too. restore takes it back.
func Raw(f *os.File) (restore func(), err error) {
	console, old := windows.Handle(f.Fd()), uint32(0)
	if err := windows.GetConsoleMode(console, &old); err != nil {
		return nil, err
	}
	raw := old&^(windows.ENABLE_LINE_INPUT|windows.ENABLE_ECHO_INPUT|windows.ENABLE_PROCESSED_INPUT) | windows.ENABLE_VIRTUAL_TERMINAL_INPUT
	if err := windows.SetConsoleMode(console, raw); err != nil {
		return nil, err
	}
	return func() { windows.SetConsoleMode(console, old) }, nil
}
