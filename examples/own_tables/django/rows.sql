INSERT INTO auth_user (id, username, email, is_active) VALUES
    (1, 'north', 'north@example.org', TRUE),
    (2, 'south', 'south@example.org', TRUE),
    (3, 'former', 'former@example.org', FALSE);

INSERT INTO courses_course
    (id, owner_id, slug, title, tagline, language, created_at, published_at, is_hidden, is_deleted, access) VALUES
    (1, 1, 'knots', 'Knots', 'Seven that hold', 'en', '2025-02-03 10:00:05', '2025-03-01 08:00:00', FALSE, FALSE, 'free'),
    (2, 1, 'rowing', 'Rowing', '', 'en', '2025-02-03 10:00:05.500000', '2025-03-01 08:00:00.250000', TRUE, FALSE, ''),
    (3, 1, 'sailing', 'Sailing', 'For the first summer', 'en', '2025-09-14 18:30:59.999999', NULL, FALSE, FALSE, 'members'),
    (4, 1, 'diving', 'Diving', '', 'en', '2025-10-01 00:00:00', NULL, FALSE, TRUE, ''),
    (5, 2, 'knots', 'Knoten', '', 'de', '2025-05-05 05:05:05', NULL, FALSE, FALSE, '');

INSERT INTO courses_module (id, course_id, "order", title, summary, body) VALUES
    (1, 1, 0, 'Bowline', 'A loop that holds', 'The API does not show this.'),
    (2, 1, 2, 'Clove hitch', 'On a post', 'Nor this.'),
    (3, 3, 0, 'The wind', '', '');
