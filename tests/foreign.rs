//! Foreign kernels: text in the devices' own languages.

use sarek::backend::Parts;
use sarek::foreign::{Builder, ForeignKernel, Text};
use sarek::prelude::*;
use sarek::{Error, Result, include_text};

/// The devices that accept text.
fn devices() -> Vec<Device> {
    let all = Device::all().into_iter();
    all.filter(|device| !device.info().host_memory).collect()
}

fn saxpy() -> Builder {
    declared(
        ForeignKernel::new("saxpy")
            .text(include_text!("foreign/saxpy.cu"))
            .text(include_text!("foreign/saxpy.cl"))
            .text(include_text!("foreign/saxpy.wgsl")),
    )
}

fn declared(builder: Builder) -> Builder {
    builder
        .scalar::<f32>("a")
        .input::<f32>("x")
        .output::<f32>("y")
        .scalar::<u32>("n")
}

/// Runs the kernel on a device and checks the result.
fn run(kernel: &ForeignKernel, device: &Device) -> Result<()> {
    const N: usize = 1000;
    let x: Vector<f32> = (0..N).map(|i| i as f32).collect();
    let mut y = Vector::filled(N, 1.0f32);
    for (times, blocks) in [(1.0, (4, 256)), (2.0, (16, 64))] {
        // SAFETY: the text writes elements below `n` of `y`, each by a thread of its own.
        let launch = unsafe { kernel.call((2.0f32, &x, &mut y, N as u32)) };
        launch.grid(blocks.0).block(blocks.1).run_on(device)?;
        let expected = |i: usize| 1.0 + times * 2.0 * i as f32;
        assert_eq!(
            y.to_vec()?,
            (0..N).map(expected).collect::<Vec<_>>(),
            "{device}"
        );
    }
    // SAFETY: as above.
    let launch = unsafe { kernel.call((-4.0f32, &x, &mut y, N as u32)) };
    launch.cover(N).run_on(device)?;
    assert_eq!(y.to_vec()?, [1.0; N], "{device}");
    Ok(())
}

#[test]
fn texts_run_where_they_are_understood() -> Result<()> {
    let kernel = saxpy().build()?;
    for device in devices() {
        run(&kernel, &device)?;
    }
    Ok(())
}

#[test]
fn files_are_read_while_the_program_runs() -> Result<()> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign");
    let mut builder = ForeignKernel::new("saxpy");
    for file in ["saxpy.cu", "saxpy.cl", "saxpy.wgsl"] {
        builder = builder.text(Text::file(folder.join(file))?);
    }
    let kernel = declared(builder).build()?;
    for device in devices() {
        run(&kernel, &device)?;
    }
    let error = Text::file(folder.join("nothing.cl")).expect_err("there is no such file");
    assert!(error.to_string().contains("nothing.cl"), "{error}");
    Ok(())
}

#[test]
fn vectors_are_coherent_with_kernels_of_rust() -> Result<()> {
    #[kernel]
    fn doubled(y: &mut [f32]) {
        let i = global_idx_x();
        y[i] *= 2.0;
    }
    let kernel = saxpy().build()?;
    let x = Vector::filled(100, 3.0f32);
    let mut y = Vector::filled(100, 0.5f32);
    let mut expected = 0.5;
    for device in devices() {
        let stream = device.new_stream()?;
        for stream in [&device.stream(), &stream] {
            doubled(&mut y).over(100).run()?;
            // SAFETY: the text writes elements of `y`, each by a thread of its own.
            let launch = unsafe { kernel.call((1.0f32, &x, &mut y, 100u32)) };
            launch.cover(100).enqueue(stream)?;
            doubled(&mut y).over(100).run_on(&device)?;
            expected = 2.0 * (2.0 * expected + 3.0);
        }
    }
    assert_eq!(y.to_vec()?, [expected; 100]);
    Ok(())
}

#[test]
fn a_device_without_a_text_lists_the_existing_ones() -> Result<()> {
    let kernel = declared(
        ForeignKernel::new("saxpy").text(Text::new(&sarek::tag::lookup("klingon"), "wo' batlhvaD")),
    )
    .build()?;
    assert_eq!(kernel.languages()[0].name(), "klingon");
    let (x, mut y) = (Vector::filled(4, 1.0f32), Vector::filled(4, 1.0f32));
    for device in Device::all() {
        // SAFETY: nothing takes it.
        let launch = unsafe { kernel.call((1.0f32, &x, &mut y, 4u32)) };
        let error = launch
            .cover(4)
            .run_on(&device)
            .expect_err("no device takes it");
        assert!(matches!(error, Error::NotEligible { .. }), "{error}");
        assert!(error.to_string().contains("text in klingon"), "{error}");
    }
    // SAFETY: nothing takes it.
    let launch = unsafe { kernel.call((1.0f32, &x, &mut y, 4u32)) };
    let error = launch.cover(4).run().expect_err("no device takes it");
    assert!(matches!(error, Error::NoDevice(_)), "{error}");
    assert_eq!(y.to_vec()?, [1.0; 4]);
    Ok(())
}

/// The error of a launch of the kernel in `builder`.
fn refused(builder: Builder, device: &Device) -> Result<Error> {
    let kernel = builder.build()?;
    let (x, mut y) = (Vector::filled(4, 1.0f32), Vector::filled(4, 1.0f32));
    // SAFETY: it does not run.
    let launch = unsafe { kernel.call((1.0f32, &x, &mut y, 4u32)) };
    Ok(launch
        .grid(1)
        .block(4)
        .run_on(device)
        .expect_err("it is refused"))
}

#[test]
fn entry_point_signatures_are_checked() -> Result<()> {
    let texts = || {
        ForeignKernel::new("saxpy")
            .text(include_text!("foreign/saxpy.cu"))
            .text(include_text!("foreign/saxpy.cl"))
            .text(include_text!("foreign/saxpy.wgsl"))
    };
    let (x, mut y) = (Vector::filled(4, 1i32), Vector::filled(4, 1.0f32));
    for device in devices() {
        let knows_types = device.backend() != "cuda";
        // A declaration with another element type.
        let wrong = texts().scalar::<f32>("a").input::<i32>("x");
        let wrong = wrong.output::<f32>("y").scalar::<u32>("n").build()?;
        // SAFETY: it does not run, or reads elements of the same size.
        let launch = unsafe { wrong.call((1.0f32, &x, &mut y, 4u32)) };
        let outcome = launch.grid(1).block(4).run_on(&device);
        match knows_types {
            true => {
                let error = outcome.expect_err("x is f32 there");
                assert!(
                    matches!(error, Error::Signature { .. }),
                    "{device}: {error}"
                );
                assert!(error.to_string().contains("`x`"), "{error}");
            }
            false => outcome?,
        }
        // A declaration with too few parameters.
        let fewer = texts().scalar::<f32>("a").output::<f32>("y").build()?;
        // SAFETY: it does not run.
        let launch = unsafe { fewer.call((1.0f32, &mut y)) };
        let error = launch
            .grid(1)
            .block(4)
            .run_on(&device)
            .expect_err("there are four");
        let is_expected = matches!(error, Error::Signature { .. } | Error::Compile { .. });
        assert!(is_expected, "{device}: {error}");
        // A declaration with a name that the text lacks.
        let error = refused(
            declared(
                ForeignKernel::new("daxpy")
                    .text(include_text!("foreign/saxpy.cu"))
                    .text(include_text!("foreign/saxpy.cl"))
                    .text(include_text!("foreign/saxpy.wgsl")),
            ),
            &device,
        )?;
        assert!(matches!(error, Error::NoEntry { .. }), "{device}: {error}");
        assert!(error.to_string().contains("daxpy"), "{error}");
        assert!(error.to_string().contains("it has saxpy"), "{error}");
    }
    Ok(())
}

/// Texts with two kernels, `one_more` and `doubled`.
fn two_kernels(name: &str) -> Builder {
    ForeignKernel::new(name)
        .text(Text::cuda(
            "extern \"C\" __global__ void one_more(unsigned* y) { y[threadIdx.x] += 1; }\n\
             extern \"C\" __global__ void doubled(unsigned* y) { y[threadIdx.x] *= 2; }",
        ))
        .text(Text::opencl(
            "kernel void one_more(global uint* y) { y[get_global_id(0)] += 1; }\n\
             kernel void doubled(global uint* y) { y[get_global_id(0)] *= 2; }",
        ))
        .text(Text::wgsl(
            "@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n\
             @compute @workgroup_size(4)\n\
             fn one_more(@builtin(local_invocation_index) i: u32) { y[i] += 1u; }\n\
             @compute @workgroup_size(4)\n\
             fn doubled(@builtin(local_invocation_index) i: u32) { y[i] *= 2u; }",
        ))
        .output::<u32>("y")
}

#[test]
fn a_text_lists_its_kernels_and_gives_each_by_name() -> Result<()> {
    for device in devices() {
        let mut y = Vector::filled(4, 5u32);
        for (name, expected) in [("one_more", 6), ("doubled", 12)] {
            let kernel = two_kernels(name).build()?;
            // SAFETY: each thread has an element of its own.
            let launch = unsafe { kernel.call((&mut y,)) };
            let program = launch.grid(1).block(4).specialize(&device)?;
            let mut code = device.compile(&program.expect("it has threads"))?;
            code.entries.sort();
            assert_eq!(code.entries, ["doubled", "one_more"], "{device}");
            // SAFETY: as above.
            let launch = unsafe { kernel.call((&mut y,)) };
            launch.grid(1).block(4).run_on(&device)?;
            assert_eq!(y.to_vec()?, [expected; 4], "{device}, {name}");
        }
        let kernel = two_kernels("tripled").build()?;
        // SAFETY: it does not run.
        let launch = unsafe { kernel.call((&mut y,)) };
        match launch.grid(1).block(4).run_on(&device) {
            Err(Error::NoEntry {
                entry, mut known, ..
            }) => {
                known.sort();
                assert_eq!(entry, "tripled", "{device}");
                assert_eq!(known, ["doubled", "one_more"], "{device}");
            }
            other => panic!("{device}: {other:?}"),
        }
    }
    Ok(())
}

#[test]
fn units_are_compiled_with_their_own_options_and_linked() -> Result<()> {
    let texts = || {
        ForeignKernel::new("scaled")
            .text(Text::opencl(
                "#ifdef FACTOR\n#error this option is for the other text\n#endif\n\
                 uint scale(uint x);\n\
                 kernel void scaled(global uint* y) { y[get_global_id(0)] = scale(get_global_id(0)); }",
            ))
            .text(Text::wgsl(
                "@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n\
                 @compute @workgroup_size(4)\n\
                 fn scaled(@builtin(local_invocation_index) i: u32) { y[i] = scale(i); }",
            ))
            .output::<u32>("y")
    };
    let run = |builder: Builder, device: &Device| {
        let kernel = builder.build()?;
        let mut y = Vector::<u32>::zeros(4);
        // SAFETY: each thread has an element of its own.
        let launch = unsafe { kernel.call((&mut y,)) };
        launch.grid(1).block(4).run_on(device)?;
        y.to_vec()
    };
    let unit = |factor: u32| {
        let opencl = Text::opencl("uint scale(uint x) { return FACTOR * x; }");
        let wgsl = format!("fn scale(x: u32) -> u32 {{ return {factor}u * x; }}");
        texts()
            .unit(opencl.with_option(format!("-DFACTOR={factor}")))
            .unit(Text::wgsl(wgsl))
    };
    for device in devices().iter().filter(|d| d.backend() != "cuda") {
        for factor in [3, 5] {
            let due = [0, factor, 2 * factor, 3 * factor];
            assert_eq!(run(unit(factor), device)?, due, "{device}");
        }
        let error = run(texts(), device).expect_err("`scale` is nowhere");
        assert!(matches!(error, Error::Compile { .. }), "{device}: {error}");
    }
    Ok(())
}

#[test]
fn arguments_are_compared_with_the_declaration() -> Result<()> {
    let kernel = saxpy().build()?;
    let device = Device::best()?;
    let (x, mut y) = (Vector::filled(4, 1.0f32), Vector::filled(4, 1.0f32));
    let integers = Vector::filled(4, 1u32);
    let fail = |args: Vec<sarek::foreign::Arg<'_>>| {
        // SAFETY: it does not run.
        let launch = unsafe { kernel.call(args) };
        launch
            .cover(4)
            .run_on(&device)
            .expect_err("it does not fit")
            .to_string()
    };
    let three = fail(vec![1.0f32.into(), (&x).into(), (&mut y).into()]);
    assert!(three.contains("takes 4 arguments, not 3"), "{three}");
    let other = fail(vec![
        1.0f32.into(),
        (&integers).into(),
        (&mut y).into(),
        4u32.into(),
    ]);
    assert!(
        other.contains("`x` takes &Vector<f32>, not &Vector<u32>"),
        "{other}"
    );
    let read = fail(vec![1.0f32.into(), (&x).into(), (&x).into(), 4u32.into()]);
    assert!(read.contains("`y` takes &mut Vector<f32>"), "{read}");
    let signed = fail(vec![
        1.0f32.into(),
        (&x).into(),
        (&mut y).into(),
        4i32.into(),
    ]);
    assert!(signed.contains("`n` takes u32, not i32"), "{signed}");
    // SAFETY: it does not run.
    let launch = unsafe { kernel.call((1.0f32, &x, &mut y, 4u32)) };
    let error = launch
        .over(4)
        .run_on(&device)
        .expect_err("the text has whole blocks");
    assert!(error.to_string().contains("whole blocks"), "{error}");
    // A slice of arrays with the same total number of scalars has another element type.
    let pairs = Vector::from_vec(vec![[1.0f32; 2]; 2]);
    let other = fail_elements(&kernel, &pairs, &device);
    assert!(
        other.contains("`x` takes elements f32, not [f32; 2]"),
        "{other}"
    );
    Ok(())
}

fn fail_elements(kernel: &ForeignKernel, x: &Vector<[f32; 2]>, device: &Device) -> String {
    let mut y = Vector::filled(4, 1.0f32);
    // SAFETY: it does not run.
    let launch = unsafe { kernel.call((1.0f32, x, &mut y, 4u32)) };
    launch
        .cover(4)
        .run_on(device)
        .expect_err("it does not fit")
        .to_string()
}

#[test]
fn compile_errors_name_the_texts_lines() -> Result<()> {
    let broken =
        |file: &str, text: &str| Text::of_file(file, &text.replace("a * x[i]", "oops * x[i]"));
    let builder = declared(
        ForeignKernel::new("saxpy")
            .text(broken("broken.cu", include_str!("foreign/saxpy.cu")))
            .text(broken("broken.cl", include_str!("foreign/saxpy.cl")))
            .text(broken(
                "broken.wgsl",
                &include_str!("foreign/saxpy.wgsl").replace("numbers.a", "a"),
            )),
    );
    for device in devices() {
        let error = refused(builder.clone(), &device)?;
        let Error::Compile { places, .. } = &error else {
            panic!("{device}: {error}");
        };
        let line = match device.backend() {
            "cuda" => "broken.cu:5",
            "opencl" => "broken.cl:5",
            _ => "broken.wgsl:16",
        };
        assert_eq!(places, &[line], "{error}");
    }
    Ok(())
}

/// Generated text may name its source with `#line`; then compile errors refer to the source.
#[test]
fn compile_errors_name_the_files_of_the_text() -> Result<()> {
    const BODY: &str = "#line 40 \"made.y\"\n\noops\n";
    let kernel = declared(
        ForeignKernel::new("saxpy")
            .text(Text::cuda(BODY))
            .text(Text::opencl(BODY)),
    );
    for device in devices().iter().filter(|d| d.backend() != "wgpu") {
        let error = refused(kernel.clone(), device)?;
        let Error::Compile { places, .. } = &error else {
            panic!("{device}: {error}");
        };
        assert_eq!(places[0], "made.y:41", "{error}");
    }
    Ok(())
}

#[test]
fn texts_are_made_of_several_files() -> Result<()> {
    const C: &str = "#include \"scale.h\"\nENTRY(unsigned int i = INDEX; y[i] = scaled(y[i]);)\n";
    const WGSL: &str = "#include \"scale.h\"\n@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(4) fn scale(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = scaled(y[id.x]); }";
    let kernel = ForeignKernel::new("scale")
        .text(Text::cuda(format!(
            "#define FN __device__\n#define INDEX threadIdx.x\n#define ENTRY(body) extern \"C\" __global__ void scale(unsigned int* y) {{ body }}\n{C}"
        )))
        .text(Text::opencl(format!(
            "#define FN\n#define INDEX get_global_id(0)\n#define ENTRY(body) kernel void scale(global uint* y) {{ body }}\n{C}"
        )))
        .text(Text::wgsl(WGSL))
        .output::<u32>("y");
    let c = "#pragma once\nFN unsigned int scaled(unsigned int v) { return FACTOR * v; }\n";
    let wgsl = "fn scaled(v: u32) -> u32 { return FACTOR * v; }";
    for device in devices() {
        let header = if device.backend() == "wgpu" { wgsl } else { c };
        for factor in [3u32, 5] {
            // SAFETY: the file declares the function that the texts call.
            let parts = unsafe { Parts::new().file("scale.h", header) };
            let parts = parts.define("FACTOR", format!("{factor}u"));
            let kernel = kernel.clone().options(parts).build()?;
            let mut y = Vector::from_vec(vec![1u32, 2, 3, 4]);
            // SAFETY: each thread has an element of its own.
            unsafe { kernel.call((&mut y,)) }
                .grid(1)
                .block(4)
                .run_on(&device)?;
            assert_eq!(
                y.to_vec()?,
                [factor, 2 * factor, 3 * factor, 4 * factor],
                "{device}"
            );
        }
        // SAFETY: it does not compile.
        let parts = unsafe { Parts::new().file("scale.h", format!("{header}\noops")) };
        let parts = parts.define("FACTOR", "1u");
        let kernel = kernel.clone().options(parts).build()?;
        let mut y = Vector::from_vec(vec![1u32; 4]);
        // SAFETY: it does not run.
        let launch = unsafe { kernel.call((&mut y,)) };
        let error = launch
            .grid(1)
            .block(4)
            .run_on(&device)
            .expect_err("oops is nothing");
        assert!(matches!(error, Error::Compile { .. }), "{device}: {error}");
        if device.backend() != "wgpu" {
            assert!(
                error.to_string().contains("written at scale.h:4"),
                "{error}"
            );
        }
    }
    Ok(())
}

#[test]
fn blocks_that_a_text_fixes_are_kept() -> Result<()> {
    const WGSL: &str = "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(32) fn count(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = id.x; }";
    let any = ForeignKernel::new("count")
        .text(Text::wgsl(WGSL))
        .output::<u32>("y");
    let fixed = any.clone().block(32).build()?;
    let any = any.build()?;
    let mut y = Vector::<u32>::zeros(64);
    for device in devices().iter().filter(|d| d.backend() == "wgpu") {
        // SAFETY: each thread has an element of its own.
        unsafe { fixed.call((&mut y,)) }.cover(50).run_on(device)?;
        assert_eq!(y.to_vec()?, (0..64).collect::<Vec<u32>>());
        // SAFETY: it does not run.
        let launch = unsafe { any.call((&mut y,)) };
        let error = launch
            .grid(1)
            .block(64)
            .run_on(device)
            .expect_err("blocks of 32");
        assert!(matches!(error, Error::Signature { .. }), "{error}");
    }
    // SAFETY: it does not run.
    let launch = unsafe { fixed.call((&mut y,)) };
    let error = launch.grid(1).block(64).run().expect_err("blocks of 32");
    assert!(matches!(error, Error::Launch { .. }), "{error}");
    Ok(())
}

#[test]
fn small_elements_of_wgsl_are_parts_of_words() -> Result<()> {
    const WGSL: &str = "@group(0) @binding(0) var<storage, read> x: array<WORD>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(4) fn flip(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&y) { y[id.x] = ~u32(x[id.x]); }
}";
    let kernel = |word| {
        ForeignKernel::new("flip")
            .text(Text::wgsl(WGSL.replace("WORD", word)))
            .input::<u8>("x")
            .output::<u8>("y")
            .build()
    };
    let x = Vector::from_vec((1..=7u8).collect());
    for device in devices().iter().filter(|d| d.backend() == "wgpu") {
        let mut y = Vector::<u8>::zeros(7);
        // SAFETY: each thread has a word of its own.
        unsafe { kernel("u32")?.call((&x, &mut y)) }
            .grid(1)
            .block(4)
            .run_on(device)?;
        assert_eq!(y.to_vec()?, [254, 253, 252, 251, 250, 249, 248]);
        let other = kernel("i32")?;
        // SAFETY: it does not run.
        let error = unsafe { other.call((&x, &mut y)) }
            .grid(1)
            .block(4)
            .run_on(device)
            .expect_err("no words");
        assert!(matches!(error, Error::Signature { .. }), "{error}");
    }
    Ok(())
}

#[test]
fn incomplete_foreign_kernels_are_errors() {
    let none = ForeignKernel::new("k").build().expect_err("no text");
    assert!(none.to_string().contains("no text"), "{none}");
    let two = ForeignKernel::new("k")
        .text(Text::cuda(""))
        .text(Text::cuda(" "));
    let two = two.build().expect_err("two texts");
    assert!(two.to_string().contains("two texts in cuda"), "{two}");
    let names = saxpy().scalar::<f32>("x").build().expect_err("two names");
    assert!(
        names.to_string().contains("two parameters are called `x`"),
        "{names}"
    );
}

#[test]
fn ptx_is_compiled_by_the_driver() -> Result<()> {
    let Ok(device) = Device::of("cuda") else {
        eprintln!("not run: there is no CUDA device");
        return Ok(());
    };
    let ptx = ForeignKernel::new("saxpy").text(include_text!("foreign/saxpy.ptx"));
    run(&declared(ptx.clone()).build()?, &device)?;
    let fewer = ptx.scalar::<f32>("a").build()?;
    // SAFETY: it does not run.
    let launch = unsafe { fewer.call((1.0f32,)) };
    let error = launch.grid(1).block(1).run_on(&device);
    let is_expected = matches!(error, Err(Error::Signature { .. }));
    assert!(is_expected, "{error:?}");
    let broken = include_str!("foreign/saxpy.ptx").replace("fma.rn.f32", "fmu.rn.f32");
    let broken = ForeignKernel::new("saxpy").text(Text::of_file("broken.ptx", &broken));
    let Error::Compile { places, log, .. } = refused(declared(broken), &device)? else {
        panic!("the driver takes it");
    };
    assert!(
        places.iter().any(|place| place.starts_with("broken.ptx:")),
        "{log}"
    );
    Ok(())
}
