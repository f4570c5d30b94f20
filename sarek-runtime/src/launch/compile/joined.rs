//! Compilation of several kernels as one text.

use std::sync::Arc;

use sarek_ir::write::{self, Source};

use super::{Output, Unit, stored};
use crate::plugin::backend::Compiler;
use crate::{Result, cache};

/// Compiles units that may stand in one text as the compiler wants them joined, and notes their
/// outcomes. Leaves out those that stand alone, and those of a text that does not compile: compiled
/// alone, each has its own outcome.
pub(super) fn compile(
    compiler: &dyn Compiler,
    units: &[Unit],
    keys: &[Option<String>],
    outcomes: &mut [Option<Result<Output>>],
) {
    let open = |i: &usize| {
        let source = &units[*i].source;
        outcomes[*i].is_none()
            && units[*i].language.is_none()
            && source.joint.is_some()
            && source.files.is_empty()
    };
    let mut open: Vec<usize> = (0..units.len()).filter(open).collect();
    while let Some(first) = open.first().copied() {
        let same = |i: &usize| units[*i].parts == units[first].parts;
        let (together, others) = open.into_iter().partition(same);
        open = others;
        let (groups, texts): (Vec<_>, Vec<_>) =
            groups(compiler, units, &together).into_iter().unzip();
        let source = |text| Source {
            text,
            ..Source::default()
        };
        let sources: Vec<Source> = texts.into_iter().map(source).collect();
        let name = |group: &Vec<usize>| {
            let names: Vec<&str> = group.iter().map(|i| units[*i].name()).collect();
            names.join(", ")
        };
        let names: Vec<String> = groups.iter().map(name).collect();
        let batch = names.iter().zip(&sources);
        let batch: Vec<_> = batch
            .map(|(name, source)| Some((&**name, source)))
            .collect();
        // SAFETY: the parts were checked when the units were made.
        let compiled = unsafe { compiler.compile_batch(&batch, &units[first].parts) };
        for ((group, source), compiled) in groups.into_iter().zip(sources).zip(compiled) {
            let Some(Ok(artifact)) = compiled else {
                continue;
            };
            let text: Arc<str> = source.text.into();
            // Like the keys of the kernels: the compiler, the text and its parts.
            let parts = &units[first].parts;
            let whole = format!("{}\njoined {parts:?}\n{text}", compiler.fingerprint());
            if group.iter().any(|i| keys[*i].is_some()) {
                stored::put(cache::disk(), &whole, &artifact);
            }
            for i in group {
                let output = units[i].labelled(artifact.clone(), Some(text.clone()));
                if let Some(key) = &keys[i] {
                    stored::put_part(cache::disk(), key, &output.artifact, &whole);
                }
                outcomes[i] = Some(Ok(output));
            }
        }
    }
}

/// Splits units into groups of different entry points, as few as the compiler wants. Each has the
/// joined text; a unit that is alone in its group is left out.
fn groups(compiler: &dyn Compiler, units: &[Unit], all: &[usize]) -> Vec<(Vec<usize>, String)> {
    let texts = compiler.joined(all.len()).max(1);
    if texts >= all.len() {
        return vec![];
    }
    let most = all.len().div_ceil(texts);
    let mut groups: Vec<Vec<usize>> = vec![];
    for i in all {
        let entry = &units[*i].source.entry;
        let fits = |group: &&mut Vec<usize>| {
            let clashes = group
                .iter()
                .any(|other| units[*other].source.entry == *entry);
            group.len() < most && !clashes
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(*i),
            None => groups.push(vec![*i]),
        }
    }
    groups.retain(|group| group.len() > 1);
    let joined = |group: Vec<usize>| {
        let sources: Vec<&Source> = group.iter().map(|i| &units[*i].source).collect();
        let text = write::join(&sources)?;
        Some((group, text))
    };
    groups.into_iter().filter_map(joined).collect()
}
