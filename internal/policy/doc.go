// Package policy has only tests, of the source tree: imports between packages, the
// exported API, comments on exported names, lengths of files, and the README's programs.
package policy
