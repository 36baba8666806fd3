package imageio

import "image"

// A photo is a decoded image whose colors are a luma for each pixel, and chroma for each or for some of them. Its pixels
// are as libjpeg and libwebp make them, whose pixels models were trained with: chroma is interpolated between its samples.
// Go's image repeats it, and takes luma of WebP, from 16 to 235, for luma of JPEG, from 0 to 255.
type photo struct {
	image.NYCbCrA // its A is nil if all is opaque
	colors        *colorModel
	wide, high    int  // the pixels of a sample of chroma
	across, down  bool // chroma is interpolated
	cb, cr        chroma
}

// A chroma has the samples of one color.
type chroma struct {
	plane []byte
	sums  []int32 // of a row, by columns of samples
	row   []int32 // by pixels
}

// A colorModel is a format's way from samples to colors.
type colorModel struct {
	// bias rounds a weighted sum of samples. It is added before the shift, of 2 or 4 bits (index 1 or 2), to sums of even
	// pixels and of odd ones.
	bias [3][2]int32
	fill func(pix, luma []byte, cb, cr []int32)
}

// In jpegColors halves are rounded down and up in turn, as the standard of ONNX has it, too.
var (
	jpegColors = &colorModel{bias: [3][2]int32{1: {1, 2}, 2: {8, 7}}, fill: fullRange}
	webpColors = &colorModel{bias: [3][2]int32{1: {2, 2}, 2: {8, 8}}, fill: videoRange}
)

// fullRange is BT.601 of samples from 0 to 255, in units of 1/65,536.
func fullRange(pix, luma []byte, cb, cr []int32) {
	const half = 1 << 15
	for x, l := range luma {
		y, cb, cr := int32(l), cb[x]-128, cr[x]-128
		set(pix[4*x:][:4], y+(91881*cr+half)>>16, y+(half-22554*cb-46802*cr)>>16, y+(116130*cb+half)>>16)
	}
}

// videoRange is BT.601 of luma from 16 to 235 and chroma from 16 to 240, in units of 1/16,384; products lose 8 of those
// bits. The last terms have the offsets of the samples, and a half.
func videoRange(pix, luma []byte, cb, cr []int32) {
	for x, l := range luma {
		y, cb, cr := int32(l)*19077>>8, cb[x], cr[x]
		set(pix[4*x:][:4], (y+cr*26149>>8-14234)>>6, (y-cb*6419>>8-cr*13320>>8+8708)>>6, (y+cb*33050>>8-17685)>>6)
	}
}

// set sets an opaque pixel.
func set(pix []byte, r, g, b int32) {
	pix[0], pix[1], pix[2], pix[3] = sample(r), sample(g), sample(b), 0xff
}

func sample(v int32) byte { return byte(min(max(v, 0), 0xff)) }

// photo returns m with the colors of its format, or m if it has no chroma.
func (c *colorModel) photo(m image.Image) image.Image {
	p := &photo{colors: c, wide: 1, high: 1}
	switch m := m.(type) {
	case *image.YCbCr:
		p.YCbCr = *m
	case *image.NYCbCrA:
		p.NYCbCrA = *m
	default:
		return m
	}
	switch p.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		p.wide = 2
	case image.YCbCrSubsampleRatio420:
		p.wide, p.high = 2, 2
	case image.YCbCrSubsampleRatio440:
		p.high = 2
	case image.YCbCrSubsampleRatio411:
		p.wide = 4
	case image.YCbCrSubsampleRatio410:
		p.wide, p.high = 4, 2
	}
	columns := (p.Rect.Dx() + p.wide - 1) / p.wide
	p.cb = chroma{p.Cb, make([]int32, columns), make([]int32, p.Rect.Dx())}
	p.cr = chroma{p.Cr, make([]int32, columns), make([]int32, p.Rect.Dx())}
	const fewest = 3 // columns that libjpeg interpolates
	narrow := c == jpegColors && columns < fewest
	p.across = p.wide == 2 && !narrow
	p.down = p.high == 2 && p.wide < 4 && !(p.wide == 2 && narrow)
	return p
}

// Opaque reports whether it has no alpha.
func (p *photo) Opaque() bool { return p.A == nil }

// row fills pix, of four samples a pixel, with row y.
func (p *photo) row(pix []byte, y int) {
	p.interpolate(p.cb, y)
	p.interpolate(p.cr, y)
	w := p.Rect.Dx()
	p.colors.fill(pix, p.Y[y*p.YStride:][:w], p.cb.row, p.cr.row)
	if p.A != nil {
		for x, a := range p.A[y*p.AStride:][:w] {
			pix[4*x+3] = a
		}
	}
}

// interpolate sets the chroma of row y.
func (p *photo) interpolate(c chroma, y int) {
	shift := p.sum(c, y)
	if !p.across {
		add := p.colors.bias[shift/2][y&1]
		for x := range c.row {
			c.row[x] = (c.sums[x/p.wide] + add) >> shift
		}
		return
	}
	shift += 2
	add := p.colors.bias[shift/2]
	before := c.sums[0]
	for k, s := range c.sums {
		after := c.sums[min(k+1, len(c.sums)-1)]
		c.row[2*k] = (3*s + before + add[0]) >> shift
		if x := 2*k + 1; x < len(c.row) {
			c.row[x] = (3*s + after + add[1]) >> shift
		}
		before = s
	}
}

// sum sets the sums to the samples of row y, or to 4 times the chroma between two rows of samples, and returns the shift
// that divides by that.
func (p *photo) sum(c chroma, y int) (shift int) {
	row := c.plane[y/p.high*p.CStride:]
	for i := range c.sums {
		c.sums[i] = int32(row[i])
	}
	if !p.down {
		return 0
	}
	near := min(max(y/2-1+y&1*2, 0), (p.Rect.Dy()-1)/2) // the second nearest row of samples
	row = c.plane[near*p.CStride:]
	for i := range c.sums {
		c.sums[i] = 3*c.sums[i] + int32(row[i])
	}
	return 2
}
