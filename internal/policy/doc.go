// Package policy has only tests, of the source tree: imports between packages, the exported
// API, comments and examples, lengths of files, and the README's programs. Read tree_test.go
// first.
package policy
