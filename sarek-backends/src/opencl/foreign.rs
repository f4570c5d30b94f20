//! Reflection of the users' own OpenCL C, through the driver.

use opencl3::error_codes::cl_int;
use opencl3::kernel::{
    CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_PRIVATE,
    CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_NUM_ARGS,
    get_kernel_arg_info, get_kernel_info,
};
use opencl3::program::{CL_PROGRAM_KERNEL_NAMES, get_program_info};
use opencl3::types::cl_uint;
use sarek_ir::Scalar;
use sarek_ir::write::{Dialect, OpenCl};
use sarek_runtime::Result;
use sarek_runtime::backend::{Parameter, Parts, Passed};

use super::Object;
use super::device::Shared;
use crate::jit;

/// The options for the user's own text. If the user requests a version of OpenCL C, ours is dropped.
pub(super) fn options(own: &str, parts: &Parts) -> String {
    let told = parts.flags().any(|flag| flag.starts_with("-cl-std"));
    let own = own
        .split(' ')
        .filter(|o| !(told && o.starts_with("-cl-std")));
    own.chain(["-cl-kernel-arg-info"])
        .collect::<Vec<_>>()
        .join(" ")
}

/// The entry points of a program.
pub(super) fn entries(program: &Object) -> Vec<String> {
    let names = get_program_info(program.raw, CL_PROGRAM_KERNEL_NAMES).map(String::from);
    let names = names.unwrap_or_default();
    let names = names.trim_end_matches('\0').split(';');
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Compares the parameters of an entry point with the declared ones, as far as the driver reports them. For programs
/// from binaries, it may report only their number.
pub(super) fn check(
    shared: &Shared,
    kernel: &str,
    entry: &Object,
    parameters: &[Parameter],
) -> Result<()> {
    let problem = |problem| jit::signature(kernel, OpenCl.name(), problem);
    let takes = get_kernel_info(entry.raw, CL_KERNEL_NUM_ARGS)
        .map_err(|code| shared.error("clGetKernelInfo", code))?;
    let (takes, declared) = (cl_uint::from(takes) as usize, parameters.len());
    if takes != declared {
        return Err(problem(format!(
            "it takes {takes} arguments, and {declared} are declared"
        )));
    }
    for (index, parameter) in (0..).zip(parameters) {
        let Ok(found) = Found::of(entry, index) else {
            continue;
        };
        found.compare(parameter).map_err(problem)?;
    }
    Ok(())
}

/// One parameter of an entry point.
struct Found {
    /// The address space of the memory that it points to; private for a value.
    address: cl_uint,
    /// The type; for a pointer, such as `float*`.
    ty: String,
}

impl Found {
    fn of(entry: &Object, index: cl_uint) -> Result<Found, cl_int> {
        let address = get_kernel_arg_info(entry.raw, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER)?;
        let ty = get_kernel_arg_info(entry.raw, index, CL_KERNEL_ARG_TYPE_NAME)?;
        let ty = String::from(ty).replace('\0', "");
        Ok(Found {
            address: address.into(),
            ty: ty.trim().to_owned(),
        })
    }

    fn compare(&self, parameter: &Parameter) -> Result<(), String> {
        let memory = [CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_CONSTANT];
        let (unit, fits) = match parameter.kind {
            Passed::Scalar(scalar) => (scalar, self.address == CL_KERNEL_ARG_ADDRESS_PRIVATE),
            Passed::Vector { unit, .. } => (unit, memory.contains(&self.address)),
        };
        // Types that the text defines are unknown here.
        let same = scalar(&self.ty).is_none_or(|found| found.contains(&unit));
        match fits && same {
            true => Ok(()),
            false => Err(format!(
                "{}, and is `{}` there",
                jit::declared(parameter),
                self.ty
            )),
        }
    }
}

/// The scalars that a numeric type of OpenCL C may stand for; for a vector or a pointer, those of its elements.
fn scalar(ty: &str) -> Option<&'static [Scalar]> {
    let ty = ty.trim_end_matches(['*', ' ']);
    let ty = ty.trim_end_matches(|c: char| c.is_ascii_digit());
    Some(match ty {
        "float" => &[Scalar::F32],
        "double" => &[Scalar::F64],
        "int" => &[Scalar::I32],
        "uint" | "unsigned int" => &[Scalar::U32],
        "long" => &[Scalar::I64],
        "ulong" | "unsigned long" => &[Scalar::U64],
        "short" => &[Scalar::I16],
        "ushort" | "unsigned short" => &[Scalar::U16, Scalar::F16, Scalar::Bf16],
        "half" => &[Scalar::F16],
        "char" => &[Scalar::I8],
        "uchar" | "unsigned char" => &[Scalar::U8, Scalar::Bool],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_by_their_names() {
        assert_eq!(scalar("float4*"), Some(&[Scalar::F32][..]));
        assert_eq!(scalar("unsigned int"), Some(&[Scalar::U32][..]));
        assert_eq!(scalar("struct Particle*"), None);
    }

    #[test]
    fn the_users_version_of_the_language_stands_alone() {
        let own = "-cl-std=CL1.2 -cl-x";
        assert_eq!(
            options(own, &Parts::new()),
            format!("{own} -cl-kernel-arg-info")
        );
        let newer = Parts::new().flag("-cl-std=CL3.0");
        assert_eq!(options(own, &newer), "-cl-x -cl-kernel-arg-info");
    }
}
