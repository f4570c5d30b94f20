//! Instrumentation of data: the arrays of a launch, before and after it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use super::{DataInstrumentationKind, Device, Kind, NO_PROVIDER, Restore, Save, TAKEN, Tag, lock};
use super::{Error, Result, problem};

/// Functions around a launch that see its arrays, see [`crate::Launch::instrument_data`].
///
/// The framework waits for the arrays, and brings them to the host. A provider does not use the
/// vectors of the launch itself.
pub trait DataProvider: Send + Sync {
    /// Called before a launch, with all of its arrays. [`Array::replace`] makes the launch work on
    /// other elements. Returns a number of the launch, for [`DataProvider::after`]. An error refuses
    /// the launch.
    fn before(&self, kernel: &str, device: &Device, arrays: &mut [Array]) -> Result<u64>;

    /// Called after the launch, with its number and the arrays that it may have written; not called
    /// if it failed.
    fn after(&self, kernel: &str, device: &Device, number: u64, arrays: &[Array]) -> Result<()>;
}

/// An array of a launch.
#[derive(Clone, Debug)]
pub struct Array {
    pub(crate) parameter: String,
    pub(crate) element: &'static str,
    pub(crate) size: usize,
    pub(crate) written: bool,
    pub(crate) bytes: Vec<u8>,
    pub(crate) replaced: bool,
}

impl Array {
    /// The kernel's parameter.
    pub fn parameter(&self) -> &str {
        &self.parameter
    }

    /// The name of the type of its elements.
    pub fn element(&self) -> &'static str {
        self.element
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.size.max(1)
    }

    /// True if it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the launch may write it.
    pub fn is_written(&self) -> bool {
        self.written
    }

    /// The elements as bytes, in the order of the machine. Padding is 0.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Makes the launch work on these elements. A vector that it writes gets them; one that it only
    /// reads keeps its own.
    ///
    /// # Errors
    /// The number of bytes, if there is another number of elements. The framework checks after
    /// [`DataProvider::before`] that the bytes are values of the type.
    pub fn replace(&mut self, bytes: &[u8]) -> Result<(), usize> {
        if bytes.len() != self.bytes.len() {
            return Err(self.bytes.len());
        }
        self.bytes.copy_from_slice(bytes);
        self.replaced = true;
        Ok(())
    }
}

type Providers = Mutex<HashMap<Tag<DataInstrumentationKind>, Arc<dyn DataProvider>>>;

fn providers() -> &'static Providers {
    static PROVIDERS: OnceLock<Providers> = OnceLock::new();
    PROVIDERS.get_or_init(Mutex::default)
}

/// Gives a member its provider, also in place of those that `save` and `restore` have from the
/// beginning.
///
/// # Errors
/// [`Error::Tag`] if the tag was not added, has a provider of the program already, or is `none`.
pub fn register_data(
    tag: &Tag<DataInstrumentationKind>,
    provider: Arc<dyn DataProvider>,
) -> Result<()> {
    if tag.is_undefined() || tag.is_template() || *tag == DataInstrumentationKind::none() {
        return Err(problem(
            tag,
            "only members other than `none` have providers: add it by `tag::register`, or take an \
             instance of it",
        ));
    }
    let mut providers = lock(providers());
    if providers.contains_key(tag) {
        return Err(problem(tag, TAKEN));
    }
    providers.insert(tag.clone(), provider);
    Ok(())
}

/// Removes the provider of a member; `save` and `restore` get back those of the library.
///
/// # Errors
/// [`Error::Tag`] if it has none of the program.
pub fn unregister_data(tag: &Tag<DataInstrumentationKind>) -> Result<()> {
    let removed = lock(providers()).remove(tag);
    removed.map(drop).ok_or_else(|| problem(tag, NO_PROVIDER))
}

/// The provider of a tag that a launch carries; `None` for [`DataInstrumentationKind::none`].
pub(crate) fn data_provider(
    tag: &Tag<DataInstrumentationKind>,
) -> Result<Option<Arc<dyn DataProvider>>, Error> {
    static OWN: OnceLock<[Arc<dyn DataProvider>; 2]> = OnceLock::new();
    if *tag == DataInstrumentationKind::none() {
        return Ok(None);
    }
    if let Some(known) = lock(providers()).get(tag) {
        return Ok(Some(known.clone()));
    }
    let [save, restore] =
        OWN.get_or_init(|| [Arc::new(Save::default()), Arc::new(Restore::default())]);
    if *tag == DataInstrumentationKind::save() {
        return Ok(Some(save.clone()));
    }
    if *tag == DataInstrumentationKind::restore() {
        return Ok(Some(restore.clone()));
    }
    Err(problem(tag, NO_PROVIDER))
}

/// The predefined members are those with providers of the library.
const _: () = assert!(DataInstrumentationKind::MEMBERS.len() == 3);
