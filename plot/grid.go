package plot

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tensorken/tensorken/ir"
)

// grid is the content of several figures.
type grid struct {
	columns int
	figures []*Figure
}

// Grid draws figures in rows of a number of columns, all of the size of the largest.
func Grid(columns int, figures ...*Figure) *Figure {
	if columns < 1 || len(figures) == 0 {
		misuse("Grid", "want at least one column and one figure")
	}
	checkFigures("Grid", figures)
	return &Figure{content: &grid{min(columns, len(figures)), figures}}
}

// checkFigures panics on behalf of op if a figure is nil.
func checkFigures(op string, figures []*Figure) {
	if i := slices.Index(figures, nil); i >= 0 {
		misuse(op, fmt.Sprintf("figure %d is nil: make it by a function such as Line", i))
	}
}

func (g *grid) load(*Figure) error {
	for _, f := range g.figures {
		if err := f.load(); err != nil {
			return err
		}
	}
	return nil
}

func (g *grid) rows() int { return ir.CeilDiv(len(g.figures), g.columns) }

func (*grid) kind() kinds         { return grids }
func (*grid) check(*Figure) error { return nil }

func (g *grid) size(*Figure) (width, height int) {
	for _, f := range g.figures {
		w, h := f.size()
		width, height = max(width, w), max(height, h)
	}
	return width * g.columns, height * g.rows()
}

func (g *grid) draw(_ *Figure, c draw.Canvas) {
	tiles := draw.Tiles{Cols: g.columns, Rows: g.rows()}
	for i, f := range g.figures {
		f.draw(tiles.At(c, i%g.columns, i/g.columns))
	}
}

func (g *grid) text(_ *Figure, s screen) (lines []string) {
	for i, f := range g.figures {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, f.text(s)...)
	}
	return lines
}
