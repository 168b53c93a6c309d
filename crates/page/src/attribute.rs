//! The attributes of one tag, read from the bytes of the page without a copy.
//!
//! HTML standard, sections 13.2.5.32 to 13.2.5.40; the "get an attribute" steps of the charset prescan (13.2.3.2) differ from
//! them in nothing that is visible here. Names and values are raw bytes: neither decoded nor unescaped.

use memchr::memchr;

/// Reads one attribute after the other; begins right after the tag's name.
#[derive(Clone, Debug)]
pub(crate) struct Attributes<'a> {
    rest: &'a [u8],
}

/// One attribute; without a value in the source, its value is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attribute<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) value: &'a [u8],
}

impl<'a> Attributes<'a> {
    /// `after_name` is the source from the end of the tag's name on; it may reach beyond the tag's `>`.
    pub(crate) fn new(after_name: &'a [u8]) -> Self {
        Self { rest: after_name }
    }

    /// What has not been read yet; once the attributes are used up, it begins with the tag's `>`, or is empty.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The values of the named attributes; of several with one name the first counts.
    pub(crate) fn pick<const N: usize>(self, names: [&str; N]) -> [Option<&'a [u8]>; N] {
        let mut values = [None; N];
        for attribute in self {
            let wanted = names
                .iter()
                .position(|name| attribute.name.eq_ignore_ascii_case(name.as_bytes()));
            if let Some(index) = wanted
                && values[index].is_none()
            {
                values[index] = Some(attribute.value);
            }
        }
        values
    }

    fn skip_while(&mut self, condition: impl Fn(u8) -> bool) {
        let skipped = self.rest.iter().take_while(|byte| condition(**byte));
        self.rest = &self.rest[skipped.count()..];
    }

    /// Takes the bytes up to the first that ends them, and leaves that one.
    fn take_until(&mut self, is_end: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| is_end(*byte));
        let (taken, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// Reads a value in quotes; without a closing quote the tag never ends, so there is no value.
    fn quoted(&mut self, quote: u8) -> Option<&'a [u8]> {
        let Some(end) = memchr(quote, &self.rest[1..]) else {
            self.rest = &[];
            return None;
        };
        let value = &self.rest[1..=end];
        self.rest = &self.rest[end + 2..];
        Some(value)
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        self.skip_while(|byte| is_space(byte) || byte == b'/');
        if matches!(self.rest, [] | [b'>', ..]) {
            return None;
        }
        let whole = self.rest;
        // A name may begin with `=`, but not go on with it.
        self.rest = &self.rest[1..];
        let tail = self.take_until(|byte| is_space(byte) || matches!(byte, b'/' | b'>' | b'='));
        let name = &whole[..=tail.len()];
        self.skip_while(is_space);
        if self.rest.first() != Some(&b'=') {
            return Some(Attribute { name, value: b"" });
        }
        self.rest = &self.rest[1..];
        self.skip_while(is_space);
        let value = match self.rest {
            [quote @ (b'"' | b'\''), ..] => self.quoted(*quote)?,
            _ => self.take_until(|byte| is_space(byte) || byte == b'>'),
        };
        Some(Attribute { name, value })
    }
}

/// ASCII white space as HTML has it: also the form feed, not the vertical tab.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(source: &str, expected: &[(&str, &str)]) {
        let found: Vec<_> = Attributes::new(source.as_bytes())
            .map(|attribute| {
                let text = |bytes| std::str::from_utf8(bytes).unwrap();
                (text(attribute.name), text(attribute.value))
            })
            .collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn attributes_follow_the_standard() {
        check("", &[]);
        check(">", &[]);
        check(" href=a>b", &[("href", "a")]);
        check(r#" href="a" rel='b'>"#, &[("href", "a"), ("rel", "b")]);
        check(r#" href="a"rel=b>"#, &[("href", "a"), ("rel", "b")]);
        check(" href = \n a/b/ >", &[("href", "a/b/")]);
        check(" href=>x", &[("href", "")]);
        check(
            " a b=1 c/d>",
            &[("a", ""), ("b", "1"), ("c", ""), ("d", "")],
        );
        check(" =x=y>", &[("=x", "y")]);
        check(" a=\"x>y\">", &[("a", "x>y")]);
        check(" a=x\"y'z>", &[("a", "x\"y'z")]);
        check(" a='never closed>", &[]);
        check(" a=''>", &[("a", "")]);
    }

    #[test]
    fn the_first_of_several_counts_whatever_its_case() {
        let attributes = Attributes::new(b" HREF=1 href=2 Rel=x>");
        let [href, rel, none] = attributes.pick(["href", "rel", "src"]);
        assert_eq!((href, rel, none), (Some(&b"1"[..]), Some(&b"x"[..]), None));
    }

    proptest! {
        #[test]
        fn any_bytes_come_to_an_end(bytes: Vec<u8>) {
            let mut attributes = Attributes::new(&bytes);
            let count = attributes.by_ref().count();
            prop_assert!(count <= bytes.len());
            prop_assert!(matches!(attributes.rest(), [] | [b'>', ..]));
        }
    }
}
