//! Conversions on the host. Where no copy is promised, addresses are compared.

use std::sync::Arc;

use arrow_array::types::{Float32Type, Int64Type};
use arrow_array::{Array as _, Float32Array, Int64Array};
use image::{GrayImage, ImageBuffer, Luma, Rgba, RgbaImage};
use ndarray::{Array1, Array2, Array3, ShapeBuilder, s};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};
use sarek::Error;
use sarek::interop::{arrow, bytemuck, image as images, ndarray as arrays};
use sarek::prelude::*;

#[kernel]
fn double(#[item] x: &mut f32) {
    *x *= 2.0;
}

/// The problem of a refused conversion.
#[track_caller]
fn refused<T>(result: sarek::Result<T>) -> String {
    match result {
        Err(Error::Convert { problem, .. }) => problem,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was converted"),
    }
}

#[test]
fn arrays_become_vectors_and_come_back() {
    let array = Array2::from_shape_fn((3, 4), |(r, c)| (10 * r + c) as f32);
    let at = array.as_ptr();
    let mut v = arrays::from_array(array.clone()).unwrap();
    double(&mut v).run().unwrap();
    assert_eq!(arrays::view(&v, (3, 4)).unwrap(), &array * 2.0);
    arrays::view_mut(&mut v, (4, 3)).unwrap()[[3, 2]] = -1.0;
    assert_eq!(v.get(11).unwrap(), -1.0);

    let v = arrays::from_array(array).unwrap();
    assert_eq!(v.as_slice().unwrap().as_ptr(), at);
    let back: Array3<f32> = arrays::into_array(v, (2, 2, 3)).unwrap();
    assert_eq!((back.as_ptr(), back[[1, 0, 2]]), (at, 20.0));
}

#[test]
fn column_major_shapes_are_taken() {
    let v = Vector::from_vec(vec![1, 2, 3, 4, 5, 6]);
    let view = arrays::view(&v, (2, 3).f()).unwrap();
    assert_eq!((view[[1, 0]], view[[0, 1]]), (2, 3));
}

#[test]
fn slices_of_arrays_keep_their_elements_only() {
    let rows = Array2::from_shape_fn((5, 2), |(r, c)| (2 * r + c) as u32);
    let middle = rows.slice_move(s![1..3, ..]);
    assert_eq!(
        arrays::from_array(middle).unwrap().to_vec().unwrap(),
        [2, 3, 4, 5]
    );
}

#[test]
fn other_layouts_are_refused_or_copied() {
    let array = Array2::from_shape_fn((2, 3), |(r, c)| (3 * r + c) as i32);
    let problem = refused(arrays::from_array(array.clone().reversed_axes()));
    assert!(
        problem.contains("[3, 2]") && problem.contains("[1, 3]"),
        "{problem}"
    );
    let copy = arrays::copied(&array.t()).to_vec().unwrap();
    assert_eq!(copy, [0, 3, 1, 4, 2, 5]);
    assert_eq!(arrays::copied(&array).to_vec().unwrap(), [0, 1, 2, 3, 4, 5]);
    assert!(
        refused(arrays::from_array(
            Array1::from_vec(vec![1, 2, 3]).slice_move(s![..;-1])
        ))
        .contains("-1")
    );
}

#[test]
fn shapes_of_other_sizes_are_refused() {
    let v = || Vector::from_vec(vec![1.0f32; 6]);
    assert!(refused(arrays::view(&v(), (2, 4))).contains("6 elements"));
    for (rows, columns) in [(2, 2), (2, 4)] {
        refused(arrays::into_array(v(), (rows, columns)));
        refused(arrays::view_mut(&mut v(), (rows, columns)).map(|_| ()));
        refused(arrays::view(&v(), (rows, columns)).map(|_| ()));
    }
}

#[test]
fn images_are_channels_or_pixels() {
    let image = RgbaImage::from_fn(3, 2, |x, y| Rgba([x as u8, y as u8, 7, 255]));
    let at = image.as_raw().as_ptr();
    let v = images::from_image(image.clone());
    assert_eq!((v.len(), v.get(16).unwrap()), (24, 1));
    let back: RgbaImage = images::into_image(v, 3, 2).unwrap();
    assert_eq!(back, image);

    let pixels: Vector<[u8; 4]> = images::pixels_from_image(image);
    assert_eq!(pixels.as_slice().unwrap().as_ptr().cast(), at);
    assert_eq!(pixels.get(5).unwrap(), [2, 1, 7, 255]);
    let back: RgbaImage = images::pixels_into_image(pixels, 3, 2).unwrap();
    assert_eq!(
        (back.as_raw().as_ptr(), *back.get_pixel(2, 1)),
        (at, Rgba([2, 1, 7, 255]))
    );
}

#[test]
fn images_of_other_sizes_are_refused() {
    for (width, height) in [(3, 2), (1, 4), (u32::MAX, u32::MAX), (0, 0)] {
        let made: sarek::Result<GrayImage> = images::into_image(Vector::zeros(5), width, height);
        assert!(refused(made).ends_with("and the vector 5"));
    }
    // An image whose memory is larger than itself.
    let large: ImageBuffer<Luma<u16>, Vec<u16>> =
        ImageBuffer::from_raw(2, 1, vec![1, 2, 3]).unwrap();
    assert_eq!(images::from_image(large).to_vec().unwrap(), [1, 2]);
}

#[test]
fn arrow_arrays_share_their_values() {
    let array = Float32Array::from(vec![1.0, 2.0, 3.0]);
    let at = array.values().as_ptr();
    let v = arrow::from_array(array).unwrap();
    assert_eq!(v.as_slice().unwrap().as_ptr(), at);
    let back: Float32Array = arrow::into_array::<Float32Type>(v).unwrap();
    assert_eq!((back.values().as_ptr(), back.null_count()), (at, 0));

    // Of shared values, and of a part of them: the first write copies.
    let (shared, part) = (back.clone(), back.slice(1, 2));
    let mut v = arrow::from_array(shared).unwrap();
    assert_eq!(v.as_slice().unwrap().as_ptr(), at);
    double(&mut v).run().unwrap();
    assert_eq!(v.to_vec().unwrap(), [2.0, 4.0, 6.0]);
    assert_eq!(
        arrow::from_array(part).unwrap().to_vec().unwrap(),
        [2.0, 3.0]
    );
    v.set(0, 9.0).unwrap();
    assert_eq!(back.values()[..], [1.0, 2.0, 3.0]);
}

#[test]
fn arrow_nulls_are_refused() {
    let array = Int64Array::from(vec![Some(1), None, Some(3)]);
    assert!(refused(arrow::from_array::<Int64Type>(array.clone())).starts_with("1 of its 3"));
    // The part without nulls has none.
    assert_eq!(
        arrow::from_array(array.slice(2, 1))
            .unwrap()
            .to_vec()
            .unwrap(),
        [3]
    );
}

#[test]
fn read_only_owners_are_copied_at_a_write() {
    let owner = Arc::new(vec![1.0f32, 2.0]);
    let mut v = Vector::from_read_only(SharedVec(owner.clone()));
    assert_eq!(v.as_slice().unwrap().as_ptr(), owner.as_ptr());
    assert_eq!(Arc::strong_count(&owner), 2);
    double(&mut v).run().unwrap();
    assert_eq!(
        (v.to_vec().unwrap(), &*owner),
        (vec![2.0, 4.0], &vec![1.0, 2.0])
    );
    drop(v);
    assert_eq!(Arc::strong_count(&owner), 1);
}

struct SharedVec(Arc<Vec<f32>>);

impl AsRef<[f32]> for SharedVec {
    fn as_ref(&self) -> &[f32] {
        &self.0
    }
}

/// A type of the user's that is both plain data and a type of kernels.
#[derive(Clone, Copy, PartialEq, Debug, ::bytemuck::Pod, ::bytemuck::Zeroable, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

#[test]
fn plain_data_is_cast() {
    let numbers = Vector::from_vec(vec![1.0f32, 2.0, 3.0, 4.0]);
    let at = numbers.as_slice().unwrap().as_ptr();
    let points: Vector<Point> = bytemuck::cast(numbers).unwrap();
    assert_eq!(points.as_slice().unwrap().as_ptr().cast(), at);
    assert_eq!(points.get(1).unwrap(), Point { x: 3.0, y: 4.0 });
    assert_eq!(
        bytemuck::bytes(&points).unwrap()[4..8],
        2.0f32.to_ne_bytes()
    );
    // Of another alignment: copied.
    let wide: Vector<f32x4> = bytemuck::cast(points).unwrap();
    assert_eq!(wide.to_vec().unwrap(), [f32x4::new(1.0, 2.0, 3.0, 4.0)]);
    let mut words: Vector<u32> = bytemuck::cast(wide).unwrap();
    bytemuck::bytes_mut(&mut words).unwrap()[..4].copy_from_slice(&7u32.to_ne_bytes());
    assert_eq!(words.get(0).unwrap(), 7);
    let problem = refused(bytemuck::cast::<u32, [u32; 3]>(words));
    assert!(
        problem.starts_with("16 bytes") && problem.ends_with("of 12"),
        "{problem}"
    );
}

#[test]
fn bytes_of_any_alignment_are_taken() {
    let bytes: Vec<u8> = (0..33).collect();
    for start in 0..2 {
        let words: Vector<u32> = bytemuck::from_bytes(&bytes[start..start + 32]).unwrap();
        let first = u32::from_ne_bytes([0, 1, 2, 3].map(|k| k + start as u8));
        assert_eq!((words.len(), words.get(0).unwrap()), (8, first));
    }
    refused(bytemuck::from_bytes::<u16>(&bytes));
}

#[test]
fn parallel_iterators_read_and_write() {
    let mut v: Vector<u64> = (0..1000u64).into_par_iter().map(|x| x * x).collect();
    assert_eq!(v.len(), 1000);
    v.par_iter_mut()
        .unwrap()
        .enumerate()
        .for_each(|(i, x)| *x += i as u64);
    assert_eq!(v.get(30).unwrap(), 930);
    let sum: u64 = v.par_iter().unwrap().sum();
    assert_eq!(sum, (0..1000u64).map(|x| x * x + x).sum::<u64>());
    let halves: Vector<f32> = [1.0f32, 3.0].par_iter().map(|x| x / 2.0).collect();
    assert_eq!(halves.to_vec().unwrap(), [0.5, 1.5]);
}

#[test]
fn vectors_are_sequences_of_serde() {
    let mut v = Vector::from_vec(vec![1.0f32, 2.5]);
    double(&mut v).run().unwrap();
    let text = serde_json::to_string(&v).unwrap();
    assert_eq!(text, "[2.0,5.0]");
    let back: Vector<f32> = serde_json::from_str(&text).unwrap();
    assert_eq!(back.to_vec().unwrap(), [2.0, 5.0]);
    let wide = Vector::from_vec(vec![i32x3::new(1, -2, 3)]);
    let text = serde_json::to_string(&wide).unwrap();
    assert_eq!(text, "[[1,-2,3]]");
    let back: Vector<i32x3> = serde_json::from_str(&text).unwrap();
    assert_eq!(back.get(0).unwrap(), i32x3::new(1, -2, 3));
    assert!(serde_json::from_str::<Vector<i32x3>>("[[1,2]]").is_err());
    let halves = Vector::from_vec(vec![f16::from_f32(1.5)]);
    let text = serde_json::to_string(&halves).unwrap();
    assert_eq!(
        serde_json::from_str::<Vector<f16>>(&text)
            .unwrap()
            .get(0)
            .unwrap(),
        f16::from_f32(1.5)
    );
}

#[kernel]
fn fails(x: &[u32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[i + 1] as f32;
}

#[test]
fn unreadable_vectors_are_errors_everywhere() {
    let unreadable = || {
        let mut y = Vector::zeros(4);
        // On a device that reports faults late, the read reports it.
        let _ = fails(&Vector::zeros(4), &mut y).over(4).run();
        y
    };
    let is_fault = |error: Error| matches!(error, Error::Fault(_));
    assert!(arrays::view(&unreadable(), 4).is_err_and(is_fault));
    assert!(arrays::into_array(unreadable(), 4).is_err_and(is_fault));
    assert!(arrow::into_array::<Float32Type>(unreadable()).is_err_and(is_fault));
    assert!(images::into_image::<Luma<f32>>(unreadable(), 2, 2).is_err_and(is_fault));
    assert!(bytemuck::bytes(&unreadable()).is_err_and(is_fault));
    assert!(unreadable().par_iter().is_err_and(is_fault));
    let told = serde_json::to_string(&unreadable())
        .unwrap_err()
        .to_string();
    assert!(told.contains("out of bounds"), "{told}");
}

#[test]
fn mint_is_the_way_to_other_math_crates() {
    let v = f32x3::from(mint::Vector3 {
        x: 1.0,
        y: 2.0,
        z: 3.0,
    });
    assert_eq!(v, f32x3::new(1.0, 2.0, 3.0));
    let point: mint::Point2<u32> = u32x2::new(1, 2).into();
    assert_eq!((point.x, point.y), (1, 2));
    let four: mint::Vector4<f64> = f64x4::new(1.0, 2.0, 3.0, 4.0).into();
    assert_eq!(f64x4::from(four).w, 4.0);
}
