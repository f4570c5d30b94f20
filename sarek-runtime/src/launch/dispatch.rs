//! Dispatch: which backend is in charge of a launch, by the claims on its kernel, its schedule and
//! the storages of its vectors.
//!
//! Each launch asks anew, unless no predicate is registered: then a similar earlier launch has the
//! same answers.

use std::fmt;

use super::prepare::Prepared;
use super::space::Shape;
use super::{Arg, Call, Ready, arg, eligible};
use crate::plugin::backend::LaunchTags;
use crate::plugin::claims::{Argument, LaunchRequest, Owner, Request, Subject};
use crate::plugin::tag::{StorageKind, Tag};
use crate::{Device, Error, Result};

/// All claims about a launch, with their answers.
pub(super) struct Asked {
    kernel: String,
    all: Vec<Answer>,
}

/// A subject, and the backend in charge.
struct Answer {
    subject: Subject,
    /// The parameter whose vector is in this storage.
    param: Option<String>,
    owner: Result<Option<Owner>>,
}

impl Asked {
    /// Asks for the owners of a kernel and, with a launch, of its schedule and storages.
    pub(super) fn of(
        owner: &dyn Fn(&Request<'_>) -> Result<Option<Owner>>,
        kernel: &Prepared,
        ready: Option<&Ready<'_>>,
    ) -> Asked {
        let args = ready.map_or(vec![], arguments);
        let launch = ready.map(|ready| LaunchRequest {
            args: &args,
            threads: ready.shape.threads(),
            block: match ready.shape {
                Shape::Grid { block, .. } => Some(block.0.map(|n| n as u64)),
                Shape::Over(_) | Shape::Cover(_) | Shape::Blocks(_) => {
                    kernel.block().map(|block| block.map(u64::from))
                }
            },
            schedule: ready.call.schedule(),
            environments: ready.call.environments(),
        });
        let ask = |subject: Subject, stored: Option<(&str, u64)>| {
            let request = Request {
                subject: &subject,
                kernels: &[&kernel.kernel],
                bytes: stored.map_or(0, |(_, bytes)| bytes),
                launch: launch.as_ref(),
            };
            Answer {
                owner: owner(&request),
                param: stored.map(|(param, _)| param.to_owned()),
                subject,
            }
        };
        let mut all = vec![ask(Subject::Kernels, None), ask(Subject::Programs, None)];
        let schedule = ready.and_then(|ready| ready.call.schedule.clone());
        all.extend(schedule.map(|schedule| ask(Subject::Schedule(schedule), None)));
        for (at, storage, bytes) in ready.iter().flat_map(|ready| ready.call.stored()) {
            let param = &*kernel.params()[at].name;
            all.push(ask(Subject::Storage(storage), Some((param, bytes))));
        }
        let kernel = kernel.name().to_owned();
        Asked { kernel, all }
    }

    /// The backend in charge of all of it; `None` if any backend may run it.
    ///
    /// # Errors
    /// [`Error::Unclaimed`] for a tag without an owner; [`Error::Ambiguous`] with the names of
    /// several owners.
    pub(super) fn owner(&self) -> Result<Option<&'static str>> {
        let mut owners: Vec<(&Answer, &'static str)> = vec![];
        for answer in &self.all {
            let owner = answer.owner.as_ref().map_err(Error::clone)?;
            owners.extend(owner.as_ref().map(|owner| (answer, owner.backend)));
        }
        let mut names: Vec<&'static str> = owners.iter().map(|(_, owner)| *owner).collect();
        names.sort_unstable();
        names.dedup();
        match names.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            several => {
                let claims: Vec<String> = owners
                    .iter()
                    .map(|(answer, owner)| format!("{answer} by {owner}"))
                    .collect();
                Err(Error::Ambiguous {
                    what: format!("the launch of `{}` ({})", self.kernel, claims.join(", ")),
                    owners: several.iter().map(|name| (*name).to_owned()).collect(),
                })
            }
        }
    }

    /// The reasons why a device may not run it: it is for another backend, or for none.
    pub(super) fn reasons(&self, device: &Device) -> Vec<String> {
        let other = |answer: &Answer| match &answer.owner {
            Ok(None) => None,
            Ok(Some(owner)) if owner.backend == device.backend() => None,
            Ok(Some(owner)) => Some(answer.not_here(Some(owner.backend))),
            Err(Error::Unclaimed { .. }) => Some(answer.not_here(None)),
            Err(error) => Some(error.to_string()),
        };
        self.all.iter().filter_map(other).collect()
    }

    /// The claims that hold, with their owners, for people.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.all.iter().filter_map(|answer| {
            let owner = answer.owner.as_ref().ok()?.as_ref()?;
            let Owner { backend, claim } = owner;
            Some(format!("{answer}, by `{backend}` through {claim}"))
        })
    }
}

impl Answer {
    /// The reason why a device does not take it, from the backend that does.
    fn not_here(&self, owner: Option<&str>) -> String {
        let who = match owner {
            Some(owner) => format!("`{owner}` has claimed"),
            None => "it has not claimed".to_owned(),
        };
        match (&self.subject, &self.param) {
            (Subject::Storage(_), Some(param)) => {
                format!("`{param}` is in {}, which {who}", self.subject)
            }
            (Subject::Schedule(_), _) => format!("it does not run {}: {who} it", self.subject),
            (
                Subject::Kernels | Subject::Programs | Subject::Storage(_) | Subject::Copies { .. },
                _,
            ) => format!("{who} {}", self.subject),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.param {
            Some(param) => write!(f, "{} of `{param}`", self.subject),
            None => write!(f, "{}", self.subject),
        }
    }
}

/// Returns an error unless the device's backend is in charge of the launch, or none is.
pub(super) fn check(device: &Device, ready: &Ready<'_>) -> Result<()> {
    let kernel = &ready.call.kernel;
    let owner = |request: &Request<'_>| match device.claim_table().owner(request) {
        // Devices stay usable when their backend is unregistered.
        Err(error @ Error::Unclaimed { .. }) => device.claims().owner(request).map_err(|_| error),
        other => other,
    };
    let asked = Asked::of(&owner, kernel, Some(ready));
    match asked.owner() {
        Ok(_) | Err(Error::Unclaimed { .. }) => {}
        Err(error) => return Err(error),
    }
    match asked.reasons(device) {
        reasons if reasons.is_empty() => Ok(()),
        reasons => Err(eligible::not_eligible(device, kernel, reasons)),
    }
}

/// Returns an error if another backend than the device's is in charge of these kernels together: of a
/// batch, or of a graph. A single kernel is asked about when it is specialized or recorded.
pub(super) fn check_program(device: &Device, kernels: &[&Prepared]) -> Result<()> {
    // A claim without a predicate holds for each of the kernels, too.
    if kernels.len() < 2 || !device.claim_table().has_predicates() {
        return Ok(());
    }
    let all: Vec<&sarek_ir::Kernel> = kernels.iter().map(|kernel| &*kernel.kernel).collect();
    let request = Request {
        subject: &Subject::Programs,
        kernels: &all,
        bytes: 0,
        launch: None,
    };
    let owner = match device.claim_table().owner(&request) {
        Ok(Some(owner)) if owner.backend != device.backend() => owner.backend,
        Ok(_) | Err(Error::Unclaimed { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name()).collect();
    Err(Error::NotEligible {
        kernel: names.join(", "),
        device: device.to_string(),
        reasons: vec![format!(
            "`{owner}` has claimed the program of these kernels"
        )],
    })
}

impl Call<'_> {
    /// The schedule and the storages, as renderers see them.
    pub(super) fn tags(&self) -> LaunchTags {
        LaunchTags::new(self.schedule().clone(), self.args.iter().map(storage_of))
    }
}

/// The storage of an argument's vector; `None` for a scalar.
fn storage_of(arg: &Arg<'_>) -> Option<Tag<StorageKind>> {
    let storage = |storage: Option<Tag<_>>| storage.unwrap_or_else(StorageKind::device);
    arg.vector().map(|vector| storage(vector.storage()))
}

/// The arguments of a launch, as predicates see them.
fn arguments<'a>(ready: &'a Ready<'_>) -> Vec<Argument<'a>> {
    let params = ready.call.kernel.params().iter();
    let argument = |(param, arg): (&'a sarek_ir::Param, &'a Arg<'_>)| Argument {
        name: &param.name,
        value: arg.scalar(),
        len: arg.len(),
        bytes: arg.bytes(),
        storage: storage_of(arg),
        written: matches!(arg.0, arg::ArgKind::Write(_)),
    };
    params.zip(&ready.call.args).map(argument).collect()
}
