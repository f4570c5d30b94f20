//! The names of the kernels in compiled code, read without a driver.
//!
//! A cubin is an ELF file: its kernels are those function symbols that carry the mark of entry points. In PTX, a kernel
//! begins with `.entry NAME`. Names in other images, such as fat binaries, are left to the driver.

/// The mark of entry points in `st_other` of a symbol, `STO_CUDA_ENTRY`.
const ENTRY: u8 = 0x10;
/// The type of a section with symbols, `SHT_SYMTAB`.
const SYMBOLS: u32 = 2;
/// The type of a symbol that is a function, `STT_FUNC`.
const FUNCTION: u8 = 2;

/// The entry points of a cubin, or of PTX with a zero byte at its end; none if the image is neither.
pub(super) fn entries(image: &[u8]) -> Vec<String> {
    match image {
        [0x7f, b'E', b'L', b'F', ..] => of_cubin(image).unwrap_or_default(),
        [text @ .., 0] => std::str::from_utf8(text).map_or_else(|_| vec![], of_ptx),
        _ => vec![],
    }
}

fn of_ptx(text: &str) -> Vec<String> {
    // Comments may mention the directive.
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut words = code.split_whitespace();
    let mut names = vec![];
    while let Some(word) = words.next() {
        if word == ".entry"
            && let Some(name) = words.next()
        {
            names.push(name.split('(').next().unwrap_or_default().to_owned());
        }
    }
    names
}

/// The entry points of an ELF file of 64 bits in little-endian order; `None` if it is damaged.
fn of_cubin(file: &[u8]) -> Option<Vec<String>> {
    let sections = number::<8>(file, 0x28)?;
    let (size, count) = (number::<2>(file, 0x3a)?, number::<2>(file, 0x3c)?);
    let section = |index: usize| {
        let start = sections.checked_add(index.checked_mul(size)?)?;
        file.get(start..start.checked_add(size)?)
    };
    let contents = |section: &[u8]| {
        let (start, len) = (number::<8>(section, 0x18)?, number::<8>(section, 0x20)?);
        file.get(start..start.checked_add(len)?)
    };
    let mut names = vec![];
    for index in 0..count {
        let table = section(index)?;
        if number::<4>(table, 4)? != SYMBOLS as usize {
            continue;
        }
        let strings = contents(section(number::<4>(table, 0x28)?)?)?;
        for symbol in contents(table)?.chunks_exact(24) {
            if symbol[4] & 0xf == FUNCTION && symbol[5] & ENTRY != 0 {
                let name = strings.get(number::<4>(symbol, 0)?..)?;
                let name = name.split(|byte| *byte == 0).next()?;
                names.push(String::from_utf8_lossy(name).into_owned());
            }
        }
    }
    Some(names)
}

/// The number in little-endian order of `N` bytes at an offset.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(N)?)?;
    let mut all = [0; 8];
    all[..N].copy_from_slice(bytes);
    usize::try_from(u64::from_le_bytes(all)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_ptx_are_those_behind_the_directive() {
        let text = "// .entry none\n.visible .entry first(\n)\n.func other\n.entry\nsecond\n(\n)\0";
        assert_eq!(entries(text.as_bytes()), ["first", "second"]);
        assert!(entries(b".entry unfinished").is_empty());
    }

    #[test]
    fn damaged_files_have_no_names() {
        let mut file = b"\x7fELF".to_vec();
        assert!(entries(&file).is_empty());
        file.resize(64, 0xff);
        assert!(entries(&file).is_empty());
    }
}
