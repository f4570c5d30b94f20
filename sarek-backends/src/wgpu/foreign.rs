//! Reflection of the users' own WGSL through naga: finds the bindings of the arguments.

use sarek_ir::Scalar;
use sarek_ir::write::{Dialect, Wgsl};
use sarek_runtime::backend::{Parameter, Passed};
use sarek_runtime::{Error, Result};
use wgpu::naga::{
    self, AddressSpace, EntryPoint, Expression, GlobalVariable, Handle, Module, ScalarKind,
    ShaderStage, StorageAccess, Type, TypeInner,
};

use super::program::Scalars;
use crate::jit::{self, Binary};

/// The bindings of a text's arguments.
pub(super) struct Reflected {
    /// The binding numbers of vectors, in the order of the parameters, and then of the uniform variable.
    pub numbers: Vec<u32>,
    /// The layout of scalars in the uniform variable.
    pub scalars: Scalars,
    /// The names of the override constants.
    pub constants: Vec<String>,
}

fn computes(entry: &EntryPoint) -> bool {
    entry.stage == ShaderStage::Compute
}

/// The compute entry points of a text; none if naga does not accept it.
pub(super) fn entries(text: &str) -> Vec<String> {
    let Ok(module) = naga::front::wgsl::parse_str(text) else {
        return vec![];
    };
    let entries = module.entry_points.into_iter().filter(computes);
    entries.map(|entry| entry.name).collect()
}

/// Finds the parameters in a text that naga has accepted.
pub(super) fn reflect(
    binary: &Binary<'_>,
    text: &str,
    parameters: &[Parameter],
) -> Result<Reflected> {
    let problem = |problem| jit::signature(binary.kernel, Wgsl.name(), problem);
    let module = naga::front::wgsl::parse_str(text)
        .map_err(|error| problem(format!("it cannot be parsed: {}", error.message())))?;
    let mut entries = module.entry_points.iter().filter(|entry| computes(entry));
    let entry = entries.clone().find(|e| e.name == binary.entry);
    let entry = entry.ok_or_else(|| Error::NoEntry {
        target: Wgsl.name().into(),
        entry: binary.entry.to_owned(),
        known: entries.by_ref().map(|entry| entry.name.clone()).collect(),
    })?;
    check_block(&module, entry, binary.block).map_err(problem)?;
    let (numbers, scalars) = arguments(&module, parameters).map_err(problem)?;
    let overrides = module.overrides.iter();
    Ok(Reflected {
        numbers,
        scalars,
        constants: overrides.filter_map(|(_, it)| it.name.clone()).collect(),
    })
}

/// Fails unless the text is written for blocks of this size, or of any size.
fn check_block(module: &Module, entry: &EntryPoint, block: [u32; 3]) -> Result<(), String> {
    let overrides = entry.workgroup_size_overrides.unwrap_or([None; 3]);
    for (axis, expression) in overrides.into_iter().enumerate() {
        match expression.map(|e| &module.global_expressions[e]) {
            Some(Expression::Override(constant)) => {
                let name = module.overrides[*constant].name.as_deref();
                let given = Wgsl::BLOCK[axis];
                if name != Some(given) {
                    return Err(format!(
                        "its block size along one axis is `{}`, which the launch does not set; name it `{given}`",
                        name.unwrap_or("an expression")
                    ));
                }
            }
            Some(_) => return Err("its block depends on an expression".into()),
            None if entry.workgroup_size[axis] == block[axis] => {}
            None => {
                let [x, y, z] = entry.workgroup_size;
                let [a, b, c] = block;
                return Err(format!(
                    "it is written for blocks of ({x}, {y}, {z}), and launched in blocks of ({a}, {b}, {c})"
                ));
            }
        }
    }
    Ok(())
}

/// The binding numbers, and the layout of the scalars.
fn arguments(module: &Module, parameters: &[Parameter]) -> Result<(Vec<u32>, Scalars), String> {
    let mut numbers = vec![];
    let mut offsets = vec![];
    let mut uniform: Option<(u32, usize)> = None;
    for parameter in parameters {
        match &parameter.kind {
            Passed::Vector { .. } => numbers.push(vector(module, parameter)?),
            Passed::Scalar(scalar) => {
                let place = value(module, parameter, *scalar)?;
                let known = uniform.get_or_insert((place.number, place.size));
                if known.0 != place.number {
                    return Err(
                        "its scalars are in several uniform variables; make them fields of one structure"
                            .into(),
                    );
                }
                offsets.push(place.offset);
            }
        }
    }
    numbers.extend(uniform.map(|(number, _)| number));
    let size = uniform.map_or(0, |(_, size)| size).next_multiple_of(16);
    Ok((numbers, Scalars { offsets, size }))
}

/// The binding of a vector: that of the storage variable with its name.
fn vector(module: &Module, parameter: &Parameter) -> Result<u32, String> {
    let Passed::Vector {
        unit,
        size,
        mutable,
        ..
    } = parameter.kind
    else {
        return Err(format!("`{}` is no vector", parameter.name));
    };
    let mut variables = module.global_variables.iter().map(|(_, variable)| variable);
    let found = variables.find(|v| v.name.as_deref() == Some(&parameter.name));
    let access = found.map(|variable| (variable, variable.space));
    let Some((variable, AddressSpace::Storage { access })) = access else {
        let declared = jit::declared(parameter);
        return Err(format!(
            "{declared}, and there is no `var<storage>` of that name"
        ));
    };
    let (words, due) = match mutable {
        true => ("read_write", StorageAccess::LOAD | StorageAccess::STORE),
        false => ("read", StorageAccess::LOAD),
    };
    if access != due {
        let declared = jit::declared(parameter);
        return Err(format!("{declared}, and is not `var<storage, {words}>`"));
    }
    let TypeInner::Array { base, stride, .. } = module.types[variable.ty].inner else {
        return Err(format!("{}, and is no array", jit::declared(parameter)));
    };
    let same = match scalar_of(module, base) {
        // Units that WGSL lacks share words.
        Some(found) if Wgsl.packs(unit) => found == Scalar::U32 && stride == 4,
        Some(found) => found == unit && (stride as usize).is_multiple_of(unit.size()),
        None => stride as usize == size,
    };
    match same {
        true => number(variable),
        false => Err(format!(
            "{}, and is an array of other elements",
            jit::declared(parameter)
        )),
    }
}

/// The position of a scalar.
struct Place {
    number: u32,
    /// The size of the variable in bytes.
    size: usize,
    offset: usize,
}

/// Finds a scalar: a uniform variable with its name, or a field with its name in one.
fn value(module: &Module, parameter: &Parameter, scalar: Scalar) -> Result<Place, String> {
    let uniforms = module.global_variables.iter().map(|(_, variable)| variable);
    for variable in uniforms.filter(|variable| variable.space == AddressSpace::Uniform) {
        let inner = &module.types[variable.ty].inner;
        let (ty, offset) = match inner {
            TypeInner::Struct { members, .. } => {
                let mut members = members.iter();
                let named = |name: &Option<String>| name.as_deref() == Some(&parameter.name);
                match members.find(|member| named(&member.name)) {
                    Some(member) => (member.ty, member.offset as usize),
                    None => continue,
                }
            }
            _ if variable.name.as_deref() == Some(&parameter.name) => (variable.ty, 0),
            _ => continue,
        };
        let found = match module.types[ty].inner {
            TypeInner::Scalar(found) => scalar_from(found),
            _ => None,
        };
        if found != Some(scalar) {
            let declared = jit::declared(parameter);
            return Err(format!("{declared}, and is of another type there"));
        }
        return Ok(Place {
            number: number(variable)?,
            size: inner.size(module.to_ctx()) as usize,
            offset,
        });
    }
    let declared = jit::declared(parameter);
    Err(format!(
        "{declared}, and no `var<uniform>` has that name or a field of that name"
    ))
}

fn number(variable: &GlobalVariable) -> Result<u32, String> {
    let name = variable.name.as_deref().unwrap_or("a variable");
    match variable.binding {
        Some(binding) if binding.group == 0 => Ok(binding.binding),
        Some(_) => Err(format!("`{name}` is not in `@group(0)`")),
        None => Err(format!("`{name}` has no `@binding`")),
    }
}

/// The scalar type of an array's elements, or of their components; `None` for structs.
fn scalar_of(module: &Module, ty: Handle<Type>) -> Option<Scalar> {
    match module.types[ty].inner {
        TypeInner::Scalar(scalar)
        | TypeInner::Vector { scalar, .. }
        | TypeInner::Matrix { scalar, .. }
        | TypeInner::Atomic(scalar) => scalar_from(scalar),
        TypeInner::Array { base, .. } => scalar_of(module, base),
        _ => None,
    }
}

fn scalar_from(scalar: naga::Scalar) -> Option<Scalar> {
    Some(match (scalar.kind, scalar.width) {
        (ScalarKind::Sint, 4) => Scalar::I32,
        (ScalarKind::Uint, 4) => Scalar::U32,
        (ScalarKind::Float, 4) => Scalar::F32,
        (ScalarKind::Float, 2) => Scalar::F16,
        (ScalarKind::Sint, 8) => Scalar::I64,
        (ScalarKind::Uint, 8) => Scalar::U64,
        (ScalarKind::Float, 8) => Scalar::F64,
        _ => return None,
    })
}
