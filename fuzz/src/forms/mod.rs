//! Generates kernels with usual forms of indices, most of them free of races, and tests the race proof on them.
//!
//! A form is a text with choices ([`Form`]). Half of the kernels are drawn without mutations. In the others, some choices are wrong: another
//! stride, `<=` for `<`, a missing barrier, another offset. Then most kernels race, and the race proof must refuse those. [`soup`] adds
//! random indices under random guards and loops.
//!
//! [`judge`](mod@judge) runs each accepted kernel under the sanitizer, and [`generated`] makes accepted kernels for a comparison of all devices.

mod bits;
mod blocks;
pub mod judge;
mod launch;
mod layouts;
mod soup;
mod steps;
mod strides;
mod text;

use sarek::testing::Random;

use crate::case::Case;
use crate::generate::Generated;
use crate::sanitizer::{self, Found};
use crate::tree::Function;

use text::{Writer, statements};

/// A form of kernels.
///
/// In its texts, `‹right¦wrong¦…›` is a choice whose first alternative is right; only mutations take another one. `«a¦b¦…»` is a choice
/// between alternatives that are all right. Choices nest. [`Writer::placeholder`] lists the placeholders, as `$B` for the block's width.
struct Form {
    name: &'static str,
    /// The options of the kernel's attribute.
    options: &'static str,
    /// The statements. They may use the parameters of [`HEAD`] and the locals of [`IDS`].
    body: &'static str,
}

const FORMS: &[&[Form]] = &[
    strides::FORMS,
    layouts::FORMS,
    blocks::FORMS,
    steps::FORMS,
    bits::FORMS,
];

const HEAD: &str = "fn k(n: usize, w: usize, h: usize, m: usize, x: &[u32], y: &mut [u32])";

const IDS: &str = "let i = global_idx_x(); let t = thread_idx_x(); let r = global_idx_y(); let c = global_idx_x();";

/// A kernel of some form.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The name of the form.
    pub form: &'static str,
    /// Named constants.
    items: String,
    options: String,
    body: String,
    /// Some choices are wrong.
    is_mutated: bool,
}

/// The names of all forms.
pub fn names() -> impl Iterator<Item = &'static str> {
    let names = FORMS.iter().flat_map(|forms| forms.iter());
    names.map(|form| form.name).chain([soup::NAME])
}

/// Generates the candidate of a seed.
pub fn candidate(seed: u64) -> Candidate {
    let mut random = Random::new(seed);
    let is_mutated = random.below(2) == 0;
    let is_soup = random.below(5) == 0;
    let all: Vec<&Form> = FORMS.iter().flat_map(|forms| forms.iter()).collect();
    let form = all[random.below(all.len() as u64) as usize];
    let mut writer = Writer::new(random, is_mutated);
    let (name, options, body) = match is_soup {
        true => (soup::NAME, String::new(), soup::body(&mut writer.random)),
        false => (
            form.name,
            writer.write(form.options),
            writer.write(form.body),
        ),
    };
    Candidate {
        form: name,
        items: writer.constants(),
        options,
        body: writer.surrounded(&body),
        is_mutated,
    }
}

impl Candidate {
    /// The kernel as a tree that can be shrunk, safe or unsafe.
    fn function(&self, is_safe: bool) -> Function {
        let word = if is_safe { "" } else { "unsafe " };
        Function {
            head: format!("pub {word}{HEAD}"),
            body: statements(&format!("{IDS} {}", self.body)),
        }
    }

    /// True if the kernel uses ids along y.
    fn uses_rows(&self) -> bool {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut words = self.body.split(|c| !is_word(c));
        words.any(|word| word == "r" || word.ends_with("_y"))
    }

    /// True if the kernel has one result. Without a barrier, atomic operations are in no order, and free of races all the same.
    fn is_determined(&self) -> bool {
        !self.is_mutated || !self.body.contains("Atomic<")
    }

    /// The kernel with a launch.
    fn generated(&self, launch: crate::case::Launch, is_safe: bool) -> Generated {
        // Other devices may have subgroups of another size.
        let launch = crate::case::Launch {
            host: launch.host || self.body.contains("subgroup_"),
            ..launch
        };
        Generated {
            items: self.items.clone(),
            options: self.options.clone(),
            function: self.function(is_safe),
            launch,
        }
    }

    /// The kernel as text, for messages.
    pub fn case(&self, seed: u64) -> Case {
        self.generated(launch::small(seed), true).case()
    }
}

/// Generates a kernel that the race proof accepts, with a launch that fulfils its preconditions; `None` if none was found for this seed.
pub fn generated(seed: u64) -> Option<Generated> {
    (0..8).find_map(|at| {
        let seed = seed.wrapping_mul(8).wrapping_add(at);
        let candidate = Some(candidate(seed)).filter(Candidate::is_determined)?;
        let accepted = judge::accepted(&candidate, seed).ok()??;
        let mut launches = accepted.launches(seed);
        let launch = launches.find(|launch| {
            // Devices may differ in what uninitialised elements are.
            sanitizer::first_error(&accepted.kernel, launch, 0) != Some(Found::Uninitialised)
        })?;
        Some(candidate.generated(launch, true))
    })
}

#[cfg(test)]
mod tests;
