package compile

// Pack packs the kernels of a plan that is kept.
func (p *Plan) Pack() { packSteps(p.Steps) }

func packSteps(steps []Step) {
	for i := range steps {
		s := &steps[i]
		for _, k := range s.Kernels() {
			k.Pack()
		}
		packSteps(s.Stages)
	}
}
