package schedule
import ("testing"; "os"; "github.com/tensorken/tensorken/driver/drivertest")
func TestZZ(t *testing.T) {
	for _, target := range targets {
		if s := os.Getenv("ZZ"); s != "" && s != target.name { continue }
		t.Run(target.name, func(t *testing.T) { drivertest.Test(t, open(target.Target), "Formats") })
	}
}
