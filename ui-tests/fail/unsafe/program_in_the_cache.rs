#![forbid(unsafe_code)]

fn main() {
    sarek::cache::global().put("a kernel", b"another program");
}
