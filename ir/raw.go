package ir

// A RawKernel is a kernel that a user has written, in the language of a device. It is opaque: no pass
// of the compiler looks into it.
type RawKernel struct {
	Name    string // for errors
	Text    string
	Names   []string // that the text has for the buffers
	Args    []Arg    // the operands, the result, and the Uint32 number of the result's elements
	Threads int      // of a workgroup
	Grid    [3]int   // workgroups along each axis
}

// String returns the kernel as text.
func (k *RawKernel) String() string { return k.Name + "\n" + k.Text }

// Result is the argument that the text computes.
func (k *RawKernel) Result() *Arg { return &k.Args[len(k.Args)-2] }
