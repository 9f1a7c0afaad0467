// SPDX-License-Identifier: Apache-2.0

// xrate prints what one decision of golang.org/x/time/rate costs, in the form of
// bench/guard.c: thread CPU time, five runs, median and best.
package main

import (
	"fmt"
	"runtime"
	"sort"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/time/rate"
)

const (
	runs = 5
	n    = 1000000
)

func threadCPU() int64 {
	var t syscall.Timespec
	const clockThreadCPU = 3
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func once(l *rate.Limiter) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadCPU()
	for i := 0; i < n; i++ {
		l.Allow()
	}
	return float64(threadCPU()-start) / n
}

func report(name string, threads int, l *rate.Limiter) {
	var all []float64
	for r := 0; r < runs; r++ {
		var wait sync.WaitGroup
		got := make([]float64, threads)
		for t := 0; t < threads; t++ {
			wait.Add(1)
			go func(t int) {
				defer wait.Done()
				got[t] = once(l)
			}(t)
		}
		wait.Wait()
		sum := 0.0
		for _, v := range got {
			sum += v
		}
		all = append(all, sum/float64(threads))
	}
	sort.Float64s(all)
	fmt.Printf("%-42s %11.2f %11.2f  ns\n", name, all[runs/2], all[0])
}

func main() {
	report("x/time/rate Allow, burst 100, 50/s", 1, rate.NewLimiter(50, 100))
	report("x/time/rate Allow, granted", 1, rate.NewLimiter(1e9, 1e9))
	report("x/time/rate Allow, granted, 2 threads", 2, rate.NewLimiter(1e9, 1e9))
}
