//! Compilation of kernel texts, one by one or in batches, with a cache on disk.

mod joined;
mod stored;

use std::borrow::Cow;
use std::sync::Arc;

use sarek_ir::write::{Source, Variant};
use sarek_ir::{Kernel, passes};

use super::prepare::Prepared;
use crate::intrinsic::Spelled;
use crate::plugin::backend::{Artifact, Compiler, LaunchTags, Parts, Renderer};
use crate::plugin::tag::{Language, Tag};
use crate::sync::span::span;
use crate::{Error, Result, cache, environment};

/// A compilation unit: a text with everything that it is compiled with.
#[derive(Clone)]
pub(super) struct Unit {
    /// The kernel's name.
    name: String,
    /// The artifact's name.
    pub(super) label: String,
    /// The file of the kernel's definition.
    file: Cow<'static, str>,
    /// The file name, in a rendering, of lines that come from no file of the user.
    own: String,
    /// The renderer's target.
    target: String,
    /// The language of the user's own text; `None` for a rendering.
    language: Option<Tag<Language>>,
    pub(super) source: Source,
    pub(super) parts: Parts,
}

/// The result of compiling a unit.
pub(super) struct Output {
    pub(super) artifact: Artifact,
    /// The text with other kernels that was compiled, if it was no text of this kernel alone.
    pub(super) joined: Option<Arc<str>>,
    /// True if the artifact comes from the disk cache. The driver may have changed since.
    pub(super) is_from_disk: bool,
}

/// The reason why a strict kernel has no environments.
pub(super) const STRICT: &str =
    "it is strict, and takes no environment: flags and headers may change the results of floats";

impl Unit {
    /// The text of a kernel: a rendering, or the user's own text in a language that the device
    /// accepts.
    pub(super) fn of(
        (kernel, transformed): (&Prepared, Option<&Kernel>),
        (variant, tags): (&Variant, Option<&LaunchTags>),
        spelled: &Spelled,
        (renderer, compiler): (&dyn Renderer, &dyn Compiler),
        environments: &[String],
    ) -> Result<Unit> {
        let (name, target) = (kernel.name().to_owned(), renderer.target());
        let own = format!("{name}.{target}");
        let render = |kernel: &Kernel| match tags {
            Some(tags) => renderer.render_for(kernel, variant, tags),
            None => renderer.render(kernel, variant),
        };
        let (source, parts, language) = match kernel.foreign() {
            None => {
                let rendered = transformed.unwrap_or(&kernel.kernel);
                let spelled = &*spelled.spell(rendered)?;
                let mut source = render(spelled)?;
                if renderer.has_line_markers() {
                    source = source.with_line_markers(&kernel.kernel.file, &own);
                }
                if kernel.needs.strict && !source.environments.is_empty() {
                    return Err(Error::Launch {
                        kernel: name,
                        problem: STRICT.to_owned(),
                    });
                }
                // The target's own environments count as if the kernel had named them.
                let all = [environments, &source.environments].concat();
                let parts = environment::resolve(&all, target)?;
                environment::check(&parts, &name, (target, compiler), || {
                    let mut bare = spelled.clone();
                    passes::blank_natives(&mut bare);
                    Ok(render(&bare)?.text)
                })?;
                (source, parts, None)
            }
            Some(definition) => {
                let text = definition.text_for(renderer, compiler);
                let text = text.ok_or_else(|| Error::Foreign {
                    kernel: name.clone(),
                    problem: definition.no_text(Some(target)),
                })?;
                let own = definition.parts();
                let parts = environment::resolve_with(environments, target, &name, own)?;
                // All of the text is the user's own.
                let none = || Ok(String::new());
                environment::check(&parts, &name, (target, compiler), none)?;
                let language = Some(text.language().clone());
                (definition.source(text, renderer, compiler), parts, language)
            }
        };
        Ok(Unit {
            label: name.clone(),
            name,
            file: kernel.kernel.file.clone(),
            own,
            target: target.to_owned(),
            language,
            source,
            parts,
        })
    }

    /// The kernel's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The language of the text, for messages.
    pub(super) fn target(&self) -> &str {
        self.language.as_ref().map_or(&self.target, |l| l.name())
    }

    /// The key in the disk cache; `None` if the artifact is not kept there.
    fn key(&self, compiler: &dyn Compiler) -> Option<String> {
        // Files may change while their names stay: a text that reads files is compiled anew in each
        // process.
        if !compiler.keeps_artifacts() || self.parts.reads_files(&self.source) {
            return None;
        }
        let Unit { source, parts, .. } = self;
        let (fingerprint, entry, text) = (compiler.fingerprint(), &source.entry, &source.text);
        let mut files = String::new();
        source
            .files
            .iter()
            .for_each(|file| file.write_key(&mut files));
        let key = format!("{fingerprint}\nnamed {parts:?}\n{files}{entry}\n{text}");
        Some(match &self.language {
            // The declared slots were compared with the text, so they are part of the key.
            Some(language) => format!("{language} {:?}\n{key}", source.slots),
            None => key,
        })
    }

    /// Compiles the unit, or takes the artifact from the disk cache.
    pub(super) fn compile(&self, compiler: &dyn Compiler) -> Result<Output> {
        let key = self.key(compiler);
        match key.as_deref().and_then(on_disk) {
            Some(known) => Ok(known),
            None => self.compile_as(compiler, key.as_deref()),
        }
    }

    /// Compiles the unit, whatever the disk cache has. The result replaces its entry.
    pub(super) fn recompile(&self, compiler: &dyn Compiler) -> Result<Output> {
        self.compile_as(compiler, self.key(compiler).as_deref())
    }

    fn compile_as(&self, compiler: &dyn Compiler, key: Option<&str>) -> Result<Output> {
        let (source, parts) = (&self.source, &self.parts);
        // SAFETY: the parts were checked when the unit was made.
        let compiled = unsafe {
            match &self.language {
                Some(language) => compiler.compile_foreign(&self.name, language, source, parts),
                None => compiler.compile(&self.name, source, parts),
            }
        };
        self.compiled(compiled, key)
    }

    /// Handles a compiler's result: adds the source locations to an error, or writes the artifact
    /// to the disk cache under `key`.
    fn compiled(&self, compiled: Result<Artifact>, key: Option<&str>) -> Result<Output> {
        let artifact = compiled.map_err(|error| self.located(error))?;
        let output = self.labelled(artifact, None);
        if let Some(key) = key {
            // The key names the compiler, the text and its parts, of which this was made.
            stored::put(cache::disk(), key, &output.artifact);
        }
        Ok(output)
    }

    /// An artifact that was compiled now, under the unit's own name. `joined` is the text of several
    /// kernels.
    fn labelled(&self, artifact: Artifact, joined: Option<Arc<str>>) -> Output {
        let name = self.label.clone();
        Output {
            artifact: Artifact { name, ..artifact },
            joined,
            is_from_disk: false,
        }
    }

    /// Adds to a compile error the places in the user's source that the compiler's log mentions.
    pub(super) fn located(&self, mut error: Error) -> Error {
        if let Error::Compile { places, log, .. } = &mut error {
            *places = vec![];
            for (name, line) in mentioned(log) {
                if let Some(place) = self.place(name, line)
                    && !places.contains(&place)
                {
                    places.push(place);
                }
            }
        }
        error
    }

    /// Maps a file name and line of the compiler's log to the user's source.
    fn place(&self, name: &str, line: u32) -> Option<String> {
        let files = self.parts.files().keys();
        let own = self.source.files.iter().map(|file| &file.name);
        if let Some(file) = files.chain(own).find(|file| name.ends_with(*file)) {
            return Some(format!("{file}:{line}"));
        }
        if name == self.own {
            return None;
        }
        if self.is_named(name) {
            return Some(format!("{name}:{line}"));
        }
        let (file, line) = self.source.origin(line)?;
        let file = if file.is_empty() { &*self.file } else { file };
        Some(format!("{file}:{line}"))
    }

    /// True if a `#line` directive of the text names the file.
    fn is_named(&self, file: &str) -> bool {
        let quoted = format!("\"{file}\"");
        let mut lines = self.source.text.lines().map(str::trim_start);
        lines.any(|line| line.starts_with("#line ") && line.contains(&quoted))
    }
}

fn on_disk(key: &str) -> Option<Output> {
    span!("look up");
    Some(Output {
        artifact: stored::get(cache::disk(), key)?,
        joined: None,
        is_from_disk: true,
    })
}

/// Compiles several units, in one call for each distinct set of parts. Each result is the one of
/// compiling the unit alone; but artifacts may have the kernels of other units, too. The disk cache
/// keeps such an artifact once.
pub(super) fn compile_all(compiler: &dyn Compiler, units: &[Unit]) -> Vec<Result<Output>> {
    let keys: Vec<Option<String>> = units.iter().map(|unit| unit.key(compiler)).collect();
    let known = keys.iter().map(|key| on_disk(key.as_deref()?).map(Ok));
    let mut outcomes: Vec<Option<Result<Output>>> = known.collect();
    joined::compile(compiler, units, &keys, &mut outcomes);
    for at in 0..units.len() {
        if outcomes[at].is_some() {
            continue;
        }
        if units[at].language.is_some() {
            outcomes[at] = Some(units[at].compile(compiler));
            continue;
        }
        let parts = &units[at].parts;
        let together = |i: usize| {
            i >= at
                && outcomes[i].is_none()
                && units[i].language.is_none()
                && units[i].parts == *parts
        };
        let gaps = |i: usize| together(i).then(|| (&*units[i].name, &units[i].source));
        let sources: Vec<_> = (0..units.len()).map(gaps).collect();
        // SAFETY: the parts were checked when the units were made.
        let compiled = unsafe { compiler.compile_batch(&sources, parts) };
        for (i, compiled) in compiled.into_iter().enumerate() {
            if let Some(compiled) = compiled {
                outcomes[i] = Some(units[i].compiled(compiled, keys[i].as_deref()));
            }
        }
        // A unit that the backend's batch left out is compiled alone.
        outcomes[at].get_or_insert_with(|| units[at].compile(compiler));
    }
    outcomes
        .into_iter()
        .map(|outcome| outcome.expect("each was compiled above"))
        .collect()
}

/// The lines that a compiler's log mentions, each with its file name. Formats: `name(12): error`,
/// `name:12:5: error`, `wgsl:12:5`, `ptxas name, line 12; error`.
fn mentioned(log: &str) -> impl Iterator<Item = (&str, u32)> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let errors = log.lines().filter(|line| !line.contains("warning"));
    errors.filter_map(move |line| {
        let in_parentheses = line.split_once("): ").and_then(|(head, _)| {
            let (name, line) = head.rsplit_once('(')?;
            Some((name, number(line)?))
        });
        let in_words = || {
            let (name, rest) = line.split_once(", line ")?;
            Some((name, number(rest.split(';').next()?)?))
        };
        let behind_colons = || {
            let parts: Vec<&str> = line.split(':').collect();
            let mut triples = parts.windows(3);
            triples.find_map(|part| {
                number(part[2])?;
                Some((part[0].trim(), number(part[1])?))
            })
        };
        in_parentheses.or_else(in_words).or_else(behind_colons)
    })
}

#[cfg(test)]
mod tests {
    use sarek_ir::write::{Source, SourceFile};

    use super::{Artifact, Compiler, Parts, Unit, mentioned};
    use crate::Result;

    struct Any;

    // SAFETY: it compiles nothing.
    unsafe impl Compiler for Any {
        fn fingerprint(&self) -> String {
            "any".into()
        }

        unsafe fn compile(&self, _: &str, source: &Source, _: &Parts) -> Result<Artifact> {
            Ok(Artifact::new(source.text.as_bytes()))
        }
    }

    #[test]
    fn keys_have_all_files_of_a_program() {
        let key = |files: Vec<SourceFile>| {
            let source = Source {
                files,
                ..Source::default()
            };
            let unit = Unit {
                name: "k".into(),
                label: "k".into(),
                file: "".into(),
                own: "k.any".into(),
                target: "any".into(),
                language: None,
                source,
                parts: Parts::new(),
            };
            unit.key(&Any).expect("it reads no files")
        };
        let unit = || SourceFile::unit("a", "any", "x");
        let mut keys = vec![
            key(vec![]),
            key(vec![unit()]),
            key(vec![SourceFile::header("a", "any", "x")]),
            key(vec![SourceFile::unit("b", "any", "x")]),
            key(vec![SourceFile::unit("a", "other", "x")]),
            key(vec![SourceFile::unit("a", "any", "y")]),
            key(vec![SourceFile::unit("a", "any", [0xff, b'x'])]),
            key(vec![unit().with_options(["-O1"])]),
            key(vec![unit(), SourceFile::unit("b", "any", "x")]),
            key(vec![SourceFile::unit("b", "any", "x"), unit()]),
        ];
        assert_eq!(key(vec![unit()]), keys[1]);
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }

    #[test]
    fn lines_are_found_in_every_compilers_log() {
        for (log, lines) in [
            (
                "saxpy.cu(12): error: identifier \"q\" is undefined\n      1\n",
                &[("saxpy.cu", 12)][..],
            ),
            (
                "/tmp/t.cl:7:20: error: use of q\n<source>:9:1: note",
                &[("/tmp/t.cl", 7), ("<source>", 9)],
            ),
            (
                "error: no definition\n   ┌─ wgsl:31:5\n   │\n31 │  x",
                &[("┌─ wgsl", 31)],
            ),
            (
                "ptxas application ptx input, line 9; error   : syntax",
                &[("ptxas application ptx input", 9)],
            ),
            ("warning 3: (see 4)", &[]),
        ] {
            assert_eq!(mentioned(log).collect::<Vec<_>>(), lines, "{log}");
        }
    }
}
