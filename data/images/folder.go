// Package images provides data sets of image files, and changes images at random for
// training: [Augment] on the loader's workers, [Batch], [MixUp] and [CutMix] on the device.
// Read folder.go first, then augment.go.
package images

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// An Example is an image with its class.
type Example struct {
	X    tensor.Tensor // the pixels, float32 [channels height width], from 0 to 1
	Y    tensor.Tensor // the class, an int32 scalar
	Path string        // the file; a batch has the path of its first example
}

// Options are the settings of [Folder].
type Options struct {
	Channels      int // 1 (gray), 3 (colors) or 4 (with alpha); 0 is 3
	Height, Width int // the size to which images are resized, bilinearly; 0 leaves them as they are
}

// ends are the ends of the names of files that Folder takes.
var ends = []string{".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp"}

// Folder returns the set of images in the folders of a folder, each the class of the images
// in it and below it: root/cat/1.png, root/dog/a/2.jpg. Classes are numbered in the order of
// their names, examples ordered by class and path. Images are read when they are asked for,
// on the loader's workers if there are any. Files with other ends than those that
// package imageio reads, and names that begin with a dot, are left out. Nil options read
// colors and do not resize; the images of a batch must have one size.
//
// A class, and an image, may be a symbolic link to anywhere; links below a class are not
// followed to folders. Of an archive from a stranger, remove links before: they can lead out of root.
//
// It is an error if there is no class, or a class without images.
func Folder(root string, o *Options) (set data.Set[Example], classes []string, err error) {
	if o == nil {
		o = &Options{}
	}
	f := folder{options: *o}
	if f.options.Channels == 0 {
		f.options.Channels = 3
	}
	if o.Height < 0 || o.Width < 0 || (o.Height == 0) != (o.Width == 0) || !slices.Contains([]int{1, 3, 4}, f.options.Channels) {
		tensor.Internal.Misuse(graph.Token{}, "images.Folder",
			fmt.Sprintf("want 1, 3 or 4 Channels, and Height and Width both or neither; have %d, %d, %d", o.Channels, o.Height, o.Width))
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, nil, fmt.Errorf("images: %s: %w", files.Name(root), files.Reason(err))
	}
	for _, e := range entries {
		path := filepath.Join(root, e.Name())
		if info, err := os.Stat(path); err != nil || !info.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue // a link may be a class too
		}
		before := len(f.paths)
		if err := f.add(path, int32(len(classes))); err != nil {
			return nil, nil, fmt.Errorf("images: %s: %w", files.Name(path), files.Reason(err))
		}
		if len(f.paths) == before {
			return nil, nil, fmt.Errorf("images: class %s has no images: want files that end in %s", files.Name(path), strings.Join(ends, ", "))
		}
		classes = append(classes, e.Name())
	}
	if classes == nil {
		return nil, nil, fmt.Errorf("images: %s has no folders: want one for each class", files.Name(root))
	}
	return f, classes, nil
}

// A folder is a set of image files.
type folder struct {
	options Options
	paths   []string
	labels  []int32
}

// add adds the images of a class.
func (f *folder) add(path string, class int32) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // WalkDir does not follow links
	}
	return filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err // e is nil if the class vanished
		}
		hidden := strings.HasPrefix(e.Name(), ".") && name != path
		switch {
		case e.IsDir() && hidden:
			return filepath.SkipDir
		case !e.IsDir() && !hidden && slices.Contains(ends, strings.ToLower(filepath.Ext(name))):
			f.paths, f.labels = append(f.paths, name), append(f.labels, class)
		}
		return nil
	})
}

func (f folder) Len() int { return len(f.paths) }

func (f folder) At(i int) (e Example, err error) {
	if i < 0 || i >= len(f.paths) {
		return e, fmt.Errorf("there is no example %d among %d", i, len(f.paths))
	}
	pixels, err := imageio.Load(f.paths[i], f.options.Channels)
	if err != nil {
		return e, err
	}
	x := pixels.Permute(2, 0, 1).Cast(tensor.Float32).Div(255)
	if h, w := f.options.Height, f.options.Width; h > 0 && (x.Dim(1) != h || x.Dim(2) != w) {
		x = x.Unsqueeze(0).ResizeBilinear(h, w).Squeeze(0)
	}
	return Example{X: x, Y: tensor.New([]int32{f.labels[i]}).Reshape(), Path: f.paths[i]}, nil
}
