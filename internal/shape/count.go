package shape

import "fmt"

// Count is a number of things as text: "1 element", "2 axes".
func Count(n int, thing string) string {
	switch {
	case n == 1:
	case thing == "axis":
		thing = "axes"
	default:
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
