// Creates a PIX and waits until it is paid: go run ./create ORDER CENTS
package main

import (
	"fmt"
	"os"
	"time"

	"quita.example/shop/quita"
)

func main() {
	if len(os.Args) != 3 || os.Args[1] == "" {
		quita.Stop(2, "usage: go run ./create ORDER CENTS")
	}
	order, cents := os.Args[1], quita.WholeCents(os.Args[2])
	request := map[string]any{
		"paymentMethod":     "pix",
		"amount":            cents, // 10000 is R$ 100,00
		"currency":          "BRL",
		"externalReference": order,
		"postbackUrl":       quita.Env("POSTBACK_URL", "http://127.0.0.1:8090/"),
		"paymentDetails": map[string]any{
			"firstName":    "Maria",
			"lastName":     "Silva",
			"document":     "52998224725",
			"documentType": "CPF",
			"email":        "maria@example.com",
			"phoneNumber":  "11987654321",
			"address": map[string]string{
				"street":       "Rua Augusta",
				"number":       "100",
				"neighborhood": "Consolação",
				"city":         "São Paulo",
				"state":        "SP",
				"zipCode":      "01304000",
			},
		},
	}
	var payment quita.Payment
	// The same key gets the same payment, however often this is sent.
	if err := quita.Call("POST", "/pay/payments", "order-"+order, request, &payment); err != nil {
		quita.Stop(1, err)
	}
	fmt.Println(payment.TransactionID, payment.Status)
	fmt.Println(payment.Pix.Code)
	// Webhooks tell you at once. Ask from time to time for what a webhook may have missed.
	for tries := 0; tries < 60 && payment.Status == "pending"; tries++ {
		time.Sleep(time.Second)
		if err := quita.Call("GET", "/pay/payments/"+payment.TransactionID, "", nil, &payment); err != nil {
			quita.Stop(1, err)
		}
	}
	fmt.Println(payment.TransactionID, payment.Status)
}
