// Take a payment: decrypt an Apple Pay payment token through merchantkeyd's decryptor socket.
// usage: go run decrypt.go SOCKET TOKEN.json MERCHANT AMOUNT
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

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
	return &http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: 10 * time.Second}
}

func post(c *http.Client, path string, body []byte, idempotencyKey string) (*http.Response, error) {
	request, err := http.NewRequest(http.MethodPost, "http://localhost"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", idempotencyKey)
	return c.Do(request)
}

func run(socket, tokenFile, merchant, amount string) error {
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{
		"paymentData": json.RawMessage(token),
		"expected":    map[string]any{"merchantIdentifier": merchant, "transactionAmount": json.Number(amount)},
	})
	if err != nil {
		return err
	}
	// Each attempt to take a payment has its own random idempotency key. Store this key with the attempt.
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return err
	}
	key := fmt.Sprintf("%x", random)
	c := client(socket)
	response, err := post(c, "/v1/payment-tokens/decrypt", body, key)
	if err != nil {
		// If no response arrives, the identical request with the same idempotency key gets the same result.
		response, err = post(c, "/v1/payment-tokens/decrypt", body, key)
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var p problem
		if err := json.NewDecoder(response.Body).Decode(&p); err != nil {
			return err
		}
		return fmt.Errorf("%d %s: %s", response.StatusCode, p.Code, p.Detail)
	}
	var answer decrypted
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	// The response holds the account number: pass it to the acquirer, and never log it.
	fmt.Println("amount:", answer.PaymentData.TransactionAmount)
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
