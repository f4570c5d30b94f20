//! Contexts: named vectors on a device, and routines that are linked against them.
//!
//! A [`Context`] is an immutable set of named vectors. Adding a vector returns a child, which sees
//! its own vectors and those of its ancestors. So siblings can develop differently from the same
//! state. The contents are shared, and change when routines run.
//!
//! A [`Routine`] is linked once and run many times. Linking checks that the vectors it reads and
//! writes exist, and that the merge buffer will hold the vector that it consumes.
//! [`Context::transfer`] makes a routine that copies a vector from another context, on any device.
//! Like any routine, it does nothing until it is run.
//!
//! Each root context has one merge buffer, which its descendants share. A transfer into it leaves
//! the local vector of the same name alone. Instead it hands the other device's vector to a consumer, a routine that was linked with
//! [`Uses::merges`] and may, for example, add the two. The consumer is checked when it is linked,
//! against the context's ancestors, and again when it runs, against the last transfer.

mod code;
mod uses;

use std::any::Any;
use std::cell::{Ref, RefCell, RefMut};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use crate::sync::lock;
use crate::vector::ErasedVector;
use crate::{Device, Element, Error, Result, Stream, Vector, output};

use uses::Created;
pub use uses::Uses;

/// A vector of any element type.
trait AnyVector: Any + Send {
    fn erased(&self) -> &dyn ErasedVector;

    fn erased_mut(&mut self) -> &mut dyn ErasedVector;
}

impl<T: Element> AnyVector for Vector<T> {
    fn erased(&self) -> &dyn ErasedVector {
        self
    }

    fn erased_mut(&mut self) -> &mut dyn ErasedVector {
        self
    }
}

impl dyn AnyVector {
    fn downcast_ref<V: Any>(&self) -> Option<&V> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }

    fn downcast_mut<V: Any>(&mut self) -> Option<&mut V> {
        let any: &mut dyn Any = self;
        any.downcast_mut()
    }
}

type Anything = Box<dyn AnyVector>;

/// A vector of any element type, shared by routines.
type Cell = Arc<Mutex<Anything>>;

/// A set of named vectors on a device.
#[derive(Clone)]
pub struct Context(Arc<Node>);

struct Node {
    parent: Option<Arc<Node>>,
    stream: Stream,
    own: BTreeMap<String, Cell>,
    /// The name of the vector that a routine linked here will find in the merge buffer, if this
    /// node sets it.
    merged: Option<String>,
    merge: Arc<Mutex<Merge>>,
}

/// The merge buffer of a root context: a vector, with the name that it has in the other context.
#[derive(Default)]
struct Merge(Option<(String, Anything)>);

/// Prints the device and the names of the vectors.
impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.device().to_string();
        let mut all = f.debug_struct("Context");
        all.field("device", &device).field("vectors", &self.names());
        if let Some(merged) = self.nodes().find_map(|node| node.merged.as_ref()) {
            all.field("merged", merged);
        }
        all.finish()
    }
}

impl Context {
    /// Makes a context without vectors. Its routines run on a new stream, which its descendants
    /// share.
    pub fn new(device: &Device) -> Result<Context> {
        Ok(Context(Arc::new(Node {
            parent: None,
            stream: device.new_stream()?,
            own: BTreeMap::new(),
            merged: None,
            merge: Arc::default(),
        })))
    }

    /// Makes a child context, which sees all vectors of this one.
    pub fn child(&self) -> Context {
        self.with(BTreeMap::new(), None)
    }

    /// Makes a child context whose routines may consume a vector of this name from the merge buffer
    /// ([`Uses::merges`]). Something must have put it there when they run; that is checked then.
    pub fn child_merging(&self, name: &str) -> Context {
        self.with(BTreeMap::new(), Some(name.to_owned()))
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

    /// True if this context or an ancestor has a vector of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.nodes().any(|node| node.own.contains_key(name))
    }

    /// The names of all vectors, sorted.
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

    /// Locks a vector. Within the output hook, a locked vector is an error instead of a wait: its
    /// holder may be waiting for the hook.
    fn opened<'c>(&self, name: &str, cell: &'c Cell) -> Result<MutexGuard<'c, Anything>> {
        if !output::in_hook() {
            return Ok(lock(cell));
        }
        match cell.try_lock() {
            Ok(open) => Ok(open),
            Err(TryLockError::Poisoned(open)) => Ok(open.into_inner()),
            Err(TryLockError::WouldBlock) => {
                let problem = "it is in use, and the output hook must not wait for it";
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
        let own = BTreeMap::from([(name.to_owned(), cell(vector))]);
        self.with(own, None)
    }

    /// Returns a child that owns an existing vector, wherever its elements are; an error if the name is taken.
    pub fn init_with<T: Element>(&self, name: &str, vector: Vector<T>) -> Result<Context> {
        self.absent(name)?;
        vector.prefetch(self.stream())?;
        Ok(self.add(name, vector))
    }

    /// Returns a child with one more vector; an error if the name is taken.
    pub fn init_from_host<T: Element>(&self, name: &str, elements: Vec<T>) -> Result<Context> {
        self.init_with(name, Vector::from_vec(elements))
    }

    /// Returns a child with a copy of another context's vector; an error if that context has no
    /// vector of this name, or this one has.
    pub fn init_from<T: Element>(&self, name: &str, source: &Context) -> Result<Context> {
        self.absent(name)?;
        let copy = source.with_vector(name, |vector: &mut Vector<T>| vector.sub_vector(..))?;
        copy.prefetch(self.stream())?;
        Ok(self.add(name, copy))
    }

    /// Overwrites all elements of a vector.
    ///
    /// # Errors
    /// [`Error::Length`] if the lengths differ.
    pub fn from_host<T: Element>(&self, name: &str, elements: &[T]) -> Result<()> {
        self.with_vector(name, |vector: &mut Vector<T>| {
            vector.copy_from_slice(elements)
        })
    }

    /// Copies the elements of a vector to the host.
    pub fn to_host<T: Element>(&self, name: &str) -> Result<Vec<T>> {
        self.with_vector(name, |vector: &mut Vector<T>| vector.to_vec())
    }

    /// Calls a function with exclusive access to a vector.
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

    /// Links a routine: `code` runs with access to the vectors that `uses` names. Those that it creates
    /// are allocated now, in the routine's context ([`Routine::context`]), which is a child of this one.
    ///
    /// # Errors
    /// An error if the context lacks one of the others, or has one of those; [`Error::MergeMismatch`] if
    /// the routine consumes a vector that is not in the merge buffer.
    pub fn link(
        &self,
        uses: Uses,
        code: impl Fn(&Bound<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Routine> {
        let mut own = BTreeMap::new();
        for Created {
            name, len, make, ..
        } in &uses.creates
        {
            self.absent(name)?;
            if own.insert(name.clone(), make(*len)).is_some() {
                return Err(self.error(name, "the routine creates it twice".to_owned()));
            }
        }
        let context = match own.is_empty() {
            true => self.clone(),
            false => self.with(own, None),
        };
        for name in uses.reads.iter().chain(&uses.writes) {
            context.find(name)?;
        }
        if let Some(want) = &uses.merge {
            let have = self.nodes().find_map(|node| node.merged.as_ref());
            self.merged_is(want, have)?;
        }
        Ok(Routine {
            context,
            outputs: uses.writes.clone(),
            uses,
            code: Arc::new(code),
        })
    }

    /// Links several routines; each sees the effects of those before it, and `None` stays `None`.
    /// Returns the context after the last one.
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
    /// The first error of [`Context::link`]; nothing is linked then. A transfer with nothing to
    /// copy becomes `None`.
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

    /// Makes a routine that copies another context's vector into the local one of the same name, or
    /// into the merge buffer. `None` if there is nothing to copy: one of the contexts has no such
    /// vector, or both share it.
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
                // Lock in the order of addresses, so that two transfers cannot deadlock.
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

/// A routine that [`Context::link_batch`] is to link.
pub struct Link(Box<Linking>);

type Linking = dyn FnOnce(&Context) -> Result<Option<Routine>>;

impl Link {
    /// The routine that [`Context::link`] makes.
    pub fn new(
        uses: Uses,
        code: impl Fn(&Bound<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Link {
        Link(Box::new(|context| context.link(uses, code).map(Some)))
    }

    /// The routine that [`Context::transfer`] makes.
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

/// The destination of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The vector of the same name.
    Place,
    /// The merge buffer.
    Merge,
}

fn cell<T: Element>(vector: Vector<T>) -> Cell {
    Arc::new(Mutex::new(Box::new(vector)))
}

type Body = dyn Fn(&Bound<'_>) -> Result<()> + Send + Sync;

/// A linked routine: code, and the vectors that it works on.
#[derive(Clone)]
pub struct Routine {
    context: Context,
    uses: Uses,
    outputs: Vec<String>,
    code: Arc<Body>,
}

/// Prints the context and what the routine uses.
impl fmt::Debug for Routine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routine")
            .field("context", &self.context)
            .field("uses", &self.uses)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

impl Routine {
    /// Runs the code; it should queue its work on the context's stream ([`Bound::stream`]).
    pub fn run(&self) -> Result<()> {
        // Lock in the order of names, so that two routines cannot deadlock.
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

    /// The context after this routine: routines that are linked there see its effects.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The names of the vectors that it reads.
    pub fn inputs(&self) -> &[String] {
        &self.uses.reads
    }

    /// The names of the vectors that it writes.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// The name of the vector that it consumes from the merge buffer.
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

    /// Borrows a vector for reading; an error if the routine does not use it, or is writing it.
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

    /// Borrows a vector for writing; an error unless the routine was linked with [`Uses::writes`]
    /// for it.
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

    /// Borrows a vector of any type for reading.
    fn erased(&self, name: &str) -> Result<Ref<'_, dyn AnyVector>> {
        let busy = || {
            self.routine
                .context
                .error(name, "it is being written".into())
        };
        let guard = self.cell(name)?.try_borrow().map_err(|_| busy())?;
        Ok(Ref::map(guard, |any| &***any))
    }

    /// Borrows a vector of any type for writing.
    fn erased_mut(&self, name: &str) -> Result<RefMut<'_, dyn AnyVector>> {
        let busy = || self.routine.context.error(name, "it is being used".into());
        let guard = self.cell(name)?.try_borrow_mut().map_err(|_| busy())?;
        Ok(RefMut::map(guard, |any| &mut ***any))
    }

    /// The vector in the merge buffer; an error unless the routine was linked with
    /// [`Uses::merges`].
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
