// Package interrupttest tells programs to stop, for tests.
package interrupttest
