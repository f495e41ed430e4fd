package pgcluster

import "syscall"

// endWithParent lets the kernel send the server an immediate shutdown when this
// process dies in whatever way.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
