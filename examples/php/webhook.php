<?php
// Receives webhooks and checks their signatures: php -S 127.0.0.1:8090 webhook.php

declare(strict_types=1);

const MAX_AGE_S = 5 * 60;

/** Reads the newest secret; null if there is none. With an empty one, anybody could sign. */
function secret(): ?string
{
    $newest = preg_split('/\s+/', trim((string) getenv('QUITA_SECRET')))[0];
    $secret = (string) base64_decode(substr($newest, strlen('whsec_')), true);
    if (strlen($secret) >= 24 && str_starts_with($newest, 'whsec_')) {
        return $secret;
    }
    $wrong = $newest === '' ? 'not set' : 'no webhook secret';
    say("QUITA_SECRET is $wrong; it is what `quita secrets show --merchant …` prints");
    return null;
}

/** Says whether Quita sent this, lately. */
function is_genuine(string $secret, string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $sentAt = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($sentAt) || abs(time() - (int) $sentAt) > MAX_AGE_S) {
        return false;
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sentAt.$body", $secret, true));
    // While a secret is being replaced there are two signatures.
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $sent) {
        if (hash_equals($expected, $sent)) {
            return true;
        }
    }
    return false;
}

function say(string $line): void
{
    file_put_contents('php://stderr', "$line\n");
}

$secret = secret();
if ($secret === null) {
    http_response_code(500);
    return;
}
$body = (string) file_get_contents('php://input');
if (!is_genuine($secret, $body)) {
    say('signature is bad: is QUITA_SECRET the one of this mode, and the clock right?');
    http_response_code(401);
    return;
}
$event = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
// An event may come twice: keep its webhook-id with what you do for it, in one transaction.
$line = "{$_SERVER['HTTP_WEBHOOK_ID']} {$event['mode']} {$event['event']} {$event['transactionId']}\n";
file_put_contents('php://stdout', $line);
// Ship nothing unless mode is "live" and test is not true: else nobody paid.
http_response_code(200);
