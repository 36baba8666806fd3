package hostmem

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// Variable is the environment variable that sets the limit, as a number of bytes
// with or without one of the units of GOMEMLIMIT, such as 6GiB.
const Variable = "TENSORKEN_MEMORY"

// Limit is the most memory that this process may use, in bytes: the value of [Variable],
// else the smaller of the machine's memory and the limit of the process's control group, or
// on Windows of its job object. It fails if the variable is no size.
var Limit = sync.OnceValues(func() (int, error) { return limit(os.Getenv(Variable)) })

// limit is the limit for a value of the variable.
func limit(text string) (int, error) {
	if text == "" {
		if n, ok := systemLimit(); ok {
			return n, nil
		}
		return defaultLimit, nil
	}
	n, err := parseSize(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", Variable, err)
	}
	if runtime.GOARCH == "wasm" {
		n = min(n, 4<<30) // addresses have 32 bits
	}
	return n, nil
}

// defaultLimit is the budget where the system does not say how much memory there
// is.
const defaultLimit = 8 << 30

// parseSize reads a positive number of bytes with or without a unit from B to TiB. A larger
// number than an int holds becomes the greatest int.
func parseSize(text string) (int, error) {
	number, unit := text, int64(1)
	for i, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if digits, ok := strings.CutSuffix(text, u); ok {
			number, unit = digits, 1<<(10*(i+1))
		}
	}
	n, ok := scaled(strings.TrimSuffix(number, "B"), unit)
	if !ok {
		return 0, fmt.Errorf("%q is no size: want a number of bytes, such as 6GiB", text)
	}
	return n, nil
}

// scaled reads a positive number of units of so many bytes. A larger number than an int
// holds becomes the greatest int.
func scaled(text string, unit int64) (n int, ok bool) {
	x, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || x <= 0 {
		return 0, false
	}
	if x > math.MaxInt/unit {
		return math.MaxInt, true
	}
	return int(x * unit), true
}
