package storage

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
)

// StoreApart stores computed nodes as a plan stores results that differ: each has a buffer
// of its own, in row-major order from the start. So a plan that reads them has the key of
// one that reads such results in their place. It copies constants, which store one element,
// views, and the elements that a plan found equal and stored once.
func StoreApart(nodes []*graph.Node) error {
	owner := map[graph.Store]*graph.Node{}
	for _, n := range nodes {
		v := n.Value()
		if n.Len() == 0 || owner[v.Store] == n {
			continue
		}
		if owner[v.Store] == nil && v.Offset == 0 && shape.IsRowMajor(n.Shape, v.Strides) {
			owner[v.Store] = n
			continue
		}
		data, err := Read(n)
		if err != nil {
			return err
		}
		s := &Storage{host: data}
		if d := Of(v).device; d != nil {
			if s, err = d.store(data); err != nil {
				return d.Failed(err)
			}
		}
		n.MoveValue(&graph.Value{Store: s, Strides: shape.RowMajor(n.Shape)})
		owner[s] = n
	}
	return nil
}

// store returns a storage of host data on the device.
func (d *Device) store(data []byte) (*Storage, error) {
	d.Queue.Lock()
	defer d.Queue.Unlock()
	on, err := d.upload(data)
	if err != nil {
		return nil, err
	}
	return on.storage(), nil
}
