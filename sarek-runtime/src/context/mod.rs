//! Contexts: named vectors on a device, and routines that are linked against them.
//!
//! A [`Context`] is a set of vectors by name. It does not change: what adds a vector gives a child, which has its own
//! vectors and those of its ancestors, so that siblings can go on from one state in their own ways. The contents are shared
//! and do change, when routines run.
//!
//! A [`Routine`] is linked once and run many times. Linking checks that the names it reads and writes are there, and that
//! the merge buffer holds what it consumes. [`Context::transfer`] makes a routine that brings a vector over from another
//! context, of any device; like any other it is inert until it is run.
//!
//! Each device has one merge buffer. A transfer into it leaves the vector of the same name as it is, and hands the other
//! device's to whoever is linked as its consumer, which may add the two, say. The consumer is verified when it is linked, by the
//! context's ancestors, and again when it runs, by what was put there last.

use std::any::Any;
use std::cell::{Ref, RefCell, RefMut};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use crate::sync::lock;
use crate::{Device, Element, Error, Result, Stream, Vector, output};

type Anything = Box<dyn Any + Send>;

/// A vector of some type, which routines share.
type Cell = Arc<Mutex<Anything>>;

/// Named vectors on a device.
#[derive(Clone)]
pub struct Context(Arc<Node>);

struct Node {
    parent: Option<Arc<Node>>,
    stream: Stream,
    own: BTreeMap<String, Cell>,
    /// What a routine linked here finds in the merge buffer, as far as this node says.
    merged: Option<String>,
    merge: Arc<Mutex<Merge>>,
}

/// The merge buffer of a device: a vector, under the name that it has elsewhere.
#[derive(Default)]
struct Merge(Option<(String, Anything)>);

impl Context {
    /// A context without vectors. Its routines run on a stream of its own, which its descendants share.
    pub fn new(device: &Device) -> Result<Context> {
        Ok(Context(Arc::new(Node {
            parent: None,
            stream: device.new_stream()?,
            own: BTreeMap::new(),
            merged: None,
            merge: Arc::default(),
        })))
    }

    /// A context of its own vectors and of those that this one has.
    pub fn child(&self) -> Context {
        self.with(BTreeMap::new(), None)
    }

    fn with(&self, own: BTreeMap<String, Cell>, merged: Option<String>) -> Context {
        Context(Arc::new(Node {
            parent: Some(self.0.clone()),
            stream: self.0.stream.clone(),
            own,
            merged,
            merge: self.0.merge.clone(),
        }))
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        std::iter::successors(Some(&*self.0), |node| node.parent.as_deref())
    }

    /// The stream on which its routines run.
    pub fn stream(&self) -> &Stream {
        &self.0.stream
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.0.stream.device()
    }

    /// Has it, or an ancestor, a vector of this name?
    pub fn contains(&self, name: &str) -> bool {
        self.nodes().any(|node| node.own.contains_key(name))
    }

    /// The names of all of its vectors.
    pub fn names(&self) -> Vec<String> {
        let names = self.nodes().flat_map(|node| node.own.keys());
        names
            .cloned()
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    fn find(&self, name: &str) -> Result<&Cell> {
        let found = self.nodes().find_map(|node| node.own.get(name));
        found.ok_or_else(|| Error::NotInContext {
            name: name.to_owned(),
            device: self.device().to_string(),
        })
    }

    /// Has a vector for itself. The output hook does not wait for it: who uses it may be waiting for the hook.
    fn opened<'c>(&self, name: &str, cell: &'c Cell) -> Result<MutexGuard<'c, Anything>> {
        if !output::in_hook() {
            return Ok(lock(cell));
        }
        match cell.try_lock() {
            Ok(open) => Ok(open),
            Err(TryLockError::Poisoned(open)) => Ok(open.into_inner()),
            Err(TryLockError::WouldBlock) => {
                let problem = "it is in use, and the output hook cannot wait for it";
                Err(self.error(name, problem.to_owned()))
            }
        }
    }

    fn error(&self, name: &str, problem: String) -> Error {
        Error::Context {
            name: name.to_owned(),
            device: self.device().to_string(),
            problem,
        }
    }

    fn absent(&self, name: &str) -> Result<()> {
        match self.contains(name) {
            true => Err(Error::AlreadyInContext {
                name: name.to_owned(),
                device: self.device().to_string(),
            }),
            false => Ok(()),
        }
    }

    fn add<T: Element>(&self, name: &str, vector: Vector<T>) -> Context {
        let cell: Anything = Box::new(vector);
        let own = BTreeMap::from([(name.to_owned(), Arc::new(Mutex::new(cell)))]);
        self.with(own, None)
    }

    /// A child with one more vector; an error if there is one of its name.
    pub fn init_from_host<T: Element>(&self, name: &str, elements: Vec<T>) -> Result<Context> {
        self.absent(name)?;
        let vector = Vector::from_vec(elements);
        vector.prefetch(self.stream())?;
        Ok(self.add(name, vector))
    }

    /// A child with a copy of another context's vector; an error if that has none of this name, or this one has.
    pub fn init_from<T: Element>(&self, name: &str, source: &Context) -> Result<Context> {
        self.absent(name)?;
        let copy = source.with_vector(name, |vector: &mut Vector<T>| vector.sub_vector(..))?;
        copy.prefetch(self.stream())?;
        Ok(self.add(name, copy))
    }

    /// Overwrites the elements of a vector.
    pub fn from_host<T: Element>(&self, name: &str, elements: &[T]) -> Result<()> {
        self.with_vector(name, |vector: &mut Vector<T>| {
            vector.copy_from_slice(elements)
        })
    }

    /// A copy of the elements of a vector.
    pub fn to_host<T: Element>(&self, name: &str) -> Result<Vec<T>> {
        self.with_vector(name, |vector: &mut Vector<T>| vector.to_vec())
    }

    /// Does something with a vector.
    pub fn with_vector<T: Element, R>(
        &self,
        name: &str,
        f: impl FnOnce(&mut Vector<T>) -> Result<R>,
    ) -> Result<R> {
        let mut cell = self.opened(name, self.find(name)?)?;
        match cell.downcast_mut() {
            Some(vector) => f(vector),
            None => Err(self.error(name, other_type::<T>())),
        }
    }

    /// Links a routine: `code` is run with the vectors that it names. An error if the context lacks one of them, or
    /// if it consumes what is not in the merge buffer.
    pub fn link(
        &self,
        uses: Uses,
        code: impl Fn(&Bound<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Routine> {
        for name in uses.reads.iter().chain(&uses.writes) {
            self.find(name)?;
        }
        if let Some(want) = &uses.merge {
            let have = self.nodes().find_map(|node| node.merged.as_ref());
            self.merged_is(want, have)?;
        }
        Ok(Routine {
            context: self.clone(),
            outputs: uses.writes.clone(),
            uses,
            code: Arc::new(code),
        })
    }

    /// Links several routines, each against what those before it leave; gaps stay gaps. The context is the one behind the last.
    ///
    /// ```
    /// # use sarek_runtime::context::{Context, Link, Target, Uses};
    /// # fn both(context: &Context, other: &Context) -> sarek_runtime::Result<()> {
    /// let (context, routines) = context.link_batch([
    ///     Some(Link::transfer::<f32>("gradient", other, Target::Merge)),
    ///     None,
    ///     Some(Link::new(Uses::new().writes("gradient").merges("gradient"), |_| Ok(()))),
    /// ])?;
    /// routines.iter().flatten().try_for_each(|routine| routine.run())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The first of those of [`Context::link`]; nothing is linked then. A transfer that has nothing to copy becomes a gap.
    pub fn link_batch(
        &self,
        batch: impl IntoIterator<Item = Option<Link>>,
    ) -> Result<(Context, Vec<Option<Routine>>)> {
        let mut context = self.clone();
        let mut routines = Vec::new();
        for link in batch {
            let routine = match link {
                Some(Link(link)) => link(&context)?,
                None => None,
            };
            if let Some(routine) = &routine {
                context = routine.context().clone();
            }
            routines.push(routine);
        }
        Ok((context, routines))
    }

    fn merged_is(&self, want: &str, have: Option<&String>) -> Result<()> {
        match have {
            Some(have) if have == want => Ok(()),
            have => Err(Error::MergeMismatch {
                want: want.to_owned(),
                have: have.cloned(),
                device: self.device().to_string(),
            }),
        }
    }

    /// A routine that copies another context's vector over, into that of the same name or into the merge buffer. `None`
    /// if there is nothing to copy: the other has no such vector, this one has not, or both have the same.
    pub fn transfer<T: Element>(
        &self,
        name: &str,
        source: &Context,
        into: Target,
    ) -> Option<Routine> {
        let from = source.find(name).ok()?.clone();
        let own = self.find(name).ok().cloned();
        let merges = into == Target::Merge;
        if !merges && own.as_ref().is_none_or(|own| Arc::ptr_eq(own, &from)) {
            return None;
        }
        let context = self.with(BTreeMap::new(), merges.then(|| name.to_owned()));
        let (target, of, name) = (context.clone(), source.clone(), name.to_owned());
        Some(Routine {
            uses: Uses::default(),
            outputs: own
                .iter()
                .filter(|_| !merges)
                .map(|_| name.clone())
                .collect(),
            code: Arc::new(move |_: &Bound<'_>| {
                // In the order of their addresses, so that no two transfers wait for each other.
                let own = own.as_ref().filter(|_| !merges);
                let first = own
                    .filter(|own| Arc::as_ptr(own) < Arc::as_ptr(&from))
                    .map(|own| target.opened(&name, own))
                    .transpose()?;
                let from = of.opened(&name, &from)?;
                let own = match first {
                    Some(own) => Some(own),
                    None => own.map(|own| target.opened(&name, own)).transpose()?,
                };
                let Some(from) = from.downcast_ref::<Vector<T>>() else {
                    return Err(of.error(&name, other_type::<T>()));
                };
                if let Some(mut own) = own {
                    return match own.downcast_mut::<Vector<T>>() {
                        Some(own) => own.copy_from(0, from, ..),
                        None => Err(target.error(&name, other_type::<T>())),
                    };
                }
                let copy = from.sub_vector(..)?;
                copy.prefetch(target.stream())?;
                lock(&target.0.merge).0 = Some((name.clone(), Box::new(copy)));
                Ok(())
            }),
            context,
        })
    }
}

/// A routine to be linked, by [`Context::link_batch`].
pub struct Link(Box<Linking>);

type Linking = dyn FnOnce(&Context) -> Result<Option<Routine>>;

impl Link {
    /// What [`Context::link`] makes of this.
    pub fn new(
        uses: Uses,
        code: impl Fn(&Bound<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Link {
        Link(Box::new(|context| context.link(uses, code).map(Some)))
    }

    /// What [`Context::transfer`] makes of this.
    pub fn transfer<T: Element>(name: &str, source: &Context, into: Target) -> Link {
        let (name, source) = (name.to_owned(), source.clone());
        Link(Box::new(move |context| {
            Ok(context.transfer::<T>(&name, &source, into))
        }))
    }
}

fn other_type<T>() -> String {
    format!("its elements are no {}", std::any::type_name::<T>())
}

/// Where a transfer puts what it brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// Into the vector of the same name.
    Place,
    /// Into the device's merge buffer.
    Merge,
}

/// What a routine uses, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Uses {
    reads: Vec<String>,
    writes: Vec<String>,
    merge: Option<String>,
}

impl Uses {
    /// Nothing yet.
    pub fn new() -> Uses {
        Uses::default()
    }

    /// It reads a vector.
    #[must_use]
    pub fn reads(mut self, name: &str) -> Uses {
        self.reads.push(name.to_owned());
        self
    }

    /// It writes a vector, and may read it.
    #[must_use]
    pub fn writes(mut self, name: &str) -> Uses {
        self.writes.push(name.to_owned());
        self
    }

    /// It consumes what a transfer has put into the merge buffer.
    #[must_use]
    pub fn merges(mut self, name: &str) -> Uses {
        self.merge = Some(name.to_owned());
        self
    }
}

type Code = dyn Fn(&Bound<'_>) -> Result<()> + Send + Sync;

/// Code with the vectors that it works on.
#[derive(Clone)]
pub struct Routine {
    context: Context,
    uses: Uses,
    outputs: Vec<String>,
    code: Arc<Code>,
}

impl Routine {
    /// Runs it: what it queues is on the context's stream.
    pub fn run(&self) -> Result<()> {
        // In the order of their names, so that no two routines wait for each other.
        let mut names: Vec<&String> = self.uses.reads.iter().chain(&self.uses.writes).collect();
        names.sort();
        names.dedup();
        let mut vectors = BTreeMap::new();
        for name in names {
            let cell = self.context.opened(name, self.context.find(name)?)?;
            let cell = RefCell::new(cell);
            vectors.insert(name.as_str(), cell);
        }
        let merge = match &self.uses.merge {
            None => None,
            Some(want) => {
                let slot = lock(&self.context.0.merge);
                let have = slot.0.as_ref().map(|(name, _)| name);
                self.context.merged_is(want, have)?;
                Some(slot)
            }
        };
        (self.code)(&Bound {
            routine: self,
            vectors,
            merge,
        })
    }

    /// The context behind it: what is linked there finds what the routine leaves.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The vectors that it reads.
    pub fn inputs(&self) -> &[String] {
        &self.uses.reads
    }

    /// The vectors that it writes.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// What it consumes from the merge buffer.
    pub fn merge_input(&self) -> Option<&str> {
        self.uses.merge.as_deref()
    }
}

/// The vectors of a routine while it runs.
pub struct Bound<'a> {
    routine: &'a Routine,
    vectors: BTreeMap<&'a str, RefCell<MutexGuard<'a, Anything>>>,
    merge: Option<MutexGuard<'a, Merge>>,
}

impl<'a> Bound<'a> {
    /// The stream on which the routine runs.
    pub fn stream(&self) -> &Stream {
        self.routine.context.stream()
    }

    fn cell(&self, name: &str) -> Result<&RefCell<MutexGuard<'a, Anything>>> {
        let problem = || "the routine was not linked with it".to_owned();
        let error = || self.routine.context.error(name, problem());
        self.vectors.get(name).ok_or_else(error)
    }

    /// A vector to read.
    pub fn input<T: Element>(&self, name: &str) -> Result<impl Deref<Target = Vector<T>>> {
        let busy = || {
            self.routine
                .context
                .error(name, "it is being written".into())
        };
        let guard = self.cell(name)?.try_borrow().map_err(|_| busy())?;
        let vector = Ref::filter_map(guard, |any| any.downcast_ref::<Vector<T>>());
        vector.map_err(|_| self.routine.context.error(name, other_type::<T>()))
    }

    /// A vector to write.
    pub fn output<T: Element>(&self, name: &str) -> Result<impl DerefMut<Target = Vector<T>>> {
        let error = |problem: &str| self.routine.context.error(name, problem.into());
        if !self.routine.uses.writes.iter().any(|known| known == name) {
            return Err(error("the routine was linked without writing it"));
        }
        let guard = self.cell(name)?.try_borrow_mut();
        let guard = guard.map_err(|_| error("it is being used"))?;
        let vector = RefMut::filter_map(guard, |any| any.downcast_mut::<Vector<T>>());
        vector.map_err(|_| error(&other_type::<T>()))
    }

    /// What the merge buffer holds.
    pub fn merged<T: Element>(&self) -> Result<&Vector<T>> {
        let slot = self.merge.as_ref().and_then(|merge| merge.0.as_ref());
        let Some((name, vector)) = slot else {
            let problem = "the routine was linked without it".into();
            return Err(self.routine.context.error("merge buffer", problem));
        };
        let error = || self.routine.context.error(name, other_type::<T>());
        vector.downcast_ref().ok_or_else(error)
    }
}

#[cfg(test)]
mod tests;
