package images

// The weights of red, green and blue in a gray, as torchvision has them.
const redWeight, greenWeight, blueWeight = 0.2989, 0.587, 0.114

func clamp(x float32) float32 { return min(max(x, 0), 1) }

// blend sets the colors to factor·color + (1-factor)·other, between 0 and 1.
func (p *picture) blend(factor, other float32) {
	other *= 1 - factor
	for c := range p.colors() {
		plane := p.plane(c)
		for i, v := range plane {
			plane[i] = clamp(factor*v + other)
		}
	}
}

// grays returns the gray of each pixel.
func (p *picture) grays() []float32 {
	if p.colors() < 3 {
		return append([]float32(nil), p.plane(0)...)
	}
	r, g, b := p.plane(0), p.plane(1), p.plane(2)
	out := make([]float32, len(r))
	for i := range out {
		out[i] = redWeight*r[i] + greenWeight*g[i] + blueWeight*b[i]
	}
	return out
}

func (p *picture) brightness(factor float32) { p.blend(factor, 0) }

func (p *picture) contrast(factor float32) {
	sum := 0.0
	for _, g := range p.grays() {
		sum += float64(g)
	}
	mean := float32(sum / float64(p.h*p.w))
	p.blend(factor, mean)
}

func (p *picture) saturation(factor float32) {
	if p.colors() < 3 {
		return
	}
	r, g, b := p.plane(0), p.plane(1), p.plane(2)
	for i := range r {
		gray := (1 - factor) * (redWeight*r[i] + greenWeight*g[i] + blueWeight*b[i])
		r[i], g[i], b[i] = clamp(factor*r[i]+gray), clamp(factor*g[i]+gray), clamp(factor*b[i]+gray)
	}
}

// hue turns the hue by a part of the circle of colors.
func (p *picture) hue(turn float32) {
	if p.colors() < 3 || turn == 0 {
		return
	}
	r, g, b := p.plane(0), p.plane(1), p.plane(2)
	for i := range r {
		h, s, v := toHSV(r[i], g[i], b[i])
		if h += turn; h < 0 {
			h++
		} else if h >= 1 {
			h--
		}
		r[i], g[i], b[i] = fromHSV(h, s, v)
	}
}

// toHSV returns hue, saturation and value of a color, each from 0 to 1.
func toHSV(r, g, b float32) (h, s, v float32) {
	v = max(r, g, b)
	span := v - min(r, g, b)
	if span == 0 {
		return 0, 0, v
	}
	switch v {
	case r:
		h = (g - b) / span
	case g:
		h = 2 + (b-r)/span
	default:
		h = 4 + (r-g)/span
	}
	if h /= 6; h < 0 {
		h++
	}
	return h, span / v, v
}

func fromHSV(h, s, v float32) (r, g, b float32) {
	i := int(h * 6)
	f := h*6 - float32(i)
	p, q, t := clamp(v*(1-s)), clamp(v*(1-s*f)), clamp(v*(1-s*(1-f)))
	switch i {
	case 0, 6:
		return v, t, p
	case 1:
		return q, v, p
	case 2:
		return p, v, t
	case 3:
		return p, q, v
	case 4:
		return t, p, v
	}
	return v, p, q
}

// grayscale sets the colors to the gray.
func (p *picture) grayscale() {
	grays := p.grays()
	for c := range p.colors() {
		copy(p.plane(c), grays)
	}
}
