//! The vectors and matrices of `glam` as types of kernels.
//!
//! `Vec3A`, `Mat3A` and the affine types have padding or no public fields, and are left out.

use glam::{
    DMat2, DMat3, DMat4, DQuat, DVec2, DVec3, DVec4, IVec2, IVec3, IVec4, Mat3, Mat4, Quat, UVec2,
    UVec3, UVec4, Vec2, Vec3, Vec4,
};

super::elements::elements! {
    Vec2 as "Vec2" { x: f32, y: f32 }
    Vec3 as "Vec3" { x: f32, y: f32, z: f32 }
    Vec4 as "Vec4" { x: f32, y: f32, z: f32, w: f32 }
    DVec2 as "DVec2" { x: f64, y: f64 }
    DVec3 as "DVec3" { x: f64, y: f64, z: f64 }
    DVec4 as "DVec4" { x: f64, y: f64, z: f64, w: f64 }
    IVec2 as "IVec2" { x: i32, y: i32 }
    IVec3 as "IVec3" { x: i32, y: i32, z: i32 }
    IVec4 as "IVec4" { x: i32, y: i32, z: i32, w: i32 }
    UVec2 as "UVec2" { x: u32, y: u32 }
    UVec3 as "UVec3" { x: u32, y: u32, z: u32 }
    UVec4 as "UVec4" { x: u32, y: u32, z: u32, w: u32 }
    Quat as "Quat" { x: f32, y: f32, z: f32, w: f32 }
    DQuat as "DQuat" { x: f64, y: f64, z: f64, w: f64 }
    Mat3 as "Mat3" { x_axis: Vec3, y_axis: Vec3, z_axis: Vec3 }
    Mat4 as "Mat4" { x_axis: Vec4, y_axis: Vec4, z_axis: Vec4, w_axis: Vec4 }
    DMat2 as "DMat2" { x_axis: DVec2, y_axis: DVec2 }
    DMat3 as "DMat3" { x_axis: DVec3, y_axis: DVec3, z_axis: DVec3 }
    DMat4 as "DMat4" { x_axis: DVec4, y_axis: DVec4, z_axis: DVec4, w_axis: DVec4 }
}
