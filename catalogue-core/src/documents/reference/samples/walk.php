<?php
$first = 'REQUEST_URL';
$context = stream_context_create(['http' => [
    'header' => 'Authorization: Bearer ' . getenv('API_KEY'),
]]);
$url = $first;
while ($url) {
    $body = file_get_contents($url, false, $context);
    if ($body === false) exit(1);
    $page = json_decode($body);
    foreach ($page->data as $course) {
        if (!$course->publishedAt || $course->hidden) continue;
        echo json_encode($course), "\n";
    }
    $cursor = $page->meta->nextCursor;
    $url = $cursor ? "$first&cursor=$cursor" : null;
}
