//! The renderer and the compiler of the fake GPU.

use super::*;

// SAFETY: the text is never run.
unsafe impl Renderer for Fake {
    fn target(&self) -> &'static str {
        "fake"
    }

    fn render(&self, kernel: &Kernel, variant: &Variant) -> Result<Source> {
        let text = format!("{} {} {variant:?}", kernel.name, kernel.stmts.len());
        Ok(Source {
            joint: Some(Joint {
                types: vec![],
                helpers: vec!["helper\n".to_owned()],
                body: format!("{text}\n"),
            }),
            text,
            entry: kernel.name.to_string(),
            slots: slots(kernel, variant),
            environments: lock(&self.0.environments).clone(),
            ..Source::default()
        })
    }

    fn sees_tags(&self) -> bool {
        self.0.sees_tags.load(Ordering::Relaxed)
    }

    fn render_for(&self, kernel: &Kernel, variant: &Variant, tags: &LaunchTags) -> Result<Source> {
        let mut source = self.render(kernel, variant)?;
        for (param, storage) in kernel.params.iter().zip(&*tags.storages) {
            if let Some(storage) = storage {
                source.text += &format!("; {} in {storage}", param.name);
            }
        }
        source.text += &format!("; by {}", tags.schedule);
        Ok(source)
    }
}

// SAFETY: an artifact is never run.
unsafe impl Compiler for Fake {
    fn fingerprint(&self) -> String {
        "fake".into()
    }

    fn joined(&self, kernels: usize) -> usize {
        match self.0.joined.load(Ordering::Relaxed) {
            0 => kernels,
            texts => texts,
        }
    }

    fn keeps_artifacts(&self) -> bool {
        self.0.keeps_artifacts.load(Ordering::Relaxed)
    }

    fn is_harmless_flag(&self, flag: &str) -> bool {
        flag != "-harm"
    }

    unsafe fn compile(&self, _kernel: &str, source: &Source, parts: &Parts) -> Result<Artifact> {
        self.0.compiles.fetch_add(1, Ordering::Relaxed);
        *lock(&self.0.parts) = parts.clone();
        let rejected = lock(&self.0.rejected).clone();
        if rejected.is_some_and(|text| source.text.contains(&text)) {
            return Err(failed("it does not compile"));
        }
        Ok(Artifact::new(source.text.as_bytes()))
    }
}
