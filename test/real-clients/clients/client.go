// Go's net/http and bufio.Scanner. Its transport asks for gzip by itself, unless the header is set.
package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	url, coding := os.Args[1], os.Args[2]
	request, err := http.NewRequest("POST", url, strings.NewReader(`{"text":"Hi"}`))
	if err != nil {
		panic(err)
	}
	request.Header.Set("content-type", "application/json")
	if coding == "identity" {
		request.Header.Set("accept-encoding", coding)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		fmt.Println(lines.Text())
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}
