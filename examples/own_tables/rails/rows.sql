INSERT INTO accounts (id, name, created_at, updated_at) VALUES
    (1, 'North', '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
    (2, 'South', '2025-01-01 00:00:00', '2025-01-01 00:00:00');

INSERT INTO courses
    (id, account_id, slug, title, tagline, language, hidden, access_mode, created_at, updated_at, published_at, discarded_at) VALUES
    (1, 1, 'knots', 'Knots', 'Seven that hold', 'en', FALSE, 0,
     '2025-02-03 10:00:05', '2025-02-03 10:00:05', '2025-03-01 08:00:00', NULL),
    (2, 1, 'rowing', 'Rowing', NULL, 'en', TRUE, NULL,
     '2025-02-03 10:00:05.500000', '2025-02-03 10:00:05.500000', '2025-03-01 08:00:00.250000', NULL),
    (3, 1, 'sailing', 'Sailing', 'For the first summer', 'en', FALSE, 1,
     '2025-09-14 18:30:59.999999', '2025-09-14 18:30:59.999999', NULL, NULL),
    (4, 1, 'diving', 'Diving', NULL, 'en', FALSE, NULL,
     '2025-10-01 00:00:00', '2025-10-02 00:00:00', NULL, '2025-10-02 00:00:00'),
    (5, 2, 'knots', 'Knoten', NULL, 'de', FALSE, NULL,
     '2025-05-05 05:05:05', '2025-05-05 05:05:05', NULL, NULL);

INSERT INTO lessons (id, title, summary, body, created_at, updated_at) VALUES
    (1, 'Clove hitch', 'On a post', 'The API does not show this.', '2025-02-03 10:00:05', '2025-02-03 10:00:05'),
    (2, 'Bowline', 'A loop that holds', NULL, '2025-02-03 10:00:05', '2025-02-03 10:00:05'),
    (3, 'The wind', NULL, NULL, '2025-02-03 10:00:05', '2025-02-03 10:00:05');

INSERT INTO course_lessons (id, course_id, lesson_id, position) VALUES
    (1, 1, 2, 1), (2, 1, 1, 3), (3, 3, 3, 1), (4, 3, 2, 2), (5, 5, 2, 1);
