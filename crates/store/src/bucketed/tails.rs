//! What to believe of the files beyond what the manifest names.

/// What to believe of the files beyond the lengths `L` that the manifest names. Default lengths stand for "no manifest yet".
#[derive(Debug)]
pub enum Tails<'a, L> {
    /// After a kill, in the same boot of the machine: the system still wrote what it was given. Whole frames are kept, a torn end is cut.
    Keep(&'a L),
    /// After a power loss, what was not made durable may be missing anywhere: all of it is cut.
    Cut(&'a L),
}

impl<'a, L> Tails<'a, L> {
    /// What the manifest names.
    pub(crate) fn lengths(self) -> &'a L {
        let (Tails::Keep(lengths) | Tails::Cut(lengths)) = self;
        lengths
    }

    /// Whether what the manifest does not name may count all the same.
    pub(crate) fn are_kept(self) -> bool {
        match self {
            Tails::Keep(_) => true,
            Tails::Cut(_) => false,
        }
    }
}

// By hand: derived, they would ask the same of the lengths.
impl<L> Clone for Tails<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Tails<'_, L> {}
