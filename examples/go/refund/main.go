// Gives money back and waits until it went: go run ./refund TRANSACTION_ID [CENTS]
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"quita.example/shop/quita"
)

func main() {
	log.SetFlags(0)
	id, meant := os.Args[1], "all"
	body := map[string]int{} // all that is left, or a part
	if len(os.Args) > 2 {
		cents, err := strconv.Atoi(os.Args[2])
		if err != nil {
			log.Fatal(err)
		}
		body["amount"], meant = cents, os.Args[2]
	}
	var refund quita.Refund
	// One key for each refund that you mean: sent again, it gives nothing back twice.
	key := "refund-" + id + "-" + meant
	if err := quita.Call("POST", "/pay/payments/"+id+"/refunds", key, body, &refund); err != nil {
		log.Fatal(err)
	}
	for tries := 0; tries < 60 && refund.Status == "processing"; tries++ {
		time.Sleep(time.Second)
		var payment quita.Payment
		if err := quita.Call("GET", "/pay/payments/"+id, "", nil, &payment); err != nil {
			log.Fatal(err)
		}
		for _, one := range payment.Refunds {
			if one.RefundID == refund.RefundID {
				refund = one
			}
		}
	}
	fmt.Println(refund.RefundID, refund.Amount, refund.Status)
}
