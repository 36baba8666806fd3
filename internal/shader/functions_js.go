package shader

// wide adds nothing: no browser has the types, and a page downloads its program.
func (l library) wide() {}
