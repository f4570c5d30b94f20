//! Types of glam and num-complex in kernels, compared with their crates on every device.

use glam::{DMat3, DVec3, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
use num_complex::Complex;
use sarek::interop::glam::{dmat3, dvec3, mat3, mat4, quat, vec2, vec3, vec4};
use sarek::interop::num_complex as complex;
use sarek::prelude::*;
use sarek_test_interop::{N, near, numbers, on_every_device};

#[kernel]
fn complex_kernel(
    #[item] a: Complex<f32>,
    #[item] b: Complex<f32>,
    #[item] out: &mut [Complex<f32>; 9],
    #[item] norms: &mut [f32; 2],
) {
    *out = [
        complex::add(a, b),
        complex::sub(a, b),
        complex::mul(a, b),
        complex::div(a, b),
        complex::neg(a),
        complex::scale(a, b.re),
        complex::conj(a),
        complex::inv(a),
        complex::cis(b.re),
    ];
    *norms = [complex::norm_sqr(a), complex::norm(a)];
}

#[test]
fn complex_numbers() {
    let values = |by: usize| -> Vector<Complex<f32>> {
        let each = (0..N).map(|i| numbers::<2>(i + by));
        each.map(|[re, im]| Complex { re, im }).collect()
    };
    let (a, b) = (values(0), values(5));
    on_every_device(|device| {
        let mut out = Vector::filled(N, [Complex::ZERO; 9]);
        let mut norms = Vector::filled(N, [0.0; 2]);
        complex_kernel(&a, &b, &mut out, &mut norms).run_on(device)?;
        for i in 0..N {
            let (a, b) = (a.get(i)?, b.get(i)?);
            let expected = [
                a + b,
                a - b,
                a * b,
                a / b,
                -a,
                a.scale(b.re),
                a.conj(),
                a.inv(),
                Complex::cis(b.re),
            ];
            let flat = |all: [Complex<f32>; 9]| all.map(|z| [z.re, z.im]).concat();
            near(&flat(out.get(i)?), &flat(expected), device);
            near(&norms.get(i)?, &[a.norm_sqr(), a.norm()], device);
        }
        Ok(())
    });
}

/// Fields of foreign types in a type of the user's.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Wave {
    amplitude: Complex<f64>,
    direction: DVec3,
}

#[kernel]
fn wave_kernel(turn: DMat3, #[item] wave: &mut Wave) {
    let amplitude = complex::mul(wave.amplitude, wave.amplitude);
    wave.amplitude = amplitude;
    let turned = dmat3::mul_vec(turn, wave.direction);
    wave.direction = dvec3::normalize(turned);
    wave.direction.x += 1.0;
}

#[test]
fn fields_and_arguments() {
    let turn = DMat3::from_rotation_x(0.5);
    let wave = |i: usize| {
        let [re, im, x, y, z] = numbers::<5>(i).map(f64::from);
        Wave {
            amplitude: Complex { re, im },
            direction: DVec3 { x, y, z },
        }
    };
    on_every_device(|device| {
        let mut waves: Vector<Wave> = (0..N).map(wave).collect();
        wave_kernel(turn, &mut waves).run_on(device)?;
        for i in 0..N {
            let (before, after) = (wave(i), waves.get(i)?);
            let expected = (turn * before.direction).normalize() + DVec3::X;
            assert!(
                after.direction.abs_diff_eq(expected, 1e-12),
                "{i} on {device}"
            );
            let expected = before.amplitude * before.amplitude;
            assert!(
                (after.amplitude - expected).norm() < 1e-9,
                "{i} on {device}"
            );
        }
        Ok(())
    });
}

/// A test of a vector type: each function, and the same by glam.
macro_rules! vector_test {
    ($test:ident $kernel:ident $ty:ident $of:ident $n:literal ($($x:ident)+)) => {
        #[kernel]
        fn $kernel(
            #[item] a: $ty,
            #[item] b: $ty,
            #[item] out: &mut [$ty; 11],
            #[item] lengths: &mut [f32; 4],
        ) {
            *out = [
                $of::add(a, b),
                $of::sub(a, b),
                $of::mul(a, b),
                $of::div(a, b),
                $of::min(a, b),
                $of::max(a, b),
                $of::abs(a),
                $of::neg(a),
                $of::scale(a, b.x),
                $of::normalize(a),
                $of::lerp(a, b, 0.25),
            ];
            *lengths = [
                $of::dot(a, b),
                $of::length(a),
                $of::length_squared($of::splat(b.x)),
                $of::distance($of::new($(a.$x),+), b),
            ];
        }

        #[test]
        fn $test() {
            let values = |by: usize| -> Vector<$ty> {
                (0..N).map(|i| $ty::from_array(numbers(i + by))).collect()
            };
            let (a, b) = (values(0), values(9));
            on_every_device(|device| {
                let mut out = Vector::filled(N, [$ty::NAN; 11]);
                let mut lengths = Vector::filled(N, [0.0; 4]);
                $kernel(&a, &b, &mut out, &mut lengths).run_on(device)?;
                for i in 0..N {
                    let (a, b) = (a.get(i)?, b.get(i)?);
                    let expected = [
                        a + b,
                        a - b,
                        a * b,
                        a / b,
                        a.min(b),
                        a.max(b),
                        a.abs(),
                        -a,
                        a * b.x,
                        a.normalize(),
                        a.lerp(b, 0.25),
                    ];
                    let flat = |all: [$ty; 11]| all.map(|v| v.to_array()).concat();
                    near(&flat(out.get(i)?), &flat(expected), device);
                    let square = $ty::splat(b.x).length_squared();
                    let expected = [a.dot(b), a.length(), square, a.distance(b)];
                    near(&lengths.get(i)?, &expected, device);
                }
                Ok(())
            });
        }
    };
}

vector_test!(vectors_of_two vec2_kernel Vec2 vec2 2 (x y));
vector_test!(vectors_of_three vec3_kernel Vec3 vec3 3 (x y z));
vector_test!(vectors_of_four vec4_kernel Vec4 vec4 4 (x y z w));

#[kernel]
fn cross_kernel(#[item] a: Vec3, #[item] b: Vec3, #[item] out: &mut Vec3) {
    *out = vec3::cross(a, b);
}

#[kernel]
fn matrices_kernel(
    m: Mat3,
    #[item] big: Mat4,
    #[item] v: Vec3,
    #[item] w: Vec4,
    #[item] out: &mut Vec3,
    #[item] products: &mut Mat4,
) {
    *out = mat3::mul_vec(mat3::mul_mat(m, mat3::transpose(m)), v);
    let mut product = mat4::mul_mat(big, mat4::transpose(big));
    product.y_axis = mat4::mul_vec(big, w);
    *products = product;
}

#[kernel]
fn quat_kernel(q: Quat, #[item] v: Vec3, #[item] out: &mut Vec3) {
    let twice = quat::mul_quat(q, q);
    *out = quat::mul_vec3(quat::conjugate(twice), v);
}

#[test]
fn matrices_and_quaternions() {
    let m = Mat3::from_cols_array(&numbers(3));
    let q = Quat::from_rotation_y(0.7) * Quat::from_rotation_x(0.3);
    let v: Vector<Vec3> = (0..N).map(|i| Vec3::from_array(numbers(i))).collect();
    let u: Vector<Vec3> = (0..N).map(|i| Vec3::from_array(numbers(i + 4))).collect();
    let w: Vector<Vec4> = (0..N).map(|i| Vec4::from_array(numbers(i))).collect();
    let big: Vector<Mat4> = (0..N).map(|i| Mat4::from_cols_array(&numbers(i))).collect();
    on_every_device(|device| {
        let mut crossed = Vector::zeros(N);
        cross_kernel(&v, &u, &mut crossed).run_on(device)?;
        let (mut out, mut products) = (Vector::zeros(N), Vector::filled(N, Mat4::ZERO));
        matrices_kernel(m, &big, &v, &w, &mut out, &mut products).run_on(device)?;
        let mut turned = Vector::zeros(N);
        quat_kernel(q, &v, &mut turned).run_on(device)?;
        for i in 0..N {
            let (v, u, w, big) = (v.get(i)?, u.get(i)?, w.get(i)?, big.get(i)?);
            near(&crossed.get(i)?.to_array(), &v.cross(u).to_array(), device);
            let expected = m * m.transpose() * v;
            // The sums have terms up to a hundred times as large.
            near(
                &(out.get(i)? / 100.0).to_array(),
                &(expected / 100.0).to_array(),
                device,
            );
            let mut expected = big * big.transpose();
            expected.y_axis = big * w;
            near(
                &products.get(i)?.to_cols_array(),
                &expected.to_cols_array(),
                device,
            );
            let expected = (q * q).conjugate() * v;
            near(&turned.get(i)?.to_array(), &expected.to_array(), device);
        }
        Ok(())
    });
}
