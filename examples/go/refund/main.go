// Gives money back and waits until it went: go run ./refund TRANSACTION_ID [CENTS]
package main

import (
	"fmt"
	"os"
	"time"

	"quita.example/shop/quita"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 || os.Args[1] == "" {
		quita.Stop(2, "usage: go run ./refund TRANSACTION_ID [CENTS]")
	}
	id, meant := os.Args[1], "all"
	body := map[string]int64{} // all that is left, or a part
	if len(os.Args) > 2 {
		meant = os.Args[2]
		body["amount"] = quita.WholeCents(meant)
	}
	var refund quita.Refund
	// The key belongs to the wish to refund: sent again, it gives nothing back twice. This one is the same for the same
	// sum. A shop that gives back R$ 4,00 twice numbers its wishes in its store: "refund-" + wishID.
	key := "refund-" + id + "-" + meant
	if err := quita.Call("POST", "/pay/payments/"+id+"/refunds", key, body, &refund); err != nil {
		quita.Stop(1, err)
	}
	for tries := 0; tries < 60 && refund.Status == "processing"; tries++ {
		time.Sleep(time.Second)
		var payment quita.Payment
		if err := quita.Call("GET", "/pay/payments/"+id, "", nil, &payment); err != nil {
			quita.Stop(1, err)
		}
		for _, one := range payment.Refunds {
			if one.RefundID == refund.RefundID {
				refund = one
			}
		}
	}
	fmt.Println(refund.RefundID, refund.Amount, refund.Status)
}
