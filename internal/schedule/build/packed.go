package build

// A Template schedules kernels that it takes.
type Template interface {
	Takes(*Builder) bool
	Compile(*Builder) bool // false for other kernels
}

// Packed schedules products by weights in an ir.Format. It is nil in a program that has no formats, such as a page.
var Packed Template

// Link sets Packed, for package packed, and returns it.
func Link(t Template) Template {
	Packed = t
	return t
}
