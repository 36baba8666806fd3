// Package drivertest tests devices. A device's own package calls [Test] with a function that
// opens it. Read drivertest.go first, then reference.go; [Oracle] is a device that is right and
// slow, which judges the compiler apart from any real device.
//
//	func TestDevice(t *testing.T) {
//		drivertest.Test(t, func() (driver.Device, error) { return Open() })
//	}
//
// Test computes every operation on every element type and layout, contractions and reductions
// of many shapes, and special values, through the compiler; [Random] computes random graphs.
// Optional abilities, such as [driver.Looper], have parts of their own. Types and abilities that
// a device lacks are skipped by name. Results are compared with the definition of each
// operation, within a bound that follows from the graph: each operation may be off by a few
// units in the last place and passes on the error of its operands.
package drivertest
