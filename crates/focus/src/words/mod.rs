//! The words of a text, in any language.
