package images_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/data/images"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/internal/files/filestest"
	"github.com/tensorken/tensorken/tensor"
)

// gray writes an image of one gray to a file under dir.
func gray(t *testing.T, dir, name string, level uint8, h, w int) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := imageio.Save(path, tensor.Full(float64(level), h, w).Cast(tensor.Uint8)); err != nil {
		t.Fatal(err)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	gray(t, dir, "dog/b/2.png", 51, 4, 6)
	gray(t, dir, "dog/a.JPG", 102, 2, 3)
	gray(t, dir, "cat/1.bmp", 255, 2, 3)
	gray(t, dir, "dog/.hidden.png", 1, 1, 1)
	gray(t, dir, "dog/.hidden/1.png", 1, 1, 1)
	gray(t, dir, "top.png", 1, 1, 1)
	if err := os.WriteFile(filepath.Join(dir, "cat", "notes.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		o    *images.Options
		want string
	}{
		{nil, "1.bmp 0 [3 2 3] 1.00|a.JPG 1 [3 2 3] 0.40|2.png 1 [3 4 6] 0.20|"},
		{&images.Options{Channels: 1, Height: 3, Width: 2}, "1.bmp 0 [1 3 2] 1.00|a.JPG 1 [1 3 2] 0.40|2.png 1 [1 3 2] 0.20|"},
	} {
		set, classes, err := images.Folder(dir, tt.o)
		if err != nil || fmt.Sprint(classes) != "[cat dog]" {
			t.Fatalf("Folder gave classes %v, %v", classes, err)
		}
		got := ""
		for i := range set.Len() {
			e, err := set.At(i)
			if err != nil {
				t.Fatal(err)
			}
			mean := e.X.Mean().Item()
			if spread := e.X.Max().Item() - e.X.Min().Item(); spread > 0.02 || e.X.DType() != tensor.Float32 {
				t.Errorf("%s is %v, not of one gray", e.Path, e.X)
			}
			got += fmt.Sprintf("%s %v %v %.2f|", filepath.Base(e.Path), e.Y, e.X.Shape(), math.Round(mean*100)/100)
		}
		if got != tt.want {
			t.Errorf("Folder(%+v) has %s, want %s", tt.o, got, tt.want)
		}
	}
	set, _, err := images.Folder(dir, &images.Options{Height: 8, Width: 8})
	if err != nil {
		t.Fatal(err)
	}
	l := data.Loader[images.Example]{Set: set, Batch: 2, Workers: 2}
	shapes := ""
	for b, err := range l.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		shapes += fmt.Sprint(b.X.Shape(), b.Y)
	}
	if want := "[2 3 8 8] [0 1][1 3 8 8] [1]"; shapes != want {
		t.Errorf("batches are %s, want %s", shapes, want)
	}
}

func TestFolderErrors(t *testing.T) {
	empty, lost, broken := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(lost, "cat"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(broken, "cat"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "cat", "1.png"), []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ root, want string }{
		{empty, "has no folders: want one for each class"},
		{lost, "has no images: want files that end in .png"},
		{filepath.Join(empty, "none"), filestest.NoFile(t)},
	} {
		if _, _, err := images.Folder(tt.root, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Folder gave error %v, want …%s", err, tt.want)
		}
	}
	named := filepath.Join(t.TempDir(), "a\x1b[2J")
	if err := os.MkdirAll(filepath.Join(named, "cat"), 0o777); err == nil { // a name that some systems refuse
		if _, _, err := images.Folder(named, nil); err == nil || !strings.Contains(err.Error(), `\x1b[2J`) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("Folder gave error %q, want the name quoted", err)
		}
	}
	set, _, err := images.Folder(broken, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.At(0); err == nil || !strings.Contains(err.Error(), "1.png") {
		t.Errorf("At of a text gave error %v, want one that names the file", err)
	}
	if _, err := set.At(1); err == nil {
		t.Error("there is an example after the last")
	}
	for _, o := range []images.Options{{Channels: 2}, {Height: 3}, {Height: -1, Width: -1}} {
		if err := tensor.Try(func() { images.Folder(empty, &o) }); err == nil || !strings.Contains(err.Error(), "want 1, 3 or 4 Channels") {
			t.Errorf("Folder(%+v) panics with %v", o, err)
		}
	}
}
