// Package drivertest says whether a device is right. A device's own package
// calls [Test] with a function that opens it:
//
//	func TestDevice(t *testing.T) {
//		drivertest.Test(t, func() (driver.Device, error) { return Open() })
//	}
//
// Test computes every operation on every element type and layout, contractions and reductions of many
// shapes and special values, through the compiler, and compares the results with the definition of each
// operation. Optional abilities, such as [driver.Looper], have parts of their own, which other devices
// skip; the part of [driver.PeerCopier] opens two devices. [Random] does so for random graphs. Types that
// the device lacks are skipped by name. Parts of both run at the same time, as many as -parallel says,
// each on a device that it opens and closes.
//
// How far a result may be off follows from the graph: each operation may be off by a few
// units in the last place, more for elementary functions, and passes on the error of its
// operands. Where that leaves the result open, as for the comparison of two numbers that
// should be equal, it is not compared.
//
// [Oracle] is a device that is right and slow; it judges the compiler apart from any real
// device and counts its work.
package drivertest
