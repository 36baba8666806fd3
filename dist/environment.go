package dist

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"strconv"
	"strings"
)

// The variables of tensorken launch.
const secretVariable = "TENSORKEN_DIST_SECRET" // which all ranks of a job share

// maxRanks bounds the number of ranks.
const maxRanks = 1 << 16

// A setting is a launcher's message to a rank.
type setting struct {
	launcher   string
	rank, size int
	local      int
	master     string // host:port of rank 0
	secret     string
}

// A launcher is the names of variables, each a list of which the first that is set counts.
type launcher struct {
	name, rank, size, local string
	job                     string // identifies the job
}

var launchers = []launcher{
	{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"},
	{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_NAMESPACE OMPI_MCA_ess_base_jobid"},
	{"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "PMI_JOBID PMI_ID"},
	{"SLURM", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID"},
}

// fromEnvironment returns the setting of this process, of rank 0 of 1 without a launcher.
func fromEnvironment(get func(string) string) (setting, error) {
	for _, l := range launchers {
		if get(l.rank) == "" || get(l.size) == "" {
			continue
		}
		return l.setting(get)
	}
	return setting{launcher: "none", size: 1}, nil
}

func (l launcher) setting(get func(string) string) (s setting, err error) {
	s.launcher = l.name
	number := func(name string, most int) (n int) {
		v := get(name)
		n, failed := strconv.Atoi(v)
		if v == "" && name == l.local {
			return 0
		}
		if (failed != nil || n < 0 || n > most) && err == nil {
			err = fmt.Errorf("dist: the variable %s of %s is %q, want a number from 0 to %d", name, l.name, v, most)
		}
		return n
	}
	s.size = number(l.size, maxRanks)
	s.rank = number(l.rank, s.size-1)
	s.local = number(l.local, maxRanks)
	if err != nil || s.size == 1 {
		return s, err
	}
	job := ""
	for name := range strings.FieldsSeq(l.job) {
		job = cmp.Or(job, get(name))
	}
	s.secret = cmp.Or(get(secretVariable), job)
	host := cmp.Or(get("MASTER_ADDR"), firstHost(cmp.Or(get("SLURM_STEP_NODELIST"), get("SLURM_JOB_NODELIST"))))
	if host == "" && get("OMPI_COMM_WORLD_LOCAL_SIZE") == get(l.size) {
		host = "127.0.0.1"
	}
	if host == "" {
		return s, fmt.Errorf("dist: %s says that this is rank %d of %d, and nothing where rank 0 is: set MASTER_ADDR to its host", l.name, s.rank, s.size)
	}
	port, err := l.port(get, job)
	if err != nil {
		return s, err
	}
	s.master = net.JoinHostPort(host, strconv.Itoa(port))
	return s, nil
}

// port returns the port at which rank 0 listens.
func (l launcher) port(get func(string) string, job string) (int, error) {
	text := get("MASTER_PORT")
	if text == "" && job == "" {
		return 0, fmt.Errorf("dist: %s gives no port of rank 0: set MASTER_PORT", l.name)
	}
	if text == "" { // jobs that share a host get different ones
		h := fnv.New32a()
		h.Write([]byte(job + get("SLURM_STEP_ID")))
		return 20000 + int(h.Sum32()%10000), nil
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65534 {
		return 0, fmt.Errorf("dist: the variable MASTER_PORT is %q, want a port from 1 to 65534", text)
	}
	if get("TORCHELASTIC_USE_AGENT_STORE") == "True" { // torchrun itself listens at the port
		port++
	}
	return port, nil
}

// firstHost returns the first host of a list of SLURM's, such as "gpu[003-005,7],cpu1".
func firstHost(list string) string {
	prefix, rest, ranged := strings.Cut(list, "[")
	if first, _, several := strings.Cut(prefix, ","); several || !ranged {
		return first
	}
	numbers, rest, _ := strings.Cut(rest, "]")
	suffix, _, _ := strings.Cut(rest, ",")
	if i := strings.IndexAny(numbers, "-,"); i >= 0 {
		numbers = numbers[:i]
	}
	return prefix + numbers + firstHost(suffix)
}

// hostName is the name of this machine, for errors.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
