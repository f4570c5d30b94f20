//! Types of mint in kernels, on every device.

use mint::{ColumnMatrix3, Point2, Quaternion, RowMatrix2, Vector3, Vector4};
use sarek::prelude::*;
use sarek_test_interop::{N, near, numbers, on_every_device};

#[kernel]
fn mint_kernel(
    m: ColumnMatrix3<f32>,
    rows: RowMatrix2<f64>,
    #[item] v: Vector3<f32>,
    #[item] p: &mut Point2<f64>,
    #[item] q: &mut Quaternion<f32>,
    #[item] out: &mut Vector4<f32>,
) {
    let x = m.x.x * v.x + m.y.x * v.y + m.z.x * v.z;
    let y = m.x.y * v.x + m.y.y * v.y + m.z.y * v.z;
    *out = Vector4::<f32> {
        x,
        y,
        z: v.z,
        w: q.s,
    };
    let old = *p;
    p.x = rows.x.x * old.x + rows.x.y * old.y;
    p.y = rows.y.x * old.x + rows.y.y * old.y;
    q.v = v;
    q.s = -q.s;
}

#[test]
fn fields() {
    let m = ColumnMatrix3::from(numbers::<9>(1));
    let rows = RowMatrix2::from(numbers::<4>(2).map(f64::from));
    let v: Vector<Vector3<f32>> = (0..N).map(|i| numbers::<3>(i).into()).collect();
    let point = |i: usize| Point2::from(numbers::<2>(i).map(f64::from));
    let turn = |i: usize| Quaternion::from(numbers::<4>(i));
    on_every_device(|device| {
        let mut p: Vector<Point2<f64>> = (0..N).map(point).collect();
        let mut q: Vector<Quaternion<f32>> = (0..N).map(turn).collect();
        let mut out = Vector::filled(N, Vector4::from([0.0; 4]));
        mint_kernel(m, rows, &v, &mut p, &mut q, &mut out).run_on(device)?;
        for i in 0..N {
            let v = v.get(i)?;
            let columns: [[f32; 3]; 3] = m.into();
            let product =
                |row: usize| columns[0][row] * v.x + columns[1][row] * v.y + columns[2][row] * v.z;
            let found: [f32; 4] = out.get(i)?.into();
            near(&found, &[product(0), product(1), v.z, turn(i).s], device);
            let (rows, [x, y]): ([[f64; 2]; 2], [f64; 2]) = (rows.into(), point(i).into());
            let found: [f64; 2] = p.get(i)?.into();
            near(&found, &rows.map(|[a, b]| a * x + b * y), device);
            let found = q.get(i)?;
            assert_eq!((found.v, found.s), (v, -turn(i).s), "on {device}");
        }
        Ok(())
    });
}
