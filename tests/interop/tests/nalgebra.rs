//! Types of nalgebra in kernels, and its methods, compared with the crate on every device.

use nalgebra::{Matrix2, Matrix3, Matrix4, Quaternion, Vector2, Vector3, Vector4};
use sarek::interop::nalgebra::methods::*;
use sarek::prelude::*;
use sarek_test_interop::{N, near, numbers, on_every_device};

/// Tests of vectors and matrices of one size: each method in a kernel, and the same on the host.
macro_rules! size_test {
    (
        $test:ident $kernel:ident $lane:ident $vector:ident ($($x:ident)+) $matrix:ident ($($m:ident)+)
    ) => {
        #[kernel]
        fn $kernel(
            #[item] a: $vector<$lane>,
            #[item] b: $vector<$lane>,
            #[item] m: $matrix<$lane>,
            #[item] out: &mut [$vector<$lane>; 10],
            #[item] matrices: &mut [$matrix<$lane>; 6],
            #[item] numbers: &mut [$lane; 5],
        ) {
            let by: $lane = b.x;
            let other: $vector<$lane> = $vector::<$lane>::new($(b.$x),+);
            let mut doubled = other;
            doubled.y *= 2.0;
            *out = [
                a.plus(&b),
                a.minus(&other),
                a.scale(by),
                a.unscale(by),
                a.component_mul(&b),
                a.component_div(&b),
                a.abs(),
                a.normalize(),
                a.lerp(&doubled, 0.25),
                m.mul_vec(&a),
            ];
            *matrices = [
                m.plus(&m.transpose()),
                m.minus(&m.transpose()),
                m.scale(by),
                m.mul_mat(&m),
                m.transpose().mul_mat(&m),
                $matrix::<$lane>::new($(m.$m),+),
            ];
            *numbers = [a.dot(&b), a.norm(), a.norm_squared(), a.metric_distance(&b), a.sum()];
        }

        #[test]
        fn $test() {
            let value = |i: usize| $vector::<$lane>::from_iterator(numbers::<4>(i).map($lane::from));
            let matrix = |i: usize| $matrix::<$lane>::from_iterator(numbers::<16>(i).map($lane::from));
            let a: Vector<$vector<$lane>> = (0..N).map(value).collect();
            let b: Vector<$vector<$lane>> = (9..N + 9).map(value).collect();
            let m: Vector<$matrix<$lane>> = (0..N).map(matrix).collect();
            on_every_device(|device| {
                let mut out = Vector::filled(N, [$vector::<$lane>::zeros(); 10]);
                let mut matrices = Vector::filled(N, [$matrix::<$lane>::zeros(); 6]);
                let mut numbers = Vector::filled(N, [0.0; 5]);
                $kernel(&a, &b, &m, &mut out, &mut matrices, &mut numbers).run_on(device)?;
                for i in 0..N {
                    let (a, b, m) = (a.get(i)?, b.get(i)?, m.get(i)?);
                    let mut doubled = b;
                    doubled.y *= 2.0;
                    let expected = [
                        a + b,
                        a - b,
                        a * b.x,
                        a / b.x,
                        a.component_mul(&b),
                        a.component_div(&b),
                        a.abs(),
                        a.normalize(),
                        a * 0.75 + doubled * 0.25,
                        m * a,
                    ];
                    for (found, expected) in out.get(i)?.iter().zip(expected) {
                        near(found.as_slice(), expected.as_slice(), device);
                    }
                    let expected = [
                        m + m.transpose(),
                        m - m.transpose(),
                        m * b.x,
                        m * m,
                        m.transpose() * m,
                        m,
                    ];
                    for (found, expected) in matrices.get(i)?.iter().zip(expected) {
                        near(found.as_slice(), expected.as_slice(), device);
                    }
                    let expected = [a.dot(&b), a.norm(), a.norm_squared(), (a - b).norm(), a.sum()];
                    near(&numbers.get(i)?, &expected, device);
                }
                Ok(())
            });
        }
    };
}

size_test!(two two_kernel f32 Vector2 (x y) Matrix2 (m11 m12 m21 m22));
size_test!(three three_kernel f64 Vector3 (x y z) Matrix3 (m11 m12 m13 m21 m22 m23 m31 m32 m33));
size_test!(four four_kernel f32 Vector4 (x y z w) Matrix4 (
    m11 m12 m13 m14 m21 m22 m23 m24 m31 m32 m33 m34 m41 m42 m43 m44
));

/// Fields of types of nalgebra in a type of the user's.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Body {
    turn: Quaternion<f32>,
    axis: Vector3<f32>,
    count: Vector2<u32>,
}

#[kernel]
fn body_kernel(#[item] body: &mut Body, #[item] numbers: &mut [f32; 3]) {
    let q = body.turn;
    *numbers = [q.dot(&q.conjugate()), q.norm(), q.norm_squared()];
    let unit = q.normalize();
    body.turn = unit.mul_quat(&Quaternion::<f32>::new(q.w, q.i, q.j, q.k));
    let axis = body.axis;
    body.axis = axis.cross(&Vector3::<f32>::new(q.i, q.j, q.k));
    body.count.y += body.count.x;
}

#[test]
fn quaternions_and_fields() {
    let body = |i: usize| {
        let [w, i, j, k, x, y, z] = numbers::<7>(i);
        Body {
            turn: Quaternion::new(w, i, j, k),
            axis: Vector3::new(x, y, z),
            count: Vector2::new(3, 4),
        }
    };
    on_every_device(|device| {
        let mut bodies: Vector<Body> = (0..N).map(body).collect();
        let mut numbers = Vector::filled(N, [0.0; 3]);
        body_kernel(&mut bodies, &mut numbers).run_on(device)?;
        for i in 0..N {
            let (Body { turn: q, axis, .. }, after) = (body(i), bodies.get(i)?);
            let expected = [q.dot(&q.conjugate()), q.norm(), q.norm_squared()];
            near(&numbers.get(i)?, &expected, device);
            let turn = q.normalize() * q;
            near(after.turn.coords.as_slice(), turn.coords.as_slice(), device);
            let expected = axis.cross(&q.imag());
            near(after.axis.as_slice(), expected.as_slice(), device);
            assert_eq!(after.count, Vector2::new(3, 7), "on {device}");
        }
        Ok(())
    });
}
