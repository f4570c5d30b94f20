//! `Device::compile_batch`: compiles several programs ahead of launches.

use sarek::backend::Parts;
use sarek::context::Context;
use sarek::foreign::{ForeignKernel, Text};
use sarek::prelude::*;
use sarek::{Code, Error, Result, Specialized};

#[kernel]
fn add<const N: u32>(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] += N;
}

#[kernel]
fn broken(y: &mut [u32]) {
    let i = global_idx_x();
    // SAFETY: the text does not compile, so it never runs.
    unsafe {
        native! {
            "cuda" => "oops",
            "opencl" => "oops",
            "wgsl" => "oops",
            _ => {}
        }
    }
    y[i] = 1;
}

fn of<const N: u32>(device: &Device, len: usize) -> Result<Option<Specialized>> {
    add::<N>(&mut Vector::zeros(len))
        .over(len)
        .specialize(device)
}

fn batch(device: &Device) -> Result<Vec<Option<Specialized>>> {
    let optimized = Parts::new().define("UNUSED", "1");
    let mut y = Vector::zeros(8);
    Ok(vec![
        of::<1>(device, 100)?,
        None,
        of::<2>(device, 100)?,
        broken(&mut y).over(8).specialize(device)?,
        of::<1>(device, 100)?,
        add::<3>(&mut y)
            .options(optimized)
            .over(8)
            .specialize(device)?,
        // A launch without threads needs no program.
        of::<4>(device, 0)?,
    ])
}

fn outcomes(codes: &[Option<Result<Code>>]) -> Vec<String> {
    let one = |code: &Option<Result<Code>>| match code {
        None => "a gap".to_owned(),
        Some(Ok(code)) => format!("{} in {}:\n{}", code.kernel, code.target, code.text),
        Some(Err(Error::Compile { kernel, places, .. })) => format!("{kernel} fails at {places:?}"),
        Some(Err(error)) => format!("other: {error}"),
    };
    codes.iter().map(one).collect()
}

/// A child process compiles the programs one by one, and this process compiles them together. One process cannot do both, since it caches programs.
#[test]
fn a_batch_gives_the_programs_of_its_parts() -> Result<()> {
    const CHILD: &str = "SAREK_TEST_ONE_BY_ONE";
    let one_by_one = std::env::var_os(CHILD).is_some();
    let mut all = String::new();
    for device in Device::all() {
        let batch = batch(&device)?;
        let codes = match one_by_one {
            true => batch
                .iter()
                .map(|p| Some(device.compile(p.as_ref()?)))
                .collect(),
            false => device.compile_batch(&batch),
        };
        for code in codes.iter().flatten().flatten() {
            assert!(!code.entries.is_empty(), "{device}: {code:?}");
        }
        let outcomes = outcomes(&codes);
        assert_eq!((&*outcomes[1], &*outcomes[6]), ("a gap", "a gap"));
        assert!(
            outcomes[0] == outcomes[4] && (outcomes[0] != outcomes[2] || device.info().host_memory)
        );
        assert_eq!(
            outcomes[3].starts_with("broken fails at"),
            !device.info().host_memory,
            "{}",
            outcomes[3]
        );
        // A failed program does not affect the others.
        let mut y = Vector::zeros(100);
        add::<1>(&mut y).over(100).run_on(&device)?;
        add::<2>(&mut y).over(100).run_on(&device)?;
        assert_eq!(y.to_vec()?, [3; 100], "{device}");
        all += &format!("{device}\n{}\n", outcomes.join("\n"));
    }
    if one_by_one {
        println!("<<<{all}>>>");
        return Ok(());
    }
    let child = std::process::Command::new(std::env::current_exe().expect("a test has a program"))
        .args([
            "a_batch_gives_the_programs_of_its_parts",
            "--exact",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .env("SAREK_CACHE", "off")
        .output()
        .expect("it runs");
    let printed = String::from_utf8_lossy(&child.stdout).into_owned();
    let found = printed
        .split("<<<")
        .nth(1)
        .and_then(|rest| rest.split(">>>").next());
    assert_eq!(
        found,
        Some(&*all),
        "{}",
        String::from_utf8_lossy(&child.stderr)
    );
    Ok(())
}

/// Two kernels that need the same helpers, and others of their own.
#[kernel]
fn quotients(x: &[i32], y: &mut [i32]) {
    let i = global_idx_x();
    y[i] = x[i] / y[i];
}

#[kernel]
fn remainders(x: &[i32], y: &mut [i32]) {
    let i = global_idx_x();
    y[i] = x[i] / y[i] + (x[i] % y[i]).rotate_left(1);
}

#[test]
fn kernels_of_a_batch_share_a_text_and_an_artifact() -> Result<()> {
    for device in Device::all() {
        let x: Vector<i32> = (10..18).collect();
        let mut y = Vector::filled(8, 3);
        let batch = [
            quotients(&x, &mut y).over(8).specialize(&device)?,
            remainders(&x, &mut y).over(8).specialize(&device)?,
        ];
        for code in device.compile_batch(&batch).into_iter().flatten() {
            let mut code = code?;
            code.entries.sort();
            match device.backend() {
                "opencl" => assert_eq!(code.entries, ["quotients", "remainders"], "{device}"),
                _ => assert!(code.entries.contains(&code.kernel), "{device}"),
            }
        }
        quotients(&x, &mut y).over(8).run_on(&device)?;
        assert_eq!(y.to_vec()?, [3, 3, 4, 4, 4, 5, 5, 5], "{device}");
        y.fill(3)?;
        remainders(&x, &mut y).over(8).run_on(&device)?;
        assert_eq!(y.to_vec()?, [5, 7, 4, 6, 8, 5, 7, 9], "{device}");
        // A fault has the place of its own kernel.
        y.fill(0)?;
        let fault = remainders(&x, &mut y).over(8).run_on(&device);
        let fault = fault
            .and_then(|()| y.to_vec())
            .expect_err("it divides by zero");
        assert!(
            fault.to_string().contains("remainders"),
            "{device}: {fault}"
        );
    }
    Ok(())
}

#[kernel]
fn shares(x: &[i32], y: &mut [i32]) {
    let i = global_idx_x();
    y[i] = x[i] / y[i];
}

/// Any element of `x` must be an index of `y`.
#[kernel]
unsafe fn scattered(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[x[i] as usize] = i as u32;
}

#[test]
fn code_of_a_batch_is_linked_into_contexts() -> Result<()> {
    for device in Device::all() {
        let x: Vector<i32> = (0..8).collect();
        let (mut y, places) = (Vector::filled(8, 1), Vector::from_vec(vec![0u32; 8]));
        let mut at = Vector::zeros(8);
        // SAFETY: it does not run.
        let scattered = unsafe { scattered(&places, &mut at) };
        let batch = [
            shares(&x, &mut y).over(8).specialize(&device)?,
            scattered.over(8).specialize(&device)?,
        ];
        let codes: Result<Vec<Code>> = device.compile_batch(&batch).into_iter().flatten().collect();
        let [shares, scattered] = &codes?[..] else {
            panic!("two programs");
        };
        for (context, divisor) in [(Context::new(&device)?, 2), (Context::new(&device)?, 4)] {
            let context = context.init_from_host("dividends", (10..18).collect::<Vec<i32>>())?;
            let context = context.init_from_host("y", vec![divisor; 8])?;
            let routine = context.link_code(shares, &[("x", "dividends")])?;
            routine.run()?;
            let due: Vec<i32> = (10..18).map(|x| x / divisor).collect();
            assert_eq!(context.to_host::<i32>("y")?, due, "{device}");
        }
        // Who links an `unsafe fn` vouches for what the vectors hold.
        let context =
            Context::new(&device)?.init_from_host("x", (0..8).rev().collect::<Vec<u32>>())?;
        let refused = context.link_code(scattered, &[]).map(drop).unwrap_err();
        assert!(refused.to_string().contains("unsafe"), "{refused}");
        // SAFETY: no two elements of `x` are equal, and all are below 8.
        let routine = unsafe { context.link_code_unchecked(scattered, &[]) }?;
        routine.run()?;
        let due: Vec<u32> = (0..8).rev().collect();
        assert_eq!(routine.context().to_host::<u32>("y")?, due, "{device}");
    }
    Ok(())
}

#[test]
fn texts_of_several_files_are_compiled_in_batches() -> Result<()> {
    for device in Device::all().iter().filter(|d| !d.info().host_memory) {
        let (c, wgsl) = (
            "FN uint five() { return 5; }\n",
            "fn five() -> u32 { return 5u; }",
        );
        let header = if device.backend() == "wgpu" { wgsl } else { c };
        let kernel = ForeignKernel::new("fives")
            .text(Text::cuda("#define FN __device__\n#define uint unsigned int\n#include \"five.h\"\nextern \"C\" __global__ void fives(uint* y) { y[threadIdx.x] = five(); }"))
            .text(Text::opencl("#define FN\n#include \"five.h\"\nkernel void fives(global uint* y) { y[get_global_id(0)] = five(); }"))
            .text(Text::wgsl("#include \"five.h\"\n@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n@compute @workgroup_size(4) fn fives(@builtin(local_invocation_index) i: u32) { y[i] = five(); }"))
            .output::<u32>("y")
            // SAFETY: the file declares the function that the texts call.
            .options(unsafe { Parts::new().file("five.h", header) })
            .build()?;
        let mut y = Vector::<u32>::zeros(4);
        // SAFETY: each thread has an element of its own.
        let launch = unsafe { kernel.call((&mut y,)) };
        let program = launch.grid(1).block(4).specialize(device)?;
        let codes = device.compile_batch(&[program, of::<7>(device, 4)?]);
        for code in codes.into_iter().flatten() {
            assert!(!code?.text.is_empty());
        }
        // SAFETY: as above.
        unsafe { kernel.call((&mut y,)) }
            .grid(1)
            .block(4)
            .run_on(device)?;
        assert_eq!(y.to_vec()?, [5; 4], "{device}");
    }
    Ok(())
}
