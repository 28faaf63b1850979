// Receives webhooks and checks their signatures: go run ./webhook
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const maxAge = 5 * time.Minute

// isGenuine says whether Quita sent this, lately.
func isGenuine(secret []byte, header http.Header, body []byte) bool {
	id, sentAt := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if err != nil || math.Abs(time.Since(time.Unix(seconds, 0)).Seconds()) > maxAge.Seconds() {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, sentAt, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// While a secret is being replaced there are two signatures.
	for _, sent := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(expected), []byte(sent)) {
			return true
		}
	}
	return false
}

// readSecret reads the newest secret. With an empty one, anybody could sign.
func readSecret(text string) []byte {
	newest := append(strings.Fields(text), "")[0]
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(newest, "whsec_"))
	if err != nil || len(secret) < 24 || !strings.HasPrefix(newest, "whsec_") {
		wrong := "no webhook secret"
		if newest == "" {
			wrong = "not set"
		}
		log.Printf("QUITA_SECRET is %s; it is what `quita secrets show --merchant …` prints", wrong)
		os.Exit(2)
	}
	return secret
}

func main() {
	log.SetFlags(0)
	secret := readSecret(os.Getenv("QUITA_SECRET"))
	port := os.Getenv("PORT")
	if port == "" {
		port = "8090"
	}
	receive := func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil || !isGenuine(secret, request.Header, body) {
			log.Print("signature is bad: is QUITA_SECRET the one of this mode, and the clock right?")
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		var event struct{ Mode, Event, TransactionID string }
		if err := json.Unmarshal(body, &event); err != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		// An event may come twice: keep its webhook-id with what you do for it, in one transaction.
		fmt.Println(request.Header.Get("webhook-id"), event.Mode, event.Event, event.TransactionID)
		// Ship nothing unless the mode is "live" and the event is no test: else nobody paid.
		response.WriteHeader(http.StatusOK)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, http.HandlerFunc(receive)))
}
