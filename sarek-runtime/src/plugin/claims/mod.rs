//! Claims: they decide which backend is in charge of kernels, schedules, storages and copies.
//!
//! When it is registered, a backend may claim kernels, groups of kernels that are compiled
//! together, schedules, storages and copy routes. A claim is by key, or by a predicate on requests.
//! A key has one owner; registering a second one is an error that names both. If predicates of
//! several backends hold for a request, that is an error too. A predicate that holds takes
//! precedence over a key. Predicates are asked for each launch, allocation and copy; where there
//! are none, a repeated launch asks for no claim.
//!
//! Some subjects need no claim, and any device may take them by priority: the framework's schedules
//! ([`ScheduleKind::blocks`], `grid_stride`, `single_thread`), the storages `device`, `pinned` and
//! `zero_copy`, and unclaimed kernels. A device may still lack one of these storages.

mod request;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::plugin::tag::{ScheduleKind, StorageKind, Tag};
use crate::{Error, Result};

pub use request::{Argument, LaunchRequest, Request};
pub(crate) use table::ClaimTable;

/// A schedule of the framework, which every backend may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// [`ScheduleKind::blocks`]
    Blocks,
    /// [`ScheduleKind::grid_stride`]
    GridStride,
    /// [`ScheduleKind::single_thread`]
    SingleThread,
}

impl Schedule {
    /// The schedule of a tag, if it is one of these.
    pub fn of(tag: &Tag<ScheduleKind>) -> Option<Schedule> {
        static KNOWN: OnceLock<[(Tag<ScheduleKind>, Schedule); 3]> = OnceLock::new();
        let known = KNOWN.get_or_init(|| {
            [
                (ScheduleKind::blocks(), Schedule::Blocks),
                (ScheduleKind::grid_stride(), Schedule::GridStride),
                (ScheduleKind::single_thread(), Schedule::SingleThread),
            ]
        });
        let found = known.iter().find(|(own, _)| own == tag);
        found.map(|(_, schedule)| *schedule)
    }
}

/// The condition of a claim.
pub type Predicate = Arc<dyn Fn(&Request<'_>) -> bool + Send + Sync>;

/// The way to copy between two storages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyAction {
    /// Copies with [`BackendStream::copy`](crate::plugin::backend::BackendStream::copy).
    Native,
    /// Copies through the host.
    StageViaHost,
    /// Refuses the copy, for this reason.
    Illegal(&'static str),
}

/// The subject of a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Single kernels.
    Kernels,
    /// Groups of kernels: a launch is one of one kernel, a batch
    /// ([`Device::compile_batch`](crate::Device::compile_batch)) and a [`Graph`](crate::Graph) are one
    /// of all of their kernels.
    Programs,
    /// Launches with a schedule, or with any instance of a template.
    Schedule(Tag<ScheduleKind>),
    /// Memory of a storage, or of any instance of a template.
    Storage(Tag<StorageKind>),
    /// Copies from one storage to another.
    Copies {
        /// The source; [`StorageKind::host`] for uploads.
        from: Tag<StorageKind>,
        /// The destination; [`StorageKind::host`] for downloads.
        to: Tag<StorageKind>,
        /// The schedule of the launch that needs the copy. In a request, `None` if there is no such
        /// launch; in a claim, `None` covers all copies.
        schedule: Option<Tag<ScheduleKind>>,
    },
}

impl Subject {
    /// Copies from one storage to another, whatever needs them.
    pub fn copies(from: Tag<StorageKind>, to: Tag<StorageKind>) -> Subject {
        let schedule = None;
        Subject::Copies { from, to, schedule }
    }

    /// True if a claim of this subject also covers `asked`.
    fn covers(&self, asked: &Subject) -> bool {
        match (self, asked) {
            (Subject::Kernels, Subject::Kernels) | (Subject::Programs, Subject::Programs) => true,
            (Subject::Schedule(own), Subject::Schedule(asked)) => own.matches(asked),
            (Subject::Storage(own), Subject::Storage(asked)) => own.matches(asked),
            (
                Subject::Copies { from, to, schedule },
                Subject::Copies {
                    from: asked_from,
                    to: asked_to,
                    schedule: asked_schedule,
                },
            ) => {
                let same_schedule = |own: &Tag<ScheduleKind>| {
                    let asked = asked_schedule.as_ref();
                    asked.is_some_and(|asked| own.matches(asked))
                };
                from.matches(asked_from)
                    && to.matches(asked_to)
                    && schedule.as_ref().is_none_or(same_schedule)
            }
            (
                Subject::Kernels
                | Subject::Programs
                | Subject::Schedule(_)
                | Subject::Storage(_)
                | Subject::Copies { .. },
                _,
            ) => false,
        }
    }

    /// The precedence of a claim that covers `asked`: one with a schedule before one without, and
    /// instances before templates.
    fn rank(&self, asked: &Subject) -> (bool, usize) {
        match (self, asked) {
            (
                Subject::Copies { from, to, schedule },
                Subject::Copies {
                    from: asked_from,
                    to: asked_to,
                    schedule: asked_schedule,
                },
            ) => {
                let same = [
                    from == asked_from,
                    to == asked_to,
                    schedule == asked_schedule,
                ];
                let same = same.into_iter().filter(|same| *same).count();
                (schedule.is_some(), same)
            }
            (own, asked) => (false, usize::from(own == asked)),
        }
    }

    fn is_everybodys(&self) -> bool {
        match self {
            Subject::Kernels | Subject::Programs | Subject::Copies { .. } => true,
            Subject::Schedule(tag) => Schedule::of(tag).is_some(),
            Subject::Storage(tag) => {
                let known = [
                    StorageKind::device(),
                    StorageKind::pinned(),
                    StorageKind::zero_copy(),
                ];
                known.contains(tag)
            }
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Kernels => f.write_str("the kernel"),
            Subject::Programs => f.write_str("the program"),
            Subject::Schedule(tag) => write!(f, "the schedule `{tag}`"),
            Subject::Storage(tag) => write!(f, "the storage `{tag}`"),
            Subject::Copies {
                from,
                to,
                schedule: None,
            } => write!(f, "copies from `{from}` to `{to}`"),
            Subject::Copies {
                from,
                to,
                schedule: Some(schedule),
            } => write!(
                f,
                "copies from `{from}` to `{to}` for launches with the schedule `{schedule}`"
            ),
        }
    }
}

/// The backend that is in charge of a request.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) backend: &'static str,
    /// The claim that decided, in words: its key, a template, or a predicate.
    pub(crate) claim: String,
}

/// The claims of a backend; see [`Backend::claims`](crate::plugin::backend::Backend::claims).
#[derive(Clone, Default)]
pub struct Claims {
    all: Vec<Claim>,
}

#[derive(Clone)]
struct Claim {
    owner: &'static str,
    subject: Subject,
    predicate: Option<Predicate>,
    action: CopyAction,
}

impl Claims {
    /// Claims the requests about a subject for which a predicate holds. Copies are
    /// [`CopyAction::Native`] then; [`Claims::copies_by_predicate`] sets another way.
    pub fn by_predicate(
        &mut self,
        subject: Subject,
        predicate: impl Fn(&Request<'_>) -> bool + Send + Sync + 'static,
    ) -> &mut Claims {
        self.push(subject, Some(Arc::new(predicate)), CopyAction::Native)
    }

    /// Claims a schedule.
    pub fn schedule(&mut self, tag: Tag<ScheduleKind>) -> &mut Claims {
        self.push(Subject::Schedule(tag), None, CopyAction::Native)
    }

    /// Claims a storage.
    pub fn storage(&mut self, tag: Tag<StorageKind>) -> &mut Claims {
        self.push(Subject::Storage(tag), None, CopyAction::Native)
    }

    /// Sets the way to copy from one storage to another, whatever needs the copy.
    /// [`StorageKind::host`] is the program's own memory.
    pub fn copies(
        &mut self,
        from: Tag<StorageKind>,
        to: Tag<StorageKind>,
        action: CopyAction,
    ) -> &mut Claims {
        self.push(Subject::copies(from, to), None, action)
    }

    /// The same for copies that launches with a schedule need. It takes precedence over
    /// [`Claims::copies`].
    pub fn copies_under(
        &mut self,
        from: Tag<StorageKind>,
        to: Tag<StorageKind>,
        schedule: Tag<ScheduleKind>,
        action: CopyAction,
    ) -> &mut Claims {
        let schedule = Some(schedule);
        self.push(Subject::Copies { from, to, schedule }, None, action)
    }

    /// Sets the way to copy from one storage to another, for the copies for which a predicate
    /// holds.
    pub fn copies_by_predicate(
        &mut self,
        from: Tag<StorageKind>,
        to: Tag<StorageKind>,
        action: CopyAction,
        predicate: impl Fn(&Request<'_>) -> bool + Send + Sync + 'static,
    ) -> &mut Claims {
        self.push(Subject::copies(from, to), Some(Arc::new(predicate)), action)
    }

    fn push(
        &mut self,
        subject: Subject,
        predicate: Option<Predicate>,
        action: CopyAction,
    ) -> &mut Claims {
        self.all.push(Claim {
            owner: "",
            subject,
            predicate,
            action,
        });
        self
    }

    /// The same claims, with `owner` as their backend.
    pub(crate) fn of(mut self, owner: &'static str) -> Claims {
        self.all.iter_mut().for_each(|claim| claim.owner = owner);
        self
    }

    /// Adds the claims of another backend; an error if both claim the same key.
    pub(crate) fn join(&mut self, more: &Claims) -> Result<()> {
        let keyed = |claim: &&Claim| claim.predicate.is_none();
        for new in more.all.iter().filter(keyed) {
            let mut known = self.all.iter().filter(keyed);
            if let Some(old) = known.find(|old| old.subject == new.subject) {
                return Err(conflict(&new.subject, vec![old.owner, new.owner]));
            }
        }
        self.all.extend(more.all.iter().cloned());
        Ok(())
    }

    pub(crate) fn leave(&mut self, owner: &str) {
        self.all.retain(|claim| claim.owner != owner);
    }

    /// True if a predicate decides about launches, so that each one must ask.
    fn has_predicates(&self) -> bool {
        let decides = |claim: &Claim| match claim.subject {
            Subject::Kernels | Subject::Programs | Subject::Schedule(_) | Subject::Storage(_) => {
                claim.predicate.is_some()
            }
            // These are asked for each copy.
            Subject::Copies { .. } => false,
        };
        self.all.iter().any(decides)
    }

    /// True if some claim is about copies.
    pub(crate) fn has_copies(&self) -> bool {
        let is_about_copies = |claim: &Claim| matches!(claim.subject, Subject::Copies { .. });
        self.all.iter().any(is_about_copies)
    }

    /// The claim that covers a request, if there is one.
    fn find(&self, request: &Request<'_>) -> Result<Option<&Claim>> {
        let subject = request.subject;
        let of = |claim: &&Claim| claim.subject.covers(subject);
        let holds = |claim: &Claim| claim.predicate.as_ref().map(|holds| holds(request));
        let mut owners: Vec<&Claim> = Vec::new();
        for claim in self.all.iter().filter(of) {
            if holds(claim) != Some(true) {
                continue;
            }
            match owners.iter_mut().find(|known| known.owner == claim.owner) {
                None => owners.push(claim),
                Some(known) if claim.subject.rank(subject) > known.subject.rank(subject) => {
                    *known = claim;
                }
                Some(_) => {}
            }
        }
        match owners.as_slice() {
            [] => {
                // The more specific key wins: an instance before its template.
                let keyed = self.all.iter().filter(of).filter(|c| c.predicate.is_none());
                Ok(keyed.max_by_key(|claim| claim.subject.rank(subject)))
            }
            [one] => Ok(Some(one)),
            several => Err(conflict(subject, several.iter().map(|c| c.owner).collect())),
        }
    }

    /// The backend in charge; `None` if any backend may do it.
    pub(crate) fn owner(&self, request: &Request<'_>) -> Result<Option<Owner>> {
        let subject = request.subject;
        match self.find(request)? {
            Some(claim) => Ok(Some(Owner {
                backend: claim.owner,
                claim: match (&claim.predicate, claim.subject == *subject) {
                    (Some(_), _) => "a predicate".to_owned(),
                    (None, true) => "its key".to_owned(),
                    (None, false) => "its template".to_owned(),
                },
            })),
            None if subject.is_everybodys() => Ok(None),
            None => Err(Error::Unclaimed {
                what: subject.to_string(),
                known: self.known(subject),
            }),
        }
    }

    /// The way to copy; native unless a claim decides otherwise.
    pub(crate) fn route(&self, subject: &Subject, bytes: u64) -> Result<CopyAction> {
        let claim = self.find(&Request::memory(subject, bytes))?;
        match claim.map(|claim| claim.action) {
            Some(CopyAction::Illegal(reason)) => Err(Error::IllegalCopy {
                what: subject.to_string(),
                reason: reason.to_owned(),
            }),
            Some(action) => Ok(action),
            None => Ok(CopyAction::Native),
        }
    }

    /// The claims of the same kind with their owners, for error messages.
    fn known(&self, subject: &Subject) -> Vec<String> {
        let same = |claim: &&Claim| {
            std::mem::discriminant(&claim.subject) == std::mem::discriminant(subject)
        };
        let words = |claim: &Claim| format!("{} by {}", claim.subject, claim.owner);
        self.all.iter().filter(same).map(words).collect()
    }
}

fn conflict(subject: &Subject, owners: Vec<&'static str>) -> Error {
    Error::Ambiguous {
        what: subject.to_string(),
        owners: owners.into_iter().map(str::to_owned).collect(),
    }
}

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |claim: &Claim| {
            let whether = claim.predicate.as_ref().map_or("", |_| " where it can");
            format!("{} claims {}{whether}", claim.owner, claim.subject)
        };
        f.debug_list().entries(self.all.iter().map(words)).finish()
    }
}
