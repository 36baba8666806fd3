package terminal

import "golang.org/x/sys/windows"

// understandsEscapes switches escape sequences on in a console. It fails for other devices, such as
// NUL, and for the console of a Windows older than 10.
func understandsEscapes(fd uintptr) bool {
	console, mode := windows.Handle(fd), uint32(0)
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	const escapes = windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	return mode&escapes == escapes || windows.SetConsoleMode(console, mode|escapes) == nil
}

// columns returns the width of a console window, 0 for other devices.
func columns(fd uintptr) int {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(fd), &info) != nil {
		return 0
	}
	return int(info.Window.Right) - int(info.Window.Left) + 1
}
