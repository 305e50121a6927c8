// Take a payment: decrypt an Apple Pay payment token through merchantkeyd's decryptor socket.
// usage: go run decrypt.go SOCKET TOKEN.json MERCHANT AMOUNT
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// problem is the body of an error.
type problem struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

type decrypted struct {
	PaymentData struct {
		TransactionAmount json.Number `json:"transactionAmount"`
	} `json:"paymentData"`
}

// client returns an HTTP client for a Unix socket. It keeps connections open between requests.
func client(socket string) *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	// Set MaxIdleConnsPerHost to the number of concurrent requests of your service. The default is 2.
	transport := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 16}
	return &http.Client{Transport: transport, Timeout: 15 * time.Second}
}

// postOnce sends a request and reads the complete response.
func postOnce(c *http.Client, path string, body []byte, idempotencyKey string) (*http.Response, []byte, error) {
	request, err := http.NewRequest(http.MethodPost, "http://localhost"+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", idempotencyKey)
	response, err := c.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response, answer, err
}

// post sends a request, and repeats it for up to 30 seconds as docs/errors.md says. It returns the status and the body.
func post(c *http.Client, path string, body []byte, idempotencyKey string) (int, []byte, error) {
	giveUp := time.Now().Add(30 * time.Second)
	for pause := 100 * time.Millisecond; ; pause = shorter(2*pause, 2*time.Second) {
		response, answer, err := postOnce(c, path, body, idempotencyKey)
		// If no complete response arrived, the identical request with the same key gets the same result.
		wait := pause
		if err == nil {
			var p problem
			_ = json.Unmarshal(answer, &p)
			if seconds, e := strconv.Atoi(response.Header.Get("Retry-After")); e == nil {
				wait = time.Duration(seconds) * time.Second
			} else if p.Code != "internalError" && p.Code != "requestTimeout" {
				return response.StatusCode, answer, nil
			}
		}
		if time.Now().Add(wait).After(giveUp) {
			if err != nil {
				return 0, nil, err
			}
			return response.StatusCode, answer, nil
		}
		time.Sleep(wait)
	}
}

func shorter(a, b time.Duration) time.Duration {
	if a < b {
		return a
	}
	return b
}

func run(socket, tokenFile, merchant, amount string) error {
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{
		"paymentData": json.RawMessage(token),
		"expected": map[string]any{
			"merchantIdentifier": merchant,
			"transactionAmount":  json.Number(amount), // in cents
			"currencyCode":       "840",               // US dollars, ISO 4217
		},
	})
	if err != nil {
		return err
	}
	// Each attempt to take a payment has its own random idempotency key. Store the key and the body with the attempt.
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return err
	}
	key := fmt.Sprintf("%x", random)
	status, answer, err := post(client(socket), "/v1/payment-tokens/decrypt", body, key)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		var p problem
		if err := json.Unmarshal(answer, &p); err != nil {
			return err
		}
		return fmt.Errorf("%d %s: %s", status, p.Code, p.Detail)
	}
	var d decrypted
	if err := json.Unmarshal(answer, &d); err != nil {
		return err
	}
	// The response holds the account number: pass it to the acquirer, and never log it.
	fmt.Println("amount:", d.PaymentData.TransactionAmount)
	return nil
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: decrypt SOCKET TOKEN.json MERCHANT AMOUNT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
