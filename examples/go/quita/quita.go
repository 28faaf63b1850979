// Package quita calls Quita's API, and ends the programs when something is wrong.
package quita

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"time"
)

var client = http.Client{Timeout: 30 * time.Second}

// Payment is what a shop reads of a payment.
type Payment struct {
	TransactionID string   `json:"transactionId"`
	Status        string   `json:"status"`
	Pix           Pix      `json:"pix"`
	Refunds       []Refund `json:"refunds"`
}

// Pix is what a PIX is paid with.
type Pix struct {
	Code string `json:"code"`
}

// Refund is money given back, or on its way.
type Refund struct {
	RefundID string `json:"refundId"`
	Amount   string `json:"amount"`
	Status   string `json:"status"`
}

// Call sends a request under an idempotency key, if there is one, and reads the answer into answer.
func Call(method, path, idempotencyKey string, body, answer any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	url, key := Env("QUITA_URL", "http://127.0.0.1:8080"), os.Getenv("QUITA_KEY")
	if key == "" {
		Stop(2, "QUITA_KEY is not set; it is an API key of yours")
	}
	request, err := http.NewRequest(method, url+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("no answer of Quita's from %s: %w", url, err)
	}
	defer response.Body.Close()
	if ignored := response.Header.Get("Quita-Ignored"); ignored != "" {
		fmt.Fprintln(os.Stderr, "Quita-Ignored:", ignored)
	}
	if response.Header.Get("Idempotency-Replayed") != "" {
		fmt.Fprintln(os.Stderr, "Idempotency-Replayed: this key was used before, nothing new was done")
	}
	var refusal struct{ Code, Message, RequestID string }
	if response.StatusCode >= 400 {
		answer = &refusal
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return fmt.Errorf("no answer of Quita's from %s: %w", url, err)
	}
	if response.StatusCode >= 400 {
		return fmt.Errorf("%s: %s (requestId %s)", refusal.Code, refusal.Message, refusal.RequestID)
	}
	return nil
}

var wholeCents = regexp.MustCompile("^[1-9][0-9]{0,9}$")

// WholeCents reads an amount in cents. What has a comma or a point in it is refused: it would be another amount.
func WholeCents(text string) int64 {
	cents, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !wholeCents.MatchString(text) {
		Stop(2, fmt.Sprintf("%q is no amount in whole cents, such as 1050 for R$ 10,50", text))
	}
	return cents
}

// Stop ends the program with one line and this exit code.
func Stop(code int, line any) {
	fmt.Fprintln(os.Stderr, line)
	os.Exit(code)
}

// Env reads a variable of the environment.
func Env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
