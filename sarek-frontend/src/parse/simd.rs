use sarek_ir::Scalar;

use super::element_type::plain_text;

/// The names of a vector's components.
pub const LETTERS: [&str; 4] = ["x", "y", "z", "w"];

/// A SIMD vector type of the façade: `f32x4`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimdType {
    /// The type of a component.
    pub lane: Scalar,
    /// The number of components.
    pub count: usize,
}

impl SimdType {
    /// The name of the type.
    pub fn name(self) -> String {
        format!("{}x{}", self.lane, self.count)
    }
}

/// The vector type that a path names.
pub fn simd_type(path: &syn::Path) -> Option<SimdType> {
    let text = plain_text(path);
    let name = text.rsplit("::").next()?;
    let module = text.strip_suffix(name)?;
    let (lane, count) = name.split_once('x')?;
    let lane = Scalar::from_name(lane)?;
    let known = matches!(lane, Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32);
    let of_facade = ["", "sarek::", "sarek::prelude::"].contains(&module);
    let count = match count {
        "2" => 2,
        "3" => 3,
        "4" => 4,
        _ => return None,
    };
    (known && of_facade).then_some(SimdType { lane, count })
}
