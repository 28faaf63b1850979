<?php
// Receives webhooks and checks their signatures: php -S 127.0.0.1:8090 webhook.php

declare(strict_types=1);

const MAX_AGE_S = 5 * 60;

/** Says whether Quita sent this, lately. */
function is_genuine(string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $sentAt = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($sentAt) || abs(time() - (int) $sentAt) > MAX_AGE_S) {
        return false;
    }
    $secret = base64_decode(substr((string) getenv('QUITA_SECRET'), strlen('whsec_')), true);
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sentAt.$body", $secret, true));
    // While a secret is being replaced there are two signatures.
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $sent) {
        if (hash_equals($expected, $sent)) {
            return true;
        }
    }
    return false;
}

$body = (string) file_get_contents('php://input');
if (!is_genuine($body)) {
    http_response_code(401);
    return;
}
$event = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
// An event may come twice: keep its webhook-id with what you do for it, in one transaction.
$line = "{$_SERVER['HTTP_WEBHOOK_ID']} {$event['mode']} {$event['event']} {$event['transactionId']}\n";
file_put_contents('php://stdout', $line);
// Ship nothing unless mode is "live" and test is not true: else nobody paid.
http_response_code(200);
