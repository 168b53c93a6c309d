//! Bugs that can be planted, to find out whether the checks find them.

/// A mistake that the simulation makes on purpose, in the disk, the machine, the workers or the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each says what it does by `Bug::words`")]
pub enum Bug {
    SyncAllLost,
    SyncAllLate,
    LogsBuffered,
    StatesBuffered,
    EntriesBuffered,
    ServersBuffered,
    CapturesBuffered,
    PausedLost,
    ScopeLost,
    FullDiskDropsWrites,
    LogTailCut,
    JournalTailCut,
    BacklogTailCut,
    SegmentDropped,
    SeenForgotten,
    LeaseEndsAtStart,
    EndToldEarly,
    RetryAfterDropped,
    StartsBeforeItsTime,
    AddressPerName,
    RobotsIgnored,
    ReportLost,
    LinkReplaced,
    CaptureAfterReport,
    LinksDropped,
    BootNeverChanges,
    BootAlwaysChanges,
    ServersForgotten,
    ClockFollowsWall,
    WriteDownSkipped,
    CheckpointSkipped,
    StateForgotten,
    ServersNotShared,
    LinksConfirmedEarly,
    OutboxBuffered,
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 35] = [
        Bug::SyncAllLost,
        Bug::SyncAllLate,
        Bug::LogsBuffered,
        Bug::StatesBuffered,
        Bug::EntriesBuffered,
        Bug::ServersBuffered,
        Bug::CapturesBuffered,
        Bug::PausedLost,
        Bug::ScopeLost,
        Bug::FullDiskDropsWrites,
        Bug::LogTailCut,
        Bug::JournalTailCut,
        Bug::BacklogTailCut,
        Bug::SegmentDropped,
        Bug::SeenForgotten,
        Bug::LeaseEndsAtStart,
        Bug::EndToldEarly,
        Bug::RetryAfterDropped,
        Bug::StartsBeforeItsTime,
        Bug::AddressPerName,
        Bug::RobotsIgnored,
        Bug::ReportLost,
        Bug::LinkReplaced,
        Bug::CaptureAfterReport,
        Bug::LinksDropped,
        Bug::BootNeverChanges,
        Bug::BootAlwaysChanges,
        Bug::ServersForgotten,
        Bug::ClockFollowsWall,
        Bug::WriteDownSkipped,
        Bug::CheckpointSkipped,
        Bug::StateForgotten,
        Bug::ServersNotShared,
        Bug::LinksConfirmedEarly,
        Bug::OutboxBuffered,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> String {
        let mut name = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_ascii_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }

    /// The bug of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Bug> {
        Bug::ALL.into_iter().find(|bug| bug.name() == name)
    }

    /// How many partitions a crawl must have to show it.
    #[must_use]
    pub fn partitions(self) -> u32 {
        match self {
            Bug::ServersNotShared | Bug::LinksConfirmedEarly | Bug::OutboxBuffered => 3,
            _ => 1,
        }
    }

    /// How often the process of a run of a day is best ended to show it: often, unless it takes long lives.
    #[must_use]
    pub fn ends(self) -> u32 {
        match self {
            Bug::CheckpointSkipped => 8,
            _ => 24,
        }
    }

    /// What goes wrong.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Bug::SyncAllLost => "a checkpoint makes nothing durable",
            Bug::SyncAllLate => "the manifest is written before what it promises is durable",
            Bug::LogsBuffered => "log lines reach the disk after the acknowledgements",
            Bug::StatesBuffered => "page states reach the disk after the acknowledgements",
            Bug::EntriesBuffered => "acknowledgements reach the disk before the new URLs",
            Bug::ServersBuffered => "what servers asked for reaches the disk late",
            Bug::CapturesBuffered => "captures reach the disk late",
            Bug::PausedLost => "a pause is answered and not kept",
            Bug::ScopeLost => "a change of scope is answered and not kept",
            Bug::FullDiskDropsWrites => "a write to a full disk is dropped without a word",
            Bug::LogTailCut => "a start cuts whole lines off the log",
            Bug::JournalTailCut => "a start cuts the journal of page states short",
            Bug::BacklogTailCut => "a start cuts the waiting visits short",
            Bug::SegmentDropped => "a start drops the newest file of waiting visits",
            Bug::SeenForgotten => "a start forgets that URLs are known",
            Bug::LeaseEndsAtStart => "a server's rest begins when its visit starts",
            Bug::EndToldEarly => "the end of a visit is told a little early",
            Bug::RetryAfterDropped => "Retry-After is not heeded",
            Bug::StartsBeforeItsTime => "a visit starts before the time of its order",
            Bug::AddressPerName => "two names of one server count as two servers",
            Bug::RobotsIgnored => "robots.txt is not asked",
            Bug::ReportLost => "the end of a visit is not reported now and then",
            Bug::LinkReplaced => "a link of a page is replaced by another one on its way",
            Bug::CaptureAfterReport => "a capture is written after its report",
            Bug::LinksDropped => "links of a page are lost on their way",
            Bug::BootNeverChanges => "a power failure is taken for a kill",
            Bug::BootAlwaysChanges => "a kill is taken for a power failure",
            Bug::ServersForgotten => "a start forgets what servers asked for",
            Bug::ClockFollowsWall => "the crawl's clock leaps with the wall clock",
            Bug::WriteDownSkipped => "what a round learned is not written at its end",
            Bug::CheckpointSkipped => "no checkpoint is made",
            Bug::StateForgotten => "a page's state is dropped after its visit",
            Bug::ServersNotShared => "partitions do not know of each other's visits to a server",
            Bug::LinksConfirmedEarly => {
                "links to another partition are confirmed when they are sent"
            }
            Bug::OutboxBuffered => "links to other partitions reach the disk late",
        }
    }
}
