package vision

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Labels are the names of a model's classes; none are numbers.
type Labels []string

// ReadLabels reads names, a line each. Without a path they are nil.
func ReadLabels(path string) (Labels, error) {
	if path == "" {
		return nil, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimRight(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n"), "\n"), nil
}

// Check returns an error if there are names, but not for each class.
func (l Labels) Check(classes int) error {
	if l != nil && len(l) != classes {
		return fmt.Errorf("the model has %d classes, the file of labels %d lines: want one for each class", classes, len(l))
	}
	return nil
}

// Name returns the name of a class.
func (l Labels) Name(class int) string {
	if class < 0 || class >= len(l) {
		return "class " + strconv.Itoa(class)
	}
	return l[class]
}

// ends are the ends of the names of images.
var ends = []string{".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp"}

// Images returns the paths of the images in a folder, in order, or the path itself if it is a file.
func Images(path string) ([]string, error) {
	if path == "" {
		return nil, errors.New("no images are named: want -images FOLDER, or a file")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if !e.IsDir() && slices.Contains(ends, strings.ToLower(filepath.Ext(e.Name()))) {
			list = append(list, filepath.Join(path, e.Name()))
		}
	}
	if list == nil {
		return nil, fmt.Errorf("%s has no images: want files that end in %s", path, strings.Join(ends, ", "))
	}
	return list, nil
}
