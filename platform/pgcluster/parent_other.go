//go:build !linux

package pgcluster

import "syscall"

// endWithParent does nothing where the kernel has no parent-death signal: a server
// that is left behind is stopped by the next Start.
func endWithParent(*syscall.SysProcAttr) {}
