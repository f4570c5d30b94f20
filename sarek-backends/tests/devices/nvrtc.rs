//! Tests NVRTC alone, without a device or driver.

#[cfg(feature = "cuda")]
mod tests {
    use sarek_backends::cuda::nvrtc::{compile, version};
    use sarek_ir::SiteId;
    use sarek_ir::write::{self, Cuda};
    use sarek_runtime::Error;

    use crate::{require, texts};

    #[test]
    fn cuda_c_compiles_without_a_device() {
        if let Err(reason) = version() {
            return require::skip("nvrtc", &reason);
        }
        let source = texts::saxpy("cuda");
        let cubin = compile("saxpy", &source.text, "sm_90").unwrap();
        assert!(cubin.bytes.starts_with(b"\x7fELF"));
        let ptx = compile("saxpy", &source.text, "compute_90").unwrap();
        let text = std::str::from_utf8(&ptx.bytes).unwrap();
        assert!(
            text.contains(".visible .entry entry(") && text.ends_with('\0'),
            "{text}"
        );
        for other in [
            texts::scalars("cuda"),
            texts::churn("cuda"),
            texts::nothing("cuda"),
        ] {
            compile("other", &other.text, "sm_90").unwrap();
        }
    }

    #[test]
    fn the_kernels_of_an_artifact_are_listed() {
        if let Err(reason) = version() {
            return require::skip("nvrtc", &reason);
        }
        let source = texts::two("cuda");
        for arch in ["sm_90", "compute_90"] {
            let mut artifact = compile("two", &source.text, arch).unwrap();
            artifact.entries.sort();
            assert_eq!(artifact.entries, ["double_", "entry"], "{arch}");
            assert!(artifact.check_entry("cuda", "entry").is_ok());
            let error = artifact.check_entry("cuda", "triple").unwrap_err();
            assert!(
                error.to_string().contains("it has double_, entry"),
                "{error}"
            );
        }
    }

    #[test]
    fn kernels_with_common_helpers_are_one_text() {
        if let Err(reason) = version() {
            return require::skip("nvrtc", &reason);
        }
        let rendered = |name: &'static str| {
            let mut kernel = crate::rendered::axpy();
            kernel.name = name.into();
            let mut variant = write::default_variant(&kernel, &Cuda);
            variant.checked = [SiteId(0), SiteId(1)].into();
            let source = write::render(&kernel, &Cuda, &variant).unwrap();
            assert!(!source.joint.as_ref().unwrap().helpers.is_empty());
            source.with_line_markers("axpy.rs", "axpy.cuda")
        };
        let sources = ["first", "second", "third"].map(rendered);
        let text = write::join(&sources.each_ref()).unwrap();
        for arch in ["sm_90", "compute_90"] {
            let mut artifact = compile("batch", &text, arch).unwrap_or_else(|e| panic!("{e}"));
            artifact.entries.sort();
            assert_eq!(artifact.entries, ["first", "second", "third"], "{arch}");
        }
        let alone: usize = sources.iter().map(|source| source.text.len()).sum();
        assert!(text.len() < alone, "helpers stand in it once");
        assert_eq!(write::join(&[&sources[0], &sources[0]]), None);
    }

    #[test]
    fn the_log_of_a_rejected_text_is_told() {
        if let Err(reason) = version() {
            return require::skip("nvrtc", &reason);
        }
        let source = texts::broken("cuda");
        match compile("broken", &source.text, "sm_90") {
            Err(Error::Compile { log, .. }) => assert!(log.contains("undeclared_thing"), "{log}"),
            Err(other) => panic!("not a compile error: {other}"),
            Ok(_) => panic!("it compiled"),
        }
    }
}
