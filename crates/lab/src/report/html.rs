//! Text that becomes HTML: what is not ours is escaped.

/// A page in the making.
#[derive(Debug, Default)]
pub(super) struct Html {
    pub(super) text: String,
}

impl Html {
    /// Adds markup of our own.
    pub(super) fn raw(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    /// Adds text. A number keeps its percent sign on the same line.
    pub(super) fn escaped(&mut self, text: &str) {
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                ' ' if characters.peek() == Some(&'%') => self.text.push_str("&nbsp;"),
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                '\'' => self.text.push_str("&#39;"),
                // HTML has no place for other control characters, not even as references.
                control if control.is_control() && control != '\n' && control != '\t' => {
                    self.text.push(char::REPLACEMENT_CHARACTER);
                }
                other => self.text.push(other),
            }
        }
    }

    /// Adds an element with text in it; `class` may be empty.
    pub(super) fn inline(&mut self, name: &str, class: &str, text: &str) {
        self.open(name, class);
        self.escaped(text);
        self.raw("</");
        self.raw(name);
        self.raw(">");
    }

    /// Likewise, on a line of its own.
    pub(super) fn element(&mut self, name: &str, class: &str, text: &str) {
        self.inline(name, class, text);
        self.raw("\n");
    }

    /// Opens an element.
    fn open(&mut self, name: &str, class: &str) {
        self.raw("<");
        self.raw(name);
        if !class.is_empty() {
            self.raw(" class=\"");
            self.escaped(class);
            self.raw("\"");
        }
        self.raw(">");
    }

    /// Opens a section that can be linked to, with its heading.
    pub(super) fn section(&mut self, id: &str, title: &str) {
        self.raw(&format!("<section id=\"{id}\">\n"));
        self.element("h2", "", title);
    }

    /// Adds an entry of a list that leads to a section.
    pub(super) fn link(&mut self, id: &str, text: &str) {
        self.raw(&format!("<li><a href=\"#{id}\">"));
        self.escaped(text);
        self.raw("</a></li>\n");
    }
}

/// A name as an identifier: letters, digits and hyphens.
pub(super) fn id(name: &str) -> String {
    let known = |character: char| character.is_ascii_alphanumeric() || character == '-';
    let id: String = name
        .chars()
        .map(|character| if known(character) { character } else { '-' })
        .collect();
    format!("e-{id}")
}
