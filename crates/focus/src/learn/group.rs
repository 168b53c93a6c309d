//! The kinds of features that a page has, each of which can be switched off.

use serde::{Deserialize, Serialize};

/// A kind of feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Words of the title.
    Title,
    /// Words of the text.
    Text,
    /// Parts of the page's URL.
    Url,
    /// Words of the links' texts.
    LinkText,
    /// What kinds of files the links lead to, and how many of each.
    LinkType,
    /// How much of the text is numbers and years, and whether data sets are declared.
    Shape,
}

impl Group {
    /// How many there are.
    pub(super) const COUNT: usize = Self::ALL.len();

    /// Every group, in order.
    pub const ALL: [Self; 6] = [
        Self::Title,
        Self::Text,
        Self::Url,
        Self::LinkText,
        Self::LinkType,
        Self::Shape,
    ];

    /// What it is called, in settings and explanations.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Text => "text",
            Self::Url => "url",
            Self::LinkText => "link-text",
            Self::LinkType => "link-type",
            Self::Shape => "shape",
        }
    }

    /// Its place in [`ALL`](Self::ALL).
    pub(super) fn index(self) -> usize {
        match self {
            Self::Title => 0,
            Self::Text => 1,
            Self::Url => 2,
            Self::LinkText => 3,
            Self::LinkType => 4,
            Self::Shape => 5,
        }
    }
}

/// The groups that are looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Groups(Vec<Group>);

impl Groups {
    /// The given ones; of several that are the same, one counts.
    #[must_use]
    pub fn of(groups: &[Group]) -> Self {
        let mut groups = groups.to_vec();
        groups.sort_unstable();
        groups.dedup();
        Self(groups)
    }

    /// Whether a group is looked at.
    #[must_use]
    pub fn has(&self, group: Group) -> bool {
        self.0.contains(&group)
    }

    /// The groups that are looked at, in order.
    pub fn iter(&self) -> impl Iterator<Item = Group> {
        self.0.iter().copied()
    }
}

impl Default for Groups {
    fn default() -> Self {
        Self::of(&Group::ALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_knows_its_place() {
        for (index, group) in Group::ALL.into_iter().enumerate() {
            assert_eq!(group.index(), index);
            assert!(Groups::default().has(group));
            let name = serde_json::to_string(&group).unwrap();
            assert_eq!(name, format!("\"{}\"", group.name()));
        }
    }

    #[test]
    fn a_group_can_be_left_out() {
        let groups = Groups::of(&[Group::Url, Group::Title, Group::Url]);
        assert_eq!(
            groups.iter().collect::<Vec<_>>(),
            [Group::Title, Group::Url]
        );
        assert!(!groups.has(Group::Text));
    }
}
