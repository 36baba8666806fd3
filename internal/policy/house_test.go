package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
)

// TestHouse draws the packages by layer, with lines of code and the imports between layers. The
// drawing may be off by a fourth of a package's lines, so that few changes make it stale:
//
//	go test ./internal/policy -run House -update
func TestHouse(t *testing.T) {
	const page = "../../docs/house.svg"
	old := map[string]int{}
	for _, m := range regexp.MustCompile(`<title>(\S+): (\d+) lines`).FindAllStringSubmatch(text(t, "docs/house.svg"), -1) {
		old[m[1]], _ = strconv.Atoi(m[2])
	}
	goldentext.Check(t, page, newHouse(t, old).svg())
}

// A room is a package, or all of a folder's, in the drawing.
type room struct {
	name    string
	lines   int
	x, y, w float64
}

// A floor is a layer in the drawing.
type floor struct {
	layer
	rooms      []*room
	x, y, w, h float64
	below      []*floor // layers that it imports, none of them also by way of others
}

type house struct {
	floors []*floor
	height float64
}

const (
	houseWidth = 1040
	border     = 8  // around the drawing, and between rooms
	margin     = 12 // around the rooms of a floor
	roomHeight = 38
	rowGap     = 42
)

// newHouse draws layers in their rows. Lines are old ones where they are still about right.
func newHouse(t *testing.T, old map[string]int) *house {
	h := &house{}
	of := map[string]*floor{}
	for _, l := range layers {
		f := &floor{layer: l}
		names := strings.Fields(l.packages)
		if l.name == "programs" {
			names = append(names, "cmd", "examples")
		}
		for _, name := range names {
			f.rooms = append(f.rooms, &room{name: name})
			of[name] = f
		}
		h.floors = append(h.floors, f)
	}
	lines := map[string]int{}
	for _, f := range sources(t) {
		dir := f.dir
		if isProgram(dir) {
			dir, _, _ = strings.Cut(dir, "/")
		}
		if !f.isTest() || of[dir] != nil && of[dir].name == "tests" {
			lines[dir] += strings.Count(f.src, "\n")
		}
	}
	for _, f := range h.floors {
		for _, r := range f.rooms {
			n, o := lines[r.name], old[r.name]
			r.lines = (n + 5) / 10 * 10
			if n >= 1000 {
				r.lines = (n + 50) / 100 * 100
			}
			if o > 0 && max(o-n, n-o) <= n/4+20 {
				r.lines = o
			}
		}
	}
	h.connect(t, imports(t), of)
	h.place()
	return h
}

// connect finds the imports between layers, except those that a chain of others implies. Programs may
// import all.
func (h *house) connect(t *testing.T, all map[string][]string, of map[string]*floor) {
	reach := map[*floor]map[*floor]bool{}
	for i, f := range h.floors { // imports stand before it
		direct := map[*floor]bool{}
		reach[f] = map[*floor]bool{}
		for _, dir := range strings.Fields(f.packages) {
			for _, path := range all[dir] {
				local, _ := strings.CutPrefix(path, module+"/")
				if to := of[local]; to != nil && to != f {
					direct[to] = true
				}
			}
		}
		for _, to := range slices.Backward(h.floors[:i]) {
			if direct[to] && !reach[f][to] {
				f.below = append(f.below, to)
				if f.row >= to.row {
					t.Errorf("layer %s imports %s, which must stand in a lower row", f.name, to.name)
				}
			}
			if direct[to] {
				reach[f][to] = true
				for far := range reach[to] {
					reach[f][far] = true
				}
			}
		}
	}
}

// place gives rows their heights, and rooms their places in lines.
func (h *house) place() {
	h.height = border
	for row := 0; ; row++ {
		height := 0.0
		for _, f := range h.floors {
			if f.row == row {
				f.x, f.y, f.w = float64(f.left)/100*houseWidth, h.height, float64(f.end-f.left)/100*houseWidth
				f.fill()
				height = max(height, f.h)
			}
		}
		if height == 0 {
			h.height += border - rowGap
			return
		}
		for _, f := range h.floors {
			if f.row == row {
				f.h = height
			}
		}
		h.height += height + rowGap
	}
}

// fill places rooms from left to right, in lines. The width of a room grows with its lines.
func (f *floor) fill() {
	x, y := f.x+margin, f.y+28
	for _, r := range f.rooms {
		r.w = max(float64(len(shortName(r.name)))*7.2+28, 60, float64(r.lines)/50)
		if x > f.x+margin && x+r.w > f.x+f.w-margin {
			x, y = f.x+margin, y+roomHeight+border
		}
		r.x, r.y = x, y
		x += r.w + border
	}
	f.h = y + roomHeight + margin - f.y
}

// An arrow leads from the lower side of a floor to the upper side of another.
type arrow struct {
	from, to *floor
	x, toX   float64
}

// arrows places arrows: they leave a floor at even distances, and go down as steeply as they can.
func (h *house) arrows() []*arrow {
	var all []*arrow
	for _, f := range h.floors {
		slices.SortFunc(f.below, func(a, b *floor) int { return cmp.Compare(a.x+a.w/2, b.x+b.w/2) })
		for i, to := range f.below {
			all = append(all, &arrow{from: f, to: to, x: f.x + f.w*float64(i+1)/float64(len(f.below)+1)})
		}
	}
	slices.SortFunc(all, func(a, b *arrow) int { return cmp.Compare(a.x, b.x) })
	last := map[*floor]float64{}
	for _, a := range all {
		a.toX = max(min(a.x, a.to.x+a.to.w-20), a.to.x+20, last[a.to]+20)
		last[a.to] = a.toX
	}
	return all
}

func (r *room) size() string {
	if r.lines < 1000 {
		return strconv.Itoa(r.lines)
	}
	return fmt.Sprintf("%.1fk", float64(r.lines)/1000)
}

func shortName(name string) string { return strings.TrimPrefix(name, "internal/") }

// svg draws on a transparent ground, in colours that are legible on white and on black.
func (h *house) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" font-family="-apple-system, Segoe UI, DejaVu Sans, Helvetica, Arial, sans-serif">`+"\n", houseWidth, h.height)
	fmt.Fprintf(&b, "<title>Packages by layer, with lines of code. An arrow is an import.</title>\n")
	hue := func(f *floor) int { return (205 + 47*slices.Index(h.floors, f)) % 360 }
	for _, a := range h.arrows() {
		x, y, toX, toY := a.x, a.from.y+a.from.h, a.toX, a.to.y-7
		bend := (toY - y) / 2
		fmt.Fprintf(&b, `<g fill="none" stroke="hsl(%d,45%%,55%%)" stroke-width="2"><path d="M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f"/><path d="M%.0f %.0fm-4 0l4 6l4 -6z" fill="hsl(%[1]d,45%%,55%%)"/></g>`+"\n",
			hue(a.from), x, y, x, y+bend, toX, toY-bend, toX, toY, toX, toY)
	}
	for _, f := range h.floors {
		fmt.Fprintf(&b, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="8" fill="hsl(%d,35%%,27%%)"/><text x="%.0f" y="%.0f" font-size="14" fill="hsl(%[5]d,60%%,85%%)">%[8]s</text>`+"\n",
			f.x, f.y, f.w, f.h, hue(f), f.x+margin, f.y+19, f.name)
		for _, r := range f.rooms {
			light, weight := 38, "normal"
			if isPublic(r.name) {
				light, weight = 50, "bold"
			}
			fmt.Fprintf(&b, `<g><title>%s: %d lines</title><rect x="%.0f" y="%.0f" width="%.0f" height="%d" rx="4" fill="hsl(%d,42%%,%d%%)"/>`, r.name, r.lines, r.x, r.y, r.w, roomHeight, hue(f), light)
			fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-size="12.5" font-weight="%s" fill="#fff">%s</text><text x="%.0f" y="%.0f" font-size="11" fill="#fff" opacity=".8">%s</text></g>`+"\n",
				r.x+9, r.y+17, weight, shortName(r.name), r.x+9, r.y+31, r.size())
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}
