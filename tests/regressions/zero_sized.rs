//! Zero-sized elements, which generic code may use.
//!
//! Once the interpreter panicked, OpenCL reported thread 0 out of bounds, and only `native` did as rustc does. Now they are refused
//! on every device: by rustc for elements of a type parameter, and otherwise by the launch.

use sarek::prelude::*;
use sarek::{Element, Error};

use crate::devices;

/// Zero-sized for `N = 0`.
#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Tail<const N: usize> {
    values: [u32; N],
}

/// The macro sees only an alias's name, not its size. For a type parameter, rustc checks each instance.
type Nothing = [u32; 0];
type Nothings = [[f32; 0]; 3];
type NoTail = Tail<0>;
type Tails = [Tail<1>; 2];

macro_rules! copies {
    ($($name:ident $item:ident $view:ident $element:ty),*) => {$(
        #[kernel]
        fn $name(x: &[$element], y: &mut [$element]) {
            let i = global_idx_x();
            y[i] = x[i];
        }

        #[kernel]
        fn $item(#[item] x: $element, #[item] y: &mut $element) {
            *y = x;
        }

        #[kernel]
        fn $view(x: View2<$element>, mut y: ViewMut2<$element>) {
            let (i, j) = (global_idx_y(), global_idx_x());
            y[[i, j]] = x[[i, j]];
        }
    )*};
}

copies! {
    copy_nothing item_nothing view_nothing Nothing,
    copy_nothings item_nothings view_nothings Nothings,
    copy_no_tail item_no_tail view_no_tail NoTail,
    copy_tails item_tails view_tails Tails
}

#[kernel]
fn through_shared<T: Element>(_value: T, y: &mut [u32]) {
    let tile = shared_slice::<[u32; 1]>(y.len());
    let t = thread_idx_x();
    if t < tile.len() {
        tile[t] = [1];
    }
    barrier();
    let i = global_idx_x();
    y[i] = tile[t][0];
}

#[kernel]
fn in_shared(value: NoTail, y: &mut [u32]) {
    let tile = shared_array::<NoTail, 4>();
    let t = thread_idx_x();
    tile[t] = value;
    barrier();
    let i = global_idx_x();
    y[i] = 1;
}

#[device]
fn picked<T: Element>(value: T, at: usize) -> u32 {
    let all = [value; 3];
    let _one = all[at];
    1
}

#[kernel]
fn in_function<T: Element>(value: T, y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = picked(value, i);
}

/// Checks that a launch is refused because its elements are zero-sized.
#[track_caller]
fn refused(what: &str, result: sarek::Result<()>) {
    match result {
        Err(Error::Launch { problem, .. }) if problem.contains("elements of size 0") => {}
        other => panic!("{what}: {other:?}"),
    }
}

/// Runs a copy with slices, with items and with views.
macro_rules! all_ways {
    ($device:expr, $value:expr, $copy:ident $item:ident $view:ident) => {{
        let x = Vector::from_vec(vec![$value; 6]);
        let mut y = Vector::from_vec(vec![$value; 6]);
        let plain = $copy(&x, &mut y).over(6).run_on($device);
        let items = $item(&x, &mut y).run_on($device);
        let views = x.view2(2, 3).and_then(|x| {
            let y = y.view2_mut(2, 3)?;
            $view(x, y).over((3, 2)).run_on($device)
        });
        [plain, items, views]
    }};
}

#[test]
fn zero_sized_elements_are_refused_everywhere() {
    for device in devices() {
        for result in all_ways!(&device, [0u32; 0], copy_nothing item_nothing view_nothing) {
            refused(&format!("{device}: [u32; 0]"), result);
        }
        for result in
            all_ways!(&device, [[0.0f32; 0]; 3], copy_nothings item_nothings view_nothings)
        {
            refused(&format!("{device}: [[f32; 0]; 3]"), result);
        }
        let none = Tail { values: [0; 0] };
        for result in all_ways!(&device, none, copy_no_tail item_no_tail view_no_tail) {
            refused(&format!("{device}: Tail<0>"), result);
        }
        let some = [Tail { values: [1; 1] }; 2];
        for result in all_ways!(&device, some, copy_tails item_tails view_tails) {
            result.unwrap_or_else(|error| panic!("{device}: [Tail<1>; 2]: {error}"));
        }
        let mut y = Vector::zeros(3);
        let (none, some) = (Tail { values: [0; 0] }, Tail { values: [5; 2] });
        let shared = in_shared(none, &mut y).grid(1).block(3);
        refused("shared", shared.run_on(&device));
        refused(
            "function",
            in_function(none, &mut y).over(3).run_on(&device),
        );
        let ran = in_function(some, &mut y).over(3).run_on(&device);
        ran.expect("it has a size");
        let explanation = in_function(none, &mut y).over(3).explain();
        assert!(explanation.contains("elements of size 0"), "{explanation}");
        assert!(
            in_function(none, &mut y)
                .over(3)
                .specialize(&device)
                .is_err()
        );
    }
}

/// A zero-sized value by itself is accepted, since nothing indexes it.
#[test]
fn zero_sized_values_are_accepted() {
    for device in devices() {
        let mut y = Vector::zeros(4);
        let launch = through_shared([0u32; 0], &mut y).grid(1).block(4);
        launch
            .run_on(&device)
            .unwrap_or_else(|error| panic!("{device}: {error}"));
        assert_eq!(y.to_vec().expect("it ran"), [1; 4], "{device}");
    }
}

/// Host operations on vectors of zero-sized elements succeed.
#[test]
fn vectors_of_zero_sized_elements_work_on_the_host() {
    for device in devices() {
        let mut x = Vector::from_vec(vec![[0u32; 0]; 5]);
        let stream = device.new_stream().expect("a stream");
        let _outcome = x.prefetch(&stream);
        x.write(1, &[[], []]).expect("it is on the host");
        let mut y = Vector::from_vec(vec![[0u32; 0]; 5]);
        y.copy_from(0, &x, ..).expect("nothing is moved");
        y.fill([]).expect("nothing is moved");
        assert_eq!(y.to_vec().expect("it is there").len(), 5, "{device}");
    }
}
