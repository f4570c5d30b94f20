//! The dialect, the renderer and the compiler.

use std::fmt::Write;

use sarek::backend::{Artifact, Compiler, LaunchTags, Parts, Renderer};
use sarek::ir::Kernel;
use sarek::ir::write::{self, Derived, Dialect, OpenCl, Source, Unsupported, Variant};
use sarek::tag::{StorageKind, Tag};
use sarek::{Error, Result};

use super::{NAME, accumulator, operand_a, operand_b, turned, unit};

/// OpenCL C with other words for barriers and shared memory.
pub struct MxuC;

impl Derived for MxuC {
    fn base(&self) -> &dyn Dialect {
        &OpenCl
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn barrier(&self, _: bool) -> Result<&'static str, Unsupported> {
        Ok("mxu_wait();")
    }

    fn shared_prefix(&self, _: bool) -> &'static str {
        "__mxu_scratch"
    }
}

impl MxuC {
    /// The text of a kernel, and behind it the places of its vectors and the loops that run its blocks.
    fn text(
        &self,
        kernel: &Kernel,
        variant: &Variant,
        storages: &[Option<Tag<StorageKind>>],
        is_turned: bool,
    ) -> Result<Source> {
        let source = write::render(kernel, self, variant);
        let mut source = source.map_err(|lacking| Error::Unsupported {
            backend: NAME.into(),
            what: lacking.to_string(),
        })?;
        let text = &mut source.text;
        if text.contains("mxu_multiply_add(") {
            source.environments.push(unit::ENVIRONMENT.into());
        }
        let own = [operand_a(), operand_b(), accumulator()];
        for (param, storage) in kernel.params.iter().zip(storages) {
            if let Some(storage) = storage.as_ref().filter(|s| own.contains(s)) {
                writeln!(text, "#pragma mxu place {} {storage}", param.name).expect("a string");
            }
        }
        let entry = &source.entry;
        writeln!(text, "void run_{entry}(mxu_launch launch) {{").expect("a string");
        if is_turned {
            text.push_str("    // mxu/turned: from the last block to the first\n");
        }
        for (depth, axis) in ["z", "y", "x"].into_iter().enumerate() {
            let indent = "    ".repeat(depth + 1);
            let head = match is_turned {
                true => format!("for (uint {axis} = launch.grid.{axis}; {axis}-- > 0;)"),
                false => format!("for (uint {axis} = 0; {axis} < launch.grid.{axis}; {axis}++)"),
            };
            writeln!(text, "{indent}{head}").expect("a string");
        }
        let indent = "    ".repeat(4);
        writeln!(text, "{indent}mxu_block({entry}, launch, x, y, z);\n}}").expect("a string");
        Ok(source)
    }
}

// SAFETY: the kernel's own text is the framework's writer's. The loops behind it run each block once.
unsafe impl Renderer for MxuC {
    fn target(&self) -> &'static str {
        NAME
    }

    fn render(&self, kernel: &Kernel, variant: &Variant) -> Result<Source> {
        self.text(kernel, variant, &[], false)
    }

    fn sees_tags(&self) -> bool {
        true
    }

    fn render_for(&self, kernel: &Kernel, variant: &Variant, tags: &LaunchTags) -> Result<Source> {
        let is_turned = tags.schedule == turned();
        self.text(kernel, variant, &tags.storages, is_turned)
    }
}

// SAFETY: the artifact is the text with its headers in front of it, and there are no options.
unsafe impl Compiler for MxuC {
    fn fingerprint(&self) -> String {
        "mxu 1".into()
    }

    fn keeps_artifacts(&self) -> bool {
        false // an artifact is the text itself
    }

    unsafe fn compile(&self, kernel: &str, source: &Source, parts: &Parts) -> Result<Artifact> {
        parts.refuse_libraries(kernel, NAME, "the device has no linker")?;
        let failed = |log: String| Error::Compile {
            kernel: kernel.into(),
            target: NAME.into(),
            places: vec![],
            log,
            source_text: source.text.clone(),
        };
        let (mut text, mut log) = (String::new(), String::new());
        for name in parts.headers() {
            let header = parts.files().get(name);
            text += header.ok_or_else(|| failed(format!("there is no header `{name}`")))?;
            writeln!(log, "included {name}").expect("a string");
        }
        for (name, value) in parts.definitions() {
            writeln!(text, "#define {name} {value}").expect("a string");
        }
        text += &source.text;
        let artifact = Artifact::new(text.into_bytes()).with_log(log);
        Ok(artifact.with_entries([&source.entry]))
    }
}
