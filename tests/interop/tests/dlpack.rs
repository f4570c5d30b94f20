//! Tensors of DLPack, from a producer written here.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use num_complex::Complex;
use sarek::Error;
use sarek::interop::cuda::{from_tensor, to_tensor};
use sarek::interop::dlpack::abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLTensor, READ_ONLY, Version,
    device_type, type_code,
};
use sarek::interop::dlpack::{Refused, Tensor};
use sarek::prelude::*;

#[kernel]
fn double(#[item] x: &mut f32) {
    *x *= 2.0;
}

/// A producer's memory, and the number of its tensors that were given back.
struct Producer {
    elements: Vec<f32>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    deleted: Arc<AtomicUsize>,
}

const F32: DLDataType = DLDataType {
    code: type_code::FLOAT,
    bits: 32,
    lanes: 1,
};

unsafe extern "C" fn delete(of: *mut DLManagedTensorVersioned) {
    // SAFETY: both boxes were made by `produced`, and the consumer calls this once.
    unsafe {
        let of = Box::from_raw(of);
        let producer = Box::from_raw(of.manager_ctx.cast::<Producer>());
        producer.deleted.fetch_add(1, SeqCst);
    }
}

unsafe extern "C" fn delete_unversioned(of: *mut DLManagedTensor) {
    // SAFETY: as above.
    unsafe {
        let of = Box::from_raw(of);
        let producer = Box::from_raw(of.manager_ctx.cast::<Producer>());
        producer.deleted.fetch_add(1, SeqCst);
    }
}

/// Six numbers as a tensor of 2 by 3, changed by `edit`; and the count of deletions.
fn produced(
    edit: impl FnOnce(&mut DLManagedTensorVersioned),
) -> (*mut DLManagedTensorVersioned, Arc<AtomicUsize>) {
    let deleted = Arc::new(AtomicUsize::new(0));
    let producer = Box::leak(Box::new(Producer {
        elements: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        shape: vec![2, 3],
        strides: vec![3, 1],
        deleted: deleted.clone(),
    }));
    let mut managed = Box::new(DLManagedTensorVersioned {
        version: Version { major: 1, minor: 1 },
        manager_ctx: null_mut(),
        deleter: Some(delete),
        flags: 0,
        dl_tensor: DLTensor {
            data: producer.elements.as_mut_ptr().cast(),
            device: DLDevice {
                device_type: device_type::CPU,
                device_id: 0,
            },
            ndim: 2,
            dtype: F32,
            shape: producer.shape.as_mut_ptr(),
            strides: producer.strides.as_mut_ptr(),
            byte_offset: 0,
        },
    });
    managed.manager_ctx = std::ptr::from_mut(producer).cast::<c_void>();
    edit(&mut managed);
    (Box::into_raw(managed), deleted)
}

fn tensor(edit: impl FnOnce(&mut DLManagedTensorVersioned)) -> (Tensor, Arc<AtomicUsize>) {
    let (raw, deleted) = produced(edit);
    // SAFETY: it was just made.
    (unsafe { Tensor::from_versioned(raw) }.unwrap(), deleted)
}

/// The reason of a refused conversion.
#[track_caller]
fn reason<T>(result: sarek::Result<T>) -> Refused {
    match result {
        Err(Error::Tensor(reason)) => reason,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was converted"),
    }
}

/// The reason why an edited tensor is refused. It is given back once.
#[track_caller]
fn refused(edit: impl FnOnce(&mut DLManagedTensorVersioned)) -> Refused {
    let (tensor, deleted) = tensor(edit);
    let reason = reason(tensor.into_vector::<f32>());
    assert_eq!(deleted.load(SeqCst), 1, "it was given back once");
    reason
}

fn set(at: *mut i64, index: usize, value: i64) {
    // SAFETY: the producer's numbers, which nobody else uses.
    unsafe { at.add(index).write(value) };
}

#[test]
fn tensors_are_read_without_a_copy_and_given_back() {
    let (tensor, deleted) = tensor(|_| {});
    assert_eq!(
        (tensor.shape().unwrap(), tensor.element_type().unwrap()),
        (vec![2, 3], F32)
    );
    let (mut v, shape) = tensor.into_vector_of_rank::<f32, 2>().unwrap();
    assert_eq!((v.len(), shape), (6, [2, 3]));
    assert_eq!((v.to_vec().unwrap()[5], deleted.load(SeqCst)), (6.0, 0));
    double(&mut v).run().unwrap();
    assert_eq!(v.to_vec().unwrap(), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    drop(v);
    assert_eq!(deleted.load(SeqCst), 1);
}

#[test]
fn tensors_are_written_in_place_if_asked_for() {
    let (raw, deleted) = produced(|_| {});
    // SAFETY: the tensor was just made, and its memory lives until the vector is dropped.
    let (elements, mut v) = unsafe {
        let elements = (*raw).dl_tensor.data.cast::<f32>();
        let tensor = Tensor::from_versioned(raw).unwrap();
        (elements, tensor.into_vector_in_place::<f32>().unwrap())
    };
    double(&mut v).run().unwrap();
    assert_eq!(v.as_slice().unwrap().as_ptr(), elements.cast_const());
    assert_eq!(v.get(2).unwrap(), 6.0);
    drop(v);
    assert_eq!(deleted.load(SeqCst), 1);
    let (tensor, deleted) = tensor(|of| of.flags = READ_ONLY);
    // SAFETY: it is refused.
    let reason = reason(unsafe { tensor.into_vector_in_place::<f32>() });
    assert_eq!((reason, deleted.load(SeqCst)), (Refused::ReadOnly, 1));
}

#[test]
fn offsets_null_strides_and_sizes_of_one_are_taken() {
    let sum = |edit: fn(&mut DLManagedTensorVersioned)| {
        let (tensor, _) = tensor(edit);
        tensor.into_vector::<f32>().unwrap().to_vec().unwrap()
    };
    let offset = sum(|of| {
        of.dl_tensor.byte_offset = 8;
        set(of.dl_tensor.shape, 1, 2);
        set(of.dl_tensor.strides, 0, 2);
    });
    assert_eq!(offset, [3.0, 4.0, 5.0, 6.0]);
    assert_eq!(sum(|of| of.dl_tensor.strides = null_mut()).len(), 6);
    let column = sum(|of| {
        set(of.dl_tensor.shape, 0, 1);
        set(of.dl_tensor.strides, 0, 77);
    });
    assert_eq!(column, [1.0, 2.0, 3.0]);
    let scalar = sum(|of| {
        of.dl_tensor.ndim = 0;
        of.dl_tensor.shape = null_mut();
    });
    assert_eq!(scalar, [1.0]);
    let empty = sum(|of| {
        set(of.dl_tensor.shape, 0, 0);
        set(of.dl_tensor.shape, 1, i64::MAX);
        of.dl_tensor.data = null_mut();
    });
    assert!(empty.is_empty());
}

#[test]
fn what_is_no_vector_is_refused() {
    let version = refused(|of| of.version.major = 2);
    assert_eq!(version, Refused::Version(2, 1));
    let cuda = DLDevice {
        device_type: device_type::CUDA,
        device_id: 1,
    };
    assert_eq!(
        refused(|of| of.dl_tensor.device = cuda),
        Refused::Device(cuda)
    );
    for found in [
        DLDataType { bits: 64, ..F32 },
        DLDataType { lanes: 4, ..F32 },
        DLDataType {
            code: type_code::INT,
            ..F32
        },
    ] {
        let expected = F32;
        assert_eq!(
            refused(|of| of.dl_tensor.dtype = found),
            Refused::Type { expected, found }
        );
    }
    assert_eq!(
        refused(|of| of.dl_tensor.data = null_mut()),
        Refused::Null("the elements")
    );
    assert_eq!(
        refused(|of| of.dl_tensor.shape = null_mut()),
        Refused::Null("the shape")
    );
    assert!(matches!(
        refused(|of| of.dl_tensor.ndim = -1),
        Refused::Rank { found: -1, .. }
    ));
    let transposed = refused(|of| {
        set(of.dl_tensor.strides, 0, 1);
        set(of.dl_tensor.strides, 1, 2);
    });
    let (shape, strides) = (vec![2, 3], vec![1, 2]);
    assert_eq!(transposed, Refused::Strides { shape, strides });
    assert!(matches!(
        refused(|of| set(of.dl_tensor.strides, 1, -1)),
        Refused::Strides { .. }
    ));
    assert!(matches!(
        refused(|of| set(of.dl_tensor.shape, 1, -3)),
        Refused::Shape { .. }
    ));
    let huge = refused(|of| {
        set(of.dl_tensor.shape, 0, i64::MAX);
        set(of.dl_tensor.shape, 1, i64::MAX);
    });
    assert!(matches!(huge, Refused::Shape { .. }));
    let byte_offset = refused(|of| of.dl_tensor.byte_offset = u64::MAX);
    assert_eq!(byte_offset, Refused::ByteOffset(u64::MAX));
    let misaligned = refused(|of| of.dl_tensor.byte_offset = 2);
    assert!(matches!(
        misaligned,
        Refused::Misaligned { alignment: 4, .. }
    ));
    let (tensor, _) = tensor(|_| {});
    let rank = reason(tensor.into_vector_of_rank::<f32, 3>());
    assert_eq!(
        rank,
        Refused::Rank {
            expected: 3,
            found: 2
        }
    );
    // SAFETY: null is refused.
    let null = unsafe {
        (
            Tensor::from_raw(null_mut()),
            Tensor::from_versioned(null_mut()),
        )
    };
    assert!(null.0.is_err() && null.1.is_err());
    let error = Error::Tensor(Refused::ReadOnly);
    assert!(error.to_string().contains("may not be written"));
}

#[test]
fn vectors_become_tensors_of_both_kinds() {
    let mut v = Vector::from_vec(vec![1.0f32; 6]);
    double(&mut v).run().unwrap();
    let tensor = Tensor::from_vector(v, &[3, 2]).unwrap();
    let raw = tensor.into_raw().unwrap();
    // SAFETY: the tensor is a valid structure until its deleter is called.
    unsafe {
        let of = (*raw).dl_tensor;
        let shape = std::slice::from_raw_parts(of.shape, 2);
        let strides = std::slice::from_raw_parts(of.strides, 2);
        assert_eq!(
            (of.ndim, of.dtype, shape, strides),
            (2, F32, &[3, 2][..], &[2, 1][..])
        );
        assert_eq!(*of.data.cast::<f32>().add(5), 2.0);
        // There and back.
        let again = Tensor::from_raw(raw).unwrap().into_versioned().unwrap();
        let v = Tensor::from_versioned(again)
            .unwrap()
            .into_vector::<f32>()
            .unwrap();
        assert_eq!(v.to_vec().unwrap(), [2.0; 6]);
    }
}

#[test]
fn unversioned_tensors_are_given_back() {
    let (raw, deleted) = produced(|_| {});
    // SAFETY: the parts of the structure move to another one.
    let tensor = unsafe {
        let of = Box::from_raw(raw);
        let unversioned = Box::new(DLManagedTensor {
            dl_tensor: of.dl_tensor,
            manager_ctx: of.manager_ctx,
            deleter: Some(delete_unversioned),
        });
        Tensor::from_raw(Box::into_raw(unversioned)).unwrap()
    };
    // Through both wrappers.
    let versioned = tensor.into_versioned().unwrap();
    // SAFETY: it was just made.
    let tensor = unsafe { Tensor::from_versioned(versioned) }.unwrap();
    assert!(!tensor.is_read_only().unwrap());
    let v = tensor.into_vector::<f32>().unwrap();
    assert_eq!((v.get(3).unwrap(), deleted.load(SeqCst)), (4.0, 0));
    drop(v);
    assert_eq!(deleted.load(SeqCst), 1);
}

#[test]
fn read_only_tensors_need_a_version() {
    let (tensor, deleted) = tensor(|of| of.flags = READ_ONLY);
    assert_eq!(reason(tensor.into_raw()), Refused::ReadOnly);
    assert_eq!(deleted.load(SeqCst), 1);
}

#[test]
fn elements_have_dlpacks_types() {
    fn of<T: sarek::Element>(value: T) -> Option<(u8, u8)> {
        let tensor = Tensor::from_vector(Vector::filled(1, value), &[1]).ok()?;
        let dtype = tensor.element_type().unwrap();
        assert_eq!(dtype.lanes, 1);
        Some((dtype.code, dtype.bits))
    }
    assert_eq!(of(true), Some((type_code::BOOL, 8)));
    assert_eq!(of(1i8), Some((type_code::INT, 8)));
    assert_eq!(of(1u64), Some((type_code::UINT, 64)));
    assert_eq!(of(f16::ONE), Some((type_code::FLOAT, 16)));
    assert_eq!(of(bf16::ONE), Some((type_code::BFLOAT, 16)));
    assert_eq!(of(1.0f64), Some((type_code::FLOAT, 64)));
    assert_eq!(
        of(Complex::new(1.0f32, 2.0)),
        Some((type_code::COMPLEX, 64))
    );
    assert_eq!(of([1.0f32; 2]), None);
    assert_eq!(of(f32x4::ONE), None);
}

#[test]
fn shapes_of_other_sizes_are_refused() {
    for shape in [&[2, 2][..], &[7], &[usize::MAX, 2], &[]] {
        assert!(
            Tensor::from_vector(Vector::filled(6, 1u8), shape).is_err(),
            "{shape:?}"
        );
    }
    assert!(Tensor::from_vector(Vector::filled(1, 1u8), &[]).is_ok());
    let empty = Tensor::from_vector(Vector::<u8>::zeros(0), &[0, 5]).unwrap();
    assert!(empty.into_vector::<u8>().unwrap().is_empty());
}

#[test]
fn tensors_of_memory_anywhere_drop_their_owner() {
    let owner = Arc::new([1u16, 2, 3, 4]);
    let at = owner.as_ptr().cast_mut();
    let device = DLDevice {
        device_type: 15,
        device_id: 3,
    };
    // SAFETY: the owner keeps four elements there, which nobody writes.
    let made = |shape: &[usize]| unsafe { Tensor::of_memory(owner.clone(), at, device, shape) };
    let tensor = made(&[2, 2]).unwrap();
    assert_eq!(
        (tensor.device().unwrap(), tensor.shape().unwrap()),
        (device, vec![2, 2])
    );
    let (found, count) = tensor.elements::<u16>().unwrap();
    assert_eq!((found.as_ptr(), count), (at, 4));
    assert!(tensor.elements::<i16>().is_err());
    assert_eq!(Arc::strong_count(&owner), 2);
    assert_eq!(reason(tensor.into_vector::<u16>()), Refused::Device(device));
    assert_eq!(Arc::strong_count(&owner), 1);
    assert!(made(&[usize::MAX, 0]).is_err());
    assert_eq!(Arc::strong_count(&owner), 1);
}

#[test]
fn vectors_become_tensors_on_cuda_devices_and_back() {
    let Ok(device) = Device::of("cuda") else {
        return;
    };
    let stream = device.stream();
    let mut v = Vector::from_vec(vec![1.0f32; 6]);
    double(&mut v).run_on(&device).unwrap();
    let tensor = to_tensor(v, &[3, 2], &stream).unwrap();
    let place = DLDevice {
        device_type: device_type::CUDA,
        device_id: device.ordinal() as i32,
    };
    assert_eq!(
        (tensor.device().unwrap(), tensor.shape().unwrap()),
        (place, vec![3, 2])
    );
    // SAFETY: the tensor is used by nobody else.
    let mut v = unsafe { from_tensor::<f32>(&device, tensor) }.unwrap();
    double(&mut v).run_on(&device).unwrap();
    assert_eq!(v.to_vec().unwrap(), [4.0; 6]);

    let again = to_tensor(v, &[6], &stream).unwrap();
    assert_eq!(reason(again.into_vector::<f32>()), Refused::Device(place));
    let on_host = Tensor::from_vector(Vector::filled(2, 1u8), &[2]).unwrap();
    // SAFETY: as above.
    let refused = reason(unsafe { from_tensor::<u8>(&device, on_host) });
    assert!(matches!(refused, Refused::Device(_)), "{refused}");
    assert!(to_tensor(Vector::filled(2, 1u8), &[3], &stream).is_err());
    let none = to_tensor(Vector::<u8>::zeros(0), &[0, 4], &stream).unwrap();
    // SAFETY: as above.
    let none = unsafe { from_tensor::<u8>(&device, none) }.unwrap();
    assert!(none.is_empty());
}
