package page

import (
	"errors"
	"strings"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/webgpu"
)

// Devices are those that a page offers: the CPU, and the GPU if there is one.
type Devices struct {
	gpu *tensor.Device // nil while it is not open
}

// The names of devices in messages.
const (
	CPU = "cpu"
	GPU = "gpu"
)

// Announce tells the page, by message "devices", which GPU there is, or the reason for
// none.
func (d *Devices) Announce(p *Port) {
	m := struct {
		GPU      string
		Software bool   // it computes on the CPU
		Why      string // why there is no GPU
	}{}
	if list, err := webgpu.Adapters(); err != nil {
		m.Why = line(err)
	} else {
		m.GPU, m.Software = list[0].Name, list[0].Software
	}
	p.Send("devices", m)
}

// Open returns a device by name.
func (d *Devices) Open(name string) (_ *tensor.Device, err error) {
	if name != GPU {
		return tensor.CPU(), nil
	}
	if d.gpu == nil {
		d.gpu, err = webgpu.Open(&webgpu.Options{Software: true})
	}
	return d.gpu, err
}

// Failed reports whether an error is a failure of the GPU, in work on a device of that name.
func Failed(name string, err error) bool {
	failure := (*tensor.DeviceError)(nil)
	return name == GPU && errors.As(err, &failure)
}

// Reopen closes a GPU that failed, and opens it again. Where that fails it returns the CPU. It
// tells the page by message "reopened".
func (d *Devices) Reopen(p *Port, cause error) (name string, dev *tensor.Device) {
	if d.gpu != nil {
		d.gpu.Close()
		d.gpu = nil
	}
	name = GPU
	dev, err := d.Open(name)
	if err != nil {
		name, dev = CPU, tensor.CPU()
	}
	p.Send("reopened", map[string]string{"device": name, "cause": line(cause)})
	return name, dev
}

// line returns the first line of an error, without the period at its end, for a sentence.
func line(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(s, ".")
}
