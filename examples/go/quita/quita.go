// Package quita calls Quita's API.
package quita

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
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
	request, err := http.NewRequest(method, Env("QUITA_URL", "http://127.0.0.1:8080")+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("QUITA_KEY"))
	request.Header.Set("Content-Type", "application/json")
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		var refusal struct{ Code, Message, RequestID string }
		if err := json.NewDecoder(response.Body).Decode(&refusal); err != nil {
			return err
		}
		return fmt.Errorf("%s: %s (requestId %s)", refusal.Code, refusal.Message, refusal.RequestID)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// Env reads a variable of the environment.
func Env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
