//! Places constant arrays in the memory that a target has for them.

use std::sync::Arc;

use crate::{
    Access, BinaryOp, Expr, ExprId, Intrinsic, Kernel, Memory, Param, ParamId, ParamKind, Scalar,
    SiteId, Table, TableId, TableValues, Value,
};

/// The content of a parameter that [`place_tables`] added.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BoundTables {
    /// The parameter, a slice of `u32` or of `u64`.
    pub param: ParamId,
    /// The elements' bytes, in the byte order of this machine.
    pub bytes: Arc<[u8]>,
}

/// Places the tables of a kernel without `usize`.
///
/// The smaller tables, up to `most` bytes in total, stay. They are numbers that every target can write as constants: a
/// `bool` becomes a `u8`, a 16-bit float its bits. Other floats become their bits, too, unless all in the table are
/// finite. The larger tables become elements of added parameters: one for elements of up to 4 bytes, another for those
/// of 8.
///
/// Loads are cast back to the original type. Indices are checked before they are used, since the length is a constant.
pub fn place_tables(kernel: &mut Kernel, most: u64) -> Vec<BoundTables> {
    if kernel.tables.is_empty() {
        return vec![];
    }
    let held: Vec<Table> = kernel.tables.iter().map(held).collect();
    let mut places = vec![Place::Declared; held.len()];
    let used = loaded(kernel);
    let mut by_size: Vec<usize> = (0..held.len()).filter(|i| used[*i]).collect();
    by_size.sort_by_key(|i| held[*i].bytes());
    let mut declared = 0;
    let mut words = [Words::new(Scalar::U32), Words::new(Scalar::U64)];
    for i in by_size {
        declared += held[i].bytes();
        if declared > most {
            let words = &mut words[usize::from(held[i].elem().size() == 8)];
            places[i] = Place::Bound(words.add(kernel, &held[i]));
        }
    }
    let before: Vec<Scalar> = kernel.tables.iter().map(Table::elem).collect();
    kernel.tables = held.into();
    for i in 0..kernel.exprs.len() {
        let id = ExprId(i as u32);
        let expr = kernel.expr(id);
        if let Expr::Len(Memory::Table(table)) = expr {
            let len = length(kernel, table, kernel.scalar_of(id));
            kernel.exprs.to_mut()[i] = Expr::Literal(len);
        }
        if let Expr::Load {
            memory: Memory::Table(table),
            index,
            site,
        } = expr
        {
            let (place, ty) = (&places[table.index()], before[table.index()]);
            load(kernel, id, (table, place), (index, site), ty);
        }
    }
    let bound = words.into_iter().filter_map(Words::finish);
    bound.collect()
}

/// The place of a table.
#[derive(Clone, Copy)]
enum Place {
    /// Declared in the text.
    Declared,
    /// In the memory of a parameter with elements of this type, from this index on.
    Bound((ParamId, Scalar, u64)),
}

/// The elements of a parameter.
struct Words {
    elem: Scalar,
    param: Option<ParamId>,
    count: u64,
    bytes: Vec<u8>,
}

impl Words {
    fn new(elem: Scalar) -> Words {
        Words {
            elem,
            param: None,
            count: 0,
            bytes: vec![],
        }
    }

    fn add(&mut self, kernel: &mut Kernel, table: &Table) -> (ParamId, Scalar, u64) {
        let elem = self.elem;
        let param = *self.param.get_or_insert_with(|| {
            kernel.params.to_mut().push(Param {
                name: format!("tables_{elem}").into(),
                kind: ParamKind::Slice {
                    elem: elem.into(),
                    access: Access::Read,
                },
                align: 0,
            });
            ParamId(kernel.params.len() as u32 - 1)
        });
        let first = self.count;
        for value in table.values() {
            let bits = value.bits();
            match elem {
                Scalar::U64 => self.bytes.extend(bits.to_ne_bytes()),
                _ => self.bytes.extend((bits as u32).to_ne_bytes()),
            }
            self.count += 1;
        }
        (param, elem, first)
    }

    fn finish(self) -> Option<BoundTables> {
        let bytes = self.bytes.into();
        self.param.map(|param| BoundTables { param, bytes })
    }
}

/// Marks the tables from which the kernel loads.
fn loaded(kernel: &Kernel) -> Vec<bool> {
    let mut used = vec![false; kernel.tables.len()];
    for expr in kernel.exprs.iter() {
        if let Expr::Load {
            memory: Memory::Table(table),
            ..
        } = expr
        {
            used[table.index()] = true;
        }
    }
    used
}

/// The same table with elements that can be written as constants.
fn held(table: &Table) -> Table {
    let elem = held_as(table);
    let value = |value: &Value| match *value {
        value if value.scalar() == elem => value,
        value => Value::of_bits(elem, value.bits()),
    };
    Table {
        name: table.name.clone(),
        values: TableValues::Known {
            elem,
            values: table.values().iter().map(value).collect(),
        },
    }
}

fn held_as(table: &Table) -> Scalar {
    let plain = |value: &Value| match *value {
        Value::F32(bits) => matches!(f32::from_bits(bits), v if v == 0.0 || v.is_normal()),
        Value::F64(bits) => matches!(f64::from_bits(bits), v if v == 0.0 || v.is_normal()),
        Value::Bool(_)
        | Value::I8(_)
        | Value::U8(_)
        | Value::I16(_)
        | Value::U16(_)
        | Value::I32(_)
        | Value::U32(_)
        | Value::I64(_)
        | Value::U64(_)
        | Value::Usize(_)
        | Value::F16(_)
        | Value::Bf16(_) => true,
    };
    match table.elem() {
        Scalar::Bool => Scalar::U8,
        Scalar::F16 | Scalar::Bf16 => Scalar::U16,
        Scalar::F32 if !table.values().iter().all(plain) => Scalar::U32,
        Scalar::F64 if !table.values().iter().all(plain) => Scalar::U64,
        Scalar::Usize => unreachable!("a `usize` has its width by now"),
        elem => elem,
    }
}

fn length(kernel: &Kernel, table: TableId, ty: Scalar) -> Value {
    let len = kernel.tables[table.index()].values().len();
    match Value::int(ty, len as i128) {
        Some(len) => len,
        None => unreachable!("a length is an integer"),
    }
}

/// Rewrites a load.
fn load(
    kernel: &mut Kernel,
    id: ExprId,
    (table, place): (TableId, &Place),
    (index, site): (ExprId, Option<SiteId>),
    ty: Scalar,
) {
    let held = kernel.tables[table.index()].elem();
    let loc = kernel.expr_locs[id.index()];
    let (load, word) = match *place {
        Place::Declared => {
            let memory = Memory::Table(table);
            let load = Expr::Load {
                memory,
                index,
                site,
            };
            (load, held)
        }
        Place::Bound((param, word, first)) => {
            let index_type = kernel.scalar_of(index);
            let mut index = index;
            if site.is_some() {
                let len = length(kernel, table, index_type);
                let len = kernel.push_literal(len, loc);
                index = kernel.push_expr(Expr::Bounded { index, len, site }, index_type, loc);
            }
            if let Some(first) = Value::int(index_type, first.into()).filter(|_| first > 0) {
                let (op, rhs) = (BinaryOp::Add, kernel.push_literal(first, loc));
                let sum = Expr::Binary {
                    op,
                    lhs: index,
                    rhs,
                };
                index = kernel.push_expr(sum, index_type, loc);
            }
            let load = Expr::Load {
                memory: Memory::Slice(param),
                index,
                site: None,
            };
            (load, word)
        }
    };
    if word == ty {
        kernel.exprs.to_mut()[id.index()] = load;
        return;
    }
    let loaded = kernel.push_expr(load, word, loc);
    kernel.exprs.to_mut()[id.index()] = of_word(kernel, loaded, ty);
}

/// Converts a word to the value that it represents.
fn of_word(kernel: &mut Kernel, word: ExprId, ty: Scalar) -> Expr {
    let loc = kernel.expr_locs[word.index()];
    let held = kernel.scalar_of(word);
    if ty == Scalar::Bool {
        let (op, zero) = (BinaryOp::Ne, Value::zero(held));
        let rhs = kernel.push_literal(zero, loc);
        return Expr::Binary { op, lhs: word, rhs };
    }
    if !ty.is_float() {
        return Expr::Cast { arg: word };
    }
    let bits = match ty.is_half() && held != Scalar::U16 {
        true => kernel.push_expr(Expr::Cast { arg: word }, Scalar::U16, loc),
        false => word,
    };
    Expr::Call {
        intrinsic: Intrinsic::from_bits(ty),
        args: kernel.push_list(&[bits]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;

    fn sample(most: u64) -> (Kernel, Vec<BoundTables>) {
        let s = Sketch::new("k");
        let (x, y) = (s.slice("x", Scalar::U32), s.slice_mut("y", Scalar::U32));
        let small = s.table("SMALL", &[Value::Bool(true), Value::Bool(false)]);
        let large = s.table("LARGE", &[1, -2, 3].map(Value::I16));
        let other = s.table("OTHER", &[Value::F32(f32::NAN.to_bits()); 4]);
        let at = || s.load(x, s.n(0)).cast(Scalar::Usize);
        let sum = s.load(small, at()).cast(Scalar::U32) + s.load(large, at()).cast(Scalar::U32);
        s.store(y, s.n(0), sum + s.load(other, at()).cast(Scalar::U32));
        let mut kernel = s.finish();
        crate::passes::widen_usize(&mut kernel);
        let bound = place_tables(&mut kernel, most);
        assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
        (kernel, bound)
    }

    #[test]
    fn tables_that_stay_are_of_numbers() {
        let (kernel, bound) = sample(100);
        assert!(bound.is_empty());
        let held: Vec<Scalar> = kernel.tables.iter().map(Table::elem).collect();
        assert_eq!(held, [Scalar::U8, Scalar::I16, Scalar::U32]);
    }

    #[test]
    fn large_tables_become_one_parameter() {
        let (kernel, bound) = sample(2);
        let [all] = &bound[..] else {
            panic!("{bound:?}")
        };
        assert_eq!(all.param, ParamId(2));
        let words: Vec<u32> = all
            .bytes
            .chunks(4)
            .map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        let nan = f32::NAN.to_bits();
        assert_eq!(words, [1, -2i32 as u32, 3, nan, nan, nan, nan]);
        let text = kernel.to_string();
        assert!(text.contains("tables_u32["), "{text}");
    }
}
