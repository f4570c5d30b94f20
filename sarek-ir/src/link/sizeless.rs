//! Finds memory with zero-sized elements: `[[u32; 0]; 4]`. Generic code may produce it, but devices cannot index it.

use super::Links;
use super::build::functions;
use super::shape::{Shape, resolve, resolve_all};
use crate::{Kernel, ParamKind};

impl Kernel {
    /// A zero-sized element type in the memory of this kernel or a callee: the name of the slice or shared array, or an
    /// array among the values.
    pub fn sizeless(&self, links: &Links) -> Option<String> {
        let shapes = resolve_all(self, links);
        let holds = |ty| resolve(self, links, ty).has_size();
        let mut params = self.params.iter();
        let slice = params.find_map(|param| match param.kind {
            ParamKind::Slice { elem, .. } => (!holds(elem)).then(|| format!("`{}`", param.name)),
            ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => None,
        });
        let mut shared = self.shared.iter();
        let mut shared = || shared.find(|array| !holds(array.elem));
        let array = || shapes.iter().any(Shape::has_sizeless_array);
        let called = || {
            let mut called = self.calls.iter().flat_map(|call| functions(call, links));
            called.find_map(|function| function.ir.sizeless(&function.links))
        };
        slice
            .or_else(|| shared().map(|array| format!("the shared array `{}`", array.name)))
            .or_else(|| array().then(|| "an array".to_owned()))
            .or_else(called)
    }
}

impl Shape {
    /// True if a value of the type contains any scalar.
    fn has_size(&self) -> bool {
        self.leaves().iter().any(|leaf| leaf.count() > 0)
    }

    /// True if the type contains an array of zero-sized elements.
    fn has_sizeless_array(&self) -> bool {
        match self {
            Shape::Scalar(_) => false,
            Shape::Array(elem, _) => !elem.has_size() || elem.has_sizeless_array(),
            Shape::Struct(fields, _) => fields.iter().any(|f| f.shape.has_sizeless_array()),
            Shape::Enum(variants) => {
                let mut fields = variants.iter().flat_map(|v| v.fields.iter());
                fields.any(|f| f.shape.has_sizeless_array())
            }
        }
    }
}
