//! Texts from outside, made fit for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;

/// The text with control characters and those without a shape escaped: it steers no terminal, and looks like no other.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Returns `value` as JSON, in which the same characters are escaped as [`printable`] escapes.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let text = serde_json::to_string(value)?;
    if !text.contains(is_hidden) {
        return Ok(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(shown, "\\u{unit:04x}").expect("a String takes all");
            }
        } else {
            shown.push(character);
        }
    }
    Ok(shown)
}

/// Control characters, the separators of lines and paragraphs, and what Unicode says is ignored where it cannot be shown
/// (the property `Default_Ignorable_Code_Point`, which has room for those to come): directions of writing, joiners, fillers,
/// variation selectors, tags. Annotations and musical beams are here for the same reason.
fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    matches!(character,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text without its middle beyond `longest` bytes: what is wrong stands before it, and what would be right behind it.
pub(crate) fn shortened(text: &str, longest: usize) -> Cow<'_, str> {
    if text.len() <= longest {
        return Cow::Borrowed(text);
    }
    let half = longest / 2;
    let (start, end) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    Cow::Owned(format!("{} … {}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_or_hides_is_escaped_and_nothing_else() {
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
        let shown = "e\u{301} हिन्दी עברית 日本語 🤗 \u{a0}\u{fffd}";
        assert_eq!(printable(shown), shown);
    }

    #[test]
    fn json_is_escaped_and_means_the_same() {
        let strange = "\u{7f}\u{9b}\u{202e}\u{e0041}\n\u{e9}\u{1f917}\"";
        let text = json(&[strange]).unwrap();
        assert_eq!(text, "[\"\\u007f\\u009b\\u202e\\udb40\\udc41\\n\u{e9}\u{1f917}\\\"\"]");
        assert_eq!(serde_json::from_str::<[String; 1]>(&text).unwrap(), [strange]);
        assert_eq!(json("e\u{301}").unwrap(), "\"e\u{301}\"");
    }

    #[test]
    fn directions_and_separators_are_all_known() {
        let bidi = ['\u{61c}', '\u{200e}', '\u{200f}']
            .into_iter()
            .chain('\u{202a}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}');
        for character in bidi.chain((0..=0x9f).filter_map(char::from_u32).filter(|character| character.is_control())) {
            assert!(is_hidden(character), "{character:?}");
        }
    }

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shortened("12345678", 8), "12345678");
        assert_eq!(shortened("123456789", 8), "1234 … 6789");
        let long = "é".repeat(10_000);
        let short = shortened(&long, 101);
        assert!(short.len() < 110 && short.contains(" … "), "{short}");
    }
}
