//! Requirements that every device must satisfy.

use std::sync::Arc;

use sarek_ir::write::FAULT_WORDS;
use sarek_runtime::Error;
use sarek_runtime::backend::{Arg, Artifact, Codegen, Mem, Slice};

use crate::rig::{
    BLOCK, Copies, Rig, buffer, compile_log, launch, part, read, scalar, to_bytes, whole,
};
use crate::{require, texts};

pub fn info_is_plausible(rig: &Rig) {
    let info = rig.device.info();
    assert!(!info.name.is_empty());
    assert!(!info.host_memory);
    assert!(info.max_block_threads >= 64, "{info:?}");
    assert!(
        info.max_block
            .iter()
            .all(|n| *n >= 1 && *n <= info.max_block_threads)
    );
    assert!(info.max_grid.iter().all(|n| *n >= 65535), "{info:?}");
    assert!(info.max_buffer >= 1 << 26, "{info:?}");
    assert!(info.max_buffers >= 4, "{info:?}");
    assert!(info.warp >= 1);
    assert!(!rig.device.debug_info().is_empty());
    let Codegen::Jit(renderer, compiler) = rig.device.codegen() else {
        panic!("{} compiles source", rig.backend);
    };
    assert!(!renderer.target().is_empty());
    assert!(!compiler.fingerprint().is_empty());
    if let Some((used, total)) = rig.device.used_memory() {
        assert!(used <= total && total > 0);
    }
}

pub fn copies_take_offsets(rig: &Rig) {
    let slice = rig.upload(&[7u8; 40]);
    rig.stream.put(&part(&slice, 3, 2), &[9; 2]).unwrap();
    let mut expected = vec![7u8; 40];
    expected[3..5].fill(9);
    assert_eq!(rig.download::<u8>(&slice), expected);
    let window = part(&slice, 4, 3);
    assert_eq!(rig.download::<u8>(&window), expected[4..7]);
    let window = part(&slice, 2, 4);
    assert_eq!(rig.download::<u8>(&window), expected[2..6]);
    // Empty copies are allowed.
    let empty = part(&slice, 40, 0);
    rig.stream.put(&empty, &[]).unwrap();
    rig.stream.take(&empty, &mut []).unwrap();
    rig.stream.clear(&empty).unwrap();
}

pub fn zero_leaves_the_neighbours(rig: &Rig) {
    for (offset, len) in [
        (5, 3),
        (6, 9),
        (4, 5),
        (37, 2),
        (38, 1),
        (16, 16),
        (0, 40),
        (4, 8),
    ] {
        let slice = rig.upload(&[7u8; 40]);
        rig.stream.clear(&part(&slice, offset, len)).unwrap();
        let mut expected = vec![7u8; 40];
        expected[offset..offset + len].fill(0);
        assert_eq!(rig.download::<u8>(&slice), expected, "{offset}, {len}");
    }
}

pub fn copies_within_the_device(rig: &Rig) {
    let data: Vec<u32> = (0..10).collect();
    let (from, to) = (rig.upload(&data), rig.upload(&[99u32; 10]));
    let copied = rig.stream.duplicate(&part(&to, 4, 12), &part(&from, 8, 12));
    assert!(copied.unwrap(), "two buffers of one device");
    assert_eq!(
        rig.download::<u32>(&to),
        [99, 2, 3, 4, 99, 99, 99, 99, 99, 99]
    );
    // Parts of words: without their neighbours, or left to the framework.
    for (at, len) in [(4, 3), (5, 2), (35, 4)] {
        let (from, to) = (rig.upload(&[7u8; 39]), rig.upload(&[99u8; 39]));
        let copied = rig
            .stream
            .duplicate(&part(&to, at, len), &part(&from, 8, len));
        let mut expected = vec![99; 39];
        expected[at..at + len].fill(if copied.unwrap() { 7 } else { 99 });
        assert_eq!(rig.download::<u8>(&to), expected, "{at}, {len}");
    }
    // Overlapping ranges: moved as by memmove, or left to the framework.
    if rig
        .stream
        .duplicate(&part(&from, 4, 12), &part(&from, 0, 12))
        .unwrap()
    {
        assert_eq!(rig.download::<u32>(&from)[..5], [0, 0, 1, 2, 4]);
    } else {
        assert_eq!(rig.download::<u32>(&from), data);
    }
}

pub fn saxpy_runs(rig: &Rig) {
    let program = rig.program(&texts::saxpy(rig.backend), BLOCK);
    for n in [1usize, 63, 64, 65, 1000] {
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let (x, y) = (rig.upload(&x), rig.upload(&vec![1.0f32; n + 1]));
        let args = [scalar(3.0f32), buffer(&x), buffer(&y), scalar(n as u32)];
        rig.launch(&program, n as u32, &args).unwrap();
        let mut expected: Vec<f32> = (0..n).map(|i| 3.0 * i as f32 + 1.0).collect();
        expected.push(1.0); // beyond the extent
        assert_eq!(rig.download::<f32>(&y), expected);
    }
}

pub fn a_block_of_another_size_runs(rig: &Rig) {
    let source = texts::churn(rig.backend);
    let artifact = rig.compile(&source).unwrap();
    for block in [1, 32, 128.min(rig.device.info().max_block[0])] {
        let program = rig.load(&source, &artifact, [block, 1, 1]).unwrap();
        let v = rig.upload(&[5u32; 100]);
        let args = [buffer(&v), scalar(1u32), scalar(100u32)];
        launch(&*rig.stream, &program, 100, block, &args).unwrap();
        assert_eq!(rig.download::<u32>(&v), [texts::churned(5, 1); 100]);
    }
}

pub fn buffers_are_bound_by_slot(rig: &Rig) {
    let count = rig.device.info().max_buffers.min(12);
    let program = rig.program(&texts::number(rig.backend, count), BLOCK);
    // The size of a fault record, zeroed in the framework's way.
    let buffers: Vec<Slice> = (0..count).map(|_| rig.alloc(FAULT_WORDS * 4)).collect();
    for slice in &buffers {
        rig.stream.clear(slice).unwrap();
    }
    let args: Vec<Arg> = buffers.iter().map(buffer).collect();
    for _ in 0..2 {
        rig.launch(&program, 1, &args).unwrap();
    }
    for (k, slice) in (0..).zip(&buffers) {
        let mut expected = [0u32; FAULT_WORDS];
        expected[0] = 2 * (k + 1);
        assert_eq!(rig.download::<u32>(slice), expected, "buffer {k}");
    }
}

pub fn scalars_are_laid_out(rig: &Rig) {
    if !rig.device.info().features.i64 {
        eprintln!("skipped: {} has no 64-bit integers", rig.device.info().name);
        return;
    }
    let program = rig.program(&texts::scalars(rig.backend), BLOCK);
    let out = rig.alloc(16);
    let args = [
        scalar(0x1234_5678u32),
        buffer(&out),
        scalar(0xAAAA_BBBB_CCCC_DDDDu64),
        scalar(1.5f32),
    ];
    rig.launch(&program, 1, &args).unwrap();
    let expected = [0x1234_5678, 0xCCCC_DDDD, 0xAAAA_BBBB, 1.5f32.to_bits()];
    assert_eq!(rig.download::<u32>(&out), expected);
}

pub fn parts_of_buffers_are_arguments(rig: &Rig) {
    let program = rig.program(&texts::churn(rig.backend), BLOCK);
    let v = rig.upload(&[1u32; 2048]);
    let args = [buffer(&part(&v, 4096, 40)), scalar(1u32), scalar(10u32)];
    rig.launch(&program, 10, &args).unwrap();
    let mut expected = vec![1u32; 2048];
    expected[1024..1034].fill(texts::churned(1, 1));
    assert_eq!(rig.download::<u32>(&v), expected);
}

pub fn a_kernel_without_arguments_runs(rig: &Rig) {
    let program = rig.program(&texts::nothing(rig.backend), BLOCK);
    rig.launch(&program, 100, &[]).unwrap();
    rig.stream.sync().unwrap();
}

pub fn a_compile_error_is_told(rig: &Rig) {
    let source = texts::broken(rig.backend);
    let log = compile_log(rig.compile(&source), &source.text);
    assert!(log.contains("undeclared_thing"), "{log}");
}

pub fn a_missing_entry_is_an_error(rig: &Rig) {
    let mut source = texts::nothing(rig.backend);
    source.entry = "elsewhere".into();
    let loaded = rig
        .compile(&source)
        .and_then(|a| rig.load(&source, &a, BLOCK));
    let error = loaded.expect_err("there is no such entry");
    assert!(matches!(error, Error::NoEntry { .. }), "{error}");
    assert!(error.to_string().contains("it has entry"), "{error}");
}

pub fn kernels_are_taken_out_by_name(rig: &Rig) {
    let source = texts::two(rig.backend);
    let artifact = rig.compile(&source).unwrap();
    let mut entries = artifact.entries.clone();
    entries.sort();
    assert_eq!(entries, ["double_", "entry"], "{}", rig.backend);
    let v = rig.upload(&[5u32; 8]);
    for (name, expected) in [("entry", 6), ("double_", 12)] {
        let kernel = rig.load_entry(&source, &artifact, name, BLOCK).unwrap();
        rig.launch(&kernel, 8, &[buffer(&v), scalar(8u32)]).unwrap();
        assert_eq!(rig.download::<u32>(&v), [expected; 8], "{name}");
    }
    match rig.load_entry(&source, &artifact, "triple", BLOCK) {
        Err(Error::NoEntry {
            entry, mut known, ..
        }) => {
            known.sort();
            assert_eq!((&*entry, known), ("triple", entries));
        }
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("there is no such kernel"),
    }
}

pub fn a_program_has_several_files(rig: &Rig) {
    if rig.backend == "cuda" {
        return require::skip(
            "cuda",
            "`cuda::program` has this test, which needs no device",
        );
    }
    let source = texts::several(rig.backend);
    let artifact = rig.compile(&source).unwrap();
    assert_eq!(artifact.entries, ["entry"]);
    let kernel = rig.load(&source, &artifact, BLOCK).unwrap();
    let v = rig.upload(&[5u32; 8]);
    rig.launch(&kernel, 8, &[buffer(&v), scalar(8u32)]).unwrap();
    assert_eq!(rig.download::<u32>(&v), [5 * 3 + 4; 8]);
    // Each of them is needed, and in its language.
    for missing in 0..source.files.len() {
        let mut less = source.clone();
        less.files.remove(missing);
        assert!(rig.compile(&less).is_err(), "without file {missing}");
    }
    let mut other = source.clone();
    other.files[1].language = "fortran".into();
    let error = rig.compile(&other).unwrap_err();
    assert!(error.to_string().contains("fortran"), "{error}");
}

pub fn an_artifact_survives_the_disk(rig: &Rig) {
    let source = texts::churn(rig.backend);
    let compiled = rig.compile(&source).unwrap();
    let read_back = Artifact::new(compiled.bytes.to_vec());
    drop(compiled);
    let program = rig.load(&source, &read_back, BLOCK).unwrap();
    let v = rig.upload(&[3u32; 7]);
    rig.launch(&program, 7, &[buffer(&v), scalar(2u32), scalar(7u32)])
        .unwrap();
    assert_eq!(rig.download::<u32>(&v), [texts::churned(3, 2); 7]);
}

pub fn events_mark_points(rig: &Rig) {
    let stream = rig.device.new_stream().unwrap();
    let fresh = stream.record().unwrap();
    fresh.sync().unwrap();
    assert!(fresh.is_done().unwrap());
    let program = rig.program(&texts::churn(rig.backend), BLOCK);
    let v = rig.upload(&[3u32; 64]);
    rig.stream.sync().unwrap();
    let args = [buffer(&v), scalar(1000u32), scalar(64u32)];
    launch(&*stream, &program, 64, 64, &args).unwrap();
    let event = stream.record().unwrap();
    event.sync().unwrap();
    assert!(event.is_done().unwrap());
    stream.sync().unwrap();
    assert!(stream.is_idle().unwrap());
    assert_eq!(read::<u32>(&*stream, &v)[0], texts::churned(3, 1000));
}

pub fn events_keep_time(rig: &Rig) {
    let program = rig.program(&texts::churn(rig.backend), BLOCK);
    let v = rig.upload(&[3u32; 64]);
    let start = rig.stream.record_time().unwrap();
    let args = [buffer(&v), scalar(100_000u32), scalar(64u32)];
    let before = std::time::Instant::now();
    rig.launch(&program, 64, &args).unwrap();
    let end = rig.stream.record_time().unwrap();
    end.sync().unwrap();
    let host = before.elapsed();
    let Some(device) = end.elapsed(&*start).unwrap() else {
        return require::skip(rig.backend, "the device keeps no time");
    };
    assert!(!device.is_zero() && device < 2 * host + std::time::Duration::from_millis(20));
}

pub fn streams_wait_for_each_other(rig: &Rig) {
    let (first, second) = (
        rig.device.new_stream().unwrap(),
        rig.device.new_stream().unwrap(),
    );
    let program = rig.program(&texts::churn(rig.backend), BLOCK);
    let (rounds, n) = (20_000u32, 256u32);
    let v = rig.upload(&vec![3u32; n as usize]);
    rig.stream.sync().unwrap();
    let args = [buffer(&v), scalar(rounds), scalar(n)];
    launch(&*first, &program, n, 64, &args).unwrap();
    second.wait(&first.record().unwrap()).unwrap();
    let args = [buffer(&v), scalar(1u32), scalar(n)];
    launch(&*second, &program, n, 64, &args).unwrap();
    let expected = vec![texts::churned(3, rounds + 1); n as usize];
    assert_eq!(read::<u32>(&*second, &v), expected);
    first.sync().unwrap();
}

pub fn memory_and_programs_may_go_while_in_use(rig: &Rig) {
    let source = texts::churn(rig.backend);
    let n = 4096u32;
    drop(rig.upload(&[1u32; 64])); // an upload that no one has waited for
    for _ in 0..4 {
        let program = rig.program(&source, BLOCK);
        let v = rig.upload(&vec![3u32; n as usize]);
        let kept = rig.upload(&vec![0u32; n as usize]);
        let args = [buffer(&v), scalar(2000u32), scalar(n)];
        rig.launch(&program, n, &args).unwrap();
        rig.stream.duplicate(&kept, &v).unwrap();
        drop((program, args, v));
        // If the memory were freed early, it would be reused here and overwritten.
        let other = rig.upload(&vec![0u32; n as usize]);
        let expected = vec![texts::churned(3, 2000); n as usize];
        assert_eq!(rig.download::<u32>(&kept), expected);
        assert_eq!(rig.download::<u32>(&other), vec![0; n as usize]);
    }
}

pub fn large_copies_arrive(rig: &Rig) {
    // Larger than any staging buffer, and not a multiple of one.
    let data: Vec<u32> = (0..(9u32 << 20) + 3)
        .map(|i| i.wrapping_mul(2654435761))
        .collect();
    let slice = rig.upload(&data);
    assert!(
        rig.download::<u32>(&slice) == data,
        "36 MiB came back changed"
    );
}

pub fn uploads_stay_in_order(rig: &Rig) {
    let program = rig.program(&texts::churn(rig.backend), BLOCK);
    let v = rig.alloc(4);
    let results: Vec<Slice> = (0..200).map(|_| rig.alloc(4)).collect();
    // The source is dropped, and the next upload queued, while launches are still pending.
    for (seed, result) in (0u32..).zip(&results) {
        rig.stream.put(&v, &seed.to_ne_bytes()).unwrap();
        rig.launch(&program, 1, &[buffer(&v), scalar(500u32), scalar(1u32)])
            .unwrap();
        rig.stream.duplicate(result, &v).unwrap();
    }
    for (seed, result) in (0u32..).zip(&results) {
        assert_eq!(rig.download::<u32>(result), [texts::churned(seed, 500)]);
    }
}

pub fn threads_share_a_device(rig: &Rig) {
    let program = rig.program(&texts::saxpy(rig.backend), BLOCK);
    std::thread::scope(|scope| {
        for thread in 0..8u32 {
            let program = &program;
            scope.spawn(move || {
                let own = rig.device.new_stream().unwrap();
                let stream = if thread % 2 == 0 { &rig.stream } else { &own };
                let n = 500 + thread as usize;
                let bytes = to_bytes(&vec![1.0f32; n]);
                let (x, y) = (rig.alloc(bytes.len()), rig.alloc(bytes.len()));
                stream.put(&x, &bytes).unwrap();
                stream.clear(&y).unwrap();
                for round in 0..20 {
                    let a = (thread * 100 + round) as f32;
                    let args = [scalar(a), buffer(&x), buffer(&y), scalar(n as u32)];
                    launch(&**stream, program, n as u32, 64, &args).unwrap();
                }
                let sum = (0..20)
                    .map(|round| (thread * 100 + round) as f32)
                    .sum::<f32>();
                assert_eq!(read::<f32>(&**stream, &y), vec![sum; n]);
            });
        }
    });
}

pub fn too_much_memory_is_an_error(rig: &Rig) {
    let bytes = 1usize << 50;
    match rig.device.alloc(bytes) {
        Err(Error::OutOfMemory { bytes: asked, .. }) => assert_eq!(asked, bytes),
        Err(other) => panic!("not out of memory: {other}"),
        Ok(_) => panic!("{bytes} bytes were allocated"),
    }
    // The device still works.
    assert_eq!(rig.download::<u32>(&rig.upload(&[1u32, 2])), [1, 2]);
}

struct Foreign;

// SAFETY: no device accepts it.
unsafe impl Mem for Foreign {
    fn len(&self) -> usize {
        40
    }
}

pub fn foreign_objects_are_errors(rig: &Rig) {
    let foreign = whole(Arc::new(Foreign));
    assert!(rig.stream.put(&foreign, &[0; 40]).is_err());
    assert!(rig.stream.take(&foreign, &mut [0; 40]).is_err());
    assert!(rig.stream.clear(&foreign).is_err());
    let program = rig.program(&texts::number(rig.backend, 1), BLOCK);
    assert!(rig.launch(&program, 1, &[buffer(&foreign)]).is_err());
    // A wrong number or kind of arguments is refused, too.
    let own = rig.alloc(4);
    assert!(rig.launch(&program, 1, &[]).is_err());
    assert!(rig.launch(&program, 1, &[scalar(1u32)]).is_err());
    assert!(
        rig.launch(&program, 1, &[buffer(&own), buffer(&own)])
            .is_err()
    );
    let stranger: Arc<dyn std::any::Any + Send + Sync> = Arc::new(());
    assert!(rig.launch(&stranger, 1, &[]).is_err());
}
