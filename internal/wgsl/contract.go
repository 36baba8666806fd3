package wgsl

func (c *compiler) contractKernel() {}
