//! Makes untrusted texts safe for a terminal, and shortens long ones.

use std::borrow::Cow;

/// Returns `text` with hidden characters escaped, so that it cannot control a terminal or look like another text.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Returns whether [`printable`] escapes `character`: control characters, separators of lines and paragraphs, interlinear
/// annotations, and Unicode's property `Default_Ignorable_Code_Point`. Characters with this property are invisible if they
/// cannot be displayed: directional marks, joiners, fillers, variation selectors, tags, musical beams, and code points that
/// are reserved for more of them.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    matches!(character,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns `text` without its middle if it exceeds `max` bytes: a message begins with the problem and ends with the remedy.
#[must_use]
pub fn shortened(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let half = max / 2;
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let start = (0..=half).rev().find(is_boundary).unwrap_or(0);
    let end = (text.len() - half..text.len()).find(is_boundary).unwrap_or(text.len());
    Cow::Owned(format!("{} … {}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hidden_characters_are_escaped() {
        assert_eq!(printable("é \"q\" \\"), "é \"q\" \\");
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{85}"), "a\\u{1b}[2Jb\\nc\\u{85}");
        assert_eq!(
            printable("a\u{202e}b\u{2028}c\u{200b}d\u{2066}\u{feff}"),
            "a\\u{202e}b\\u{2028}c\\u{200b}d\\u{2066}\\u{feff}"
        );
        assert_eq!(
            printable("\u{e0041}\u{fe0f}\u{ad}\u{3164}\u{fff9}"),
            "\\u{e0041}\\u{fe0f}\\u{ad}\\u{3164}\\u{fff9}"
        );
        let visible = "e\u{301} हिन्दी עברית 日本語 🤗 \u{a0}\u{fffd}";
        assert_eq!(printable(visible), visible);
    }

    #[test]
    fn bidi_and_control_characters_are_hidden() {
        let bidi = ['\u{61c}', '\u{200e}', '\u{200f}']
            .into_iter()
            .chain('\u{202a}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}');
        for character in bidi.chain((0..=0x9f).filter_map(char::from_u32).filter(|character| character.is_control())) {
            assert!(is_hidden(character), "{character:?}");
        }
    }

    #[test]
    fn long_text_is_shortened_in_the_middle() {
        assert_eq!(shortened("12345678", 8), "12345678");
        assert_eq!(shortened("123456789", 8), "1234 … 6789");
        let long = "é".repeat(10_000);
        let short = shortened(&long, 101);
        assert!(short.len() < 110 && short.contains(" … "), "{short}");
    }
}
