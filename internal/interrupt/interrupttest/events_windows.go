package interrupttest

import "golang.org/x/sys/windows"

// Events are the ways in which this system tells a program to stop. Each is a function that does
// so to this process.
var Events = map[string]func() error{
	"Ctrl-C": raise(windows.CTRL_C_EVENT), "Ctrl-Break": raise(windows.CTRL_BREAK_EVENT),
	"a closed window": raise(windows.CTRL_CLOSE_EVENT), "a logoff": raise(windows.CTRL_LOGOFF_EVENT),
}

// raise starts the thread that a console starts in its programs. GenerateConsoleCtrlEvent would
// need a console, and knows only the first two events.
func raise(event uintptr) func() error {
	return func() error {
		kernel := windows.NewLazySystemDLL("kernel32.dll")
		kernel.NewProc("SetConsoleCtrlHandler").Call(0, 0) // the parent may have switched Ctrl-C off
		thread, _, err := kernel.NewProc("CreateThread").Call(0, 0, kernel.NewProc("CtrlRoutine").Addr(), event, 0, 0)
		if thread == 0 {
			return err
		}
		return windows.CloseHandle(windows.Handle(thread))
	}
}
