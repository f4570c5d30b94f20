//! Methods of glam and num-complex in kernels, compared with their crates on every device, and a
//! trait of the user's for types of other crates.

#![allow(clippy::too_many_arguments)]

use glam::{DMat3, DMat4, DQuat, DVec2, DVec3, DVec4, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
use num_complex::Complex;
use sarek::interop::glam::methods::*;
use sarek::interop::num_complex::methods::*;
use sarek::prelude::*;
use sarek_test_interop::{N, near, numbers, on_every_device};

/// Tests of a vector type: each method in a kernel, and the same on the host.
macro_rules! vector_test {
    ($test:ident $kernel:ident $ty:ident $lane:ident ($($x:ident)+)) => {
        #[kernel]
        fn $kernel(
            #[item] a: $ty,
            #[item] b: $ty,
            #[item] out: &mut [$ty; 11],
            #[item] numbers: &mut [$lane; 8],
        ) {
            let at: $ty = $ty::new($(b.$x),+);
            *out = [
                a.normalize(),
                a.lerp(at, 0.25),
                a.min(b),
                a.max(b),
                a.clamp(a.min(b), $ty::splat(1.0)),
                a.abs(),
                a.floor(),
                a.ceil(),
                a.mul_add(b, a),
                a.reflect(b.normalize()),
                a.lerp(b, 0.5).normalize(),
            ];
            *numbers = [
                a.dot(b),
                a.length(),
                a.length_squared(),
                a.length_recip(),
                a.distance(b),
                a.distance_squared(b),
                a.element_sum(),
                a.normalize().dot(b.normalize()),
            ];
        }

        #[test]
        fn $test() {
            let value = |i: usize| {
                let [$($x,)+ ..] = numbers::<4>(i).map($lane::from);
                $ty::new($($x),+)
            };
            let a: Vector<$ty> = (0..N).map(value).collect();
            let b: Vector<$ty> = (9..N + 9).map(value).collect();
            on_every_device(|device| {
                let mut out = Vector::filled(N, [$ty::NAN; 11]);
                let mut numbers = Vector::filled(N, [0.0; 8]);
                $kernel(&a, &b, &mut out, &mut numbers).run_on(device)?;
                for i in 0..N {
                    let (a, b) = (a.get(i)?, b.get(i)?);
                    let expected = [
                        a.normalize(),
                        a * 0.75 + b * 0.25,
                        a.min(b),
                        a.max(b),
                        a.max(a.min(b)).min($ty::ONE),
                        a.abs(),
                        a.floor(),
                        a.ceil(),
                        a * b + a,
                        a - 2.0 * a.dot(b.normalize()) * b.normalize(),
                        ((a + b) / 2.0).normalize(),
                    ];
                    let flat = |all: [$ty; 11]| all.map(|v| v.to_array()).concat();
                    near(&flat(out.get(i)?), &flat(expected), device);
                    let expected = [
                        a.dot(b),
                        a.length(),
                        a.length_squared(),
                        1.0 / a.length(),
                        (a - b).length(),
                        (a - b).length_squared(),
                        a.to_array().iter().sum(),
                        a.dot(b) / (a.length() * b.length()),
                    ];
                    near(&numbers.get(i)?, &expected, device);
                }
                Ok(())
            });
        }
    };
}

vector_test!(vectors_of_two vec2_kernel Vec2 f32 (x y));
vector_test!(vectors_of_three vec3_kernel Vec3 f32 (x y z));
vector_test!(vectors_of_four vec4_kernel Vec4 f32 (x y z w));
vector_test!(double_vectors dvec3_kernel DVec3 f64 (x y z));

/// Tests of the methods that depend on the number of components, and of matrices and quaternions.
macro_rules! product_test {
    (
        $test:ident $kernel:ident $lane:ident $two:ident $three:ident $four:ident $mat3:ident $mat4:ident $quat:ident
    ) => {
        #[kernel]
        fn $kernel(
            #[item] m: $mat3,
            #[item] n: $mat4,
            #[item] q: $quat,
            #[item] u: $three,
            #[item] v: $three,
            #[item] out: &mut [$three; 8],
            #[item] matrices: &mut [$mat3; 6],
            #[item] big: &mut [$mat4; 5],
            #[item] numbers: &mut [$lane; 5],
        ) {
            let w: $four = $four::new(u.x, u.y, u.z, v.x);
            let flat: $two = $two::new(u.x, u.y);
            let other: $two = $two::new(v.x, v.y);
            let side: $two = flat.perp();
            *out = [
                u.cross(v),
                m.mul_vec3(v),
                n.transform_point3(u),
                n.transform_vector3(u),
                q.mul_vec3(v),
                q.mul_quat(q).conjugate().mul_vec3(v),
                q.inverse().mul_vec3(u),
                u,
            ];
            *matrices = [
                m.mul_mat3(&m),
                m.add_mat3(&m),
                m.sub_mat3(&m.transpose()),
                m.mul_scalar(0.5),
                m.inverse(),
                $mat3::from_cols(u, v, u),
            ];
            *big = [
                n.mul_mat4(&n.transpose()),
                n.add_mat4(&n),
                n.sub_mat4(&n.transpose()),
                n.mul_scalar(0.5),
                $mat4::from_cols(w, n.mul_vec4(w), w, w),
            ];
            *numbers = [
                m.determinant(),
                side.dot(other),
                flat.perp_dot(other),
                q.dot(q.normalize()),
                q.length() + q.length_squared(),
            ];
        }

        #[test]
        fn $test() {
            let value = |i: usize| $three::from_array(numbers::<3>(i).map($lane::from));
            let u: Vector<$three> = (0..N).map(value).collect();
            let v: Vector<$three> = (4..N + 4).map(value).collect();
            let turn = |i: usize| $quat::from_rotation_y(i as $lane) * $quat::from_rotation_x(0.3);
            // Not symmetric, and far from singular.
            let small =
                |i: usize| $mat3::from_quat(turn(i)) * 2.0 + $mat3::from_cols_array(&[0.25; 9]);
            let large = |i: usize| $mat4::from_rotation_translation(turn(i), value(i)) * 2.0;
            let m: Vector<$mat3> = (0..N).map(small).collect();
            let n: Vector<$mat4> = (0..N).map(large).collect();
            let q: Vector<$quat> = (0..N).map(turn).collect();
            on_every_device(|device| {
                let mut out = Vector::filled(N, [$three::NAN; 8]);
                let mut matrices = Vector::filled(N, [$mat3::NAN; 6]);
                let mut big = Vector::filled(N, [$mat4::NAN; 5]);
                let mut numbers = Vector::filled(N, [0.0; 5]);
                $kernel(
                    &m,
                    &n,
                    &q,
                    &u,
                    &v,
                    &mut out,
                    &mut matrices,
                    &mut big,
                    &mut numbers,
                )
                .run_on(device)?;
                for i in 0..N {
                    let (m, n, q, u, v) = (m.get(i)?, n.get(i)?, q.get(i)?, u.get(i)?, v.get(i)?);
                    let w = u.extend(v.x);
                    let expected = [
                        u.cross(v),
                        m * v,
                        (n * u.extend(1.0)).truncate(),
                        (n * u.extend(0.0)).truncate(),
                        q * v,
                        (q * q).conjugate() * v,
                        q.inverse() * u,
                        u,
                    ];
                    let flat = |all: [$three; 8]| all.map(|v| v.to_array()).concat();
                    near(&flat(out.get(i)?), &flat(expected), device);
                    let expected = [
                        m * m,
                        m + m,
                        m - m.transpose(),
                        m * 0.5,
                        m.inverse(),
                        $mat3::from_cols(u, v, u),
                    ];
                    let flat = |all: [$mat3; 6]| all.map(|v| v.to_cols_array()).concat();
                    near(&flat(matrices.get(i)?), &flat(expected), device);
                    let expected = [
                        n * n.transpose(),
                        n + n,
                        n - n.transpose(),
                        n * 0.5,
                        $mat4::from_cols(w, n * w, w, w),
                    ];
                    let flat = |all: [$mat4; 5]| all.map(|v| v.to_cols_array()).concat();
                    near(&flat(big.get(i)?), &flat(expected), device);
                    let (flat, other) = (u.truncate(), v.truncate());
                    let expected = [
                        m.determinant(),
                        flat.perp().dot(other),
                        flat.perp_dot(other),
                        q.dot(q.normalize()),
                        q.length() + q.length_squared(),
                    ];
                    near(&numbers.get(i)?, &expected, device);
                }
                Ok(())
            });
        }
    };
}

product_test!(products products_kernel f32 Vec2 Vec3 Vec4 Mat3 Mat4 Quat);
product_test!(double_products double_products_kernel f64 DVec2 DVec3 DVec4 DMat3 DMat4 DQuat);

#[kernel]
fn complex_kernel(
    #[item] z: Complex<f32>,
    #[item] out: &mut [Complex<f32>; 8],
    #[item] numbers: &mut [f32; 4],
) {
    let angle: f32 = z.arg();
    *out = [
        z.conj(),
        z.inv(),
        z.scale(2.5),
        z.unscale(2.5),
        z.exp(),
        Complex::<f32>::cis(z.re),
        Complex::<f32>::from_polar(2.0, angle),
        Complex::<f32>::new(z.im, z.re),
    ];
    *numbers = [z.norm_sqr(), z.norm(), angle, z.l1_norm()];
}

#[test]
fn complex_numbers() {
    let values = (0..N).map(numbers::<2>);
    let z: Vector<Complex<f32>> = values.map(|[re, im]| Complex { re, im }).collect();
    on_every_device(|device| {
        let mut out = Vector::filled(N, [Complex::ZERO; 8]);
        let mut numbers = Vector::filled(N, [0.0; 4]);
        complex_kernel(&z, &mut out, &mut numbers).run_on(device)?;
        for i in 0..N {
            let z = z.get(i)?;
            let expected = [
                z.conj(),
                z.inv(),
                z * 2.5,
                z / 2.5,
                z.exp(),
                Complex::cis(z.re),
                z * 2.0 / z.norm(),
                Complex::new(z.im, z.re),
            ];
            let flat = |all: [Complex<f32>; 8]| all.map(|z| [z.re, z.im]).concat();
            near(&flat(out.get(i)?), &flat(expected), device);
            let expected = [z.norm_sqr(), z.norm(), z.arg(), z.re.abs() + z.im.abs()];
            near(&numbers.get(i)?, &expected, device);
        }
        Ok(())
    });
}

/// Methods of the user's for types of other crates, with all forms of `Self`.
#[device]
trait Blend {
    /// The type of a weight.
    type Weight;

    /// The middle of two values.
    fn middle(self, other: Self) -> Self;
    /// `self` and `other` as `by` tells.
    fn blend<T: Num>(&self, other: Self, by: T) -> Self;
    /// Halves the value `times` times.
    fn halve(&mut self, times: u32);
    /// The weight of the value.
    fn weight(&self) -> Self::Weight;
    /// The result of `f` for the first component.
    fn first(&self, f: impl Fn(f32) -> f32) -> f32;
}

#[device]
impl Blend for Vec2 {
    type Weight = f32;

    fn middle(self, other: Self) -> Self {
        let both: Self = Self::new(self.x + other.x, self.y + other.y);
        let (x, y): (f32, f32) = (both.x, both.y);
        Self::new(x * 0.5, y * 0.5)
    }

    fn blend<T: Num>(&self, other: Self, by: T) -> Self {
        let by = by.to_f32();
        Self::lerp(*self, other, by)
    }

    fn halve(&mut self, times: u32) {
        for _ in 0..times {
            self.x *= 0.5;
            self.y *= 0.5;
        }
    }

    fn weight(&self) -> Self::Weight {
        let weight: Self::Weight = self.x + self.y;
        weight
    }

    fn first(&self, f: impl Fn(f32) -> f32) -> f32 {
        f(self.x)
    }
}

#[device]
impl<F: Float> Blend for Complex<F> {
    type Weight = F;

    fn middle(self, other: Self) -> Self {
        let half = F::from_f32(0.5);
        Self {
            re: (self.re + other.re) * half,
            im: (self.im + other.im) * half,
        }
    }

    fn blend<T: Num>(&self, other: Self, by: T) -> Self {
        let by = F::from_f32(by.to_f32());
        Complex {
            re: self.re + (other.re - self.re) * by,
            im: self.im + (other.im - self.im) * by,
        }
    }

    fn halve(&mut self, times: u32) {
        for _ in 0..times {
            *self = self.middle(Self {
                re: F::from_f32(0.0),
                im: F::from_f32(0.0),
            });
        }
    }

    fn weight(&self) -> Self::Weight {
        self.re + self.im
    }

    fn first(&self, f: impl Fn(f32) -> f32) -> f32 {
        f(self.re.to_f32())
    }
}

/// Knows only the trait.
#[device]
fn quarter<B: Blend + KernelType>(of: B, to: B) -> B {
    of.middle(of.middle(to))
}

#[kernel]
fn blend_kernel(
    #[item] a: Vec2,
    #[item] z: Complex<f64>,
    #[item] out: &mut [Vec2; 4],
    #[item] complex: &mut [Complex<f64>; 4],
    #[item] weight: &mut f32,
    #[item] complex_weight: &mut f64,
) {
    let unit = Vec2::ONE;
    let mut halved = a;
    halved.halve(2);
    *out = [
        a.middle(unit),
        a.blend(unit, 1u32),
        halved,
        quarter(a, unit),
    ];
    let one = Complex::<f64> { re: 1.0, im: 0.0 };
    let mut halved = z;
    halved.halve(2);
    *complex = [
        z.middle(one),
        z.blend(one, 0.25f32),
        halved,
        quarter(z, one),
    ];
    *weight = a.weight() + a.first(|x| x * 2.0);
    *complex_weight = z.weight();
}

#[test]
fn a_trait_of_ones_own() {
    let a: Vector<Vec2> = (0..N).map(|i| Vec2::from_array(numbers(i))).collect();
    let parts = (0..N).map(numbers::<2>).map(|of| of.map(f64::from));
    let z: Vector<Complex<f64>> = parts.map(|[re, im]| Complex { re, im }).collect();
    on_every_device(|device| {
        let mut out = Vector::filled(N, [Vec2::NAN; 4]);
        let mut complex = Vector::filled(N, [Complex { re: 0.0, im: 0.0 }; 4]);
        let mut weight = Vector::zeros(N);
        let mut complex_weight = Vector::zeros(N);
        blend_kernel(
            &a,
            &z,
            &mut out,
            &mut complex,
            &mut weight,
            &mut complex_weight,
        )
        .run_on(device)?;
        for i in 0..N {
            let (a, z) = (a.get(i)?, z.get(i)?);
            let expected = [(a + 1.0) / 2.0, Vec2::ONE, a / 4.0, a * 0.75 + 0.25];
            let flat = |all: [Vec2; 4]| all.map(|v| v.to_array()).concat();
            near(&flat(out.get(i)?), &flat(expected), device);
            let expected = [(z + 1.0) / 2.0, z * 0.75 + 0.25, z / 4.0, z * 0.75 + 0.25];
            let flat = |all: [Complex<f64>; 4]| all.map(|z| [z.re, z.im]).concat();
            near(&flat(complex.get(i)?), &flat(expected), device);
            near(&[weight.get(i)?], &[a.x + a.y + a.x * 2.0], device);
            near(&[complex_weight.get(i)?], &[z.re + z.im], device);
        }
        Ok(())
    });
}
