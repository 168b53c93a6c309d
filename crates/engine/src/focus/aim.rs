//! What a run of the crawler is for.

/// What a run of the crawler is for. Not a setting: the command says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Aim {
    /// To visit what is in scope, and to keep it fresh.
    #[default]
    Everything,
    /// To find out which sites hold what is wanted.
    Explore {
        /// Pages to fetch in all runs of this archive together; none where the settings say how many for each site.
        fetches: Option<u64>,
    },
    /// To collect what is wanted.
    Collect {
        /// From these sites; from all that were found to hold it, if none is named.
        sites: Vec<String>,
    },
}

impl Aim {
    /// Whether the run is for what is wanted alone.
    #[must_use]
    pub fn is_focused(&self) -> bool {
        *self != Aim::Everything
    }
}
