//! Splits SQL into tokens: words, quoted names and texts, and symbols.

/// Returns the tokens of `sql`, without comments. A quoted name or text is one token.
pub(super) fn tokens(sql: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let is_part_of_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '\'' | '"' | '`' => quoted_length(rest, first),
            '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
            _ if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if rest.starts_with("||") => 2,
            _ if is_part_of_word(first) => rest.find(|c| !is_part_of_word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        if !first.is_whitespace() && !token.starts_with("--") && !token.starts_with("/*") {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

/// Returns the length up to the closing quote, which is the first one that is not doubled.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut end = 1;
    while let Some(position) = text[end..].find(quote) {
        end += position + 1;
        if !text[end..].starts_with(quote) {
            return end;
        }
        end += 1;
    }
    text.len()
}

/// Returns whether `token` is the keyword or name `word`, ignoring case.
pub(super) fn is_word(token: &str, word: &str) -> bool {
    token.eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokenizer_keeps_quoted_tokens_and_drops_comments() {
        let sql = "SELECT 'it''s', \"a b\", [c d] -- not, this\n || /* nor (this */ f(x, y)";
        let expected = ["SELECT", "'it''s'", ",", "\"a b\"", ",", "[c d]", "||", "f", "(", "x", ",", "y", ")"];
        assert_eq!(tokens(sql), expected);
        assert_eq!(tokens("'no end"), ["'no end"]);
    }
}
