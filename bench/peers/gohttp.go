// SPDX-License-Identifier: Apache-2.0

// gohttp LIST N [unpack] fetches the URLs of a file with Go's net/http, N in flight, on one
// thread, and prints how many were 200 and whole.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

func fetch(client *http.Client, url string) bool {
	r, err := client.Get(url)
	if err != nil {
		return false
	}
	defer r.Body.Close()
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil && r.StatusCode == 200
}

func main() {
	runtime.GOMAXPROCS(1)
	n, _ := strconv.Atoi(os.Args[2])
	list, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConns: n, MaxIdleConnsPerHost: n, MaxConnsPerHost: n, DisableCompression: len(os.Args) < 4}}
	urls := make(chan string, n)
	var ok int64
	var all sync.WaitGroup
	for i := 0; i < n; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for url := range urls {
				if fetch(client, url) {
					atomic.AddInt64(&ok, 1)
				}
			}
		}()
	}
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		urls <- lines.Text()
	}
	close(urls)
	all.Wait()
	fmt.Println(ok)
}
