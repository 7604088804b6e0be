<?php
// PHP's extension curl (php-curl), with CURLOPT_WRITEFUNCTION.
[, $url, $coding] = $argv;
$rest = "";
$handle = curl_init($url);
curl_setopt_array($handle, [
    CURLOPT_POSTFIELDS => '{"text":"Hi"}',
    CURLOPT_HTTPHEADER => ["content-type: application/json"],
    CURLOPT_ENCODING => $coding,
    CURLOPT_WRITEFUNCTION => function ($handle, $piece) use (&$rest) {
        $lines = explode("\n", $rest . $piece);
        $rest = array_pop($lines);
        foreach ($lines as $line) {
            echo "$line\n";
        }
        return strlen($piece);
    },
]);
if (!curl_exec($handle)) {
    throw new Exception(curl_error($handle));
}
