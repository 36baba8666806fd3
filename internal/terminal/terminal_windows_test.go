package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

const child = "TENSORKEN_TEST_CHILD"

// TestTerminal runs itself in a console of 123 columns whose code page is not UTF-8.
func TestTerminal(t *testing.T) {
	const text = "größe ▀⣿█░"
	if os.Getenv(child) != "" {
		out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0) // Wine gives it as no standard handle
		if err != nil {
			os.Exit(1)
		}
		windows.NewLazySystemDLL("kernel32.dll").NewProc("SetConsoleOutputCP").Call(437)
		is := Is(out)
		var mode uint32
		windows.GetConsoleMode(windows.Handle(out.Fd()), &mode)
		fmt.Fprintln(out, is, Columns(out), mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0, text)
		os.Exit(0)
	}
	for term, want := range map[string]string{"": "true 123 true " + text, "dumb": "false 123 false " + text} {
		t.Setenv(child, "1")
		t.Setenv("TERM", term)
		if got := inConsole(t, 123); !strings.Contains(got, want) {
			t.Errorf("with TERM=%s the console shows %q, want %s", term, got, want)
		}
	}
}

// inConsole runs the test in another process, which has a console, and returns the shown
// text.
func inConsole(t *testing.T, columns int16) string {
	t.Helper()
	var in, keys, shown, out, console windows.Handle
	var p windows.ProcessInformation
	attributes, err := windows.NewProcThreadAttributeList(1)
	if err != nil {
		t.Fatal(err)
	}
	defer attributes.Delete()
	command, err := windows.UTF16PtrFromString(windows.ComposeCommandLine([]string{os.Args[0], "-test.run=^" + t.Name() + "$"}))
	if err != nil {
		t.Fatal(err)
	}
	steps := []func() error{
		func() error { return windows.CreatePipe(&in, &keys, nil, 0) },
		func() error { return windows.CreatePipe(&shown, &out, nil, 0) },
		func() error {
			return windows.CreatePseudoConsole(windows.Coord{X: columns, Y: 40}, in, out, 0, &console)
		},
		func() error {
			return attributes.Update(windows.PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, *(*unsafe.Pointer)(unsafe.Pointer(&console)), unsafe.Sizeof(console))
		},
		func() error {
			start := windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
			start.Cb, start.Flags = uint32(unsafe.Sizeof(start)), windows.STARTF_USESTDHANDLES // not this process's handles
			return windows.CreateProcess(nil, command, nil, nil, false, windows.EXTENDED_STARTUPINFO_PRESENT, nil, nil, &start.StartupInfo, &p)
		},
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d to a console: %v", i, err)
		}
	}
	windows.CloseHandle(in)
	windows.CloseHandle(out)
	text := make(chan string)
	go func() {
		b, _ := io.ReadAll(os.NewFile(uintptr(shown), "console"))
		text <- string(b)
	}()
	if event, err := windows.WaitForSingleObject(p.Process, 10_000); event != windows.WAIT_OBJECT_0 {
		windows.TerminateProcess(p.Process, 1)
		t.Errorf("the process in a console does not end: %v", err)
	}
	windows.ClosePseudoConsole(console)
	for _, h := range []windows.Handle{keys, p.Process, p.Thread} {
		windows.CloseHandle(h)
	}
	return <-text
}
