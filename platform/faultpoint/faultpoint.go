// Package faultpoint ends the process at named points, so that the chaos harness
// can kill it right before and right after a commit or a publish, where a kill from
// outside hardly ever hits.
package faultpoint

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Variable switches points on: "name=probability,name=probability". Unset, as it is
// outside the harness, a point costs one map lookup.
const Variable = "FATHOM_FAULT_POINTS"

var probabilities = sync.OnceValue(func() map[string]float64 { return parse(os.Getenv(Variable)) })

// Pass kills the process, as kill -9 does, with the probability that is set for the
// point of this name.
func Pass(name string) {
	probability, set := probabilities()[name]
	if !set || rand.Float64() >= probability {
		return
	}
	process, err := os.FindProcess(os.Getpid())
	if err != nil {
		return
	}
	_ = process.Signal(syscall.SIGKILL)
	select {}
}

// parse leaves out what it can't read: a mistyped point must not stop production.
func parse(value string) map[string]float64 {
	points := make(map[string]float64)
	for _, entry := range strings.Split(value, ",") {
		name, number, found := strings.Cut(entry, "=")
		if !found {
			continue
		}
		probability, err := strconv.ParseFloat(number, 64)
		if err != nil {
			continue
		}
		points[strings.TrimSpace(name)] = probability
	}
	return points
}
