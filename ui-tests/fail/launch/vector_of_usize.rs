use sarek::prelude::*;


fn main() {
    let _ = Vector::<usize>::zeros(4);
}
