//go:build !unix

package cachedir

import "path/filepath"

// Trusted returns the absolute path of a file or folder. It checks no rights: on Windows others have
// none in the user's %LocalAppData%, unless it was moved, and a user who may write to the folder of
// an executable may replace the executable too.
func Trusted(path string) (string, error) { return filepath.Abs(path) }

// makePrivate does nothing: modes of files do not tell others' rights on these systems.
func makePrivate(string) error { return nil }
