// Package policy holds only tests, of the source tree itself: which package
// may import which, what the public packages export, that all is documented,
// that files stay small and that what the README shows runs.
package policy
