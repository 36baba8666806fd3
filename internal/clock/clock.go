// Package clock measures short durations, and lets goroutines that poll pause for shorter ones. It is
// time.Now, except on Windows, whose time.Now is too coarse for kernels.
package clock

import "time"

// Now returns the current time, for differences from others that Now returns. time.Now and
// time.Since must not be mixed with it: on Windows they are some milliseconds off.
func Now() time.Time { return now() }

// Since returns the time that has passed since t, which Now returned.
func Since(t time.Time) time.Duration { return since(t) }
