//! Links a text with further texts and with libraries.

use std::collections::BTreeMap;

use sarek_ir::write::{Cuda, Dialect};
use sarek_runtime::Result;
use sarek_runtime::backend::Artifact;

use super::nvjitlink::{self, Form, Input};
use super::{image, nvrtc};
use crate::jit::linked::{Linked, failed};

/// The option that makes NVRTC leave calls of other texts' functions to the linker.
const RELOCATABLE: &str = "--relocatable-device-code=true";

/// The parts from which a program is linked.
pub(super) struct Main<'a> {
    /// The kernel, for messages.
    pub kernel: &'a str,
    pub text: &'a str,
    /// The language of the text: CUDA C, or PTX.
    pub language: &'a str,
}

/// The settings of NVRTC.
pub(super) struct Settings<'a> {
    /// The architecture for which NVRTC compiles.
    pub arch: &'a str,
    /// The architecture of the device.
    pub device: &'a str,
    pub options: &'a [String],
    pub headers: &'a BTreeMap<String, String>,
}

/// Compiles a text and the files to link with it, and links them.
pub(super) fn program(
    main: &Main<'_>,
    linked: &[Linked<'_>],
    settings: &Settings<'_>,
) -> Result<Artifact> {
    let Main { kernel, text, .. } = *main;
    // Fails before anything is compiled.
    if let Err(reason) = nvjitlink::present() {
        return Err(linked[0].error(kernel, Cuda.name(), reason));
    }
    let own = Linked::text(kernel, main.language, text);
    let mut objects = vec![];
    for file in [&own].into_iter().chain(linked) {
        objects.push(object(kernel, file, settings)?);
    }
    let inputs: Vec<Input<'_>> = objects.iter().map(Object::input).collect();
    let (cubin, log) = nvjitlink::link(settings.device, &inputs)
        .map_err(|log| failed(kernel, Cuda.name(), text, log))?;
    let logs = objects.iter().map(|object| &*object.log).chain([&*log]);
    let logs: Vec<&str> = logs.filter(|log| !log.is_empty()).collect();
    let entries = image::entries(&cubin);
    Ok(Artifact::new(cubin)
        .with_log(logs.join("\n"))
        .with_entries(entries))
}

/// A file in a form that the linker takes.
struct Object {
    name: String,
    form: Form,
    bytes: Vec<u8>,
    /// NVRTC's messages.
    log: String,
}

impl Object {
    fn input(&self) -> Input<'_> {
        Input {
            name: &self.name,
            form: self.form,
            bytes: &self.bytes,
        }
    }
}

fn object(kernel: &str, file: &Linked<'_>, settings: &Settings<'_>) -> Result<Object> {
    let name = file.name.to_owned();
    if file.language != Cuda.name() {
        let form = Form::of(file.language).ok_or_else(|| {
            let problem = format!("the linker takes no `{}`", file.language);
            file.error(kernel, Cuda.name(), problem)
        })?;
        let mut bytes = file.contents.to_vec();
        if form == Form::Ptx && bytes.last() != Some(&0) {
            bytes.push(0);
        }
        return Ok(Object {
            name,
            form,
            bytes,
            log: String::new(),
        });
    }
    let text = file.as_text(kernel, Cuda.name())?;
    let options = [settings.options, file.options, &[RELOCATABLE.to_owned()]].concat();
    let compiled = nvrtc::compile_source(kernel, text, settings.arch, &options, settings.headers);
    let artifact = compiled.map_err(|error| file.located(error))?;
    Ok(Object {
        name,
        form: match artifact.bytes.starts_with(b"\x7fELF") {
            true => Form::Cubin,
            false => Form::Ptx,
        },
        bytes: artifact.bytes.to_vec(),
        log: artifact.log,
    })
}
