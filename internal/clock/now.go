//go:build !windows

package clock

import "time"

func now() time.Time { return time.Now() }

func since(t time.Time) time.Duration { return time.Since(t) }
