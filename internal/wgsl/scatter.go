package wgsl

func (c *compiler) scatterKernel() {}
