package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// machine describes the machine in a line.
func machine() string {
	system := runtime.GOOS + "/" + runtime.GOARCH
	if name := processor(); name != "" {
		system += ", " + name
	}
	return fmt.Sprintf("%s, %s, %d cores", system, runtime.Version(), runtime.GOMAXPROCS(0))
}

// processor returns the system's name of the processor, "" if unknown.
func processor() string {
	switch runtime.GOOS {
	case "linux":
		return field("/proc/cpuinfo", "model name", ":")
	case "darwin":
		return outputOf("sysctl", "-n", "machdep.cpu.brand_string")
	case "windows":
		return os.Getenv("PROCESSOR_IDENTIFIER")
	}
	return ""
}

// system returns the operating system's name and, if known, version.
func system() string {
	switch runtime.GOOS {
	case "linux":
		kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
		return strings.TrimSpace(cmp.Or(field("/etc/os-release", "PRETTY_NAME", "="), "Linux") + " " + string(kernel))
	case "darwin":
		return "macOS " + outputOf("sw_vers", "-productVersion")
	case "windows":
		return outputOf("cmd", "/c", "ver")
	}
	return runtime.GOOS
}

// field returns the value of the first line of a file with a key, or "".
func field(path, key, separator string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if k, value, _ := strings.Cut(line, separator); strings.TrimSpace(k) == key {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// outputOf returns the standard output of a program, trimmed.
func outputOf(name string, args ...string) string {
	out, _ := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out))
}

// version returns this program's version.
func version() string {
	v := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && !strings.Contains(v, s.Value[:min(12, len(s.Value))]) {
				v += " " + s.Value
			}
		}
	}
	return v
}
