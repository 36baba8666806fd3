package train

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"
)

// A number is a float64 that JSON has as a string if it is not finite: "NaN", "Inf", "-Inf".
type number float64

// MarshalJSON implements [json.Marshaler].
func (x number) MarshalJSON() ([]byte, error) {
	v := float64(x)
	switch {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 0):
		return []byte(strconv.Quote(map[bool]string{true: "Inf", false: "-Inf"}[v > 0])), nil
	}
	return json.Marshal(v)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (x *number) UnmarshalJSON(b []byte) error {
	text := string(b)
	if quoted, err := strconv.Unquote(text); err == nil {
		text = quoted
	}
	v, err := strconv.ParseFloat(text, 64)
	*x = number(v)
	return err
}

func (m Metrics) numbers() map[string]number {
	out := map[string]number{}
	for name, v := range m {
		out[name] = number(v)
	}
	return out
}

func metrics(m map[string]number) Metrics {
	out := Metrics{}
	for name, v := range m {
		out[name] = float64(v)
	}
	return out
}

// A stepLog writes JSON lines. The zero stepLog writes nothing.
type stepLog struct {
	file *os.File
	w    *bufio.Writer
	size int64 // bytes in the file and in w
	err  error // the first failure
}

// openLog opens a file, if path is not "", to go on after its first size bytes.
func openLog(path string, size int64) (*stepLog, error) {
	if path == "" {
		return &stepLog{}, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err == nil {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil {
			size = min(size, info.Size())
			if err = f.Truncate(size); err == nil {
				_, err = f.Seek(size, io.SeekStart)
			}
		}
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, fmt.Errorf("train: log: %w", err)
	}
	return &stepLog{file: f, w: bufio.NewWriter(f), size: size}, nil
}

// step logs the loss of a step.
func (l *stepLog) step(e entry, loss float64) {
	l.write(struct {
		Step  int    `json:"step"`
		Epoch int    `json:"epoch"`
		Loss  number `json:"loss"`
		LR    number `json:"lr"`
	}{e.step, e.epoch, number(loss), number(e.rate)})
}

// report logs the metrics of a report.
func (l *stepLog) report(step, epoch int, m Metrics) {
	l.write(struct {
		Step    int               `json:"step"`
		Epoch   int               `json:"epoch"`
		Time    time.Time         `json:"time"`
		Metrics map[string]number `json:"metrics"`
	}{step, epoch, time.Now().Round(time.Millisecond), m.numbers()})
}

func (l *stepLog) write(line any) {
	if l.file == nil || l.err != nil {
		return
	}
	var text []byte
	if text, l.err = json.Marshal(line); l.err == nil {
		l.size += int64(len(text)) + 1
		_, l.err = l.w.Write(append(text, '\n'))
	}
}

// flush writes all lines to the file.
func (l *stepLog) flush() error {
	if l.file == nil {
		return nil
	}
	if l.err == nil {
		l.err = l.w.Flush()
	}
	if l.err != nil {
		return fmt.Errorf("train: log: %w", l.err)
	}
	return nil
}

// close returns the bytes in the file.
func (l *stepLog) close() (size int64, err error) {
	if l.file == nil {
		return 0, nil
	}
	err = l.flush()
	if failed := l.file.Close(); err == nil {
		err = failed
	}
	return l.size, err
}
